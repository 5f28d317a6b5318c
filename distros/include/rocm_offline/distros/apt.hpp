// The target's own apt and dpkg: private configuration, simulation, installed packages, what its configuration says.
// Nothing here changes a file of the target's package configuration (measured.md §1). Output of the tools is untrusted
// text: what does not parse is an error, never skipped in silence.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::distros {

// One entry of dpkg's database.
struct DpkgPackage {
  PackageId id;
  std::string status;  // two or three letters of `dpkg -l`: "ii", "rc", "hi", "iU", "iHR"
  bool essential = false;
  std::string depends;  // Pre-Depends and Depends, joined by ", "
  std::string provides;
  [[nodiscard]] bool installed() const { return status.size() >= 2 && status[1] == 'i'; }
  [[nodiscard]] bool config_files_only() const { return status.size() >= 2 && status[1] == 'c'; }
  [[nodiscard]] bool held() const { return !status.empty() && status[0] == 'h'; }
  // Unpacked, half-installed, half-configured or marked for reinstallation: apt refuses to go on.
  [[nodiscard]] bool half_done() const;
  bool operator==(const DpkgPackage&) const = default;
};

// Output of `dpkg-query -W` with query_format().
[[nodiscard]] std::string dpkg_query_format();
[[nodiscard]] Result<std::vector<DpkgPackage>> parse_dpkg_query(std::string_view output);

// A file of an installed package that is not as its package brought it (`dpkg --verify`, dpkg(1)). Conffiles are the
// admin's to change, and documentation is often left out on purpose (path-exclude of dpkg.cfg): neither counts.
struct ChangedFile {
  std::string path;
  bool missing = false;
  bool operator==(const ChangedFile&) const = default;
};
[[nodiscard]] std::vector<ChangedFile> parse_dpkg_verify(std::string_view output);

// One alternative of a dependency: "libc6 (>= 2.38)" without its version.
using OrGroup = std::vector<std::string>;
// Names of a Depends or Provides field, grouped by comma; architecture qualifiers and versions dropped.
[[nodiscard]] std::vector<OrGroup> parse_relation_names(std::string_view field);

struct SimulatedChange {
  PackageId id;        // version: the new one; for removals the old one
  std::string before;  // installed version; empty when it was absent
  bool operator==(const SimulatedChange&) const = default;
};

// What `apt-get -s` said.
struct Simulation {
  std::vector<SimulatedChange> installs;  // Inst, in apt's order; upgrades and downgrades have `before`
  std::vector<SimulatedChange> removals;  // Remv and Purg
  bool operator==(const Simulation&) const = default;
};
// `native_arch` is the architecture of lines without one (Remv).
[[nodiscard]] Result<Simulation> parse_simulation(std::string_view output, std::string_view native_arch);

// Settings of the target that would act in an ordinary apt run and do not act in ours.
struct AptSiteConfiguration {
  std::vector<std::string> hooks;     // "DPkg::Post-Invoke: touch /x"
  std::vector<std::string> settings;  // "APT::Default-Release \"trixie\"", proxies
  bool operator==(const AptSiteConfiguration&) const = default;
};
[[nodiscard]] AptSiteConfiguration parse_apt_config_dump(std::string_view dump);

// A stanza of apt's preferences.
struct AptPin {
  std::string packages;  // "hipcc librocm*" or "*"
  std::string pin;       // "release a=stable"
  int priority = 0;
  bool operator==(const AptPin&) const = default;
};
[[nodiscard]] std::vector<AptPin> parse_apt_preferences(std::string_view text);

// The private folder of one run: apt.conf, sources.list, lists, cache.
struct AptIsolation {
  std::filesystem::path folder;                     // as the tool sees it (below its root)
  std::optional<std::filesystem::path> repository;  // flat repository; nullopt: no source at all (removals)
};
// Text of the two files. A path that apt's configuration cannot hold (quote, control character) is a usage error.
[[nodiscard]] Result<std::string> apt_configuration(const AptIsolation& isolation);
[[nodiscard]] std::string apt_source_line(const std::filesystem::path& repository);

struct AptInstallRequest {
  std::vector<PackageId> packages;  // asked for with exact versions
  bool allow_removals = false;
  bool allow_downgrades = false;
};

// Runs the tools of one root. Each command's lines go to on_line (for the log).
class AptTool {
 public:
  // root "/" runs them as they are, any other root inside a chroot.
  AptTool(ProcessRunner& processes, std::filesystem::path root, std::function<void(std::string_view)> on_line);

  // Writes the private folder below the root (0700) and makes the following commands use it.
  [[nodiscard]] Result<Done> isolate(const AptIsolation& isolation);

  [[nodiscard]] Result<std::vector<DpkgPackage>> packages();
  // Of the named packages; reads every file of them.
  [[nodiscard]] Result<std::vector<ChangedFile>> changed_files(const std::vector<std::string>& names);
  // `dpkg --print-architecture`
  [[nodiscard]] Result<std::string> architecture();
  // Names of packages marked as automatically installed; as "name" or "name:arch", as apt-mark prints them.
  [[nodiscard]] Result<std::vector<std::string>> automatic_marks();
  [[nodiscard]] Result<Done> mark(bool automatic, const std::vector<std::string>& names);
  // Reads configuration only; uses the target's own, not the private one.
  [[nodiscard]] Result<AptSiteConfiguration> site_configuration();

  [[nodiscard]] Result<Done> update();
  // unsolvable (4) with apt's words when it finds no way, plan_differs (4) when removals, downgrades or changes of
  // held packages stand in the way.
  [[nodiscard]] Result<Simulation> simulate_install(const AptInstallRequest& request);
  // The exit status is told, not believed: the caller compares what is installed. native_tool_failed (7).
  [[nodiscard]] Result<Done> install(const AptInstallRequest& request,
                                     const std::function<void(std::string_view)>& on_progress_line);
  [[nodiscard]] Result<Simulation> simulate_removal(const std::vector<std::string>& names);
  // Removes, or with `purge` purges.
  [[nodiscard]] Result<Done> remove(const std::vector<std::string>& names, bool purge,
                                    const std::function<void(std::string_view)>& on_progress_line);
  // Finishes what a killed dpkg left: `dpkg --configure -a`, old configuration files kept.
  [[nodiscard]] Result<Done> configure_pending();

  // Any other program of the target (gpasswd, getent, groupadd), with the same clean environment.
  [[nodiscard]] Result<ProcessOutcome> run(const std::vector<std::string>& argv);

 private:
  // For answers that are parsed: what stands on standard error is no part of them.
  [[nodiscard]] Result<ProcessOutcome> ask(const std::vector<std::string>& argv);
  [[nodiscard]] Result<ProcessOutcome> run_isolated(const std::vector<std::string>& argv,
                                                    const std::function<void(std::string_view)>& on_progress_line);
  [[nodiscard]] ProcessRequest request_for(const std::vector<std::string>& argv) const;

  ProcessRunner& m_processes;
  std::filesystem::path m_root;
  std::function<void(std::string_view)> m_on_line;
  std::optional<std::filesystem::path> m_config;
};

}  // namespace rocm_offline::distros
