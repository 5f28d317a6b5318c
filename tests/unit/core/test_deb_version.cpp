#include <catch2/catch.hpp>

#include "rocm_offline/core/deb_version.hpp"

using rocm_offline::compare_deb_versions;
using rocm_offline::is_deb_version;

namespace {

struct VersionPair {
  const char* lower;
  const char* higher;
};

}  // namespace

TEST_CASE("versions compare as deb-version(7) says", "[core::deb_version]") {
  const auto pair = GENERATE(values<VersionPair>({
      {"1.0~rc1", "1.0"},
      {"1.0~~", "1.0~"},
      {"1.0~~a", "1.0~"},
      {"1.0", "1.0+b1"},
      {"1.0a", "1.0+"},
      {"1.9", "1.10"},
      {"9", "1:0"},
      {"1:2", "2:1"},
      {"1.0-1", "1.0-1.1"},
      {"1.0-9", "1.0-10"},
      {"2.41-12", "2.41-12+deb13u1"},
      {"1.5.7+dfsg-1", "1.5.7+dfsg-1+deb13u1"},
      {"1.0.0.60200-66~22.04", "1.0.0.60200-66~24.04"},
      {"1.0", "1.0-1"},
      // Ubuntu's own rocminfo has the higher number: only a pin keeps AMD's ahead.
      {"1.0.0.60200-66~24.04", "5.7.1-3"},
      {"99999999999999999999998", "99999999999999999999999"},
      {"1.2.3-4-1", "1.2.3-4-2"},
  }));
  CAPTURE(pair.lower, pair.higher);
  CHECK(compare_deb_versions(pair.lower, pair.higher) < 0);
  CHECK(compare_deb_versions(pair.higher, pair.lower) > 0);
}

TEST_CASE("each version of an ascending list is below all that follow", "[core::deb_version]") {
  // deb-version(7) and dpkg --compare-versions.
  const std::vector<std::string> ascending = {
      "0",     "1.0~~", "1.0~rc1", "1.0",          "1.0-1",     "1.0-1+b1", "1.0-1.1", "1.0-2", "1.0a",   "1.0+dfsg",
      "1.0.2", "1.2",   "1.10",    "1.10.0.60200", "2.41-9~b1", "2.41-9",   "2.41-10", "1:0.5", "1:0.10", "2:0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      INFO(ascending[i] << " and " << ascending[j]);
      const int order = compare_deb_versions(ascending[i], ascending[j]);
      CHECK((order < 0) == (i < j));
      CHECK((order == 0) == (i == j));
    }
  }
}

TEST_CASE("versions that differ only in what does not count are equal", "[core::deb_version]") {
  CHECK(compare_deb_versions("1.0", "0:1.0") == 0);
  CHECK(compare_deb_versions("1.0", "1.00") == 0);
  CHECK(compare_deb_versions("1.0", "1.0-0") == 0);
  CHECK(compare_deb_versions("001", "1") == 0);
  CHECK(compare_deb_versions("", "") == 0);
}

TEST_CASE("only well-formed versions are accepted", "[core::deb_version]") {
  CHECK(is_deb_version("1:2.3~rc1+dfsg-4.1"));
  CHECK(is_deb_version("6.2.2.60202-116~20.04"));
  CHECK_FALSE(is_deb_version(""));
  CHECK_FALSE(is_deb_version(":1"));
  CHECK_FALSE(is_deb_version("1:"));
  CHECK_FALSE(is_deb_version("a:1"));
  CHECK_FALSE(is_deb_version("1.0 beta"));
  CHECK_FALSE(is_deb_version("1.0\n"));
  CHECK_FALSE(is_deb_version("$(id)"));
  CHECK_FALSE(is_deb_version(std::string(257, '1')));
}
