// .deb files (deb(5)): an ar archive of debian-binary, control.tar.gz and data.tar.gz.
#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/deb_repository/compress.hpp"
#include "support/deb_repository/deb_repository.hpp"

namespace rocm_offline::test {
namespace {

struct FreeWriter {
  void operator()(::archive* writer) const { archive_write_free(writer); }
};
using Writer = std::unique_ptr<::archive, FreeWriter>;

la_ssize_t append_to_string(::archive*, void* out, const void* data, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

void check(bool ok, const char* what) {
  if (!ok) {
    throw std::runtime_error(std::string("deb_repository: ") + what);
  }
}

void add_entry(::archive* writer, const DebFile& file, bool directory) {
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, ("./" + file.path).c_str());
  archive_entry_set_filetype(entry, directory ? AE_IFDIR : AE_IFREG);
  archive_entry_set_perm(entry, directory ? 0755 : file.mode);
  archive_entry_set_mtime(entry, 1700000000, 0);
  archive_entry_set_size(entry, static_cast<la_int64_t>(file.content.size()));
  check(archive_write_header(writer, entry) == ARCHIVE_OK, "tar header");
  if (!file.content.empty()) {
    check(archive_write_data(writer, file.content.data(), file.content.size()) >= 0, "tar data");
  }
  archive_entry_free(entry);
}

std::string tar_of(const std::vector<DebFile>& files) {
  std::string out;
  Writer writer(archive_write_new());
  archive_write_set_format_ustar(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  check(archive_write_open(writer.get(), &out, nullptr, append_to_string, nullptr) == ARCHIVE_OK, "tar");
  std::set<std::string> folders;
  add_entry(writer.get(), {.path = "", .content = ""}, true);
  for (const DebFile& file : files) {
    for (auto slash = file.path.find('/'); slash != std::string::npos; slash = file.path.find('/', slash + 1)) {
      if (folders.insert(file.path.substr(0, slash)).second) {
        add_entry(writer.get(), {.path = file.path.substr(0, slash), .content = ""}, true);
      }
    }
    add_entry(writer.get(), file, false);
  }
  check(archive_write_close(writer.get()) == ARCHIVE_OK, "tar end");
  return out;
}

void add_ar_member(std::string& out, const std::string& name, const std::string& data) {
  std::array<char, 61> header{};
  std::snprintf(header.data(), header.size(), "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name.c_str(), 1700000000, 0, 0,
                "100644", data.size());
  out.append(header.data(), 60);
  out += data;
  if (data.size() % 2 == 1) {
    out += '\n';
  }
}

std::string noise(std::uint64_t size) {
  std::string out;
  std::mt19937_64 random(size);  // NOLINT: the same bytes every time
  while (out.size() < size) {
    const std::uint64_t word = random();
    out.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  out.resize(static_cast<std::size_t>(size));
  return out;
}

}  // namespace

std::string compress(std::string_view data, std::string_view how) {
  if (how.empty()) {
    return std::string(data);
  }
  std::string out;
  Writer writer(archive_write_new());
  archive_write_set_format_raw(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  int added = ARCHIVE_FATAL;
  if (how == "gz") {
    added = archive_write_add_filter_gzip(writer.get());
    archive_write_set_filter_option(writer.get(), "gzip", "timestamp", nullptr);
  } else if (how == "xz") {
    added = archive_write_add_filter_xz(writer.get());
  } else if (how == "zst") {
    added = archive_write_add_filter_zstd(writer.get());
  } else if (how == "bz2") {
    added = archive_write_add_filter_bzip2(writer.get());
  } else if (how == "lz4") {
    added = archive_write_add_filter_lz4(writer.get());
  }
  check(added == ARCHIVE_OK, "unknown compression");
  check(archive_write_open(writer.get(), &out, nullptr, append_to_string, nullptr) == ARCHIVE_OK, "compressor");
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_pathname(entry, "data");
  check(archive_write_header(writer.get(), entry) == ARCHIVE_OK, "compressor header");
  archive_entry_free(entry);
  check(data.empty() || archive_write_data(writer.get(), data.data(), data.size()) >= 0, "compressor data");
  check(archive_write_close(writer.get()) == ARCHIVE_OK, "compressor end");
  return out;
}

std::string control_of(const DebSpec& spec) {
  std::string control = "Package: " + spec.name + "\nVersion: " + spec.version + "\nArchitecture: " + spec.arch + "\n";
  std::set<std::string> given;
  for (const auto& [name, value] : spec.fields) {
    control += name + ": " + value + "\n";
    given.insert(name);
  }
  const std::vector<std::pair<std::string, std::string>> defaults = {
      {"Maintainer", "Tests <tests@example.invalid>"},
      {"Installed-Size", std::to_string(spec.padding / 1024 + 8)},
      {"Description", "package of a test"}};
  for (const auto& [name, value] : defaults) {
    if (!given.contains(name)) {
      control += name + ": " + value + "\n";
    }
  }
  return control;
}

std::string build_deb(const DebSpec& spec) {
  std::vector<DebFile> control = {{.path = "control", .content = control_of(spec)}};
  for (const auto& [name, content] : spec.scripts) {
    control.push_back({name, content, 0755});
  }
  std::vector<DebFile> files = spec.files;
  if (files.empty()) {
    files.push_back({.path = "usr/share/doc/" + spec.name + "/README", .content = spec.name + "\n"});
  }
  if (spec.padding > 0) {
    files.push_back({.path = "usr/share/" + spec.name + "/padding", .content = noise(spec.padding)});
  }
  std::string deb = "!<arch>\n";
  add_ar_member(deb, "debian-binary", "2.0\n");
  add_ar_member(deb, "control.tar.gz", compress(tar_of(control), "gz"));
  add_ar_member(deb, "data.tar.gz", compress(tar_of(files), "gz"));
  return deb;
}

}  // namespace rocm_offline::test
