// tests/CAPABILITIES.md names tests: each of them exists, and no test of hostile input is left out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
const fs::path kTests = fs::path(ROCM_OFFLINE_SOURCE_DIR) / "tests";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> all_matches(const std::string& text, const std::regex& form) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), form); at != std::sregex_iterator(); ++at) {
    found.insert((*at)[1].str());
  }
  return found;
}

// Catch2 cases, and what CMake adds by name. Adjacent literals of a long name are one.
std::set<std::string> test_names_below(const fs::path& folder) {
  static const std::regex joined(R"x("\s*\n\s*")x");
  static const std::regex cases(R"x(TEST_CASE(?:_METHOD\([^,]*,|\()\s*"([^"]+)")x");
  static const std::regex named(R"x(NAME ([a-z0-9_]+))x");
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool cmake = entry.path().filename() == "CMakeLists.txt";
    if (entry.is_regular_file() && (cmake || entry.path().extension() == ".cpp")) {
      const std::string text = std::regex_replace(text_of(entry.path()), joined, "");
      names.merge(all_matches(text, cmake ? named : cases));
    }
  }
  return names;
}

// The last column of each row.
std::set<std::string> names_in_table() {
  static const std::regex quoted("`([^`]+)`");
  std::set<std::string> names;
  std::istringstream lines(text_of(kTests / "CAPABILITIES.md"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("| ") && line.ends_with(" |")) {
      const auto last = line.rfind(" | ");
      names.merge(all_matches(line.substr(last), quoted));
    }
  }
  return names;
}

}  // namespace

TEST_CASE("each test that CAPABILITIES.md names exists", "[docs]") {
  auto present = test_names_below(kTests);
  for (const std::string& name : test_names_below(kTests / "fuzz")) {
    present.insert("fuzz_" + name);
  }
  const auto named = names_in_table();
  REQUIRE(named.size() > 30);
  for (const std::string& name : named) {
    CAPTURE(name);
    CHECK(present.contains(name));
  }
}

TEST_CASE("each test of hostile mirrors is in CAPABILITIES.md", "[docs]") {
  const auto named = names_in_table();
  const auto cases = test_names_below(kTests / "integration" / "create");
  REQUIRE(cases.size() > 20);
  for (const std::string& name : cases) {
    if (name.starts_with("create: ")) {
      CAPTURE(name);
      CHECK(named.contains(name));
    }
  }
}
