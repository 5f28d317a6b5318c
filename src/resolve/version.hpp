// Form of Debian versions. Source: deb-version(7). The comparison is public (resolver.hpp).
#pragma once

#include <cstddef>
#include <string_view>

namespace rocm_offline::resolve {

inline constexpr std::size_t k_max_version_bytes = 256;

// [epoch:]upstream[-revision] out of the characters that deb-version(7) allows (and `_`, which old indices have).
[[nodiscard]] bool is_deb_version(std::string_view version);

}  // namespace rocm_offline::resolve
