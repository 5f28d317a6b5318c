#include "walk.hpp"

#include <catch2/catch.hpp>

#include "package_table.hpp"

using namespace rocm_offline;
using rocm_offline::test::choose;
using rocm_offline::test::PackageTable;

namespace {

std::vector<std::string> names(std::initializer_list<const char*> list) {
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("the candidate is the highest priority, then the highest version, then the first repository",
          "[resolve::walk]") {
  PackageTable table({{"debian", 500, "Package: rocminfo\nVersion: 5.7.1-3\n\nPackage: b\nVersion: 1\n"},
                      {"rocm", 600, "Package: rocminfo\nVersion: 1.0.0.60200-66\n"},
                      {"security", 500, "Package: b\nVersion: 1+deb13u1\n"}});
  CHECK(choose(table, names({"rocminfo", "b"})) == "b 1+deb13u1, rocminfo 1.0.0.60200-66");

  PackageTable equal({{"first", 500, "Package: a\nVersion: 1\n"}, {"second", 500, "Package: a\nVersion: 1\n"}});
  const resolve::PackageUniverse& universe = equal.universe();
  const resolve::PackageIndex chosen = universe.candidate(universe.slot_of(*universe.find_name("a"), 0));
  CHECK(universe.repository(universe.at(chosen).repository).name == "first");
}

TEST_CASE("a request with a version takes that version for every package", "[resolve::walk]") {
  PackageTable table("Package: a\nVersion: 1\n\nPackage: a\nVersion: 2\n\nPackage: b\nVersion: 1\nDepends: a (<= 1)\n");
  CHECK(choose(table, {PackageRequest{"b", {}, {}}, PackageRequest{"a", "1", {}}}) == "a 1, b 1");
  CHECK(choose(table, {PackageRequest{"a", "3", {}}}) == "fails: a has no version 3");
  CHECK(choose(table, {PackageRequest{"a", "1", {}}, PackageRequest{"a", "2", {}}}) ==
        "fails: a is requested in two versions: 1 and 2");
}

TEST_CASE("only the candidate of a name exists for dependencies", "[resolve::walk]") {
  PackageTable table("Package: a\nVersion: 1\n\nPackage: a\nVersion: 2\n\nPackage: b\nVersion: 1\nDepends: a (= 1)\n");
  CHECK(choose(table, names({"b"})) == "fails: nothing provides a (= 1)");
}

TEST_CASE("the first alternative that can be installed wins", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: missing | broken | good | better\n\n"
      "Package: broken\nVersion: 1\nDepends: nowhere\n\nPackage: good\nVersion: 1\n\nPackage: better\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "app 1, good 1");
  // What is asked for serves the group, wherever it stands in the request.
  CHECK(choose(table, names({"app", "better"})) == "app 1, better 1");
}

TEST_CASE("a failed alternative leaves nothing behind", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: broken | good\n\nPackage: broken\nVersion: 1\nDepends: part, nowhere\n\n"
      "Package: part\nVersion: 1\nConflicts: good\n\nPackage: good\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "app 1, good 1");
}

TEST_CASE("providers are tried by Essential, then Priority, then the last in the index", "[resolve::walk]") {
  const std::string app = "Package: app\nVersion: 1\nDepends: thing\n\n";
  const std::string optional =
      "Package: o1\nVersion: 1\nPriority: optional\nProvides: thing\n\n"
      "Package: o2\nVersion: 1\nPriority: optional\nProvides: thing\n\n";
  const std::string standard = "Package: s\nVersion: 1\nPriority: standard\nProvides: thing\n\n";
  const std::string essential = "Package: e\nVersion: 1\nPriority: optional\nEssential: yes\nProvides: thing\n\n";
  const std::string real = "Package: thing\nVersion: 1\nPriority: optional\n\n";
  PackageTable last(app + optional);
  CHECK(choose(last, names({"app"})) == "app 1, o2 1");
  PackageTable priority(app + standard + optional);
  CHECK(choose(priority, names({"app"})) == "app 1, s 1");
  PackageTable flagged(app + essential + standard + optional);
  CHECK(choose(flagged, names({"app"})) == "app 1, e 1");
  PackageTable named(app + real + essential + standard + optional);
  CHECK(choose(named, names({"app"})) == "app 1, thing 1");
}

TEST_CASE("an installed package is upgraded for a group before another is added", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: new | old (>= 2)\n\nPackage: new\nVersion: 1\n\n"
      "Package: old\nVersion: 2\n",
      "Package: old\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "app 1, old 2");
}

TEST_CASE("versioned Provides fulfil versioned relations, unversioned ones do not", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: api (>= 2)\n\nPackage: plain\nVersion: 9\nProvides: api\n\n"
      "Package: old\nVersion: 9\nProvides: api (= 1)\n\nPackage: fits\nVersion: 1\nProvides: api (= 2.1)\n");
  CHECK(choose(table, names({"app"})) == "app 1, fits 1");
}

TEST_CASE("name:any is served by Multi-Arch: allowed packages only", "[resolve::walk]") {
  const std::string app = "Package: app\nVersion: 1\nDepends: python3:any (>= 3)\n\n";
  PackageTable allowed(app + "Package: python3\nVersion: 3.13\nMulti-Arch: allowed\n");
  CHECK(choose(allowed, names({"app"})) == "app 1, python3 3.13");
  PackageTable plain(app + "Package: python3\nVersion: 3.13\n");
  CHECK(choose(plain, names({"app"})) == "fails: nothing provides python3:any (>= 3)");
}

TEST_CASE("architecture qualifiers choose the architecture", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: lib:i386\n\nPackage: lib\nVersion: 1\n\n"
      "Package: lib\nVersion: 1\nArchitecture: i386\nDepends: tool, base\n\n"
      "Package: tool\nVersion: 1\nMulti-Arch: foreign\n\n"
      "Package: base\nVersion: 1\n\nPackage: base\nVersion: 1\nArchitecture: i386\n",
      "", {"i386"});
  CHECK(choose(table, names({"app"})) == "app 1, base:i386 1, lib:i386 1, tool 1");
  CHECK(choose(table, names({"lib:amd64"})) == "lib 1");
  CHECK(choose(table, names({"lib:riscv64"})) == "fails: architecture riscv64 is not one of the target's");
}

