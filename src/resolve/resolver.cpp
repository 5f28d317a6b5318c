#include "rocm_offline/resolve/resolver.hpp"

#include "closure.hpp"

namespace rocm_offline::resolve {
namespace {

std::vector<PackageUniverse::Repository> repositories_of(const index::RepositorySet& set) {
  std::vector<PackageUniverse::Repository> repositories;
  for (const index::VerifiedRepository& repository : set.repositories) {
    repositories.push_back({repository.definition().name, repository.definition().priority, repository.packages()});
  }
  return repositories;
}

// A profile knows names and versions only; what no index has any more is taken as installed without relations.
std::vector<index::DebPackage> installed_stanzas(const std::vector<PackageId>& installed) {
  std::vector<index::DebPackage> stanzas;
  for (const PackageId& id : installed) {
    index::DebPackage& stanza = stanzas.emplace_back();
    stanza.name = id.name;
    stanza.version = id.version;
    stanza.arch = id.arch;
  }
  return stanzas;
}

}  // namespace

Result<Resolution> resolve(const ResolveRequest& request, const index::RepositorySet& repositories, EventSink& events) {
  const std::vector<index::DebPackage> installed = installed_stanzas(request.installed);
  PackageUniverse universe(request.arch, request.foreign_archs, repositories_of(repositories), installed);
  const UrlsOf urls_of = [&](PackageIndex package) {
    const UniversePackage& entry = universe.at(package);
    return repositories.repositories[entry.repository].urls_of(*entry.deb);
  };
  return resolve_universe(universe, request, urls_of, events);
}

}  // namespace rocm_offline::resolve
