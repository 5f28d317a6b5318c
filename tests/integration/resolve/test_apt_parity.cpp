// The walk against the real apt of this machine, on small repositories that hold one of its habits each.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "closure.hpp"
#include "requests.hpp"
#include "support/native_apt/apt_simulation.hpp"
#include "support/native_apt/packages_text.hpp"
#include "walk.hpp"

using namespace rocm_offline;

namespace {

// A package in one line: "name version ; Field: value ; Field: value".
std::string stanza(const std::string& line, bool installed) {
  std::string text;
  std::size_t at = 0;
  bool first = true;
  bool has_priority = false;
  while (at <= line.size()) {
    const std::size_t end = std::min(line.find(" ; ", at), line.size());
    const std::string part = line.substr(at, end - at);
    if (first) {
      const std::size_t blank = part.find(' ');
      const std::string name = part.substr(0, blank);
      text += "Package: " + name + "\nVersion: " + part.substr(blank + 1) + "\nArchitecture: amd64\n";
      text += "Maintainer: Nobody <nobody@example.org>\nDescription: test\n";
      text += installed ? "Status: install ok installed\n"
                        : "Filename: " + name + ".deb\nSize: 1\nSHA256: " + std::string(64, '0') + "\n";
    } else {
      text += part + "\n";
      has_priority = has_priority || part.starts_with("Priority:");
    }
    first = false;
    at = end + 3;
  }
  return text + (has_priority ? "" : "Priority: optional\n") + "\n";
}

std::string stanzas(const std::vector<std::string>& lines, bool installed = false) {
  std::string text;
  for (const std::string& line : lines) {
    text += stanza(line, installed);
  }
  return text;
}

struct Scenario {
  const char* name;
  std::vector<std::vector<std::string>> repositories;
  std::vector<std::string> installed;
  std::vector<std::vector<std::string>> requests;
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> k_scenarios = {
      {"alternatives in the order written",
       {{"app 1 ; Depends: missing | broken | good | better", "broken 1 ; Depends: nowhere", "good 1", "better 1"}},
       {},
       {{"app"}, {"app", "better"}, {"better", "app"}}},
      {"providers: Essential, Priority, the last in the index",
       {{"app 1 ; Depends: thing", "app2 1 ; Depends: other", "app3 1 ; Depends: named",
         "e 1 ; Essential: yes ; Provides: thing", "o1 1 ; Provides: thing, other, named",
         "o2 1 ; Provides: thing, other, named", "s 1 ; Priority: standard ; Provides: thing", "named 1"}},
       {},
       {{"app"}, {"app2"}, {"app3"}, {"app2", "o1"}}},
      {"candidates over several repositories",
       {{"lib 1", "app 1 ; Depends: lib", "old 1 ; Depends: lib (= 1)"}, {"lib 1+deb13u1"}},
       {},
       {{"app"}, {"old"}, {"lib"}}},
      {"versioned and unversioned Provides",
       {{"app 1 ; Depends: api (>= 2)", "plain 9 ; Provides: api", "old 9 ; Provides: api (= 1)",
         "fits 1 ; Provides: api (= 2.1)", "none 1 ; Depends: api (>= 3)"}},
       {},
       {{"app"}, {"none"}}},
      {"name:any",
       {{"app 1 ; Depends: py:any", "bad 1 ; Depends: pl:any", "py 3 ; Multi-Arch: allowed", "pl 5"}},
       {},
       {{"app"}, {"bad"}}},
      {"conflicts and Breaks",
       {{"exim 1 ; Provides: mta ; Conflicts: mta", "postfix 1 ; Provides: mta ; Conflicts: mta",
         "app 1 ; Depends: mta", "pair 1 ; Depends: exim, postfix", "old 1", "new 1 ; Breaks: old (<< 2)",
         "both 1 ; Depends: old, new"}},
       {},
       {{"app"}, {"exim"}, {"pair"}, {"both"}, {"new"}}},
      {"upgrades in step",
       {{"libc6 2 ; Breaks: helper (<< 2)", "libc-bin 2 ; Depends: libc6 (= 2)", "helper 2",
         "app 1 ; Depends: libc6 (>= 2)", "easy 1 ; Depends: libc6"}},
       {"libc6 1", "libc-bin 1 ; Depends: libc6 (= 1)", "helper 1"},
       {{"app"}, {"easy"}, {"libc6"}}},
      {"an installed package is upgraded before another is added",
       {{"app 1 ; Depends: new | old (>= 2)", "new 1", "old 2"}},
       {"old 1"},
       {{"app"}}},
      {"spellings of AMD's indices",
       {{"app 1 ; Depends: comgr(>=1.2.0), a|b,c ( >= 1 )", "comgr 1.2.0", "b 1", "c 1"}},
       {},
       {{"app"}}},
      {"nothing provides", {{"app 1 ; Depends: lib", "lib 1 ; Depends: gone (>= 2)", "gone 1"}}, {}, {{"app"}}},
  };
  return k_scenarios;
}

using Choice = std::set<std::pair<std::string, std::string>>;

std::optional<Choice> walk_of(resolve::PackageUniverse& universe, const std::vector<std::string>& names) {
  std::vector<PackageRequest> requests;
  for (const std::string& name : names) {
    requests.push_back({name, {}, {}});
  }
  const resolve::FoundRequests found = resolve::find_requests(universe, requests);
  resolve::Walk walk(universe, {});
  if (!found.problems.empty() || !walk.install(found.requests)) {
    return std::nullopt;
  }
  Choice choice;
  for (const resolve::ChosenPackage& chosen : walk.chosen()) {
    choice.emplace(universe.id_of(chosen.package).name, universe.id_of(chosen.package).version);
  }
  return choice;
}

}  // namespace

TEST_CASE("the walk chooses what the real apt chooses", "[resolve::parity]") {
  if (!test::AptSimulation::available()) {
    std::cout << "skipped: there is no apt-get on this machine to compare with\n";
    return;
  }
  for (const Scenario& scenario : scenarios()) {
    std::vector<std::string> texts;
    std::vector<test::PackagesText> tables;
    for (const std::vector<std::string>& lines : scenario.repositories) {
      texts.push_back(stanzas(lines));
      tables.push_back(test::read_packages_text(texts.back()));
    }
    const std::string status = stanzas(scenario.installed, true);
    const test::PackagesText installed = test::read_packages_text(status);
    const auto folder =
        TemporaryDirectory::create(Stage::resolve, std::filesystem::temp_directory_path(), "rocm-offline-parity-");
    REQUIRE(folder.has_value());
    const test::AptSimulation apt = test::AptSimulation::create(folder->path(), texts, status);
    for (const std::vector<std::string>& request : scenario.requests) {
      std::vector<resolve::PackageUniverse::Repository> repositories;
      for (const test::PackagesText& table : tables) {
        repositories.push_back({"repository", 500, table.packages});
      }
      resolve::PackageUniverse universe("amd64", {}, std::move(repositories), installed.packages);
      const std::optional<Choice> ours = walk_of(universe, request);
      const test::AptAnswer answer = apt.install(request);
      CAPTURE(scenario.name, request, answer.output);
      CHECK(ours.has_value() == (answer.exit_code == 0));
      if (ours && answer.exit_code == 0) {
        CHECK(*ours == answer.installs);
        CHECK(answer.removes.empty());
      }
    }
  }
}
