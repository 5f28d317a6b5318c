#include "closure.hpp"

#include <algorithm>
#include <set>

#include "explain.hpp"
#include "judge.hpp"
#include "requests.hpp"
#include "rocm_offline/core/text.hpp"
#include "walk.hpp"

namespace rocm_offline::resolve {
namespace {

std::vector<PackageIndex> packages_of(const std::vector<ChosenPackage>& chosen) {
  std::vector<PackageIndex> packages;
  packages.reserve(chosen.size());
  for (const ChosenPackage& one : chosen) {
    packages.push_back(one.package);
  }
  return packages;
}

bool is_in_minimal_root(const index::DebPackage& deb) {
  return deb.essential || deb.priority == "required" || deb.name == "apt";
}

class ClosureBuilder {
 public:
  ClosureBuilder(PackageUniverse& universe, const ResolveRequest& request, const UrlsOf& urls_of, EventSink& events)
      : m_universe(universe), m_request(request), m_urls_of(urls_of), m_events(events) {}

  Result<Resolution> build() {
    pin_versions();
    const FoundRequests found = find_requests(m_universe, m_request.requests);
    if (!found.problems.empty()) {
      return unsolvable({found.problems, found.unknown_package});
    }
    const std::vector<PackageIndex> installed = m_universe.installed_packages();
    Walk walk(m_universe, {m_request.policy.recommends});
    const std::vector<WalkRequest> essential =
        installed.empty() ? candidates(ReasonKind::essential) : std::vector<WalkRequest>{};
    const bool solved = walk.install(essential) && walk.install(found.requests);
    report_refused(walk);
    if (!solved) {
      return explained(essential, found.requests, walk.failure());
    }
    m_chosen = walk.chosen();
    if (auto judged = prove(installed, m_chosen, target_words()); !judged) {
      return fail(std::move(judged).error());
    }
    count_recommends(walk);
    if (installed.empty()) {
      if (auto judged = prove_on_minimal_root(found.requests); !judged) {
        return fail(std::move(judged).error());
      }
    }
    return closure();
  }

 private:
  void pin_versions() {
    for (const PackageId& id : m_request.pinned) {
      const auto name = m_universe.find_name(id.name);
      const auto arch = id.arch == "all" ? std::optional<ArchId>(0) : m_universe.find_arch(id.arch);
      const SlotId slot = name && arch ? m_universe.slot_of(*name, *arch) : k_none;
      if (slot == k_none) {
        continue;
      }
      for (const PackageIndex package : m_universe.versions(slot)) {
        if (m_universe.id_of(package) == id) {
          m_universe.pin(package);
          break;
        }
      }
    }
  }

  std::string target_name() const { return m_request.target_id.empty() ? "target" : m_request.target_id; }

  std::string target_words() const {
    return m_universe.installed_packages().empty()
               ? "an empty " + target_name() + " root"
               : "a " + target_name() + " with " + counted(m_universe.installed_packages().size(), "package");
  }

  // The candidates of the native architecture that are Essential, or that a minimal root has, by name.
  std::vector<WalkRequest> candidates(ReasonKind kind) const {
    std::vector<WalkRequest> found;
    for (PackageIndex package = 0; package < m_universe.size(); ++package) {
      const UniversePackage& entry = m_universe.at(package);
      const bool wanted = kind == ReasonKind::essential ? entry.deb->essential : is_in_minimal_root(*entry.deb);
      if (wanted && entry.arch == 0 && m_universe.candidate(entry.slot) == package) {
        found.push_back({package, {kind, "", kind == ReasonKind::essential ? "Essential: yes" : ""}});
      }
    }
    std::sort(found.begin(), found.end(), [this](const WalkRequest& a, const WalkRequest& b) {
      return m_universe.at(a.package).deb->name < m_universe.at(b.package).deb->name;
    });
    return found;
  }

  Result<Resolution> explained(const std::vector<WalkRequest>& essential, std::vector<WalkRequest> requests,
                               const WalkFailure& failure) {
    requests.insert(requests.begin(), essential.begin(), essential.end());
    auto problems = explain(m_universe, requests, failure);
    if (!problems) {
      return fail(std::move(problems).error());
    }
    return unsolvable({std::move(*problems), false});
  }

  Result<Resolution> unsolvable(Unsolvable outcome) {
    for (const Problem& problem : outcome.problems) {
      m_events.event({Level::error,
                      "resolve.request.unsolvable",
                      problem.summary,
                      {{"target", m_request.target_id}, {"chain", join(problem.chain, "; ")}, {"help", problem.help}}});
    }
    return Resolution(std::move(outcome));
  }

  void report_refused(const Walk& walk) {
    for (const PackageIndex package : walk.refused()) {
      const PackageId id = m_universe.id_of(package);
      const std::uint32_t repository = m_universe.at(package).repository;
      m_events.event({Level::warning,
                      "resolve.stanza.refused",
                      id.name + " " + id.version + " is not taken: its field " +
                          m_universe.relations(package).malformed + " is malformed",
                      {{"name", id.name},
                       {"version", id.version},
                       {"arch", id.arch},
                       {"repository", repository == k_none ? "" : m_universe.repository(repository).name},
                       {"field", m_universe.relations(package).malformed}}});
    }
  }

