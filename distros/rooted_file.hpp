// Files of an image: symbolic links, absolute ones too, are followed inside its root only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::distros {

enum class LinkResolution { kernel_first, by_hand };

// Opens a regular file below root for reading. `relative` has no leading slash. by_hand skips openat2(2), which kernels
// before 5.6 and some container filters do not have. A missing file is file_missing, any other failure io_error.
[[nodiscard]] Result<FileDescriptor> open_in_root(const std::filesystem::path& root, std::string_view relative,
                                                  LinkResolution how = LinkResolution::kernel_first);
// Its first max_bytes at most; a longer one is refused (io_error).
[[nodiscard]] Result<std::string> read_file_in_root(const std::filesystem::path& root, std::string_view relative,
                                                    std::uint64_t max_bytes);
// Its first max_bytes, however long it is.
[[nodiscard]] Result<std::string> read_start_in_root(const std::filesystem::path& root, std::string_view relative,
                                                     std::uint64_t max_bytes);

}  // namespace rocm_offline::distros
