#include "closure.hpp"

#include <catch2/catch.hpp>

#include "judge.hpp"
#include "package_table.hpp"
#include "rocm_offline/core/events.hpp"

using namespace rocm_offline;
using rocm_offline::test::PackageTable;

namespace {

class RecordingSink final : public EventSink {
 public:
  void event(const Event& event) noexcept override {
    CHECK(is_event_name(event.name));
    names.push_back(event.name);
  }
  void progress(const Progress&) noexcept override {}
  std::vector<std::string> names{};
};

resolve::ResolveRequest request_of(std::vector<PackageRequest> requests) {
  resolve::ResolveRequest request;
  request.requests = std::move(requests);
  request.target_id = "debian-13";
  return request;
}

Result<Resolution> resolve_table(PackageTable& table, std::vector<PackageRequest> requests, RecordingSink& sink) {
  const resolve::UrlsOf urls_of = [&](resolve::PackageIndex package) {
    return std::vector<std::string>{"https://host.example/" + table.universe().id_of(package).name};
  };
  return resolve::resolve_universe(table.universe(), request_of(std::move(requests)), urls_of, sink);
}

PackageClosure closure_of(PackageTable& table, std::vector<PackageRequest> requests) {
  RecordingSink sink;
  auto resolution = resolve_table(table, std::move(requests), sink);
  REQUIRE(resolution.has_value());
  REQUIRE(std::holds_alternative<PackageClosure>(*resolution));
  return std::get<PackageClosure>(*resolution);
}

Unsolvable unsolvable_of(PackageTable& table, std::vector<PackageRequest> requests) {
  RecordingSink sink;
  auto resolution = resolve_table(table, std::move(requests), sink);
  REQUIRE(resolution.has_value());
  REQUIRE(std::holds_alternative<Unsolvable>(*resolution));
  CHECK(std::find(sink.names.begin(), sink.names.end(), "resolve.request.unsolvable") != sink.names.end());
  return std::get<Unsolvable>(*resolution);
}

const PackageRecord* find(const PackageClosure& closure, const std::string& name) {
  for (const PackageRecord& package : closure.packages) {
    if (package.id.name == name) {
      return &package;
    }
  }
  return nullptr;
}

const char* const k_base =
    "Package: libc6\nVersion: 2.41\nPriority: optional\n\n"
    "Package: base-files\nVersion: 13\nEssential: yes\nPriority: required\nPre-Depends: awk\n\n"
    "Package: gawk\nVersion: 5\nPriority: optional\nProvides: awk\n\n"
    "Package: mawk\nVersion: 1\nPriority: required\nProvides: awk\nDepends: libc6\n\n"
    "Package: apt\nVersion: 3\nPriority: important\nDepends: libc6\n\n";

}  // namespace

TEST_CASE("a full closure has the essential packages, the requests and a reason for each", "[resolve::closure]") {
  PackageTable table(std::string(k_base) +
                     "Package: hipcc\nVersion: 5.7.1-3\nDepends: libc6 (>= 2.38)\nRecommends: apt\nSize: 7\n"
                     "Installed-Size: 3\nFilename: pool/h/hipcc.deb\n");
  const PackageClosure closure = closure_of(table, {{"hipcc", {}, "usecase hip"}});
  std::string listed;
  for (const PackageRecord& package : closure.packages) {
    listed += package.id.name + " ";
  }
  CHECK(listed == "base-files hipcc libc6 mawk ");
  CHECK(find(closure, "base-files")->reason == Reason{ReasonKind::essential, "", "Essential: yes"});
  CHECK(find(closure, "mawk")->reason == Reason{ReasonKind::dependency, "base-files", "Pre-Depends: awk"});
  const PackageRecord& hipcc = *find(closure, "hipcc");
  CHECK(hipcc.reason == Reason{ReasonKind::requested, "usecase hip", ""});
  CHECK(hipcc.repository == "debian");
  CHECK(hipcc.size == 7);
  CHECK(hipcc.installed_size == 3072);
  CHECK(hipcc.filename == "pool/h/hipcc.deb");
  CHECK(hipcc.urls == std::vector<std::string>{"https://host.example/hipcc"});
  CHECK(hipcc.stanza.starts_with("Package: hipcc\n"));
  CHECK_FALSE(find(closure, "libc6")->installed_size.has_value());
  CHECK(closure.recommends_left_out == 1);
  REQUIRE(closure.proofs.size() == 2);
  CHECK(closure.proofs[0] == "installs on an empty debian-13 root (judge: " + resolve::judge_name() + ")");
  CHECK(closure.proofs[1] ==
        "installs on a minimal debian-13 root of 4 packages (judge: " + resolve::judge_name() + ")");
}

