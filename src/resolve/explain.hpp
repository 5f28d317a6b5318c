// Why there is no closure, in words. libsolv finds the contradiction among the candidates; the words are ours.
#pragma once

#include <vector>

#include "rocm_offline/core/error.hpp"
#include "universe.hpp"
#include "walk.hpp"

namespace rocm_offline::resolve {

// Problems of a walk that failed, each with its chain, end first. Never empty: where libsolv finds a way that apt's
// order does not, the walk's own failure is told and the help says so.
[[nodiscard]] Result<std::vector<Problem>> explain(const PackageUniverse& universe,
                                                   const std::vector<WalkRequest>& requests,
                                                   const WalkFailure& failure);

}  // namespace rocm_offline::resolve
