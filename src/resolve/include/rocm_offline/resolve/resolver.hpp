// Verified indexes -> closure. deb: a walk in apt's own order chooses (docs/adr, shared measurements §4); libsolv is
// the independent judge and the explainer. No libsolv type leaves this folder.
#pragma once

#include <string>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::resolve {

struct ResolveRequest {
  std::vector<PackageRequest> requests{};
  Policy policy{};
  std::string arch = "amd64";
  std::vector<std::string> foreign_archs{};
  // Seam for profiles: packages taken as installed on the target before the walk; empty root for `full`.
  std::vector<PackageId> installed{};
  // Versions that are the candidates of their names, whatever else there is: what a lock file holds. Those that no
  // repository has are ignored.
  std::vector<PackageId> pinned{};
  std::string target_id{};  // for messages and proofs
};

// The closure, or why there is none. Error only for bugs (libsolv rejects what the walk chose) and cancellation.
// full mode: closure of an empty root with every `Essential: yes` package plus the requests.
[[nodiscard]] Result<Resolution> resolve(const ResolveRequest& request, const index::RepositorySet& repositories,
                                         EventSink& events);

}  // namespace rocm_offline::resolve
