// compare_deb_versions against the real dpkg.
#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "rocm_offline/core/deb_version.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;

namespace {

constexpr int k_pairs = 150;

std::string random_version(std::mt19937& random) {
  // Few letters and digits, so that many pairs share a beginning or are equal.
  static const std::string k_alphabet = "0019.~+ab";
  const auto part = [&](std::size_t longest) {
    std::string text;
    for (std::size_t i = 1 + random() % longest; i > 0; --i) {
      text += k_alphabet[random() % k_alphabet.size()];
    }
    return text;
  };
  std::string version = random() % 4 == 0 ? std::to_string(random() % 3) + ":" : "";
  version += std::to_string(random() % 3) + part(4);
  return random() % 2 == 0 ? version : version + "-" + part(3);
}

bool dpkg_says(PosixProcessRunner& runner, const std::string& a, const char* relation, const std::string& b) {
  ProcessRequest request;
  request.argv = {"dpkg", "--compare-versions", a, relation, b};
  const auto outcome = runner.run(request);
  REQUIRE(outcome.has_value());
  REQUIRE(outcome->exit_code <= 1);
  return outcome->exit_code == 0;
}

}  // namespace

TEST_CASE("random versions compare as dpkg compares them", "[resolve::version]") {
  if (!find_program("dpkg")) {
    std::cout << "skipped: there is no dpkg on this machine to compare with\n";
    return;
  }
  PosixProcessRunner runner;
  std::mt19937 random(20261201);
  for (int i = 0; i < k_pairs; ++i) {
    const std::string a = random_version(random);
    const std::string b = random() % 8 == 0 ? a : random_version(random);
    CAPTURE(a, b);
    const int order = compare_deb_versions(a, b);
    CHECK(dpkg_says(runner, a, order < 0 ? "lt-nl" : (order > 0 ? "gt-nl" : "eq"), b));
  }
}
