#include "rocm_offline/core/user_name.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline {

bool is_user_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 && name.front() != '-' &&
         name.find_first_of(":,/ \t;") == std::string_view::npos && !has_control_characters(name);
}

}  // namespace rocm_offline
