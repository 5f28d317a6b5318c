#include <catch2/catch.hpp>

#include "rocm_offline/resolve/resolver.hpp"
#include "version.hpp"

using rocm_offline::resolve::compare_deb_versions;
using rocm_offline::resolve::is_deb_version;

namespace {

struct VersionPair {
  const char* lower;
  const char* higher;
};

}  // namespace

TEST_CASE("versions compare as deb-version(7) says", "[resolve::version]") {
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

TEST_CASE("versions that differ only in what does not count are equal", "[resolve::version]") {
  CHECK(compare_deb_versions("1.0", "0:1.0") == 0);
  CHECK(compare_deb_versions("1.0", "1.00") == 0);
  CHECK(compare_deb_versions("1.0", "1.0-0") == 0);
  CHECK(compare_deb_versions("001", "1") == 0);
  CHECK(compare_deb_versions("", "") == 0);
}

TEST_CASE("only well-formed versions are accepted", "[resolve::version]") {
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
