#include "iso9660.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <set>

namespace rocm_offline::bundle {

namespace {

constexpr std::uint64_t system_area_size = 32768;
// The largest extent of one record: the biggest multiple of a sector that fits 32 bits.
constexpr std::uint64_t largest_extent = 0xFFFFF800;
constexpr std::size_t largest_directory_count = 65535;
constexpr char directory_flag = 0x02;
constexpr char more_extents_flag = static_cast<char>(0x80);
constexpr std::size_t px_size = 44;
constexpr std::size_t sp_size = 7;
constexpr std::string_view er_id = "IEEE_1282";
constexpr std::string_view er_description = "THE IEEE 1282 PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS";
constexpr std::size_t er_size = 8 + er_id.size() + er_description.size();
// POSIX file types and permissions (RRIP 4.1.1).
constexpr std::uint32_t mode_directory = 0040555;
constexpr std::uint32_t mode_file = 0100644;
constexpr std::uint32_t mode_program = 0100755;

void append_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>((value >> (8 * i)) & 0xFFU));
  }
}

void append_big(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) {
    out.push_back(static_cast<char>((value >> (8 * i)) & 0xFFU));
  }
}

// ECMA-119 7.2.3 and 7.3.3: both byte orders.
void append_both(std::string& out, std::uint64_t value, int bytes) {
  append_little(out, value, bytes);
  append_big(out, value, bytes);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

std::tm broken_down(UnixTime time) {
  // Record times count years from 1900 in one byte.
  constexpr UnixTime last = 5869583999;  // 2155-12-31T23:59:59Z
  const std::time_t clamped = static_cast<std::time_t>(std::clamp<UnixTime>(time, 0, last));
  std::tm parts{};
  gmtime_r(&clamped, &parts);
  return parts;
}

std::string record_time(UnixTime time) {
  const std::tm parts = broken_down(time);
  std::string out;
  for (const int value :
       {parts.tm_year, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, 0}) {
    out.push_back(static_cast<char>(value));
  }
  return out;
}

std::string descriptor_time(UnixTime time) {
  const std::tm parts = broken_down(time);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%d%H%M%S00", &parts);
  std::string out(text.data(), length);
  out.push_back('\0');
  return out;
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(width, ' ');
  return out;
}

std::size_t record_size(std::size_t id_size, std::size_t system_use_size) {
  const std::size_t head = 33 + id_size + (id_size % 2 == 0 ? 1 : 0);
  return round_up(head + system_use_size, 2);
}

std::size_t system_use_size(std::string_view name) {
  return px_size + 5 + name.size();
}

std::size_t extent_count(std::uint64_t size) {
  return size == 0 ? 1 : (size + largest_extent - 1) / largest_extent;
}

bool is_d_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "readme.txt" -> "README.TXT;1" where the name is 8.3 of d-characters once in capitals; else empty.
std::string plain_id(const std::string& name, bool is_directory) {
  std::string capitals;
  for (const char c : name) {
    capitals.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  const std::size_t dot = capitals.find('.');
  const std::string stem = capitals.substr(0, dot);
  const std::string extension = dot == std::string::npos ? "" : capitals.substr(dot + 1);
  const auto all_d = [](const std::string& text) { return std::all_of(text.begin(), text.end(), is_d_character); };
  if (stem.empty() || stem.size() > 8 || extension.size() > 3 || !all_d(stem) || !all_d(extension) ||
      (is_directory && dot != std::string::npos)) {
    return "";
  }
  return is_directory ? stem : stem + "." + extension + ";1";
}

std::string numbered_id(std::size_t number, bool is_directory) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 7 ? 7 - digits.size() : 0, '0');
  return is_directory ? "D" + digits : "F" + digits + ".;1";
}

// Identifiers that no other entry of the folder has, whatever the names look like.
class IdAllocator {
 public:
  std::string allocate(const std::string& name, bool is_directory) {
    std::string id = plain_id(name, is_directory);
    while (id.empty() || !m_used.insert(id).second) {
      id = numbered_id(m_next++, is_directory);
    }
    return id;
  }

 private:
  std::set<std::string> m_used{};
  std::size_t m_next = 0;
};

struct Px {
  std::uint32_t mode;
  std::uint32_t links;
  std::uint32_t serial;
};

std::string px_entry(const Px& px) {
  std::string out = "PX";
  append_little(out, px_size, 1);
  append_little(out, 1, 1);
  append_both(out, px.mode, 4);
  append_both(out, px.links, 4);
  append_both(out, 0, 4);  // owner
  append_both(out, 0, 4);  // group
  append_both(out, px.serial, 4);
  return out;
}

std::string nm_entry(std::string_view name) {
  std::string out = "NM";
  append_little(out, 5 + name.size(), 1);
  append_little(out, 1, 1);
  append_little(out, 0, 1);
  out.append(name);
  return out;
}

// SUSP 5.3: the area is used, nothing is skipped. First entry of the root's "." record.
std::string sp_entry() {
  std::string out = "SP";
  append_little(out, sp_size, 1);
  append_little(out, 1, 1);
  append_big(out, 0xBEEF, 2);
  append_little(out, 0, 1);
  return out;
}

