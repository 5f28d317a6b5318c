// The link table of docs/architecture.md against the sources and the CMake files.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

const fs::path source_dir = ROCM_OFFLINE_SOURCE_DIR;

using Names = std::set<std::string>;

struct Module {
  std::string folder;
  Names links;
};

std::string content(const fs::path& path) {
  return read_file(Stage::check, path, 8U << 20U).value();
}

// Rows "| `src/index` | job | header | core fetch |" of the page.
std::map<std::string, Module> table() {
  std::map<std::string, Module> modules;
  for (const std::string& line : split(content(source_dir / "docs/architecture.md"), '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 6 || !trim(cells[1]).starts_with('`')) {
      continue;
    }
    const std::string folder(trim(cells[1]).substr(1, trim(cells[1]).size() - 2));
    Module& module = modules[fs::path(folder).filename().string()];
    module.folder = folder;
    for (const std::string& link : split(trim(cells[4]), ' ')) {
      if (!link.empty() && link != "-") {
        module.links.insert(link);
      }
    }
  }
  return modules;
}

std::vector<fs::path> sources_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / folder)) {
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp") {
      files.push_back(entry.path());
    }
  }
  return files;
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), expression); match != std::sregex_iterator();
       ++match) {
    found.push_back((*match)[1].str());
  }
  return found;
}

// What a module's CMakeLists.txt links: LINKS and PRIVATE_LINKS of rocm_offline_module, and rocm_offline_<x> of
// target_link_libraries.
Names linked(const std::string& folder) {
  const std::string text = content(source_dir / folder / "CMakeLists.txt");
  Names names;
  for (const std::string& call : all_matches(text, "rocm_offline_module\\(([^)]*)\\)")) {
    for (const std::string& list : all_matches(call, "(?:PRIVATE_LINKS|LINKS)\\s+([a-z][a-z\\s]*)")) {
      for (const std::string& name : all_matches(list, "([a-z]+)")) {
        names.insert(name);
      }
    }
  }
  for (const std::string& call : all_matches(text, "target_link_libraries\\(\\s*\\S+([^)]*)\\)")) {
    for (const std::string& name : all_matches(call, "rocm_offline_([a-z]+)")) {
      names.insert(name);
    }
  }
  return names;
}

// Every module reached from one, itself left out.
Names reached(const std::map<std::string, Module>& modules, const std::string& from) {
  Names all;
  std::vector<std::string> open = {from};
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    for (const std::string& link : linked(modules.at(name).folder)) {
      if (all.insert(link).second) {
        open.push_back(link);
      }
    }
  }
  return all;
}

// Headers of libraries, and the only folders that may see them.
const std::map<std::string, Names> library_owners = {
    {"curl/", {"fetch"}},   {"archive", {"archive"}}, {"gpgme", {"index"}}, {"solv/", {"resolve"}},
    {"newt", {"ui"}},       {"spdlog/", {"logs"}},    {"fmt/", {"logs"}},   {"CLI/", {"app", "runner"}},
    {"openssl/", {"core"}}, {"valijson/", {"core"}},  {"toml++/", {"app"}}};

}  // namespace

TEST_CASE("the table names every folder with a library or program", "[architecture]") {
  const auto modules = table();
  REQUIRE(modules.size() >= 16);
  for (const auto& [name, module] : modules) {
    INFO(module.folder);
    CHECK(fs::exists(source_dir / module.folder / "CMakeLists.txt"));
    for (const std::string& link : module.links) {
      INFO(link);
      CHECK(modules.contains(link));
    }
  }
  for (const auto& entry : fs::directory_iterator(source_dir / "src")) {
    INFO(entry.path().string());
    CHECK((!entry.is_directory() || modules.contains(entry.path().filename().string())));
  }
}

TEST_CASE("sources include only modules that the table links", "[architecture]") {
  std::size_t seen = 0;
  for (const auto& [name, module] : table()) {
    for (const fs::path& file : sources_of(module.folder)) {
      for (const std::string& other : all_matches(content(file), "#include \"rocm_offline/([a-z_]+)/")) {
        ++seen;
        INFO(file.string() << " includes " << other);
        CHECK((other == name || module.links.contains(other)));
      }
    }
  }
  CHECK(seen > 50);
}

TEST_CASE("CMake files link only modules that the table links", "[architecture]") {
  for (const auto& [name, module] : table()) {
    const Names links = linked(module.folder);
    CHECK((name == "core" || links.contains("core")));
    for (const std::string& link : links) {
      INFO(module.folder << " links " << link);
      CHECK((module.links.contains(link)));
    }
  }
}

TEST_CASE("each library is seen by its own folder only", "[architecture]") {
  for (const auto& [name, module] : table()) {
    for (const fs::path& file : sources_of(module.folder)) {
      for (const std::string& header : all_matches(content(file), "#include <([^>]+)>")) {
        for (const auto& [prefix, owners] : library_owners) {
          if (header.starts_with(prefix)) {
            INFO(file.string() << " includes <" << header << ">");
            CHECK(owners.contains(name));
            CHECK(file.string().find("/include/rocm_offline/") == std::string::npos);
          }
        }
      }
    }
  }
}

TEST_CASE("the runner cannot reach a network or a solver", "[architecture]") {
  const auto modules = table();
  const Names all = reached(modules, "runner");
  CHECK(all.contains("bundle"));
  for (const char* forbidden : {"fetch", "index", "resolve", "plan", "repos", "app"}) {
    INFO(forbidden);
    CHECK_FALSE(all.contains(forbidden));
  }
  CHECK_FALSE(
      std::regex_search(content(source_dir / "src/runner/CMakeLists.txt"), std::regex("LIBSOLV|LIBCURL|[Gg]pgme")));
}

TEST_CASE("stages do not include the views or the logs", "[architecture]") {
  for (const auto& [name, module] : table()) {
    if (name != "app" && name != "runner") {
      CHECK_FALSE(module.links.contains("ui"));
      CHECK_FALSE(module.links.contains("logs"));
    }
  }
}
