// From a universe to a closure with reasons and proofs. Apart from where the packages come from (resolver.cpp), this is
// all of `resolve`.
#pragma once

#include <functional>

#include "rocm_offline/resolve/resolver.hpp"
#include "universe.hpp"

namespace rocm_offline::resolve {

// Absolute addresses of a package of the universe.
using UrlsOf = std::function<std::vector<std::string>(PackageIndex)>;

// As resolve(). What is installed is the universe's; with nothing installed the target is an empty root. Requests of a
// version, and the baseline, change the universe's candidates and installed set.
[[nodiscard]] Result<Resolution> resolve_universe(PackageUniverse& universe, const ResolveRequest& request,
                                                  const UrlsOf& urls_of, EventSink& events);

}  // namespace rocm_offline::resolve
