// Everything that can refuse an installation, found out without changing anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "places.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/distros/apt.hpp"
#include "rocm_offline/install/installer.hpp"

namespace rocm_offline::install {

// A check and, where it refuses, the error an installation ends with.
struct Finding {
  Check check;
  std::optional<Error> error;
};

struct Preflight {
  std::vector<Finding> findings;                   // all of them ran
  const bundle::ManifestTarget* target = nullptr;  // of the bundle's manifest; null when the machine fits none
  std::string machine_target;                      // what this machine is, or empty
  std::vector<distros::DpkgPackage> packages;      // installed now
  std::vector<std::string> notes;                  // pins, hooks, settings, holds of the target
  std::optional<Error> damage;                     // what `verify` said; then no native tool was started
  // The first refusal, naming the others in its details.
  [[nodiscard]] std::optional<Error> refusal() const;
};

struct PreflightQuestion {
  bool will_change = true;  // false for `check`: needing root is then no refusal
  bool resuming = false;    // half-configured packages are ours to finish
  // Called with the target's id before the first native tool is started, unless something refuses already: a damaged
  // bundle starts none. Empty: not asked.
  std::function<Result<Done>(const std::string& target)> verify{};
};

[[nodiscard]] Preflight run_preflight(const bundle::BundleReader& bundle, const InstallOptions& options,
                                      const PreflightQuestion& question, distros::AptTool& tool, const Places& places);

// Where the bytes will go, by mount point: refuses (no_space) naming each that is too small.
struct SpaceNeed {
  std::filesystem::path folder;  // on the host
  std::uint64_t bytes = 0;
};
[[nodiscard]] Result<Done> check_space(const std::vector<SpaceNeed>& needs);
// What unpacking these packages needs below root.
[[nodiscard]] std::vector<SpaceNeed> space_needs(const std::filesystem::path& root,
                                                 const std::vector<bundle::ManifestPackage>& packages);

// AMD's own repositories, whose packages must not be mixed with another origin's.
[[nodiscard]] bool is_vendor_repository(std::string_view repository);

}  // namespace rocm_offline::install
