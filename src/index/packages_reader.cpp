#include "packages_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::size_t kMostStanzaBytes = 1U << 20U;

// One stanza while it is read: its number and, once known, its package, for errors.
struct Place {
  const std::string& what;
  std::size_t number = 0;
  std::string_view package;
};

tl::unexpected<Error> refuse(const Place& place, std::string field, std::string reason,
                             ErrorCode code = ErrorCode::metadata_invalid) {
  Error error;
  error.code = code;
  error.stage = Stage::repos;
  error.message = place.what + " cannot be used";
  const std::string name(place.package.substr(0, 128));
  const std::string stanza = name.empty() || has_control_characters(name)
                                 ? "stanza " + std::to_string(place.number)
                                 : "stanza " + std::to_string(place.number) + " (package " + name + ")";
  error.reason = stanza + ", field " + field + ": " + std::move(reason);
  error.details["stanza"] = std::to_string(place.number);
  error.details["field"] = std::move(field);
  error.help = "the repository's index is broken or hostile: tell its maintainers, or leave the repository out";
  return fail(std::move(error));
}

enum class Field {
  package,
  version,
  architecture,
  depends,
  pre_depends,
  recommends,
  suggests,
  enhances,
  conflicts,
  breaks,
  replaces,
  provides,
  multi_arch,
  priority,
  section,
  source,
  task,
  phased,
  filename,
  essential,
  size,
  installed_size,
  sha256,
  count_
};
constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::count_);

struct FieldName {
  std::string_view name;
  Field field;
};
constexpr std::array<FieldName, kFieldCount> kFieldNames = {{{"package", Field::package},
                                                             {"version", Field::version},
                                                             {"architecture", Field::architecture},
                                                             {"depends", Field::depends},
                                                             {"pre-depends", Field::pre_depends},
                                                             {"recommends", Field::recommends},
                                                             {"suggests", Field::suggests},
                                                             {"enhances", Field::enhances},
                                                             {"conflicts", Field::conflicts},
                                                             {"breaks", Field::breaks},
                                                             {"replaces", Field::replaces},
                                                             {"provides", Field::provides},
                                                             {"multi-arch", Field::multi_arch},
                                                             {"priority", Field::priority},
                                                             {"section", Field::section},
                                                             {"source", Field::source},
                                                             {"task", Field::task},
                                                             {"phased-update-percentage", Field::phased},
                                                             {"filename", Field::filename},
                                                             {"essential", Field::essential},
                                                             {"size", Field::size},
                                                             {"installed-size", Field::installed_size},
                                                             {"sha256", Field::sha256}}};

bool same_name(std::string_view written, std::string_view lower) {
  return written.size() == lower.size() &&
         std::equal(written.begin(), written.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
         });
}

std::optional<Field> field_of(std::string_view name) {
  for (const FieldName& known : kFieldNames) {
    if (same_name(name, known.name)) {
      return known.field;
    }
  }
  return std::nullopt;
}

std::string_view blanks_trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  return text;
}

bool all_of_class(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [extra](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           extra.find(c) != std::string_view::npos;
  });
}

bool is_alphanumeric(char c) {
  return all_of_class({&c, 1}, "");
}

// dpkg's own rule (lib/dpkg parsing of names): wider than policy 5.6.7, which forbids upper case and underscores.
bool is_package_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && is_alphanumeric(name.front()) && all_of_class(name, "+-._");
}

// Policy 5.6.12.
bool is_version(std::string_view version) {
  return !version.empty() && version.size() <= 255 && is_alphanumeric(version.front()) &&
         all_of_class(version, ".+-:~");
}

bool is_architecture(std::string_view arch) {
  return !arch.empty() && arch.size() <= 64 && is_alphanumeric(arch.front()) && all_of_class(arch, "-");
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || at != end) {
    return std::nullopt;
  }
  return value;
}

using Fields = std::array<std::string_view, kFieldCount>;

std::string_view& at(Fields& fields, Field field) {
  return fields[static_cast<std::size_t>(field)];
}

// Next stanza of `text` from `from`; empty at the end. Blank lines separate (one or more).
std::string_view next_stanza(std::string_view text, std::size_t& from) {
  while (from < text.size() && text[from] == '\n') {
    ++from;
  }
  const std::size_t end = text.find("\n\n", from);
  std::string_view stanza = text.substr(from, end == std::string_view::npos ? end : end - from);
  from += stanza.size();
  if (!stanza.empty() && stanza.back() == '\n') {
    stanza.remove_suffix(1);
  }
  return stanza;
}

// First byte that no index may hold, or npos. Counted first in one pass that the compiler can vectorise.
std::size_t find_control_character(std::string_view text) {
  const auto forbidden = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
  };
  if (std::count_if(text.begin(), text.end(), forbidden) == 0) {
    return std::string_view::npos;
  }
  return static_cast<std::size_t>(std::find_if(text.begin(), text.end(), forbidden) - text.begin());
}

