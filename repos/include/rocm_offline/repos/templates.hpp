// Templates of the catalogue: text with {placeholders}.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline::repos {

using TemplateValues = std::map<std::string, std::string>;

// The text with every {name} replaced. A name without a value, or a brace that opens nothing, is catalog_invalid.
[[nodiscard]] Result<std::string> fill_template(std::string_view text, const TemplateValues& values);

}  // namespace rocm_offline::repos
