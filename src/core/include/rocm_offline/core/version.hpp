// Version of this program (project(VERSION) of CMakeLists.txt).
#pragma once

#include <string_view>

namespace rocm_offline {

[[nodiscard]] std::string_view program_version();

}  // namespace rocm_offline
