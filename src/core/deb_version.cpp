#include "rocm_offline/core/deb_version.hpp"

#include <algorithm>

namespace rocm_offline {
namespace {

// The C locale's classes: a version must not compare differently under another locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// deb-version(7), "Sorting algorithm": ~ before the end, the end before letters, letters before all else.
int weight(char c) {
  if (c == '~') {
    return -1;
  }
  if (is_letter(c)) {
    return static_cast<unsigned char>(c);
  }
  return static_cast<unsigned char>(c) + 256;
}

// Weight of the next character of a non-digit run; its end (a digit, or the end of the part) weighs 0.
int weight_at(std::string_view part, std::size_t at) {
  return at < part.size() && !is_digit(part[at]) ? weight(part[at]) : 0;
}

std::string_view take_number(std::string_view part, std::size_t& at) {
  while (at < part.size() && part[at] == '0') {
    ++at;
  }
  const std::size_t begin = at;
  while (at < part.size() && is_digit(part[at])) {
    ++at;
  }
  return part.substr(begin, at - begin);
}

// Numbers without leading zeros, of any length: the longer is the larger.
int compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return a.size() < b.size() ? -1 : 1;
  }
  return a.compare(b);
}

// Upstream version or revision: runs of non-digits and of digits in turn.
int compare_parts(std::string_view a, std::string_view b) {
  std::size_t at_a = 0;
  std::size_t at_b = 0;
  while (at_a < a.size() || at_b < b.size()) {
    while ((at_a < a.size() && !is_digit(a[at_a])) || (at_b < b.size() && !is_digit(b[at_b]))) {
      const int difference = weight_at(a, at_a) - weight_at(b, at_b);
      if (difference != 0) {
        return difference;
      }
      ++at_a;
      ++at_b;
    }
    const std::string_view number_a = take_number(a, at_a);
    const std::string_view number_b = take_number(b, at_b);
    if (const int difference = compare_numbers(number_a, number_b); difference != 0) {
      return difference;
    }
  }
  return 0;
}

struct VersionParts {
  std::string_view epoch, upstream, revision;
};

VersionParts split_version(std::string_view version) {
  VersionParts parts;
  if (const std::size_t colon = version.find(':'); colon != std::string_view::npos) {
    parts.epoch = version.substr(0, colon);
    version.remove_prefix(colon + 1);
  }
  if (const std::size_t dash = version.rfind('-'); dash != std::string_view::npos) {
    parts.revision = version.substr(dash + 1);
    version = version.substr(0, dash);
  }
  parts.upstream = version;
  return parts;
}

bool is_upstream_character(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '+' || c == '-' || c == '~' || c == ':' || c == '_';
}

}  // namespace

int compare_deb_versions(std::string_view a, std::string_view b) {
  const VersionParts left = split_version(a);
  const VersionParts right = split_version(b);
  for (const auto part : {&VersionParts::epoch, &VersionParts::upstream, &VersionParts::revision}) {
    if (const int difference = compare_parts(left.*part, right.*part); difference != 0) {
      return difference < 0 ? -1 : 1;
    }
  }
  return 0;
}

bool is_deb_version(std::string_view version) {
  if (version.empty() || version.size() > k_max_version_bytes) {
    return false;
  }
  const std::size_t colon = version.find(':');
  if (colon == 0 || colon == version.size() - 1) {
    return false;
  }
  if (colon != std::string_view::npos &&
      !std::all_of(version.begin(), version.begin() + static_cast<std::ptrdiff_t>(colon), is_digit)) {
    return false;
  }
  return std::all_of(version.begin(), version.end(), is_upstream_character);
}

}  // namespace rocm_offline
