// A libsolv pool with Debian semantics, filled from a universe. Only judge.cpp, explain.cpp and solv_pool.cpp see
// libsolv.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
#include <solv/pool.h>
#include <solv/queue.h>
#include <solv/solver.h>
}

#include "rocm_offline/core/error.hpp"
#include "universe.hpp"

namespace rocm_offline::resolve {

struct PoolCloser {
  void operator()(Pool* pool) const { pool_free(pool); }
};
struct SolverCloser {
  void operator()(Solver* solver) const { solver_free(solver); }
};

// libsolv's growing array of Ids.
class IdQueue {
 public:
  IdQueue() { queue_init(&m_queue); }
  ~IdQueue() { queue_free(&m_queue); }
  IdQueue(const IdQueue&) = delete;
  IdQueue& operator=(const IdQueue&) = delete;
  [[nodiscard]] Queue* get() { return &m_queue; }
  [[nodiscard]] int size() const { return m_queue.count; }
  [[nodiscard]] Id at(int index) const { return m_queue.elements[index]; }

 private:
  Queue m_queue{};
};

// Architectures are spelled into the names ("libc6:i386"), because libsolv's Debian semantics know one architecture
// only: a package provides "x" where it serves the native architecture, and "x:ARCH" where it serves a foreign one.
class SolvPool {
 public:
  // internal, with help, when this libsolv was built without Debian semantics.
  [[nodiscard]] static Result<SolvPool> create(const PackageUniverse& universe);

  // Adds a package once; `installed` ones are the target's state.
  Id add(PackageIndex package, bool installed);
  // Ends the filling: after it the pool can be asked and solved.
  void seal();

  [[nodiscard]] Pool* get() const { return m_pool.get(); }
  [[nodiscard]] PackageIndex package_of(Id solvable) const;
  [[nodiscard]] Id solvable_of(PackageIndex package) const;
  // The Id under which a group was added: to find the words of a rule again.
  [[nodiscard]] Id group_id(const DependencyGroup& group) const;
  // Solves for exactly these; the solver has the problems.
  [[nodiscard]] std::unique_ptr<Solver, SolverCloser> solve(const std::vector<PackageIndex>& wanted,
                                                            int& problems) const;

 private:
  SolvPool(const PackageUniverse& universe, std::unique_ptr<Pool, PoolCloser> pool);
  [[nodiscard]] Id name_id(NameId name, ArchId arch) const;
  [[nodiscard]] Id alternative_id(const Alternative& alternative, ArchId arch) const;
  void add_provides(Solvable& solvable, PackageIndex package) const;
  void add_conflicts(Solvable& solvable, PackageIndex package) const;

  const PackageUniverse* m_universe;
  std::unique_ptr<Pool, PoolCloser> m_pool;
  Repo* m_available;
  Repo* m_installed;
  std::unordered_map<PackageIndex, Id> m_solvables;
  std::unordered_map<Id, PackageIndex> m_packages;
};

// "libsolv 0.7.23"
[[nodiscard]] std::string solver_name();

}  // namespace rocm_offline::resolve