TEST_CASE("what a minimal root's apt would choose otherwise is carried too", "[resolve::closure]") {
  // On the empty root `plugin` takes its first alternative; on the minimal root, apt is there and rules that one out.
  PackageTable table(std::string(k_base) +
                     "Package: plugin\nVersion: 1\nDepends: first | second\n\n"
                     "Package: first\nVersion: 1\nConflicts: apt\n\nPackage: second\nVersion: 1\n");
  const PackageClosure closure = closure_of(table, {{"plugin", {}, "--package"}});
  REQUIRE(find(closure, "first") != nullptr);
  REQUIRE(find(closure, "second") != nullptr);
  CHECK(find(closure, "second")->reason == Reason{ReasonKind::baseline, "plugin", "Depends: first | second"});
}

TEST_CASE("with an installed list the closure is what is missing there", "[resolve::closure]") {
  PackageTable table(
      std::string(k_base) + "Package: hipcc\nVersion: 1\nDepends: libc6, tool\n\nPackage: tool\nVersion: 1\n",
      "Package: libc6\nVersion: 2.41\n");
  const PackageClosure closure = closure_of(table, {{"hipcc", {}, "--package"}});
  CHECK(closure.packages.size() == 2);
  CHECK(find(closure, "libc6") == nullptr);
  CHECK(closure.proofs ==
        std::vector<std::string>{"installs on a debian-13 with 1 package (judge: " + resolve::judge_name() + ")"});
}

TEST_CASE("an unknown package is said with names near to it", "[resolve::closure]") {
  PackageTable table("Package: hipcc\nVersion: 1\n\nPackage: rocminfo\nVersion: 1\n");
  const Unsolvable outcome = unsolvable_of(table, {{"hipc", {}, "--package"}, {"rocminfo", {}, ""}});
  CHECK(outcome.unknown_package);
  REQUIRE(outcome.problems.size() == 1);
  CHECK(outcome.problems[0].summary == "no repository has a package named hipc");
  CHECK(outcome.problems[0].chain.back() == "hipc was requested (--package)");
  CHECK(outcome.problems[0].help == "names near to it: hipcc");
}

TEST_CASE("a version that does not exist is said with those that do", "[resolve::closure]") {
  PackageTable table("Package: hipcc\nVersion: 1\n\nPackage: hipcc\nVersion: 2\n");
  const Unsolvable outcome = unsolvable_of(table, {{"hipcc", "3", "--package"}});
  CHECK_FALSE(outcome.unknown_package);
  REQUIRE(outcome.problems.size() == 1);
  CHECK(outcome.problems[0].summary == "hipcc has no version 3");
  CHECK(outcome.problems[0].help ==
        "the repositories have 1 (debian), 2 (debian); leave the version out to take the newest");
}

TEST_CASE("a virtual name with several providers asks for one of them", "[resolve::closure]") {
  PackageTable table(
      "Package: exim\nVersion: 1\nProvides: mta\n\nPackage: postfix\nVersion: 1\nProvides: mta\n\n"
      "Package: only\nVersion: 1\nProvides: single\n");
  const Unsolvable outcome = unsolvable_of(table, {{"mta", {}, "--package"}});
  CHECK(outcome.problems.at(0).help == "it is provided by exim, postfix: ask for one of them by name");
  CHECK(find(closure_of(table, {{"single", {}, "--package"}}), "only") != nullptr);
}

TEST_CASE("a missing dependency is explained from its end up to the request", "[resolve::closure]") {
  PackageTable table(
      "Package: hipcc\nVersion: 5\nDepends: libbar\n\nPackage: libbar\nVersion: 1\nDepends: libfoo (>= 2)\n\n"
      "Package: libfoo\nVersion: 1.5\n");
  const Unsolvable outcome = unsolvable_of(table, {{"hipcc", {}, "usecase hip"}});
  REQUIRE(outcome.problems.size() == 1);
  CHECK(outcome.problems[0].summary == "nothing provides libfoo (>= 2), which libbar 1 needs");
  CHECK(outcome.problems[0].chain == std::vector<std::string>{"nothing provides libfoo (>= 2)",
                                                              "libbar 1 needs libfoo (>= 2)", "hipcc 5 needs libbar",
                                                              "hipcc was requested (usecase hip)"});
  CHECK(outcome.problems[0].help.starts_with("the repositories have libfoo 1.5; add a repository"));
}

