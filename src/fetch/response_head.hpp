// Status and headers of the last response of one attempt (a proxy's CONNECT and 1xx answers come before it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocm_offline::fetch {

// RFC 9110, 14.4: `bytes 5-9/10`; total is nullopt for `*`.
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> total;
  bool operator==(const ContentRange&) const = default;
};
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view value);

struct ResponseHead {
  int status = 0;  // 0: not HTTP, or nothing yet
  std::optional<std::uint64_t> content_length;
  std::optional<ContentRange> content_range;
  std::string content_type;  // lower case
  std::string last_modified;

  // One line as curl's header callback gives it, with its line end.
  void add_line(std::string_view line);
  [[nodiscard]] bool says_html() const;
};

// A body that begins as an HTML page does; leading blanks and a byte order mark are skipped.
[[nodiscard]] bool begins_as_html(std::string_view body);

}  // namespace rocm_offline::fetch