  Result<Done> prove(const std::vector<PackageIndex>& installed, const std::vector<ChosenPackage>& chosen,
                     const std::string& target) {
    const auto verdict = judge(m_universe, installed, packages_of(chosen));
    if (!verdict) {
      return fail(verdict.error());
    }
    if (!verdict->holds) {
      Error error;
      error.code = ErrorCode::internal;
      error.stage = Stage::resolve;
      error.message = "libsolv rejects what the walk chose for " + target;
      error.reason = join(verdict->problems, "; ");
      error.details["target"] = m_request.target_id;
      error.details["judge"] = judge_name();
      error.help = "this is a bug of this program: please report it with the create log";
      return fail(std::move(error));
    }
    const std::string proof = "installs on " + target + " (judge: " + judge_name() + ")";
    m_proofs.push_back(proof);
    m_events.event({Level::info,
                    "resolve.closure.proven",
                    proof,
                    {{"target", m_request.target_id},
                     {"packages", std::to_string(chosen.size())},
                     {"installed", std::to_string(installed.size())},
                     {"judge", judge_name()}}});
    return Done{};
  }

  // On a real target more than the Essential packages is there, and may answer an alternative otherwise than the
  // empty root does. What its apt would then ask for is carried too, so that the bundle serves both.
  Result<Done> prove_on_minimal_root(const std::vector<WalkRequest>& requests) {
    Walk base(m_universe, {});
    if (!base.install(candidates(ReasonKind::baseline))) {
      report_unproven(base.failure());
      return Done{};
    }
    const std::vector<PackageIndex> installed = packages_of(base.chosen());
    m_universe.assume_installed(installed);
    Walk walk(m_universe, {m_request.policy.recommends});
    if (!walk.install(requests)) {
      report_unproven(walk.failure());
      m_universe.assume_installed({});
      return Done{};
    }
    const std::vector<ChosenPackage> chosen = walk.chosen();
    auto proven =
        prove(installed, chosen, "a minimal " + target_name() + " root of " + counted(installed.size(), "package"));
    m_universe.assume_installed({});
    if (!proven) {
      return proven;
    }
    carry_for_baseline(chosen);
    return Done{};
  }

  void carry_for_baseline(const std::vector<ChosenPackage>& chosen) {
    std::set<PackageIndex> carried;
    for (const ChosenPackage& one : m_chosen) {
      carried.insert(one.package);
    }
    for (ChosenPackage one : chosen) {
      if (carried.insert(one.package).second) {
        one.reason.kind = ReasonKind::baseline;
        m_chosen.push_back(std::move(one));
      }
    }
  }

  void report_unproven(const WalkFailure& failure) {
    m_events.event({Level::warning,
                    "resolve.baseline.unproven",
                    "the requests are not proven on a minimal " + target_name() + " root",
                    {{"target", m_request.target_id}, {"reason", join(failure.chain, "; ")}}});
  }

  // Recommended groups that nothing carried fulfils, though a repository could.
  void count_recommends(const Walk& walk) {
    std::set<std::string> left_out;
    for (const ChosenPackage& one : m_chosen) {
      for (const DependencyGroup& group : m_universe.relations(one.package).recommends) {
        if (!walk.satisfied(group) && !m_universe.targets(group).empty()) {
          left_out.insert(group.text);
        }
      }
    }
    m_recommends_left_out = left_out.size();
  }

  PackageRecord record_of(const ChosenPackage& chosen) const {
    const UniversePackage& entry = m_universe.at(chosen.package);
    const index::DebPackage& deb = *entry.deb;
    PackageRecord record;
    record.id = m_universe.id_of(chosen.package);
    record.repository = m_universe.repository(entry.repository).name;
    record.filename = deb.filename;
    record.size = deb.size;
    if (deb.installed_size > 0) {
      record.installed_size = deb.installed_size;
    }
    record.sha256 = deb.sha256;
    record.stanza = deb.stanza;
    record.reason = chosen.reason;
    record.urls = m_urls_of(chosen.package);
    return record;
  }

  Result<Resolution> closure() {
    PackageClosure closure;
    for (const ChosenPackage& chosen : m_chosen) {
      closure.packages.push_back(record_of(chosen));
    }
    std::sort(closure.packages.begin(), closure.packages.end(), [](const PackageRecord& a, const PackageRecord& b) {
      return std::tie(a.id.name, a.id.arch) < std::tie(b.id.name, b.id.arch);
    });
    closure.proofs = m_proofs;
    closure.recommends_left_out = m_recommends_left_out;
    const Totals totals = totals_of(closure.packages);
    m_events.event({Level::info,
                    "resolve.closure.found",
                    counted(totals.packages, "package") + ", " + format_size(totals.download_bytes),
                    {{"target", m_request.target_id},
                     {"packages", std::to_string(totals.packages)},
                     {"bytes", std::to_string(totals.download_bytes)},
                     {"recommends_left_out", std::to_string(m_recommends_left_out)}}});
    return Resolution(std::move(closure));
  }

  PackageUniverse& m_universe;
  const ResolveRequest& m_request;
  const UrlsOf& m_urls_of;
  EventSink& m_events;
  std::vector<ChosenPackage> m_chosen;
  std::vector<std::string> m_proofs;
  std::uint64_t m_recommends_left_out = 0;
};

}  // namespace

Result<Resolution> resolve_universe(PackageUniverse& universe, const ResolveRequest& request, const UrlsOf& urls_of,
                                    EventSink& events) {
  if (auto ready = check_judge(); !ready) {
    return fail(std::move(ready).error());
  }
  return ClosureBuilder(universe, request, urls_of, events).build();
}

}  // namespace rocm_offline::resolve