TEST_CASE("a conflict is explained with the way to both sides", "[resolve::closure]") {
  PackageTable table(
      "Package: a\nVersion: 1\nDepends: left\n\nPackage: b\nVersion: 1\nDepends: right\n\n"
      "Package: left\nVersion: 1\nConflicts: right\n\nPackage: right\nVersion: 1\n");
  const Unsolvable outcome = unsolvable_of(table, {{"a", {}, "--package"}, {"b", {}, "--package"}});
  REQUIRE(outcome.problems.size() == 1);
  CHECK(outcome.problems[0].summary == "left 1 conflicts with right 1");
  CHECK(outcome.problems[0].chain == std::vector<std::string>{"left 1 conflicts with right 1 (Conflicts: right)",
                                                              "a 1 needs left", "a was requested (--package)",
                                                              "b 1 needs right", "b was requested (--package)"});
}

TEST_CASE("where only a full search finds a way, the walk's own failure is told", "[resolve::closure]") {
  // apt commits to `first` for a; b then conflicts with it. Backtracking over both would find `second`.
  PackageTable table(
      "Package: a\nVersion: 1\nDepends: first | second\n\nPackage: b\nVersion: 1\nDepends: foe\n\n"
      "Package: foe\nVersion: 1\nConflicts: first\n\n"
      "Package: first\nVersion: 1\n\nPackage: second\nVersion: 1\n");
  const Unsolvable outcome = unsolvable_of(table, {{"a", {}, "--package"}, {"b", {}, "--package"}});
  REQUIRE(outcome.problems.size() == 1);
  CHECK(outcome.problems[0].summary == "foe 1 conflicts with first 1");
  CHECK(outcome.problems[0].chain.back() == "b was requested (--package)");
  CHECK(outcome.problems[0].help.find("--package NAME") != std::string::npos);
}

TEST_CASE("a refused stanza is a warning and its refusal the explanation", "[resolve::closure]") {
  PackageTable table("Package: bad\nVersion: 1\nDepends: x (>= \n");
  RecordingSink sink;
  const auto resolution = resolve_table(table, {{"bad", {}, "--package"}}, sink);
  REQUIRE(resolution.has_value());
  REQUIRE(std::holds_alternative<Unsolvable>(*resolution));
  CHECK(std::get<Unsolvable>(*resolution).problems.at(0).summary == "bad 1 is refused: its field Depends is malformed");
  CHECK(std::find(sink.names.begin(), sink.names.end(), "resolve.stanza.refused") != sink.names.end());
}

TEST_CASE("the judge is independent: it rejects a set with a hole, a conflict or a removal", "[resolve::judge]") {
  PackageTable table(
      "Package: app\nVersion: 1\nDepends: lib (>= 2) | other\n\nPackage: lib\nVersion: 1\n\n"
      "Package: other\nVersion: 1\nProvides: api (= 3)\n\nPackage: user\nVersion: 1\nDepends: api (>= 3)\n\n"
      "Package: foe\nVersion: 1\nBreaks: other (<< 2)\n");
  const resolve::PackageUniverse& universe = table.universe();
  const auto package = [&](const char* name) {
    return universe.candidate(universe.slot_of(*universe.find_name(name), 0));
  };
  const auto holds = [&](std::vector<resolve::PackageIndex> installed, std::vector<resolve::PackageIndex> chosen) {
    const auto verdict = resolve::judge(universe, installed, chosen);
    REQUIRE(verdict.has_value());
    CHECK(verdict->holds == verdict->problems.empty());
    return verdict->holds;
  };
  CHECK(holds({}, {package("app"), package("other")}));
  CHECK(holds({package("other")}, {package("app"), package("user")}));
  CHECK_FALSE(holds({}, {package("app"), package("lib")}));
  CHECK_FALSE(holds({}, {package("app"), package("other"), package("foe")}));
  CHECK_FALSE(holds({package("other")}, {package("foe")}));
}

TEST_CASE("the same input gives the same closure, in order of names", "[resolve::closure]") {
  const std::string text = std::string(k_base) + "Package: z\nVersion: 1\nDepends: a\n\nPackage: a\nVersion: 1\n";
  PackageTable one(text);
  PackageTable two(text);
  const PackageClosure first = closure_of(one, {{"z", {}, "--package"}});
  const PackageClosure second = closure_of(two, {{"z", {}, "--package"}});
  CHECK(first == second);
  CHECK(std::is_sorted(first.packages.begin(), first.packages.end(),
                       [](const PackageRecord& a, const PackageRecord& b) { return a.id.name < b.id.name; }));
}
