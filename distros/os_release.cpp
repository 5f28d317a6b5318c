// os-release by os-release(5): assignments as a shell would read them, without running one.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rooted_file.hpp"

namespace rocm_offline::distros {
namespace {

constexpr std::size_t max_bytes = 64U << 10U;

bool is_name_start(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_assignment_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_name_start(c) || is_digit(c); });
}

// Reads one shell word; what may follow it is blank or a comment. nullopt: a shell would not see an assignment.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : m_rest(text) {}

  std::optional<std::string> read() {
    while (!m_rest.empty() && !is_blank(m_rest.front())) {
      const char c = take();
      const bool whole = c == '"' ? double_quoted() : c == '\'' ? single_quoted() : c == '\\' ? escaped() : plain(c);
      if (!whole) {
        return std::nullopt;
      }
    }
    const std::string_view after = trim(m_rest);
    if (!after.empty() && after.front() != '#') {
      return std::nullopt;
    }
    return std::move(m_word);
  }

 private:
  char take() {
    const char c = m_rest.front();
    m_rest.remove_prefix(1);
    return c;
  }

  bool plain(char c) {
    m_word += c;
    return true;
  }

  bool escaped() {
    if (m_rest.empty()) {
      return false;
    }
    m_word += take();
    return true;
  }

  bool single_quoted() {
    const std::size_t end = m_rest.find('\'');
    if (end == std::string_view::npos) {
      return false;
    }
    m_word += m_rest.substr(0, end);
    m_rest.remove_prefix(end + 1);
    return true;
  }

  // Inside double quotes a backslash escapes only these four; before any other character it stands for itself.
  bool double_quoted() {
    while (!m_rest.empty()) {
      const char c = take();
      if (c == '"') {
        return true;
      }
      if (c == '\\' && !m_rest.empty() && std::string_view("\"\\$`").find(m_rest.front()) != std::string_view::npos) {
        m_word += take();
      } else {
        m_word += c;
      }
    }
    return false;
  }

  std::string_view m_rest;
  std::string m_word;
};

void assign_list(std::vector<std::string>& list, const std::string& value) {
  list.clear();
  for (const std::string& word : split(value, ' ')) {
    if (!word.empty()) {
      list.push_back(word);
    }
  }
}

void assign(OsRelease& fields, std::string_view name, std::string value) {
  const std::pair<std::string_view, std::string*> known[] = {
      {"ID", &fields.id},
      {"VERSION_ID", &fields.version_id},
      {"VERSION_CODENAME", &fields.version_codename},
      {"PRETTY_NAME", &fields.pretty_name},
      {"VARIANT_ID", &fields.variant_id},
      {"UBUNTU_CODENAME", &fields.base_codename},
      {"DEBIAN_CODENAME", &fields.base_codename},
  };
  for (const auto& [known_name, field] : known) {
    if (known_name == name) {
      *field = std::move(value);
      return;
    }
  }
  if (name == "ID_LIKE") {
    assign_list(fields.id_like, value);
  }
}

void read_line(OsRelease& fields, std::string_view line) {
  line = trim(line);
  const std::size_t equals = line.find('=');
  if (line.empty() || line.front() == '#' || equals == std::string_view::npos) {
    return;
  }
  const std::string_view name = line.substr(0, equals);
  if (!is_assignment_name(name)) {
    return;
  }
  std::optional<std::string> value = WordReader(line.substr(equals + 1)).read();
  // A value with control characters is none of a sane system; it must not reach a terminal or a log either.
  if (value && !has_control_characters(*value)) {
    assign(fields, name, std::move(*value));
  }
}

bool is_usable_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return is_name_start(c) || is_digit(c) || c == '.' || c == '-';
  });
}

Error unusable(std::string reason) {
  return {.code = ErrorCode::check_failed,
          .stage = Stage::check,
          .message = "the os-release file does not tell the distribution",
          .reason = std::move(reason),
          .help = "see os-release(5); the file belongs to the distribution's base package"};
}

}  // namespace

Result<OsRelease> parse_os_release(std::string_view text) {
  if (text.size() > max_bytes) {
    return fail(unusable("it is larger than 64 KiB"));
  }
  OsRelease fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(fields, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!is_usable_id(fields.id)) {
    return fail(
        unusable(fields.id.empty() ? "it has no ID" : "its ID '" + fields.id + "' has characters that no ID has"));
  }
  if (!fields.version_id.empty() && !is_usable_id(fields.version_id)) {
    fields.version_id.clear();
  }
  return fields;
}

Result<OsRelease> read_os_release(const std::filesystem::path& root) {
  // os-release(5): the file below /etc comes first, the one below /usr/lib only where that is absent.
  Result<std::string> text = read_file_in_root(root, "etc/os-release", max_bytes);
  if (!text && text.error().code == ErrorCode::file_missing) {
    text = read_file_in_root(root, "usr/lib/os-release", max_bytes);
  }
  if (!text) {
    Error error = std::move(text).error();
    if (error.code == ErrorCode::file_missing) {
      error.code = ErrorCode::check_failed;
      error.message = "there is no os-release file, so the distribution is not known";
      error.reason = "neither /etc/os-release nor /usr/lib/os-release is there";
      error.help = "check that the folder is the root of an installed system";
      error.details["path"] = root.string();
    }
    return fail(std::move(error));
  }
  return parse_os_release(*text);
}

}  // namespace rocm_offline::distros
