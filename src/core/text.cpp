#include "rocm_offline/core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace rocm_offline {

namespace {

struct CivilTime {
  int year = 1970;
  unsigned month = 1, day = 1;
  unsigned hour = 0, minute = 0, second = 0;
};

CivilTime civil(UnixTime time) {
  using namespace std::chrono;
  const sys_seconds moment{seconds(time)};
  const auto midnight = floor<days>(moment);
  const year_month_day date{midnight};
  const hh_mm_ss clock{moment - midnight};
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          static_cast<unsigned>(clock.hours().count()),
          static_cast<unsigned>(clock.minutes().count()),
          static_cast<unsigned>(clock.seconds().count())};
}

// Two digits, zero padded.
std::string two(unsigned value) {
  return {static_cast<char>('0' + value / 10 % 10), static_cast<char>('0' + value % 10)};
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string format_time(UnixTime time) {
  const CivilTime t = civil(time);
  return std::to_string(t.year) + "-" + two(t.month) + "-" + two(t.day) + "T" + two(t.hour) + ":" + two(t.minute) +
         ":" + two(t.second) + "Z";
}

std::string format_time_compact(UnixTime time) {
  const CivilTime t = civil(time);
  return std::to_string(t.year) + two(t.month) + two(t.day) + "T" + two(t.hour) + two(t.minute) + two(t.second) + "Z";
}

std::optional<UnixTime> parse_release_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text = trim(text);
  if (const auto comma = text.find(','); comma != std::string_view::npos) {
    text = trim(text.substr(comma + 1));
  }
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty()) {
      words.push_back(word);
    }
  }
  // Debian's format: always UTC, spelled UTC, GMT, Z or +0000.
  if (words.size() != 5 || (words[4] != "UTC" && words[4] != "GMT" && words[4] != "Z" && words[4] != "+0000")) {
    return std::nullopt;
  }
  const auto day = number(words[0]);
  const auto month = std::find(months.begin(), months.end(), words[1]);
  const auto year = number(words[2]);
  const auto clock = split(words[3], ':');
  if (!day || month == months.end() || !year || clock.size() != 3 || *year < 1970 || *year > 9999) {
    return std::nullopt;
  }
  const auto hour = number(clock[0]);
  const auto minute = number(clock[1]);
  const auto second = number(clock[2]);
  if (!hour || !minute || !second || *hour < 0 || *hour > 23 || *minute < 0 || *minute > 59 || *second < 0 ||
      *second > 60) {
    return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(*year),
                            std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                            std::chrono::day(static_cast<unsigned>(*day))};
  if (*day < 1 || !date.ok()) {
    return std::nullopt;
  }
  const auto moment = sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second);
  return moment.time_since_epoch() / seconds(1);
}

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000.0 && unit + 1 < units.size()) {
    value /= 1000.0;
    ++unit;
  }
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f %s", unit == 0 ? 0 : 1, value, units.at(unit));
  return buffer.data();
}

std::string counted(std::uint64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

std::string format_duration(std::uint64_t seconds) {
  std::array<char, 64> buffer{};
  const auto h = static_cast<unsigned long long>(seconds / 3600);
  const auto m = static_cast<unsigned long long>(seconds / 60 % 60);
  const auto s = static_cast<unsigned long long>(seconds % 60);
  if (h > 0) {
    std::snprintf(buffer.data(), buffer.size(), "%llu h %02llu min", h, m);
  } else if (m > 0) {
    std::snprintf(buffer.data(), buffer.size(), "%llu min %02llu s", m, s);
  } else {
    std::snprintf(buffer.data(), buffer.size(), "%llu s", s);
  }
  return buffer.data();
}

std::string redact_url(std::string_view url) {
  std::string clean(url);
  const auto scheme = clean.find("://");
  if (scheme == std::string::npos) {
    return clean;
  }
  const auto begin = scheme + 3;
  const auto end = std::min(clean.find_first_of("/?#", begin), clean.size());
  // The last @ of the authority ends the user info: a password may hold an @ of its own.
  if (const auto at = clean.rfind('@', end == 0 ? 0 : end - 1); at != std::string::npos && at >= begin && at < end) {
    clean.erase(begin, at + 1 - begin);
  }
  const auto query = clean.find('?');
  if (query == std::string::npos) {
    return clean;
  }
  std::string redacted = clean.substr(0, query);
  char separator = '?';
  for (const std::string& pair : split(std::string_view(clean).substr(query + 1), '&')) {
    redacted.push_back(separator);
    redacted += pair.substr(0, pair.find('=')) + (pair.find('=') == std::string::npos ? "" : "=***");
    separator = '&';
  }
  return redacted;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const auto end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string first_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) {
    return join(names, ", ");
  }
  const auto shown = static_cast<std::ptrdiff_t>(most);
  return join({names.begin(), names.begin() + shown}, ", ") + " and " + std::to_string(names.size() - most) + " more";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) {
      text += separator;
    }
    text += part;
  }
  return text;
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

bool is_safe_relative_path(std::string_view path) {
  if (path.empty() || path.size() > 4096 || has_control_characters(path) || path.find('\\') != std::string_view::npos) {
    return false;
  }
  const auto parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

namespace {

// Optimal string alignment: an insertion, deletion, substitution, or swap of two neighbours counts one. Without regard
// to case, which no name here depends on.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names, std::size_t most) {
  // Names far longer than any real one are refused rather than compared: the table would grow without bound.
  if (wanted.empty() || wanted.size() > 256) {
    return {};
  }
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::size_t bound = std::max<std::size_t>(1, wanted.size() / 3);
  for (const std::string& name : names) {
    const bool same_start = name.size() > wanted.size() && name.starts_with(wanted);
    const std::size_t gap = name.size() > wanted.size() ? name.size() - wanted.size() : wanted.size() - name.size();
    if (!same_start && gap > bound) {
      continue;
    }
    const std::size_t distance = same_start ? std::min(gap, bound) : edit_distance(wanted, name);
    if (distance <= bound) {
      ranked.emplace_back(distance, name);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < ranked.size() && i < most; ++i) {
    nearest.push_back(ranked[i].second);
  }
  return nearest;
}

}  // namespace rocm_offline
