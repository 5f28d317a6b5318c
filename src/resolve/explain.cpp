#include "explain.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "solv_pool.hpp"

namespace rocm_offline::resolve {
namespace {

constexpr int k_max_problems = 5;

// "hipcc was requested (usecase hip)"
std::string request_words(const PackageUniverse& universe, const WalkRequest& request) {
  std::string words(universe.at(request.package).deb->name);
  if (request.reason.kind == ReasonKind::essential) {
    return words + " is essential: it belongs to every target";
  }
  words += " was requested";
  if (!request.reason.by.empty()) {
    words += " (" + request.reason.by + ")";
  }
  return words;
}

// What the problem rules of libsolv say, in our terms.
struct Contradiction {
  SolverRuleinfo type = SOLVER_RULE_UNKNOWN;
  PackageIndex source = k_none;
  PackageIndex target = k_none;
  Id dependency = 0;
};

class Explainer {
 public:
  Explainer(const PackageUniverse& universe, const std::vector<WalkRequest>& requests, SolvPool& pool)
      : m_universe(universe), m_requests(requests), m_pool(pool) {}

  // Every candidate that the requests can reach, whichever alternative is taken.
  void fill_pool() {
    std::deque<PackageIndex> waiting;
    const auto reach = [&](PackageIndex package) {
      if (m_pool.solvable_of(package) == 0) {
        const SlotId slot = m_universe.at(package).slot;
        m_pool.add(package, m_universe.installed(slot) == package);
        waiting.push_back(package);
      }
    };
    for (const PackageIndex package : m_universe.installed_packages()) {
      reach(package);
    }
    for (const WalkRequest& request : m_requests) {
      reach(request.package);
    }
    while (!waiting.empty()) {
      const PackageIndex package = waiting.front();
      waiting.pop_front();
      for (const DependencyGroup& group : m_universe.relations(package).depends) {
        for (const PackageIndex target : m_universe.targets(group)) {
          if (m_universe.relations(target).malformed.empty()) {
            reach(target);
          }
        }
      }
    }
    m_pool.seal();
  }

  std::vector<Problem> problems() {
    std::vector<PackageIndex> wanted;
    for (const WalkRequest& request : m_requests) {
      wanted.push_back(request.package);
    }
    int count = 0;
    const auto solver = m_pool.solve(wanted, count);
    std::vector<Problem> problems;
    for (int i = 1; i <= std::min(count, k_max_problems); ++i) {
      std::optional<Problem> problem = problem_of(solver.get(), i);
      if (problem && std::find(problems.begin(), problems.end(), *problem) == problems.end()) {
        problems.push_back(std::move(*problem));
      }
    }
    return problems;
  }

 private:
  std::optional<Problem> problem_of(Solver* solver, int number) {
    const std::vector<Contradiction> rules = rules_of(solver, number);
    m_edges.clear();
    for (const Contradiction& rule : rules) {
      if (rule.type == SOLVER_RULE_PKG_REQUIRES) {
        add_edges(rule);
      }
    }
    // The end of the chain is the rule that nothing can be done about: a missing provider, else a conflict.
    for (const Contradiction& rule : rules) {
      if (rule.type == SOLVER_RULE_PKG_NOTHING_PROVIDES_DEP) {
        return missing_provider(rule);
      }
    }
    for (const Contradiction& rule : rules) {
      if (rule.type == SOLVER_RULE_PKG_CONFLICTS || rule.type == SOLVER_RULE_PKG_SAME_NAME) {
        return conflict(rule);
      }
    }
    return std::nullopt;
  }

  std::vector<Contradiction> rules_of(Solver* solver, int number) const {
    IdQueue ids;
    solver_findallproblemrules(solver, number, ids.get());
    std::vector<Contradiction> rules;
    for (int i = 0; i < ids.size(); ++i) {
      Id source = 0;
      Id target = 0;
      Id dependency = 0;
      const SolverRuleinfo type = solver_ruleinfo(solver, ids.at(i), &source, &target, &dependency);
      rules.push_back({type, m_pool.package_of(source), m_pool.package_of(target), dependency});
    }
    return rules;
  }

  void add_edges(const Contradiction& rule) {
    const DependencyGroup* group = group_of(rule.source, rule.dependency);
    if (group == nullptr) {
      return;
    }
    for (const PackageIndex target : m_universe.targets(*group)) {
      m_edges[target].push_back({rule.source, group});
    }
  }

  const DependencyGroup* group_of(PackageIndex package, Id dependency) const {
    if (package == k_none) {
      return nullptr;
    }
    const std::vector<DependencyGroup>& groups = m_universe.relations(package).depends;
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const DependencyGroup& group) { return m_pool.group_id(group) == dependency; });
    return found == groups.end() ? nullptr : &*found;
  }

  const WalkRequest* request_of(PackageIndex package) const {
    const auto found = std::find_if(m_requests.begin(), m_requests.end(),
                                    [&](const WalkRequest& request) { return request.package == package; });
    return found == m_requests.end() ? nullptr : &*found;
  }

