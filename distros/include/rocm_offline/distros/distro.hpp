// The distributions that targets may run, and the strict check of a machine against them.
// os-release is read by os-release(5); support rows come from the catalogue (distros/catalog, repos/catalog).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::distros {

// The fields of os-release that we use; empty where absent. Duplicates: the last wins.
struct OsRelease {
  std::string id{}, version_id{}, version_codename{}, pretty_name{}, variant_id{};
  std::string base_codename{};         // UBUNTU_CODENAME or DEBIAN_CODENAME, as derivatives set it
  std::vector<std::string> id_like{};
  bool operator==(const OsRelease&) const = default;
};

// Untrusted text, at most 64 KiB. Quoting, escapes, comments, CRLF by the specification. A line that is no
// assignment is skipped, as systemd does; no usable ID is an error (check_failed).
[[nodiscard]] Result<OsRelease> parse_os_release(std::string_view text);
// /etc/os-release, else /usr/lib/os-release, below root. Symbolic links are followed inside root only.
[[nodiscard]] Result<OsRelease> read_os_release(const std::filesystem::path& root);

struct KernelRow {
  std::string prefix{};                  // matches `uname -r` on whole numbers
  std::string status{};                  // validated | as-printed | preview
  std::string track{};                   // GA, HWE, ... or empty
  bool operator==(const KernelRow&) const = default;
};

// One version of a distribution.
struct DistroVersion {
  std::string version{};                 // VERSION_ID
  std::string codename{};
  std::vector<std::string> equivalent_versions{};  // other VERSION_IDs documented as the same
  std::vector<std::string> point_releases{};
  std::vector<KernelRow> kernels{};      // of the distribution itself (GA, HWE), informative
  std::vector<std::string> base_groups{};  // repository groups: "debian", "debian-security"
  std::string end_of_life{};             // YYYY-MM-DD or empty
  bool operator==(const DistroVersion&) const = default;
};

struct Distro {
  std::string id{};                      // ID
  std::string name{};
  PackageFamily family = PackageFamily::deb;
  std::string package_manager{};         // apt, dnf, zypper
  std::string arch{};                    // "amd64"
  std::vector<DistroVersion> versions{};
  bool operator==(const Distro&) const = default;
};

class Catalog {
 public:
  // The catalogue compiled in, then the files of `overrides` (folders; *.json, kind "distribution") in order: a file
  // replaces the distribution of its id. Each is validated against distros/schema; an error names file, JSON pointer
  // and what was expected (catalog_invalid).
  [[nodiscard]] static Result<Catalog> load(const std::vector<std::filesystem::path>& overrides);
  [[nodiscard]] const std::vector<Distro>& distros() const { return m_distros; }
  // "debian-13" -> target; equivalent versions are accepted. unknown_target with near ids otherwise.
  [[nodiscard]] Result<Target> target(std::string_view id) const;
  // Every target id, sorted.
  [[nodiscard]] std::vector<std::string> target_ids() const;
  // The catalogue's entry of a target, nullptr when it has none. Valid as long as the catalogue.
  [[nodiscard]] const Distro* distro(std::string_view id) const;
  [[nodiscard]] const DistroVersion* version(const Target& target) const;

 private:
  std::vector<Distro> m_distros;
};

// What is known of a machine that is to be checked.
struct MachineFacts {
  std::optional<OsRelease> os_release{};
  std::string os_release_error{};        // why there is none
  std::string machine{};                 // uname -m; of an image what its programs are built for; empty: not known
  std::string kernel{};                  // uname -r, empty = not known
  bool container_or_chroot = false;
  bool of_a_target = false;              // what a target's id says, not what was read from a machine
};
// Of this host, or of an image below root (kernel then unknown).
[[nodiscard]] MachineFacts read_machine_facts(const std::filesystem::path& root);

// What one release says of one target. From the repos catalogue; plain here so that distros needs no repos.
struct SupportRow {
  std::string release{};
  bool supported = false;
  bool certain = true;                 // false: unverified or inferred: warns, never refuses
  std::vector<KernelRow> kernels{};
};

struct CheckReport {
  std::string target{};                  // id found or asked for; empty when none could be told
  bool supported = false;              // no check failed
  std::vector<std::string> releases{};   // releases of the catalogue that support the target
  std::vector<Check> checks{};           // all of them ran
  bool operator==(const CheckReport&) const = default;
};

struct CheckQuestion {
  MachineFacts facts;
  std::optional<std::string> treat_as{};     // target id
  std::optional<std::string> release{};      // asked for
  std::vector<SupportRow> support{};         // every release's row for the target
  bool with_driver = false;                // the kernel refuses only then
  std::string today{};                     // YYYY-MM-DD for the lifecycle; empty: the date is only told
};

// The strict check. Codes: os-release, distribution, version, architecture, release, kernel, container, lifecycle.
[[nodiscard]] CheckReport check_machine(const CheckQuestion& question, const Catalog& catalog);
// The target a machine is, without the release: exact ID and VERSION_ID (or a documented equivalent), else an error
// wrong_target naming the nearest supported target for derivatives (ID_LIKE).
[[nodiscard]] Result<Target> identify_target(const MachineFacts& facts, const Catalog& catalog,
                                             const std::optional<std::string>& treat_as);

}  // namespace rocm_offline::distros
