// The words of a request ("hipcc", "hipcc:amd64", "hipcc=5.7.1-3") to packages of the universe.
#pragma once

#include <vector>

#include "universe.hpp"
#include "walk.hpp"

namespace rocm_offline::resolve {

struct FoundRequests {
  std::vector<WalkRequest> requests{};
  std::vector<Problem> problems{};  // unknown names, missing versions, ambiguous virtual names
  bool unknown_package = false;
};

// A request with a version makes that version the candidate, before anything is walked.
[[nodiscard]] FoundRequests find_requests(PackageUniverse& universe, const std::vector<PackageRequest>& requests);

}  // namespace rocm_offline::resolve
