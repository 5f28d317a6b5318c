// Text from outside, made harmless for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rocm_offline::ui {

// Control characters (ESC and the rest of C0, DEL) become '?', tabs a blank; line breaks stay where `lines` says so.
[[nodiscard]] std::string printable(std::string_view text, bool lines = false);

}  // namespace rocm_offline::ui
