// NAME.run.part: its lock, its space.
#pragma once

#include <cstdint>
#include <filesystem>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::bundle {

struct OutputPaths {
  std::filesystem::path output{};    // NAME.run
  std::filesystem::path part{};      // NAME.run.part
  std::filesystem::path journal{};   // NAME.run.part.journal
  std::filesystem::path checksum{};  // NAME.run.sha256
};
[[nodiscard]] OutputPaths output_paths(const std::filesystem::path& output);

// Opens or creates the .part and locks it by flock(2), which the kernel drops when the holder ends, however it ends.
// output_busy at once, naming the holder's process as its journal tells, when another one has it.
[[nodiscard]] Result<FileDescriptor> lock_part(const OutputPaths& paths);

// Makes the file `size` bytes long with all blocks allocated (fallocate(2)); where the file system cannot, compares
// with the free space. no_space names need and have, and leaves the file as long as it was.
[[nodiscard]] Result<Done> reserve_space(int fd, std::uint64_t size, const std::filesystem::path& path);

}  // namespace rocm_offline::bundle
