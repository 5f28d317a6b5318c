#include "packages_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

#include "rocm_offline/core/parallel.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::size_t kMostStanzaBytes = 1U << 20U;
constexpr std::size_t kUsualStanzaBytes = 700;

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
// By length, so that most fields of a stanza are told apart without comparing a letter.
constexpr std::array<FieldName, kFieldCount> kFieldNames = {{{"size", Field::size},
                                                             {"task", Field::task},
                                                             {"breaks", Field::breaks},
                                                             {"sha256", Field::sha256},
                                                             {"source", Field::source},
                                                             {"package", Field::package},
                                                             {"version", Field::version},
                                                             {"depends", Field::depends},
                                                             {"section", Field::section},
                                                             {"enhances", Field::enhances},
                                                             {"filename", Field::filename},
                                                             {"priority", Field::priority},
                                                             {"provides", Field::provides},
                                                             {"replaces", Field::replaces},
                                                             {"suggests", Field::suggests},
                                                             {"conflicts", Field::conflicts},
                                                             {"essential", Field::essential},
                                                             {"multi-arch", Field::multi_arch},
                                                             {"recommends", Field::recommends},
                                                             {"pre-depends", Field::pre_depends},
                                                             {"architecture", Field::architecture},
                                                             {"installed-size", Field::installed_size},
                                                             {"phased-update-percentage", Field::phased}}};
constexpr std::size_t kLongestName = 24;

// kFirstOfLength[n] to kFirstOfLength[n + 1]: the names of length n.
constexpr auto kFirstOfLength = [] {
  std::array<std::size_t, kLongestName + 2> first{};
  std::size_t at = 0;
  for (std::size_t length = 0; length < first.size(); ++length) {
    while (at < kFieldNames.size() && kFieldNames[at].name.size() < length) {
      ++at;
    }
    first[length] = at;
  }
  return first;
}();

bool same_name(std::string_view written, std::string_view lower) {
  return written.size() == lower.size() &&
         std::equal(written.begin(), written.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
         });
}

std::optional<Field> field_of(std::string_view name) {
  if (name.size() > kLongestName) {
    return std::nullopt;
  }
  for (std::size_t i = kFirstOfLength[name.size()]; i < kFirstOfLength[name.size() + 1]; ++i) {
    if (same_name(name, kFieldNames[i].name)) {
      return kFieldNames[i].field;
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

// Letters, digits and `extra`.
class CharacterClass {
 public:
  explicit constexpr CharacterClass(std::string_view extra) {
    for (unsigned c = 0; c < 256; ++c) {
      const char letter = static_cast<char>(c);
      m_members[c] = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                     (letter >= '0' && letter <= '9') || extra.find(letter) != std::string_view::npos;
    }
  }
  [[nodiscard]] bool has(char c) const { return m_members[static_cast<unsigned char>(c)]; }
  [[nodiscard]] bool has_all_of(std::string_view text) const {
    return std::all_of(text.begin(), text.end(), [this](char c) { return has(c); });
  }

 private:
  std::array<bool, 256> m_members{};
};
constexpr CharacterClass kAlphanumeric("");
constexpr CharacterClass kOfNames("+-._");
constexpr CharacterClass kOfVersions(".+-:~");
constexpr CharacterClass kOfArchitectures("-");

// dpkg's own rule (lib/dpkg parsing of names): wider than policy 5.6.7, which forbids upper case and underscores.
bool is_package_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && kAlphanumeric.has(name.front()) && kOfNames.has_all_of(name);
}

// Policy 5.6.12.
bool is_version(std::string_view version) {
  return !version.empty() && version.size() <= 255 && kAlphanumeric.has(version.front()) &&
         kOfVersions.has_all_of(version);
}

bool is_architecture(std::string_view arch) {
  return !arch.empty() && arch.size() <= 64 && kAlphanumeric.has(arch.front()) && kOfArchitectures.has_all_of(arch);
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

// No branch, so that the compiler looks at many at a time.
constexpr bool is_forbidden(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return static_cast<bool>(
      (static_cast<unsigned>(byte < 0x20) & static_cast<unsigned>(byte != '\n') & static_cast<unsigned>(byte != '\t')) |
      static_cast<unsigned>(byte == 0x7f));
}

// First byte that no index may hold, or npos.
std::size_t find_control_character(std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) {
    unsigned char bad = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      bad = static_cast<unsigned char>(bad | static_cast<unsigned char>(is_forbidden(text[at + i])));
    }
    if (bad != 0) {
      break;
    }
  }
  const auto bad = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_forbidden);
  return bad == text.end() ? std::string_view::npos : static_cast<std::size_t>(bad - text.begin());
}

// End of the field that begins at `from`: the end of its last line, whose next one begins with neither blank nor tab.
std::size_t end_of_field(std::string_view text, std::size_t from) {
  for (;;) {
    const void* found = std::memchr(text.data() + from, '\n', text.size() - from);
    if (found == nullptr) {
      return text.size();
    }
    const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    if (end + 1 == text.size() || (text[end + 1] != ' ' && text[end + 1] != '\t')) {
      return end;
    }
    from = end + 1;
  }
}

