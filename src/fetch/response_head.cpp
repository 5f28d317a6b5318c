#include "response_head.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::fetch {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || at != end) {
    return std::nullopt;
  }
  return value;
}

std::string lower(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view value) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) {
    return std::nullopt;
  }
  value.remove_prefix(kUnit.size());
  const auto dash = value.find('-');
  const auto slash = value.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
    return std::nullopt;
  }
  const auto first = parse_number(value.substr(0, dash));
  const auto last = parse_number(value.substr(dash + 1, slash - dash - 1));
  const auto total = parse_number(value.substr(slash + 1));
  if (!first || !last || *last < *first || (!total && value.substr(slash + 1) != "*")) {
    return std::nullopt;
  }
  return ContentRange{*first, *last, total};
}

void ResponseHead::add_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = ResponseHead{};
    const auto space = line.find(' ');
    if (space != std::string_view::npos) {
      status = static_cast<int>(parse_number(line.substr(space + 1, 3)).value_or(0));
    }
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) {
    return;
  }
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-length") {
    content_length = parse_number(value);
  } else if (name == "content-range") {
    content_range = parse_content_range(value);
  } else if (name == "content-type") {
    content_type = lower(value);
  } else if (name == "last-modified") {
    last_modified = value;
  }
}

bool ResponseHead::says_html() const {
  return content_type.starts_with("text/html") || content_type.starts_with("application/xhtml");
}

bool begins_as_html(std::string_view body) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (body.starts_with(kByteOrderMark)) {
    body.remove_prefix(kByteOrderMark.size());
  }
  const std::string start = lower(trim(body.substr(0, 256)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

}  // namespace rocm_offline::fetch