// SUSP 5.5: which extension the entries belong to. Short enough to need no continuation.
std::string er_entry() {
  std::string out = "ER";
  append_little(out, er_size, 1);
  append_little(out, 1, 1);
  append_little(out, er_id.size(), 1);
  append_little(out, er_description.size(), 1);
  append_little(out, 0, 1);
  append_little(out, 1, 1);
  out.append(er_id).append(er_description);
  return out;
}

struct Record {
  std::string_view id;
  std::uint64_t offset;
  std::uint64_t size;
  char flags;
  std::string_view system_use;
};

// ECMA-119 9.1.
std::string directory_record(const Record& record, std::string_view time) {
  std::string out;
  append_little(out, record_size(record.id.size(), record.system_use.size()), 1);
  append_little(out, 0, 1);
  append_both(out, record.offset / sector_size, 4);
  append_both(out, record.size, 4);
  out.append(time);
  out.push_back(record.flags);
  append_little(out, 0, 2);  // not interleaved
  append_both(out, 1, 2);    // volume sequence number
  append_little(out, record.id.size(), 1);
  out.append(record.id);
  if (record.id.size() % 2 == 0) {
    out.push_back('\0');
  }
  out.append(record.system_use);
  if (out.size() % 2 != 0) {
    out.push_back('\0');
  }
  return out;
}

// Adds a record of `size` bytes to a folder of `used` bytes: records do not cross sectors (ECMA-119 6.8.1.1).
std::uint64_t advance(std::uint64_t used, std::size_t size) {
  const std::uint64_t left = sector_size - used % sector_size;
  return size > left ? used + left + size : used + size;
}

void append_record(std::string& out, const std::string& record) {
  const std::uint64_t end = advance(out.size(), record.size());
  out.resize(end - record.size(), '\0');
  out.append(record);
}

Error cannot_lay_out(std::string reason, const std::string& path) {
  return {.code = ErrorCode::bundle_damaged,
          .stage = Stage::bundle,
          .message = "the image's tree of files cannot be described in ISO 9660",
          .reason = std::move(reason),
          .details = {{"path", path}},
          .help = "make the bundle again, or report this path"};
}

// Folders and files as the paths spell them, before they have identifiers.
struct Node {
  std::map<std::string, std::unique_ptr<Node>> children{};
  bool is_file = false;
  std::size_t file = 0;
};

Result<Done> insert_path(Node& root, const std::string& path, std::size_t file) {
  Node* node = &root;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t slash = std::min(path.find('/', start), path.size());
    const std::string name = path.substr(start, slash - start);
    if (name.empty() || name.size() > longest_name || name.find('\0') != std::string::npos) {
      return fail(cannot_lay_out("a name in it is empty or longer than 160 bytes", path));
    }
    auto& child = node->children[name];
    if (child == nullptr) {
      child = std::make_unique<Node>();
    } else if (child->is_file || slash == path.size()) {
      return fail(cannot_lay_out("the path stands for two files, or for a file and a folder", path));
    }
    node = child.get();
    start = slash + 1;
  }
  node->is_file = true;
  node->file = file;
  return Done{};
}

}  // namespace

Result<Iso9660Tree> Iso9660Tree::build(std::vector<IsoFile> files) {
  Node root;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (auto done = insert_path(root, files[i].path, i); !done) {
      return fail(std::move(done).error());
    }
  }
  Iso9660Tree tree;
  tree.m_files = std::move(files);
  tree.m_directories.emplace_back();
  tree.m_directories.front().id = std::string(1, '\0');
  // Level by level, entries by identifier: that is the order of path tables (ECMA-119 6.9.1).
  std::vector<const Node*> nodes = {&root};
  std::uint32_t serial = 1;
  for (std::size_t d = 0; d < tree.m_directories.size(); ++d) {
    IdAllocator ids;
    std::vector<std::pair<Entry, const Node*>> found;
    for (const auto& [name, child] : nodes[d]->children) {
      Entry entry{.id = ids.allocate(name, !child->is_file), .name = name, .is_directory = !child->is_file};
      entry.index = child->file;
      found.emplace_back(std::move(entry), child.get());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first.id < b.first.id; });
    for (auto& [entry, child] : found) {
      entry.serial = ++serial;
      if (entry.is_directory) {
        entry.index = tree.m_directories.size();
        nodes.push_back(child);
        tree.m_directories.push_back({.id = entry.id, .parent = d, .serial = entry.serial});
        ++tree.m_directories[d].links;
      }
      tree.m_directories[d].entries.push_back(std::move(entry));
    }
  }
  if (tree.m_directories.size() > largest_directory_count) {
    return fail(cannot_lay_out("it has more than 65535 folders", ""));
  }
  tree.lay_out();
  return tree;
}