// Reads one stanza from `from`, which is left at its end.
Result<std::string_view> read_stanza(std::string_view text, std::size_t& from, Fields& fields, Place& place) {
  const std::size_t begin = from;
  std::size_t end = from;
  while (from < text.size() && text[from] != '\n') {
    end = end_of_field(text, from);
    const std::string_view field = text.substr(from, end - from);
    from = std::min(end + 1, text.size());
    const std::size_t colon = std::min(field.find_first_of(": \t\n"), field.size());
    if (colon == 0 || colon == field.size() || field[colon] != ':') {
      return refuse(place, "(unknown)", "a line has no field name");
    }
    const auto known = field_of(field.substr(0, colon));
    if (!known) {
      continue;
    }
    std::string_view& value = at(fields, *known);
    if (value.data() != nullptr) {
      return refuse(place, std::string(field.substr(0, colon)), "the field is there twice");
    }
    value = blanks_trimmed(field.substr(colon + 1));
    if (*known == Field::package) {
      place.package = value;
    }
  }
  return text.substr(begin, end - begin);
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
  std::size_t number = 1;
  for (std::size_t at = text.find("\n\n"); at < position; at = text.find("\n\n", at)) {
    at = text.find_first_not_of('\n', at);
    number += at <= position ? 1 : 0;
  }
  return number;
}

// For several threads: cut between stanzas. Small ones are not worth a thread.
std::vector<std::string_view> parts_of(std::string_view text) {
  constexpr std::size_t kLeastPart = std::size_t{1} << 20U;
  constexpr std::size_t kMostParts = 8;
  const std::size_t wanted = std::clamp<std::size_t>(
      std::min<std::size_t>(std::thread::hardware_concurrency(), text.size() / kLeastPart), 1, kMostParts);
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < wanted) {
    const std::size_t end = text.find("\n\n", text.size() / (wanted - parts.size()));
    if (end == std::string_view::npos) {
      break;
    }
    parts.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

Result<Done> read_part(std::string_view text, const std::string& arch, const std::string& what,
                       std::vector<DebPackage>& packages) {
  packages.reserve(text.size() / kUsualStanzaBytes);
  Place place{what, 0, {}};
  std::size_t from = 0;
  for (;;) {
    from = std::min(text.find_first_not_of('\n', from), text.size());
    if (from == text.size()) {
      return Done{};
    }
    ++place.number;
    place.package = {};
    Fields fields{};
    const auto stanza = read_stanza(text, from, fields, place);
    if (!stanza) {
      return tl::unexpected(stanza.error());
    }
    if (stanza->size() > kMostStanzaBytes) {
      return refuse(place, "(any)", "the stanza is larger than 1 MiB");
    }
    auto package = checked_package(fields, *stanza, place);
    if (!package) {
      return tl::unexpected(std::move(package).error());
    }
    if (package->arch == arch || package->arch == "all") {
      copy_relations(fields, *package);
      packages.push_back(*package);
    }
  }
}

}  // namespace

PackagesReader::PackagesReader(std::string arch) : m_arch(std::move(arch)) {}

std::size_t& PackagesReader::known_place(const DebPackage& package) {
  const std::hash<std::string_view> hash;
  const std::size_t mask = m_known.size() - 1;
  for (std::size_t at = (hash(package.name) * 31 + hash(package.version)) & mask;; at = (at + 1) & mask) {
    if (m_known[at] == 0) {
      return m_known[at];
    }
    const DebPackage& known = m_packages[m_known[at] - 1];
    if (known.name == package.name && known.version == package.version && known.arch == package.arch) {
      return m_known[at];
    }
  }
}

void PackagesReader::drop_twins(std::size_t first) {
  const std::size_t count = m_packages.size();
  if (m_known.size() < 2 * count) {
    m_known.assign(std::bit_ceil(2 * count), 0);
    for (std::size_t i = 0; i < first; ++i) {
      known_place(m_packages[i]) = i + 1;
    }
  }
  std::size_t kept = first;
  for (std::size_t i = first; i < count; ++i) {
    const DebPackage& package = m_packages[i];
    std::size_t& place = known_place(package);
    if (place != 0) {
      if (m_packages[place - 1].sha256 != package.sha256) {
        m_duplicates.push_back({std::string(package.name), std::string(package.version), std::string(package.arch)});
      }
      continue;
    }
    if (kept != i) {
      m_packages[kept] = package;
    }
    place = ++kept;
  }
  m_packages.resize(kept);
}

Result<Done> PackagesReader::add(std::string_view text, const std::string& what) {
  if (const std::size_t bad = find_control_character(text); bad != std::string_view::npos) {
    const Place place{what, stanza_number_of(text, bad), {}};
    return refuse(place, "(any)",
                  text[bad] == '\r' ? "lines end with CR LF, which is not accepted" : "a control character is in it");
  }
  const std::vector<std::string_view> parts = parts_of(text);
  std::vector<std::vector<DebPackage>> packages(parts.size());
  // The first part takes the others in.
  packages.front().reserve(text.size() / kUsualStanzaBytes);
  auto read = for_each_in_parallel(parts.size(), static_cast<unsigned>(parts.size()),
                                   [&](std::size_t i) { return read_part(parts[i], m_arch, what, packages[i]); });
  if (!read && parts.size() > 1) {
    // Read as a whole, the number of the stanza is that in the file, and the first of several problems is told.
    std::vector<DebPackage> all;
    read = read_part(text, m_arch, what, all);
  }
  if (!read) {
    return read;
  }
  const std::size_t first = m_packages.size();
  if (first == 0) {
    m_packages = std::move(packages.front());
    packages.front().clear();
  }
  for (const auto& part : packages) {
    m_packages.insert(m_packages.end(), part.begin(), part.end());
  }
  drop_twins(first);
  return Done{};
}

}  // namespace rocm_offline::index
