// A bundle of 15 GiB that takes a few hundred kB of disk: real layout and real directory records, payloads that are
// holes but for some marks. For the limits of 2 and 4 GiB in readers of ISO 9660 images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline::test {

// Bytes that are not zero, inside of a member.
struct Mark {
  std::uint64_t offset = 0;
  std::string text{};
};

struct SparseMember {
  std::string name{};                // of the package
  std::vector<std::string> paths{};  // in the image, one for each target
  std::uint64_t offset = 0;          // in the image
  std::uint64_t size = 0;
  std::vector<Mark> marks{};  // first and last bytes, and both sides of each place where a 32-bit number ends
};

struct SparseBundle {
  std::uint64_t file_size = 0;
  std::vector<SparseMember> members{};  // ascending by offset
  [[nodiscard]] const SparseMember& member(const std::string& name) const;
};

// The largest number of bytes that one directory record can describe in whole sectors.
inline constexpr std::uint64_t largest_extent = 0xFFFFF800;

// Writes the image. `a-small-first`, three more with hard names and `f-small-last` (behind everything else) are all
// marks; `b-half` (3 GiB) and `c-edge` (one full extent) need one record, `d-over` (one byte more) and `e-large` (4.06
// GiB) two. debian-13 has all, ubuntu-24.04 shares `e-large` and `f-small-last`. no_space or internal where the file
// system cannot hold such a file.
[[nodiscard]] Result<SparseBundle> write_sparse_bundle(const std::filesystem::path& image);

// A file with the content of one member alone, sparse too.
[[nodiscard]] Result<Done> write_sparse_member(const SparseMember& member, const std::filesystem::path& file);

}  // namespace rocm_offline::test
