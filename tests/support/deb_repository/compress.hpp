// Compression for test files, by libarchive.
#pragma once

#include <string>
#include <string_view>

namespace rocm_offline::test {

// `how`: "gz", "xz", "zst", "bz2", "lz4", or "" for a copy.
[[nodiscard]] std::string compress(std::string_view data, std::string_view how);

}  // namespace rocm_offline::test
