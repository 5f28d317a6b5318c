#include "judge.hpp"

#include <algorithm>

#include "solv_pool.hpp"

extern "C" {
#include <solv/problems.h>
}

namespace rocm_offline::resolve {

std::string judge_name() {
  return solver_name();
}

Result<Done> check_judge() {
  const PackageUniverse nothing("amd64", {}, {});
  if (auto pool = SolvPool::create(nothing); !pool) {
    return fail(std::move(pool).error());
  }
  return Done{};
}

Result<Verdict> judge(const PackageUniverse& universe, const std::vector<PackageIndex>& installed,
                      const std::vector<PackageIndex>& chosen) {
  auto pool = SolvPool::create(universe);
  if (!pool) {
    return fail(std::move(pool).error());
  }
  for (const PackageIndex package : installed) {
    pool->add(package, true);
  }
  for (const PackageIndex package : chosen) {
    pool->add(package, false);
  }
  pool->seal();
  int problem_count = 0;
  const auto solver = pool->solve(chosen, problem_count);
  Verdict verdict;
  for (int problem = 1; problem <= problem_count; ++problem) {
    verdict.problems.emplace_back(solver_problem2str(solver.get(), problem));
  }
  // A solution alone is not enough: the wanted state must be the state reached.
  for (const PackageIndex package : chosen) {
    if (problem_count == 0 && solver_get_decisionlevel(solver.get(), pool->solvable_of(package)) <= 0) {
      verdict.problems.push_back("leaves out " + universe.label(package));
    }
  }
  for (const PackageIndex package : installed) {
    const SlotId slot = universe.at(package).slot;
    const bool upgraded =
        std::any_of(chosen.begin(), chosen.end(), [&](PackageIndex other) { return universe.at(other).slot == slot; });
    if (problem_count == 0 && !upgraded && solver_get_decisionlevel(solver.get(), pool->solvable_of(package)) <= 0) {
      verdict.problems.push_back("removes the installed " + universe.label(package));
    }
  }
  verdict.holds = verdict.problems.empty();
  return verdict;
}

}  // namespace rocm_offline::resolve
