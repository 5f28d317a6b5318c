#include "signed_lists.hpp"

#include <algorithm>
#include <charconv>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::verify {

namespace {

constexpr std::string_view begin_message = "-----BEGIN PGP SIGNED MESSAGE-----";
constexpr std::string_view begin_signature = "-----BEGIN PGP SIGNATURE-----";
constexpr std::string_view end_signature = "-----END PGP SIGNATURE-----";

// Takes the next line off, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view without_trailing_blanks(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    line.remove_suffix(1);
  }
  return line;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

bool same_word(std::string_view written, std::string_view lower) {
  return written.size() == lower.size() &&
         std::equal(written.begin(), written.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
         });
}

// "Name: value" -> value, where the line is that field.
std::optional<std::string_view> field_value(std::string_view line, std::string_view lower_name) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !same_word(line.substr(0, colon), lower_name)) {
    return std::nullopt;
  }
  return trim(line.substr(colon + 1));
}

// " <sha256> <size> <path>"
bool read_listed(std::string_view line, SignedList& list) {
  std::vector<std::string> words;
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty()) {
      words.push_back(word);
    }
  }
  if (words.size() != 3) {
    return false;
  }
  const auto digest = Sha256Digest::from_hex(words[0]);
  const auto size = parse_number(words[1]);
  if (digest && size) {
    list.files[*digest] = *size;
  }
  return digest && size;
}

int base64_value(char c) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t at = letters.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

bool add_base64(std::string_view text, std::string& out) {
  std::uint32_t bits = 0;
  int count = 0;
  bool ended = false;
  for (const char c : text) {
    if (c == '=') {
      ended = true;
      continue;
    }
    const int value = base64_value(c);
    if (value < 0 || ended) {
      return false;
    }
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU));
    }
  }
  return true;
}

}  // namespace

std::optional<SignedList> read_signed_list(std::string_view release) {
  SignedList list;
  bool has_date = false;
  bool in_digests = false;
  bool has_digests = false;
  while (!release.empty()) {
    const std::string_view line = take_line(release);
    if (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      if (in_digests && !read_listed(line, list)) {
        return std::nullopt;
      }
      continue;
    }
    in_digests = field_value(line, "sha256").has_value();
    has_digests = has_digests || in_digests;
    if (const auto value = field_value(line, "date")) {
      const auto date = parse_release_date(*value);
      has_date = date.has_value();
      list.date = date.value_or(0);
    }
    if (const auto value = field_value(line, "valid-until")) {
      list.valid_until = parse_release_date(*value);
    }
  }
  return has_date && has_digests ? std::optional(std::move(list)) : std::nullopt;
}

void for_each_entry(std::string_view index, const std::function<void(const IndexEntry&)>& on_entry) {
  IndexEntry entry;
  bool has_size = false;
  bool has_digest = false;
  const auto end_stanza = [&] {
    if (!entry.id.name.empty() && has_size && has_digest) {
      on_entry(entry);
    }
    entry = {};
    has_size = has_digest = false;
  };
  while (!index.empty()) {
    const std::string_view line = take_line(index);
    if (line.empty()) {
      end_stanza();
      continue;
    }
    if (const auto name = field_value(line, "package")) {
      entry.id.name = *name;
    } else if (const auto version = field_value(line, "version")) {
      entry.id.version = *version;
    } else if (const auto arch = field_value(line, "architecture")) {
      entry.id.arch = *arch;
    } else if (const auto size = field_value(line, "size")) {
      has_size = parse_number(*size).has_value();
      entry.size = parse_number(*size).value_or(0);
    } else if (const auto digest = field_value(line, "sha256")) {
      const auto parsed = Sha256Digest::from_hex(*digest);
      has_digest = parsed.has_value();
      entry.sha256 = parsed.value_or(Sha256Digest{});
    }
  }
  end_stanza();
}

std::optional<ClearSigned> take_apart(std::string_view message) {
  ClearSigned parts;
  if (take_line(message) != begin_message) {
    return std::nullopt;
  }
  // Hash: headers up to an empty line; nothing else may stand there.
  for (std::string_view line = take_line(message); !line.empty(); line = take_line(message)) {
    if (!line.starts_with("Hash: ") || message.empty()) {
      return std::nullopt;
    }
  }
  bool first = true;
  for (;;) {
    if (message.empty()) {
      return std::nullopt;
    }
    const std::string_view rest = message;
    std::string_view line = take_line(message);
    if (line == begin_signature) {
      message = rest;
      break;
    }
    if (line.starts_with("- ")) {
      line.remove_prefix(2);
    } else if (line.starts_with("-")) {
      return std::nullopt;
    }
    parts.text += (first ? "" : "\n") + std::string(without_trailing_blanks(line));
    first = false;
  }
  const std::size_t end = message.find(end_signature);
  if (end == std::string_view::npos ||
      message.find_first_not_of(" \t\r\n", end + end_signature.size()) != std::string_view::npos) {
    return std::nullopt;
  }
  parts.signature = std::string(message.substr(0, end + end_signature.size())) + "\n";
  return parts;
}

std::optional<std::string> without_armour(std::string_view data) {
  if (data.find("-----BEGIN PGP ") == std::string_view::npos) {
    return std::string(data);
  }
  std::string out;
  bool inside = false;
  bool in_headers = false;
  std::string body;
  while (!data.empty()) {
    const std::string_view line = without_trailing_blanks(take_line(data));
    if (line.starts_with("-----BEGIN PGP ")) {
      inside = in_headers = true;
      body.clear();
    } else if (line.starts_with("-----END PGP ")) {
      if (!inside || !add_base64(body, out)) {
        return std::nullopt;
      }
      inside = false;
    } else if (inside && in_headers) {
      // Headers end with an empty line.
      in_headers = !line.empty();
    } else if (inside && !line.starts_with("=")) {
      body += line;  // a line that begins with "=" is the checksum, which OpenPGP no longer asks for
    }
  }
  return inside ? std::nullopt : std::optional(std::move(out));
}

}  // namespace rocm_offline::verify
