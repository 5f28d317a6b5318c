// Where packages come from: groups of the catalogue and the user's own repositories become definitions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "rocm_offline/plan/planner.hpp"

namespace rocm_offline::plan {

struct RepositoryQuestion {
  const Selection& selection;
  const distros::Catalog& distros;
  const repos::Catalog& repos;
  const repos::Release& release;
  const repos::ReleaseTarget& release_target;
  const Target& target;
};

// The target's base groups, then the release's, then --repo files: catalogue addresses, no keys and no allowances yet.
[[nodiscard]] Result<std::vector<RepositoryDefinition>> define_repositories(const RepositoryQuestion& question);

// Every name that --mirror, --keyring and --allow-* may use: groups, repositories of the plans, --repo names.
[[nodiscard]] std::set<std::string> repository_names(const Selection& selection, const repos::Catalog& repos,
                                                     const std::vector<ReleasePlan>& plans);
// unknown_repository for the first name that is none of them; usage for a mirror that is no address.
[[nodiscard]] Result<Done> check_names(const Selection& selection, const std::set<std::string>& names);

// Mirrors, keys and allowances of the selection. A repository's own name goes before its group's. key_unknown where
// there is no key and it may not be unsigned.
[[nodiscard]] Result<Done> apply_selection(const Selection& selection, const repos::Catalog& repos,
                                           RepositoryDefinition& definition);

}  // namespace rocm_offline::plan
