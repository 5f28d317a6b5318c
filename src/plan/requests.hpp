// What is to be installed: use cases, packages and driver become package requests.
#pragma once

#include <vector>

#include "rocm_offline/plan/planner.hpp"

namespace rocm_offline::plan {

// The use cases of the selection without repeats; unknown_usecase when the release has none of that name.
[[nodiscard]] Result<std::vector<std::string>> chosen_usecases(const Selection& selection,
                                                               const repos::Release& release);
// In the order use cases, packages, driver; each name once, a version given by --package kept.
[[nodiscard]] Result<std::vector<PackageRequest>> make_requests(const Selection& selection,
                                                                const repos::Release& release, const Target& target);

}  // namespace rocm_offline::plan
