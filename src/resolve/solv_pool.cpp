#include "solv_pool.hpp"

extern "C" {
#include <solv/repo.h>
#include <solv/solvversion.h>
}

namespace rocm_offline::resolve {
namespace {

int relation_flags(VersionOperator op) {
  switch (op) {
    case VersionOperator::none:
      return 0;
    case VersionOperator::earlier:
      return REL_LT;
    case VersionOperator::earlier_equal:
      return REL_LT | REL_EQ;
    case VersionOperator::equal:
      return REL_EQ;
    case VersionOperator::later_equal:
      return REL_GT | REL_EQ;
    case VersionOperator::later:
      return REL_GT;
  }
  return 0;
}

Id string_id(Pool* pool, std::string_view text) {
  return pool_strn2id(pool, text.data(), static_cast<unsigned>(text.size()), 1);
}

}  // namespace

std::string solver_name() {
  return std::string("libsolv ") + solv_version;
}

SolvPool::SolvPool(const PackageUniverse& universe, std::unique_ptr<Pool, PoolCloser> pool)
    : m_universe(&universe),
      m_pool(std::move(pool)),
      m_available(repo_create(m_pool.get(), "available")),
      m_installed(repo_create(m_pool.get(), "installed")) {
  pool_set_installed(m_pool.get(), m_installed);
}

Result<SolvPool> SolvPool::create(const PackageUniverse& universe) {
  std::unique_ptr<Pool, PoolCloser> pool(pool_create());
  if (pool_setdisttype(pool.get(), DISTTYPE_DEB) < 0) {
    Error error;
    error.code = ErrorCode::internal;
    error.stage = Stage::resolve;
    error.message = "this libsolv cannot judge Debian packages";
    error.reason = solver_name() + " was built without Debian semantics";
    error.details["libsolv"] = solv_version;
    error.help = "build the creator against a libsolv with MULTI_SEMANTICS or DEBIAN switched on, as Debian's is";
    return fail(std::move(error));
  }
  return SolvPool(universe, std::move(pool));
}

Id SolvPool::name_id(NameId name, ArchId arch) const {
  std::string text(m_universe->name_of(name));
  if (arch != 0 && arch != k_any_arch) {
    text.append(":").append(m_universe->has_arch(arch) ? m_universe->arch_name(arch) : "unknown");
  }
  return string_id(m_pool.get(), text);
}

Id SolvPool::alternative_id(const Alternative& alternative, ArchId arch) const {
  const Id name = name_id(alternative.name, arch);
  if (alternative.op == VersionOperator::none) {
    return name;
  }
  return pool_rel2id(m_pool.get(), name, string_id(m_pool.get(), alternative.version), relation_flags(alternative.op),
                     1);
}

Id SolvPool::group_id(const DependencyGroup& group) const {
  Id id = 0;
  for (auto alternative = group.alternatives.rbegin(); alternative != group.alternatives.rend(); ++alternative) {
    const Id one = alternative_id(*alternative, alternative->arch);
    id = id == 0 ? one : pool_rel2id(m_pool.get(), one, id, REL_OR, 1);
  }
  return id;
}

void SolvPool::add_provides(Solvable& solvable, PackageIndex package) const {
  const UniversePackage& entry = m_universe->at(package);
  Pool* pool = m_pool.get();
  const auto provide = [&](Id name, std::string_view version) {
    const Id id = version.empty() ? name : pool_rel2id(pool, name, string_id(pool, version), REL_EQ, 1);
    solvable.dep_provides = repo_addid_dep(solvable.repo, solvable.dep_provides, id, 0);
  };
  for (ArchId arch = 0; m_universe->has_arch(arch); ++arch) {
    if (arch != entry.arch && entry.deb->multi_arch != "foreign") {
      continue;
    }
    provide(name_id(entry.name, arch), entry.deb->version);
    for (const ProvidedName& provided : m_universe->relations(package).provides) {
      provide(name_id(provided.name, arch), provided.version);
    }
  }
}

void SolvPool::add_conflicts(Solvable& solvable, PackageIndex package) const {
  const UniversePackage& entry = m_universe->at(package);
  for (const Conflict& conflict : m_universe->relations(package).conflicts) {
    const Alternative& target = conflict.target;
    for (ArchId arch = 0; m_universe->has_arch(arch); ++arch) {
      const bool meant = target.arch == k_any_arch || target.arch == arch;
      // Another architecture of the package itself is never meant (dpkg's Multi-Arch specification).
      if (meant && (target.name != entry.name || arch == entry.arch)) {
        solvable.dep_conflicts = repo_addid_dep(solvable.repo, solvable.dep_conflicts, alternative_id(target, arch), 0);
      }
    }
  }
}

Id SolvPool::add(PackageIndex package, bool installed) {
  const auto [known, fresh] = m_solvables.try_emplace(package, 0);
  if (!fresh) {
    return known->second;
  }
  const UniversePackage& entry = m_universe->at(package);
  const Id id = repo_add_solvable(installed ? m_installed : m_available);
  Solvable& solvable = *pool_id2solvable(m_pool.get(), id);
  solvable.name = name_id(entry.name, entry.arch);
  solvable.evr = string_id(m_pool.get(), entry.deb->version);
  solvable.arch = ARCH_ALL;
  add_provides(solvable, package);
  add_conflicts(solvable, package);
  for (const DependencyGroup& group : m_universe->relations(package).depends) {
    solvable.dep_requires = repo_addid_dep(solvable.repo, solvable.dep_requires, group_id(group), 0);
  }
  known->second = id;
  m_packages[id] = package;
  return id;
}

void SolvPool::seal() {
  pool_createwhatprovides(m_pool.get());
}

PackageIndex SolvPool::package_of(Id solvable) const {
  const auto found = m_packages.find(solvable);
  return found == m_packages.end() ? k_none : found->second;
}

Id SolvPool::solvable_of(PackageIndex package) const {
  const auto found = m_solvables.find(package);
  return found == m_solvables.end() ? 0 : found->second;
}

std::unique_ptr<Solver, SolverCloser> SolvPool::solve(const std::vector<PackageIndex>& wanted, int& problems) const {
  IdQueue jobs;
  for (const PackageIndex package : wanted) {
    queue_push2(jobs.get(), SOLVER_INSTALL | SOLVER_SOLVABLE, solvable_of(package));
  }
  std::unique_ptr<Solver, SolverCloser> solver(solver_create(m_pool.get()));
  solver_set_flag(solver.get(), SOLVER_FLAG_IGNORE_RECOMMENDED, 1);
  problems = solver_solve(solver.get(), jobs.get());
  return solver;
}

}  // namespace rocm_offline::resolve
