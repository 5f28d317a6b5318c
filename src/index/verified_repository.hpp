// What a VerifiedRepository holds. Filled by MetadataVerifier alone.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::index {

struct VerifiedRepository::Data {
  RepositoryDefinition definition;
  RepositoryEvidence evidence;
  std::deque<std::string> texts;  // a deque: the views of `packages` must stay valid as texts are added
  std::vector<DebPackage> packages;
  std::vector<TrustFile> trust_files;
  std::filesystem::path index_cache_key;
  std::size_t served_by = 0;  // of definition.base_urls: the mirror whose Release was verified
};

// The path as part of an address: all but unreserved characters and "/" percent-encoded, "+" too, which some servers
// would read as a blank.
[[nodiscard]] std::string percent_encoded_path(std::string_view path);

}  // namespace rocm_offline::index
