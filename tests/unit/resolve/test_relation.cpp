#include "relation.hpp"

#include <catch2/catch.hpp>

using namespace rocm_offline::resolve;

namespace {

// The field again, in policy's spelling; "malformed" where it is refused.
std::string normal(std::string_view field) {
  const auto groups = parse_relations(field);
  if (!groups) {
    return "malformed";
  }
  std::string text;
  for (const OrGroup& group : *groups) {
    text.append(text.empty() ? "" : ", ").append(group_text(group));
  }
  return text;
}

}  // namespace

TEST_CASE("relation fields are read in every spelling that real indices have", "[resolve::relation]") {
  CHECK(normal("libc6 (>= 2.38), libgcc-s1 (>= 3.0)") == "libc6 (>= 2.38), libgcc-s1 (>= 3.0)");
  CHECK(normal("comgr(>=1.2.0), rocm-core, pci.ids | hwdata") == "comgr (>= 1.2.0), rocm-core, pci.ids | hwdata");
  CHECK(normal("python3, libc6, libstdc++6|libstdc++8") == "python3, libc6, libstdc++6 | libstdc++8");
  CHECK(normal("libstdc++-5-dev|libstdc++-7-dev|libstdc++-11-dev") ==
        "libstdc++-5-dev | libstdc++-7-dev | libstdc++-11-dev");
  CHECK(normal("rocm-core-asan6.2.2 (= 6.2.2.60202-116~20.04)") == "rocm-core-asan6.2.2 (= 6.2.2.60202-116~20.04)");
  CHECK(normal("python3:any (>= 3.8~), gcc:native, libc6:amd64") == "python3:any (>= 3.8~), gcc:native, libc6:amd64");
  CHECK(normal("  a ( >=   1 ) ,\n b,, c ,") == "a (>= 1), b, c");
  CHECK(normal("a (< 2), b (> 1)") == "a (<= 2), b (>= 1)");
  CHECK(normal("a (<< 1:2-3) | b(>>1)") == "a (<< 1:2-3) | b (>> 1)");
  CHECK(normal("") == "");
  CHECK(normal(" ") == "");
}

TEST_CASE("malformed relation fields are refused", "[resolve::relation]") {
  const auto field = GENERATE(values<const char*>({"a |", "| a", "a | | b", "a (>= )", "a (>= 1", "a (1)", "a (>> 1) b",
                                                   "a b", "a (~ 1)", "(>= 1)", "a:", "a [amd64]", "a <!nocheck>",
                                                   "a (= 1;rm)", "a;b", "a/../b", "$(id)", "a (= 1) (= 2)"}));
  CAPTURE(field);
  CHECK(normal(field) == "malformed");
}

TEST_CASE("a name or version longer than any real one is refused", "[resolve::relation]") {
  CHECK(normal(std::string(300, 'a')) == "malformed");
  CHECK(normal("a (= " + std::string(300, '1') + ")") == "malformed");
}

TEST_CASE("version relations hold as policy 7.1 says", "[resolve::relation]") {
  CHECK(version_fulfils("2.0", VersionOperator::none, ""));
  CHECK(version_fulfils("2.0", VersionOperator::later_equal, "2.0"));
  CHECK_FALSE(version_fulfils("2.0", VersionOperator::later, "2.0"));
  CHECK(version_fulfils("2.0~rc1", VersionOperator::earlier, "2.0"));
  CHECK(version_fulfils("2.0", VersionOperator::earlier_equal, "2.0"));
  CHECK_FALSE(version_fulfils("2.1", VersionOperator::earlier_equal, "2.0"));
  CHECK(version_fulfils("0:2.0", VersionOperator::equal, "2.0"));
  CHECK_FALSE(version_fulfils("2.0-1", VersionOperator::equal, "2.0"));
}
