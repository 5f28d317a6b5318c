// The shell script in the first 32 KiB of every bundle (packaging/stub.sh), compiled in.
#pragma once

#include <string_view>

namespace rocm_offline::packaging {

// The template: its fixed-width constants are zeros until a bundle is laid out (bundle/layout.hpp).
[[nodiscard]] std::string_view stub_template();

}  // namespace rocm_offline::packaging
