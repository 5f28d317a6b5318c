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
  int priority = 500;
  bool optional = false;
  bool operator==(const GroupLayout&) const = default;
};

struct PinnedKey {
  std::string fingerprint{};               // primary key, 40 upper-case hex
  std::string file{};                      // below repos/keyrings, compiled in; empty: fetched or given by --keyring
  std::string note{};
  bool operator==(const PinnedKey&) const = default;
};

struct RepositoryGroup {
  std::string name{};                      // "debian"
  std::string title{};
  std::string base_url{};
  PackageFamily type = PackageFamily::deb;
  std::vector<GroupLayout> layouts{};
  std::vector<PinnedKey> keys{};
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
  bool certain = true;
  bool operator==(const ReleaseTarget&) const = default;
};

struct Release {
  std::string id{};                        // "6.2.0", "distro"
  std::string title{};
  std::string date{};                      // YYYY-MM-DD or empty
  std::vector<ReleaseTarget> targets{};
  std::vector<UseCase> usecases{};
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
[[nodiscard]] Result<SiteRepository> read_site_repository(const std::filesystem::path& file);

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
  // Keyring compiled in for a pinned key, nullopt where the catalogue has none.
  [[nodiscard]] std::optional<Keyring> keyring(const PinnedKey& key) const;

 private:
  std::vector<RepositoryGroup> m_groups;
  std::vector<Release> m_releases;
};

// One entry of the host's own package manager configuration (sources.list(5): one-line and deb822).
struct HostSource {
  std::string url{};
  std::vector<std::string> suites{};
};
// Reads <root>/etc/apt/sources.list and sources.list.d; unreadable or odd lines are skipped.
[[nodiscard]] std::vector<HostSource> read_host_sources(const std::filesystem::path& root);
// `--mirrors-from-host`: group name -> base URLs, for the groups whose suites (of any target) or layouts a host source
// carries. Credentials in the address are kept: they are the host's.
[[nodiscard]] std::map<std::string, std::vector<std::string>> mirrors_from_host(const std::vector<HostSource>& sources,
                                                                                const Catalog& catalog);

}  // namespace rocm_offline::repos
