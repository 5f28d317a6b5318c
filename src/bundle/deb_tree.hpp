// The flat apt repository of one target: its Packages and Release files, and the names in its pool.
#pragma once

#include <map>
#include <set>
#include <string>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::bundle {

// Names of a folder, each at most 160 bytes; equal names are told apart by a short digest.
class FolderNames {
 public:
  // `digest` is that of the file's content.
  [[nodiscard]] std::string allocate(const std::string& wanted, const Sha256Digest& digest);

 private:
  std::set<std::string> m_used{};
};

// A name of at most 160 bytes: longer ones keep their start and their extension, with a digest of the whole between.
[[nodiscard]] std::string shortened_name(const std::string& name);

// The verbatim stanza with `Filename: pool/<pool_name>`; metadata_invalid when it has no Filename, Size or SHA256,
// which apt would need.
[[nodiscard]] Result<std::string> pool_stanza(const PackageRecord& package, const std::string& pool_name);

// deb822 index files; see https://wiki.debian.org/DebianRepository/Format. No Valid-Until: the file does not age.
[[nodiscard]] std::string release_file(const Target& target, const std::string& packages_file, UnixTime source_date);

}  // namespace rocm_offline::bundle