Result<Done> split_fields(std::string_view stanza, Fields& fields, Place& place) {
  std::size_t from = 0;
  while (from < stanza.size()) {
    // A field ends where the next line begins with neither blank nor tab.
    std::size_t end = from;
    do {
      end = stanza.find('\n', end);
      if (end == std::string_view::npos) {
        end = stanza.size();
        break;
      }
      ++end;
    } while (end < stanza.size() && (stanza[end] == ' ' || stanza[end] == '\t'));
    const std::string_view field = stanza.substr(from, end - from);
    from = end;
    const std::size_t colon = field.find(':');
    const std::string_view name = field.substr(0, colon);
    if (colon == std::string_view::npos || colon == 0 || name.find_first_of(" \t\n") != std::string_view::npos) {
      return refuse(place, "(unknown)", "a line has no field name");
    }
    const auto known = field_of(name);
    if (!known) {
      continue;
    }
    std::string_view& value = at(fields, *known);
    if (value.data() != nullptr) {
      return refuse(place, std::string(name), "the field is there twice");
    }
    value = blanks_trimmed(field.substr(colon + 1));
    if (*known == Field::package) {
      place.package = value;
    }
  }
  return Done{};
}

Result<DebPackage> checked_package(Fields& fields, std::string_view stanza, const Place& place) {
  DebPackage package;
  package.stanza = stanza;
  package.name = at(fields, Field::package);
  package.version = at(fields, Field::version);
  package.arch = at(fields, Field::architecture);
  if (!is_package_name(package.name)) {
    return refuse(place, "Package", "not a package name");
  }
  if (!is_version(package.version)) {
    return refuse(place, "Version", "not a version");
  }
  if (!is_architecture(package.arch)) {
    return refuse(place, "Architecture", "not an architecture");
  }
  package.filename = at(fields, Field::filename);
  if (package.filename.starts_with("./")) {
    package.filename.remove_prefix(2);  // dpkg-scanpackages writes it so
  }
  if (!is_safe_relative_path(package.filename)) {
    return refuse(place, "Filename", "not a path below the repository");
  }
  const auto size = parse_number(at(fields, Field::size));
  if (!size || *size == 0 || *size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return refuse(place, "Size", "not a size in bytes");
  }
  package.size = *size;
  if (at(fields, Field::sha256).empty()) {
    return refuse(place, "SHA256", "the package has no SHA-256 digest", ErrorCode::digest_missing);
  }
  const auto digest = Sha256Digest::from_hex(at(fields, Field::sha256));
  if (!digest) {
    return refuse(place, "SHA256", "not a SHA-256 digest");
  }
  package.sha256 = *digest;
  // A hint for the space check only: what cannot be read, or would overflow, counts as not known.
  const auto installed = parse_number(at(fields, Field::installed_size));
  package.installed_size = installed && *installed < (1ULL << 50U) ? *installed * 1024 : 0;
  return package;
}

void copy_relations(Fields& fields, DebPackage& package) {
  package.depends = at(fields, Field::depends);
  package.pre_depends = at(fields, Field::pre_depends);
  package.recommends = at(fields, Field::recommends);
  package.suggests = at(fields, Field::suggests);
  package.enhances = at(fields, Field::enhances);
  package.conflicts = at(fields, Field::conflicts);
  package.breaks = at(fields, Field::breaks);
  package.replaces = at(fields, Field::replaces);
  package.provides = at(fields, Field::provides);
  package.multi_arch = at(fields, Field::multi_arch);
  package.priority = at(fields, Field::priority);
  package.section = at(fields, Field::section);
  package.source = at(fields, Field::source);
  package.task = at(fields, Field::task);
  package.phased_update_percentage = at(fields, Field::phased);
  package.essential = at(fields, Field::essential) == "yes";
}

std::size_t stanza_number_of(std::string_view text, std::size_t position) {
  std::size_t from = 0;
  std::size_t number = 0;
  while (from < position && !next_stanza(text, from).empty()) {
    ++number;
  }
  return std::max<std::size_t>(number, 1);
}

}  // namespace

PackagesReader::PackagesReader(std::string arch) : m_arch(std::move(arch)) {}

std::size_t PackagesReader::KeyHash::operator()(const Key& key) const {
  const std::hash<std::string_view> hash;
  return hash(key.name) * 31 + hash(key.version) * 17 + hash(key.arch);
}

void PackagesReader::keep(const DebPackage& package) {
  const auto [known, added] = m_known.try_emplace({package.name, package.version, package.arch}, m_packages.size());
  if (added) {
    m_packages.push_back(package);
  } else if (m_packages[known->second].sha256 != package.sha256) {
    m_duplicates.push_back({std::string(package.name), std::string(package.version), std::string(package.arch)});
  }
}

Result<Done> PackagesReader::add(std::string_view text, const std::string& what) {
  if (const std::size_t bad = find_control_character(text); bad != std::string_view::npos) {
    const Place place{what, stanza_number_of(text, bad), {}};
    return refuse(place, "(any)",
                  text[bad] == '\r' ? "lines end with CR LF, which is not accepted" : "a control character is in it");
  }
  const std::size_t expected = m_packages.size() + text.size() / 700;
  m_packages.reserve(expected);
  m_known.reserve(expected);
  Place place{what, 0, {}};
  std::size_t from = 0;
  for (std::string_view stanza = next_stanza(text, from); !stanza.empty(); stanza = next_stanza(text, from)) {
    ++place.number;
    place.package = {};
    if (stanza.size() > kMostStanzaBytes) {
      return refuse(place, "(any)", "the stanza is larger than 1 MiB");
    }
    Fields fields{};
    if (auto split = split_fields(stanza, fields, place); !split) {
      return split;
    }
    auto package = checked_package(fields, stanza, place);
    if (!package) {
      return tl::unexpected(std::move(package).error());
    }
    if (package->arch == m_arch || package->arch == "all") {
      copy_relations(fields, *package);
      keep(*package);
    }
  }
  return Done{};
}

}  // namespace rocm_offline::index
