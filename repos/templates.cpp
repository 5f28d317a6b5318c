#include "rocm_offline/repos/templates.hpp"

namespace rocm_offline::repos {
namespace {

Error bad_template(std::string_view text, std::string reason) {
  return {.code = ErrorCode::catalog_invalid,
          .stage = Stage::repos,
          .message = "the catalogue's template '" + std::string(text) + "' cannot be filled",
          .reason = std::move(reason),
          .help = "correct the template, or give the release a value for it ('values')"};
}

}  // namespace

Result<std::string> fill_template(std::string_view text, const TemplateValues& values) {
  std::string filled;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find_first_of("{}", at);
    filled += text.substr(at, open == std::string_view::npos ? open : open - at);
    if (open == std::string_view::npos) {
      break;
    }
    const std::size_t close = text.find('}', open);
    if (text[open] == '}' || close == std::string_view::npos) {
      return fail(bad_template(text, "it has a brace without its partner"));
    }
    const std::string name(text.substr(open + 1, close - open - 1));
    const auto value = values.find(name);
    if (value == values.end()) {
      return fail(bad_template(text, "there is no value for {" + name + "}"));
    }
    filled += value->second;
    at = close + 1;
  }
  return filled;
}

}  // namespace rocm_offline::repos
