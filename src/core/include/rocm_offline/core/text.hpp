// Text for people and programs: times, sizes, paths, redaction, near names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/ports.hpp"

namespace rocm_offline {

// "2026-12-01T00:43:32Z"
[[nodiscard]] std::string format_time(UnixTime time);
// "20261201T004332Z", as in log names.
[[nodiscard]] std::string format_time_compact(UnixTime time);
// RFC 5322 date as in Release files ("Sat, 21 Nov 2026 09:15:44 UTC" or +0000); nullopt when malformed.
[[nodiscard]] std::optional<UnixTime> parse_release_date(std::string_view text);
// "429.1 MB" (decimal units, as apt prints).
[[nodiscard]] std::string format_size(std::uint64_t bytes);
// "1 file", "3 files": regular plurals only.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view thing);
// "1 h 02 min", "3 min 05 s", "12 s"
[[nodiscard]] std::string format_duration(std::uint64_t seconds);

// `https://user:secret@host/x?token=…` -> `https://host/x`: user info dropped, query values replaced by `***`.
[[nodiscard]] std::string redact_url(std::string_view url);

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
// "a, b, c and 12 more": at most `most` names of a list that may be long.
[[nodiscard]] std::string first_of(const std::vector<std::string>& names, std::size_t most);
[[nodiscard]] bool has_control_characters(std::string_view text);

// True when `path` is relative, has no empty, "." or ".." part, no control character, no backslash, and is at most
// 4096 bytes: what may be joined to a base URL or a folder.
[[nodiscard]] bool is_safe_relative_path(std::string_view path);

// Up to `most` names near `wanted` (edit distance at most a third of its length, or sharing its start), nearest first.
[[nodiscard]] std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names,
                                                  std::size_t most = 3);

}  // namespace rocm_offline
