// Names of accounts, as far as they can be judged without the system that has them.
#pragma once

#include <string_view>

namespace rocm_offline {

// Could be the name of a user, on any system that a bundle is for.
[[nodiscard]] bool is_user_name(std::string_view name);

}  // namespace rocm_offline