TEST_CASE("conflicts hold in both directions, with names and with what is provided", "[resolve::walk]") {
  const std::string mail =
      "Package: exim\nVersion: 1\nProvides: mta\nConflicts: mta\n\n"
      "Package: postfix\nVersion: 1\nProvides: mta\nConflicts: mta\n\n"
      "Package: old\nVersion: 1\n\nPackage: new\nVersion: 1\nBreaks: old (<< 2)\n";
  PackageTable table(mail);
  CHECK(choose(table, names({"exim"})) == "exim 1");  // not with itself
  CHECK(choose(table, names({"exim", "postfix"})) == "fails: postfix 1 conflicts with exim 1");
  CHECK(choose(table, names({"old", "new"})) == "fails: new 1 conflicts with old 1");
  CHECK(choose(table, names({"new", "old"})) == "fails: old 1 conflicts with new 1");
}

TEST_CASE("what the new state breaks among the installed is upgraded in step", "[resolve::walk]") {
  PackageTable table(
      "Package: libc6\nVersion: 2\nBreaks: helper (<< 2)\n\n"
      "Package: libc-bin\nVersion: 2\nDepends: libc6 (= 2)\n\nPackage: helper\nVersion: 2\n\n"
      "Package: app\nVersion: 1\nDepends: libc6 (>= 2)\n",
      "Package: libc6\nVersion: 1\n\nPackage: libc-bin\nVersion: 1\nDepends: libc6 (= 1)\n\n"
      "Package: helper\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "app 1, helper 2, libc-bin 2, libc6 2");
}

TEST_CASE("an installed package that would break and has no other version stops the walk", "[resolve::walk]") {
  PackageTable table("Package: libc6\nVersion: 2\n\nPackage: app\nVersion: 1\nDepends: libc6 (>= 2)\n",
                     "Package: libc6\nVersion: 1\n\nPackage: libc6-dbg\nVersion: 1\nDepends: libc6 (= 1)\n");
  CHECK(choose(table, names({"app"})) == "fails: the installed libc6-dbg 1 would break");
}

TEST_CASE("an installed version that is higher stays the candidate", "[resolve::walk]") {
  PackageTable table("Package: lib\nVersion: 1\n\nPackage: app\nVersion: 1\nDepends: lib (= 1)\n",
                     "Package: lib\nVersion: 2\n");
  CHECK(choose(table, names({"app"})) == "fails: nothing provides lib (= 1)");
  CHECK(choose(table, names({"lib"})).empty());
}

TEST_CASE("Recommends are followed when asked for, and may fail", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: a\nRecommends: nowhere, extra\n\nPackage: a\nVersion: 1\n\n"
      "Package: extra\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "a 1, app 1");
  CHECK(choose(table, names({"app"}), true) == "a 1, app 1, extra 1");
}

TEST_CASE("a stanza with a malformed relation field is never chosen", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: bad | good\n\nPackage: bad\nVersion: 1\nDepends: x (>= \n\n"
      "Package: good\nVersion: 1\n");
  CHECK(choose(table, names({"app"})) == "app 1, good 1");
  CHECK(choose(table, names({"bad"})) == "fails: bad 1 is refused: its field Depends is malformed");
}

TEST_CASE("circular dependencies end", "[resolve::walk]") {
  PackageTable table("Package: a\nVersion: 1\nDepends: b\n\nPackage: b\nVersion: 1\nDepends: a\n");
  CHECK(choose(table, names({"a"})) == "a 1, b 1");
}

TEST_CASE("an endless chain in a hostile index is given up, not followed", "[resolve::walk]") {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "Package: p" + std::to_string(i) + "\nVersion: 1\nDepends: p" + std::to_string(i + 1) + "\n\n";
  }
  PackageTable table(text + "Package: p5000\nVersion: 1\n");
  CHECK(choose(table, names({"p0"})).starts_with("fails: gave up: the dependencies of p1001"));
}

TEST_CASE("each package bears the relation that brought it", "[resolve::walk]") {
  PackageTable table(
      "Package: app\nVersion: 1\nPre-Depends: libc6 (>= 2.38)|libc6.1\n\nPackage: libc6\nVersion: 2.41\n");
  const resolve::FoundRequests found = resolve::find_requests(table.universe(), {{"app", {}, "usecase hip"}});
  resolve::Walk walk(table.universe(), {});
  REQUIRE(walk.install(found.requests));
  const std::vector<resolve::ChosenPackage> chosen = walk.chosen();
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].reason == Reason{ReasonKind::requested, "usecase hip", ""});
  CHECK(chosen[1].reason == Reason{ReasonKind::dependency, "app", "Pre-Depends: libc6 (>= 2.38) | libc6.1"});
}
