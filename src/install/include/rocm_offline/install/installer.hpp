// Applies a bundle on a machine without network by its own package manager: isolated, journalled, undoable.
// No file of the target's own package configuration is changed, not even for a moment.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/distros/distro.hpp"

namespace rocm_offline::install {

struct InstallOptions {
  std::filesystem::path root = "/";
  bool dryrun = false;
  bool no_mount = false;
  bool allow_kernel_mismatch = false, allow_version_mismatch = false;
  bool allow_removals = false, allow_downgrades = false;
  bool with_site_hooks = false;
  bool purge = false;  // uninstall
  bool no_post_install = false;
  std::optional<std::string> treat_as{};
  std::optional<std::filesystem::path> work_dir{};
  std::chrono::seconds lock_wait{60};                      // for another package manager to finish
  PostInstall post_install{};                              // united with the bundle's defaults by the caller
  std::function<bool(const std::string& question)> ask{};  // empty: never asks (every answer is yes)
  // Called once with the target's id, after the checks that need no native tool and before the first such tool is
  // started; its error ends the run.
  std::function<Result<Done>(const std::string& target)> verify_members{};
};

struct Ports {
  ProcessRunner& processes;
  const Clock& clock;
  EventSink& events;
  CancelToken cancel;
};

struct ChangedPackage {
  PackageId id{};
  std::string before{};  // version, or empty when it was absent
  bool operator==(const ChangedPackage&) const = default;
};

struct InstallReport {
  std::string target{};
  std::string bundle_id{};
  bool dryrun = false;
  bool nothing_to_do = false;  // second run
  bool resumed = false;        // an interrupted run was continued
  std::vector<Check> checks{};
  std::vector<ChangedPackage> added{}, upgraded{}, removed{}, downgraded{};
  std::vector<std::string> post_install{};  // what was done, one line each
  std::vector<std::string> notes{};         // what the target's own configuration would have done
};

struct StatusReport {
  std::string state{};  // not-installed | partial | installed | changed
  std::vector<std::string> differences{};
};

// Everything that can refuse, without changing anything: machine, architecture, root, lock, broken packages, space,
// other ROCm, pins and hooks that will not act. Codes are stable.
[[nodiscard]] Result<distros::CheckReport> preflight(const bundle::BundleReader& bundle, const InstallOptions& options,
                                                     Ports& ports);
[[nodiscard]] Result<InstallReport> install(const bundle::BundleReader& bundle, const InstallOptions& options,
                                            Ports& ports);
[[nodiscard]] Result<InstallReport> uninstall(const bundle::BundleReader& bundle, const InstallOptions& options,
                                              Ports& ports);
[[nodiscard]] Result<StatusReport> status(const bundle::BundleReader& bundle, const InstallOptions& options,
                                          Ports& ports);

}  // namespace rocm_offline::install
