// The trust chain: InRelease -> Packages -> package, verified at each step; nothing unverified is parsed.
// Source: Debian repository format (wiki.debian.org/DebianRepository/Format), deb822(5), apt-secure(8).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/fetch/downloader.hpp"

namespace rocm_offline::index {

// One stanza of a Packages file. The views point into the index text that the VerifiedRepository owns.
struct DebPackage {
  std::string_view name, version, arch;
  std::string_view depends, pre_depends, recommends, suggests, enhances, conflicts, breaks, replaces, provides;
  std::string_view multi_arch;     // "", "same", "foreign", "allowed"
  std::string_view priority;       // "required", "important", ...
  std::string_view section, source, task, phased_update_percentage;
  std::string_view filename;       // checked: is_safe_relative_path
  bool essential = false;
  std::uint64_t size = 0;          // > 0, checked
  std::uint64_t installed_size = 0;  // bytes (the field counts KiB); 0 = the stanza has none
  Sha256Digest sha256;
  std::string_view stanza;         // verbatim, without the blank line
};

// Evidence file carried in /trust/: what upstream signed, byte for byte.
struct TrustFile {
  std::string path{};                // below /trust/<target>/: "debian/trixie/InRelease"
  std::filesystem::path source{};    // in the verified cache
  std::uint64_t size = 0;
  Sha256Digest sha256;
};

// A repository whose whole index was verified. Only MetadataVerifier makes one.
class VerifiedRepository {
 public:
  [[nodiscard]] const RepositoryDefinition& definition() const;
  [[nodiscard]] const RepositoryEvidence& evidence() const;
  [[nodiscard]] const std::vector<DebPackage>& packages() const;   // in index order
  [[nodiscard]] const std::vector<TrustFile>& trust_files() const;
  [[nodiscard]] const std::filesystem::path& index_cache_key() const;  // for a .solv beside it
  // Absolute addresses of a package, failover order.
  [[nodiscard]] std::vector<std::string> urls_of(const DebPackage& package) const;

  VerifiedRepository(VerifiedRepository&&) noexcept;
  VerifiedRepository& operator=(VerifiedRepository&&) noexcept;
  ~VerifiedRepository();

 private:
  friend class MetadataVerifier;
  struct Data;
  explicit VerifiedRepository(std::unique_ptr<Data> data);
  std::unique_ptr<Data> m_data;
};

struct RepositorySet {
  std::vector<VerifiedRepository> repositories{};   // in the order of the plan
  std::vector<std::string> warnings{};              // optional repositories that were missing, allowances used
};

struct LoadOptions {
  std::filesystem::path cache_dir{};     // verified indexes by digest; written as partial/ + rename
  std::filesystem::path state_dir{};     // last seen Release dates, by mirror address
  // --locked: a Release that is exactly one of these (path: "debian/trixie/InRelease") is judged as of locked_time, not
  // against the dates last seen, and is taken from the cache where that has it and its indexes.
  std::vector<TrustFile> locked{};
  UnixTime locked_time = 0;
};

// Verifies and loads every repository. On failure the error of the first, with the others as `problems`.
class MetadataVerifier {
 public:
  MetadataVerifier(fetch::Downloader& downloader, const Clock& clock, EventSink& events, LoadOptions options,
                   CancelToken cancel);
  ~MetadataVerifier();
  [[nodiscard]] Result<RepositorySet> load(const std::vector<RepositoryDefinition>& definitions);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace rocm_offline::index