void Iso9660Tree::lay_out() {
  for (const Directory& directory : m_directories) {
    m_path_table_size += 8 + round_up(directory.id.size(), 2);
  }
  // Sector 16 holds the primary volume descriptor, 17 the terminator.
  m_path_table_l = system_area_size + 2 * sector_size;
  m_path_table_m = m_path_table_l + round_up(m_path_table_size, sector_size);
  std::uint64_t offset = m_path_table_m + round_up(m_path_table_size, sector_size);
  for (std::size_t d = 0; d < m_directories.size(); ++d) {
    Directory& directory = m_directories[d];
    const std::size_t extra = d == 0 ? sp_size + er_size : 0;
    std::uint64_t used = record_size(1, px_size + extra) + record_size(1, px_size);
    for (const Entry& entry : directory.entries) {
      const std::size_t count = entry.is_directory ? 1 : extent_count(m_files[entry.index].size);
      for (std::size_t i = 0; i < count; ++i) {
        used = advance(used, record_size(entry.id.size(), system_use_size(entry.name)));
      }
    }
    directory.offset = offset;
    directory.size = round_up(used, sector_size);
    offset += directory.size;
  }
  m_end_offset = offset;
}

std::string Iso9660Tree::render_directory(const Directory& directory, const std::string& time) const {
  const Directory& parent = m_directories[directory.parent];
  const auto px_of = [](const Directory& d) { return px_entry({mode_directory, d.links, d.serial}); };
  std::string self_use = px_of(directory);
  if (&directory == &m_directories.front()) {
    self_use = sp_entry() + self_use + er_entry();
  }
  const std::string parent_use = px_of(parent);
  std::string out =
      directory_record({std::string_view("\0", 1), directory.offset, directory.size, directory_flag, self_use}, time);
  append_record(out, directory_record({"\1", parent.offset, parent.size, directory_flag, parent_use}, time));
  for (const Entry& entry : directory.entries) {
    if (entry.is_directory) {
      const Directory& child = m_directories[entry.index];
      const std::string use = px_of(child) + nm_entry(entry.name);
      append_record(out, directory_record({entry.id, child.offset, child.size, directory_flag, use}, time));
      continue;
    }
    const IsoFile& file = m_files[entry.index];
    const std::string use =
        px_entry({file.executable ? mode_program : mode_file, 1, entry.serial}) + nm_entry(entry.name);
    std::uint64_t at = 0;
    do {
      const std::uint64_t size = std::min(file.size - at, largest_extent);
      const char flags = at + size < file.size ? more_extents_flag : '\0';
      append_record(out, directory_record({entry.id, file.offset + at, size, flags, use}, time));
      at += size;
    } while (at < file.size);
  }
  out.resize(directory.size, '\0');
  return out;
}

// ECMA-119 9.4: type L and type M differ in byte order only.
std::string Iso9660Tree::render_path_table(bool big_endian) const {
  std::string out;
  const auto append = big_endian ? append_big : append_little;
  for (const Directory& directory : m_directories) {
    append(out, directory.id.size(), 1);
    append(out, 0, 1);
    append(out, directory.offset / sector_size, 4);
    append(out, directory.parent + 1, 2);
    out.append(directory.id);
    if (directory.id.size() % 2 != 0) {
      out.push_back('\0');
    }
  }
  out.resize(round_up(out.size(), sector_size), '\0');
  return out;
}

std::string Iso9660Tree::render_descriptors(std::uint64_t volume_size, UnixTime time) const {
  const Directory& root = m_directories.front();
  std::string out = "\1CD001\1";  // ECMA-119 8.4
  out.push_back('\0');
  out += padded("", 32);              // system identifier
  out += padded("ROCM_OFFLINE", 32);  // volume identifier
  out.append(8, '\0');
  append_both(out, volume_size / sector_size, 4);
  out.append(32, '\0');
  append_both(out, 1, 2);  // volumes in the set
  append_both(out, 1, 2);  // number of this volume
  append_both(out, sector_size, 2);
  append_both(out, m_path_table_size, 4);
  append_little(out, m_path_table_l / sector_size, 4);
  append_little(out, 0, 4);
  append_big(out, m_path_table_m / sector_size, 4);
  append_big(out, 0, 4);
  out += directory_record({std::string_view("\0", 1), root.offset, root.size, directory_flag, ""}, record_time(time));
  out += padded("ROCM_OFFLINE", 128);  // volume set
  out += padded("", 128);              // publisher
  out += padded("", 128);              // data preparer
  out += padded("ROCM_OFFLINE_INSTALLER_CREATOR", 128);
  out += padded("", 37 * 3);     // copyright, abstract and bibliographic files
  out += descriptor_time(time);  // created
  out += descriptor_time(time);  // modified
  const std::string never = std::string(16, '0') + std::string(1, '\0');
  out += never;  // expires
  out += never;  // effective
  out += std::string("\1\0", 2);
  out.resize(sector_size, '\0');
  out += std::string(
      "\xff"
      "CD001\1",
      7);  // ECMA-119 8.3: set terminator
  out.resize(2 * sector_size, '\0');
  return out;
}

std::string Iso9660Tree::render(std::uint64_t volume_size, UnixTime time) const {
  std::string out = render_descriptors(volume_size, time);
  out += render_path_table(false);
  out += render_path_table(true);
  const std::string when = record_time(time);
  for (const Directory& directory : m_directories) {
    out += render_directory(directory, when);
  }
  return out;
}

}  // namespace rocm_offline::bundle
