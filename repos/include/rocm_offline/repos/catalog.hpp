// ROCm releases and the repositories that packages come from: addresses, keys, use cases, support rows.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::repos {

// A layout of a group: which suites of it a target reads.
struct GroupLayout {
  std::vector<std::string> targets{};      // target ids; "debian-*" for every version of one id
  std::string path{};                      // template below base, may be empty; placeholders {dir} {codename} ...
  std::vector<std::string> suites{};       // templates: "{codename}-updates"
  std::vector<std::string> components{};
  std::string codename{};                  // template of the Codename in Release; may use {suite}; empty: any
  int priority = 500;
  bool optional = false;
  bool operator==(const GroupLayout&) const = default;
};

struct PinnedKey {
  std::string fingerprint{};               // primary key, 40 upper-case hex
  std::string file{};                      // below repos/keyrings, compiled in; empty: by url, or given by --keyring
  std::string url{};                       // where the owner publishes it, for a key without file
  std::string note{};
  std::string data{};                      // the key material of `file`, read when the catalogue was loaded
  bool operator==(const PinnedKey&) const = default;
};

struct RepositoryGroup {
  std::string name{};                      // "debian"
  std::string title{};
  std::string base_url{};
  PackageFamily type = PackageFamily::deb;
  std::vector<GroupLayout> layouts{};
  std::vector<PinnedKey> keys{};
  std::map<std::string, std::string> codenames{};  // target id -> codename: tells a host's own mirror of the group
  std::vector<std::string> host_suites{};  // further suites that tell it
  std::string source{};                    // "facts" or "public"
  bool operator==(const RepositoryGroup&) const = default;
};

struct UseCase {
  std::string id{};                        // "hip"
  std::string title{};
  std::map<std::string, std::vector<std::string>> packages{};  // target id -> package names
  bool operator==(const UseCase&) const = default;
};

struct ReleaseKernel {
  std::string prefix{}, status{}, track{};
  bool operator==(const ReleaseKernel&) const = default;
};

struct ReleaseTarget {
  std::string target{};                    // target id
  std::vector<std::string> groups{};       // repository groups besides the distribution's base, in order
  std::vector<ReleaseKernel> kernels{};
  std::map<std::string, std::string> values{};  // placeholder -> value: {"amd_suite", "jammy"}
  bool certain = true;                     // false: inferred or unverified, warns
  bool operator==(const ReleaseTarget&) const = default;
};

struct Release {
  std::string id{};                        // "6.2.0", "distro"
  std::string title{};
  std::string date{};                      // YYYY-MM-DD or empty
  std::vector<ReleaseTarget> targets{};
  std::vector<UseCase> usecases{};
  std::map<std::string, std::vector<std::string>> driver_packages{};  // target id -> package names; empty: no driver
  std::map<std::string, std::string> values{};  // placeholder -> value: {"dir", "6.2"}
  std::vector<std::string> notes{};
  bool operator==(const Release&) const = default;
};

// A further repository of the user's own (`--repo FILE.json`, schema repos/schema/site-repository.schema.json).
struct SiteRepository {
  std::string name{};
  PackageFamily type = PackageFamily::deb;
  std::string base_url{};
  std::string suite{};
  std::vector<std::string> components{};
  std::optional<Keyring> keyring{};
  int priority = 500;
  std::vector<std::string> targets{};
  bool operator==(const SiteRepository&) const = default;
};
// At most 1 MiB. The keyring is a file relative to the folder of `file`, or the armored keys themselves. Errors:
// file_missing, catalog_invalid (file, JSON pointer, what was expected).
[[nodiscard]] Result<SiteRepository> read_site_repository(const std::filesystem::path& file);

// "debian-13" fits "debian-13" and "debian-*".
[[nodiscard]] bool target_fits(std::string_view pattern, std::string_view target_id);

class Catalog {
 public:
  // Compiled in, then the *.json of `overrides` (kinds "repository-group" and "release"): a file replaces the entry of
  // its id. Each is validated against repos/schema (catalog_invalid names file, JSON pointer, what was expected).
  [[nodiscard]] static Result<Catalog> load(const std::vector<std::filesystem::path>& overrides);
  [[nodiscard]] const std::vector<RepositoryGroup>& groups() const { return m_groups; }
  [[nodiscard]] const std::vector<Release>& releases() const { return m_releases; }
  [[nodiscard]] const RepositoryGroup* group(std::string_view name) const;
  // "6.2" is "6.2.0"; unknown_release with near ids otherwise.
  [[nodiscard]] Result<const Release*> release(std::string_view id) const;
  // Keyring of a pinned key: its material, or the address to fetch it from; nullopt where the catalogue has neither.
  [[nodiscard]] std::optional<Keyring> keyring(const PinnedKey& key) const;
  // Every release id: by number, words last.
  [[nodiscard]] std::vector<std::string> release_ids() const;

 private:
  std::vector<RepositoryGroup> m_groups;
  std::vector<Release> m_releases;
};

// One entry of the host's own package manager configuration (sources.list(5): one-line and deb822).
// `mirror+file:` lists are read; other methods than http, https and file are left out.
struct HostSource {
  std::string url{};                       // without trailing slash
  std::vector<std::string> suites{};
  std::vector<std::string> components{};
  std::string signed_by{};                 // Signed-By, as written
  bool stock_file = false;                 // from a file that the distribution itself ships (debian.sources, ...)
  bool operator==(const HostSource&) const = default;
};
// Reads <root>/etc/apt/sources.list and sources.list.d; unreadable or odd lines are skipped, so are sources that are
// disabled, hold no binary packages, or are not for amd64.
[[nodiscard]] std::vector<HostSource> read_host_sources(const std::filesystem::path& root);
// `--mirrors-from-host`: group name -> base URLs, for the groups whose suites (of any target) or layouts a host source
// carries. A source that merely has a suite of the same name (another vendor's) is not taken: its address ends like the
// group's, or it carries the updates suite too, or it is signed by the distribution's keyring, or stands in its own file.
// The likeliest alone are taken. Credentials in the address are kept: they are the host's.
[[nodiscard]] std::map<std::string, std::vector<std::string>> mirrors_from_host(const std::vector<HostSource>& sources,
                                                                                const Catalog& catalog);

}  // namespace rocm_offline::repos
