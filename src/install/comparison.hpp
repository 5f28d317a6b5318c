// The bundle's plan against what apt wants to do, and what is installed afterwards against both. Pure.
#pragma once

#include <string>
#include <vector>

#include "rocm_offline/bundle/manifest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/distros/apt.hpp"

namespace rocm_offline::install {

struct Request {
  std::vector<PackageId> packages;  // to ask apt for, exact versions
  std::vector<std::string> notes;   // requested packages that stay as they are, and why
};
// What to ask apt for. A requested package that is installed in a newer version stays, unless it is AMD's own and
// another origin's version would be mixed in: plan_differs (measured.md 4.5).
[[nodiscard]] Result<Request> choose_request(const bundle::ManifestTarget& target,
                                             const std::vector<distros::DpkgPackage>& installed, bool allow_downgrades);

// plan_differs unless every package that apt would install is the plan's, and nothing is removed or downgraded
// against the user's will.
struct Tolerance {
  bool removals = false;
  bool downgrades = false;
};
[[nodiscard]] Result<std::vector<bundle::ManifestPackage>> compare_with_plan(const distros::Simulation& simulation,
                                                                             const bundle::ManifestTarget& target,
                                                                             Tolerance tolerance);

// native_tool_failed naming each package that is not installed in the version wanted.
[[nodiscard]] Result<Done> compare_installed(const std::vector<PackageId>& wanted,
                                             const std::vector<distros::DpkgPackage>& installed);

// One line for each file that is not as its package brought it; after many, how many more there are.
[[nodiscard]] std::vector<std::string> file_differences(const std::vector<distros::ChangedFile>& files);

// Of `added`, what can go: not needed by `kept_for` (names that other receipts need) nor, through dependencies, by an
// installed package outside. Versions of dependencies are left to apt's simulation.
struct RemovalChoice {
  std::vector<std::string> remove;  // sorted names
  std::vector<std::string> stay;    // one line each: name and who needs it
};
[[nodiscard]] RemovalChoice choose_removals(const std::vector<std::string>& added,
                                            const std::vector<std::string>& kept_for,
                                            const std::vector<distros::DpkgPackage>& installed);

}  // namespace rocm_offline::install