  // From a package up to the request that wants it, over the problem's own rules: the shortest way.
  void append_way_up(PackageIndex from, std::vector<std::string>& chain) const {
    std::map<PackageIndex, PackageIndex> came_from{{from, k_none}};
    std::deque<PackageIndex> waiting{from};
    while (!waiting.empty()) {
      const PackageIndex package = waiting.front();
      waiting.pop_front();
      if (request_of(package) != nullptr) {
        write_way(package, came_from, chain);
        return;
      }
      const auto edges = m_edges.find(package);
      if (edges == m_edges.end()) {
        continue;
      }
      for (const auto& [parent, group] : edges->second) {
        if (came_from.try_emplace(parent, package).second) {
          waiting.push_back(parent);
        }
      }
    }
  }

  void write_way(PackageIndex top, const std::map<PackageIndex, PackageIndex>& came_from,
                 std::vector<std::string>& chain) const {
    std::vector<std::string> words{request_words(m_universe, *request_of(top))};
    for (PackageIndex package = top; came_from.at(package) != k_none; package = came_from.at(package)) {
      const PackageIndex below = came_from.at(package);
      for (const auto& [parent, group] : m_edges.at(below)) {
        if (parent == package) {
          words.push_back(m_universe.label(package) + " needs " + group->text);
          break;
        }
      }
    }
    chain.insert(chain.end(), words.rbegin(), words.rend());
  }

  Problem missing_provider(const Contradiction& rule) const {
    const DependencyGroup* group = group_of(rule.source, rule.dependency);
    const std::string wanted = group == nullptr ? pool_dep2str(m_pool.get(), rule.dependency) : group->text;
    Problem problem;
    problem.summary = "nothing provides " + wanted;
    problem.chain.push_back(problem.summary);
    if (rule.source != k_none) {
      problem.summary += ", which " + m_universe.label(rule.source) + " needs";
      problem.chain.push_back(m_universe.label(rule.source) + " needs " + wanted);
      append_way_up(rule.source, problem.chain);
    }
    problem.help = "add a repository that has it with --repo";
    if (group != nullptr) {
      if (const std::string known = known_versions(*group); !known.empty()) {
        problem.help = "the repositories have " + known + "; " + problem.help +
                       ", or ask for another version of what needs it with --package NAME=VERSION";
      }
    }
    return problem;
  }

  // "libc6 2.36-9, libc6 2.41-12": what bears a wanted name but has the wrong version.
  std::string known_versions(const DependencyGroup& group) const {
    std::string known;
    for (const Alternative& alternative : group.alternatives) {
      const SlotId slot = m_universe.slot_of(alternative.base_name, 0);
      for (const PackageIndex package : slot == k_none ? std::vector<PackageIndex>{} : m_universe.versions(slot)) {
        known.append(known.empty() ? "" : ", ").append(m_universe.label(package));
      }
    }
    return known;
  }

  Problem conflict(const Contradiction& rule) const {
    Problem problem;
    const std::string left = rule.source == k_none ? "a package" : m_universe.label(rule.source);
    const std::string right = rule.target == k_none ? "another package" : m_universe.label(rule.target);
    problem.summary = left + " conflicts with " + right;
    problem.chain.push_back(problem.summary + conflict_words(rule));
    for (const PackageIndex package : {rule.source, rule.target}) {
      if (package != k_none) {
        append_way_up(package, problem.chain);
      }
    }
    problem.help = "leave out one of the two, or make two bundles";
    return problem;
  }

  std::string conflict_words(const Contradiction& rule) const {
    if (rule.source == k_none || rule.target == k_none) {
      return {};
    }
    for (const Conflict& conflict : m_universe.relations(rule.source).conflicts) {
      if (m_universe.fulfils(rule.target, conflict.target)) {
        return " (" + std::string(conflict.field) + ": " + conflict.text + ")";
      }
    }
    return {};
  }

  struct Edge {
    PackageIndex parent;
    const DependencyGroup* group;
  };

  const PackageUniverse& m_universe;
  const std::vector<WalkRequest>& m_requests;
  SolvPool& m_pool;
  std::map<PackageIndex, std::vector<Edge>> m_edges;  // from a package to those that need it, in this problem
};

// libsolv, which may backtrack over all alternatives, found a way (or no words).
Problem walk_problem(const PackageUniverse& universe, const std::vector<WalkRequest>& requests,
                     const WalkFailure& failure) {
  Problem problem;
  problem.chain = failure.chain;
  const auto request = std::find_if(requests.begin(), requests.end(),
                                    [&](const WalkRequest& candidate) { return candidate.package == failure.request; });
  if (request != requests.end()) {
    problem.chain.push_back(request_words(universe, *request));
  }
  problem.summary = problem.chain.empty() ? "the requests cannot be installed together" : problem.chain.front();
  problem.help =
      "the target's apt finds no way in its order of choice: name an alternative of what fails with --package NAME";
  return problem;
}

}  // namespace

Result<std::vector<Problem>> explain(const PackageUniverse& universe, const std::vector<WalkRequest>& requests,
                                     const WalkFailure& failure) {
  auto pool = SolvPool::create(universe);
  if (!pool) {
    return fail(std::move(pool).error());
  }
  Explainer explainer(universe, requests, *pool);
  explainer.fill_pool();
  std::vector<Problem> problems = explainer.problems();
  if (problems.empty()) {
    problems.push_back(walk_problem(universe, requests, failure));
  }
  return problems;
}

}  // namespace rocm_offline::resolve
