// Decompression by libarchive, capped. gz, xz, zst, bz2, lz4, or none: recognised by content, not by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline::archive {

// The decompressed bytes; more than max_bytes is refused as metadata_invalid (a compression bomb).
[[nodiscard]] Result<std::string> decompress(std::string_view data, std::uint64_t max_bytes);

}  // namespace rocm_offline::archive
