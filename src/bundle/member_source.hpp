// Members that are on this machine already: where they are, and how they get to their place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"

namespace rocm_offline::bundle {

// A run of bytes in a file, said to be a member.
struct MemberSource {
  std::filesystem::path path{};
  std::uint64_t offset = 0;
};

struct MemberPlace {
  int fd = -1;
  std::uint64_t offset = 0;
  std::filesystem::path path{};  // for errors
};

// Copies a member to its place while hashing it, sharing blocks where the file system can (FICLONERANGE). False when
// the source cannot be read, is short or has another digest; an error only when the place cannot be written.
[[nodiscard]] Result<bool> copy_member(const MemberSource& source, const Member& member, const MemberPlace& place);

// Hash of a run of bytes of an open file; nullopt when it cannot be read.
[[nodiscard]] std::optional<Sha256Digest> hash_range(int fd, std::uint64_t offset, std::uint64_t size);

// What --reuse names: older bundles (by their manifests), folders of packages (by size).
class ReuseIndex {
 public:
  // file_missing when the path does not exist. What is no bundle is taken as a package file.
  [[nodiscard]] Result<Done> add(const std::filesystem::path& path, EventSink& events);
  // Places worth trying, the surest first.
  [[nodiscard]] std::vector<MemberSource> candidates(const Member& member) const;

 private:
  void add_folder(const std::filesystem::path& path);

  std::map<Sha256Digest, MemberSource> m_by_digest{};
  std::multimap<std::uint64_t, std::filesystem::path> m_by_size{};
};

}  // namespace rocm_offline::bundle
