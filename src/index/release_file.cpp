#include "release_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::size_t kMostFiles = 200000;

tl::unexpected<Error> refuse(std::string reason, ErrorCode code = ErrorCode::metadata_invalid) {
  Error error;
  error.code = code;
  error.stage = Stage::repos;
  error.message = "the Release file cannot be used";
  error.reason = std::move(reason);
  error.help = "the repository is broken: tell its maintainers, or leave it out";
  return fail(std::move(error));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::size_t from = 0;
  while ((from = text.find_first_not_of(" \t\r\n", from)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", from), text.size());
    words.emplace_back(text.substr(from, end - from));
    from = end;
  }
  return words;
}

std::string lower(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

// Field name in lower case -> value with its further lines.
Result<std::map<std::string, std::string>> split_fields(std::string_view text) {
  std::map<std::string, std::string> fields;
  std::string* current = nullptr;
  bool ended = false;
  for (const std::string& raw : split(text, '\n')) {
    std::string_view line = raw;
    while (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    if (trim(line).empty()) {
      ended = ended || !fields.empty();
      continue;
    }
    if (ended) {
      return refuse("it has more than one stanza");
    }
    if (line.front() == ' ' || line.front() == '\t') {
      if (current == nullptr) {
        return refuse("it begins with a continued line");
      }
      *current += "\n";
      current->append(line);
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return refuse("a line has no field name");
    }
    const auto [place, added] = fields.emplace(lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
    if (!added) {
      return refuse("field " + place->first + " is there twice");
    }
    current = &place->second;
  }
  return fields;
}

Result<Done> parse_files(const std::string& section, std::map<std::string, ListedFile>& files) {
  for (const std::string& line : split(section, '\n')) {
    const auto words = words_of(line);
    if (words.empty()) {
      continue;
    }
    ListedFile file;
    const auto digest = words.size() == 3 ? Sha256Digest::from_hex(words[0]) : std::nullopt;
    if (!digest) {
      return refuse("a line of its SHA256 section has not the form: digest, size, path");
    }
    file.sha256 = *digest;
    const char* end = words[1].data() + words[1].size();
    const auto [at, problem] = std::from_chars(words[1].data(), end, file.size);
    if (problem != std::errc() || at != end) {
      return refuse("a size in its SHA256 section is not a number");
    }
    if (!is_safe_relative_path(words[2])) {
      return refuse("a path in its SHA256 section leads out of the repository");
    }
    const auto [known, added] = files.emplace(words[2], file);
    if (!added && known->second != file) {
      return refuse("its SHA256 section has two digests for " + words[2]);
    }
    if (files.size() > kMostFiles) {
      return refuse("it lists more than " + std::to_string(kMostFiles) + " files");
    }
  }
  return Done{};
}

Result<std::optional<UnixTime>> parse_date(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto found = fields.find(name);
  if (found == fields.end()) {
    return std::optional<UnixTime>();
  }
  const auto time = parse_release_date(found->second);
  if (!time) {
    return refuse("its field " + name + " is not a date in UTC");
  }
  return time;
}

}  // namespace

Result<ReleaseFile> parse_release(std::string_view text) {
  auto split = split_fields(text);
  if (!split) {
    return tl::unexpected(std::move(split).error());
  }
  auto& fields = *split;
  ReleaseFile release;
  release.origin = fields["origin"];
  release.label = fields["label"];
  release.suite = fields["suite"];
  release.codename = fields["codename"];
  release.components = words_of(fields["components"]);
  release.architectures = words_of(fields["architectures"]);
  release.acquire_by_hash = fields["acquire-by-hash"] == "yes";
  const auto not_for_all = words_of(fields["no-support-for-architecture-all"]);
  const bool has_all = std::count(release.architectures.begin(), release.architectures.end(), "all") > 0;
  release.packages_hold_arch_all = !has_all || std::count(not_for_all.begin(), not_for_all.end(), "Packages") > 0;
  const auto date = parse_date(fields, "date");
  const auto valid_until = parse_date(fields, "valid-until");
  if (!date || !valid_until) {
    return tl::unexpected(!date ? date.error() : valid_until.error());
  }
  if (!*date) {
    return refuse("it has no Date");
  }
  release.date = **date;
  release.valid_until = *valid_until;
  if (trim(fields["sha256"]).empty()) {
    return refuse("it lists no SHA-256 digests; MD5 and SHA-1 are not enough", ErrorCode::digest_missing);
  }
  if (auto parsed = parse_files(fields["sha256"], release.files); !parsed) {
    return tl::unexpected(std::move(parsed).error());
  }
  return release;
}

}  // namespace rocm_offline::index
