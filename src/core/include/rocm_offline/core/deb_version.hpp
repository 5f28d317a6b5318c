// Form and order of Debian versions. Source: deb-version(7).
#pragma once

#include <cstddef>
#include <string_view>

namespace rocm_offline {

inline constexpr std::size_t k_max_version_bytes = 256;

// [epoch:]upstream[-revision] out of the characters that deb-version(7) allows (and `_`, which old indices have).
[[nodiscard]] bool is_deb_version(std::string_view version);

// dpkg's order, independent of the locale: negative, zero, positive.
[[nodiscard]] int compare_deb_versions(std::string_view a, std::string_view b);

}  // namespace rocm_offline
