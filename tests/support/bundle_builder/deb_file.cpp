#include <array>
#include <cstdio>
#include <set>

#include "support/bundle_builder/bundle_builder.hpp"

namespace rocm_offline::test {

namespace {

void put(std::string& block, std::size_t at, const std::string& text) {
  block.replace(at, text.size(), text);
}

std::string octal(std::uint64_t value, int width) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", width, static_cast<unsigned long long>(value));
  return text.data();
}

struct TarEntry {
  std::string name;
  std::string content;
  bool is_directory = false;
  bool executable = false;
};

// POSIX.1-1988 ustar; names up to 100 bytes.
void append_entry(std::string& tar, const TarEntry& entry) {
  std::string header(512, '\0');
  put(header, 0, entry.name);
  put(header, 100, octal(entry.is_directory || entry.executable ? 0755 : 0644, 7));
  put(header, 108, octal(0, 7));
  put(header, 116, octal(0, 7));
  put(header, 124, octal(entry.content.size(), 11));
  put(header, 136, octal(1764500000, 11));
  put(header, 148, std::string(8, ' '));
  header[156] = entry.is_directory ? '5' : '0';
  put(header, 257, "ustar");
  put(header, 263, "00");
  put(header, 265, "root");
  put(header, 297, "root");
  unsigned sum = 0;
  for (const char c : header) {
    sum += static_cast<unsigned char>(c);
  }
  put(header, 148, octal(sum, 6));
  header[154] = '\0';
  tar += header + entry.content;
  tar.resize((tar.size() + 511) / 512 * 512, '\0');
}

std::string finished(std::string tar) {
  tar.append(1024, '\0');
  tar.resize((tar.size() + 10239) / 10240 * 10240, '\0');
  return tar;
}

void append_member(std::string& ar, const std::string& name, const std::string& content) {
  std::array<char, 61> header{};
  std::snprintf(header.data(), header.size(), "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name.c_str(), 1764500000, 0, 0,
                "100644", content.size());
  ar += header.data() + content;
  if (content.size() % 2 != 0) {
    ar += '\n';
  }
}

}  // namespace

std::string make_deb(const DebContent& content) {
  std::string control = "Package: " + content.name + "\nVersion: " + content.version +
                        "\nArchitecture: " + content.arch + "\nMaintainer: Nobody <nobody@example.org>\n";
  for (const std::string& line : content.control_lines) {
    control += line + "\n";
  }
  control += "Description: made up for a test\n";
  std::string control_tar;
  append_entry(control_tar, {"./", "", true});
  append_entry(control_tar, {"./control", control});
  for (const auto& [name, text] : content.scripts) {
    append_entry(control_tar, {"./" + name, text, false, name != "conffiles"});
  }
  std::string data_tar;
  append_entry(data_tar, {"./", "", true});
  std::set<std::string> folders;
  for (const auto& [path, text] : content.files) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (folders.insert(path.substr(0, slash)).second) {
        append_entry(data_tar, {"./" + path.substr(0, slash) + "/", "", true});
      }
    }
    append_entry(data_tar, {"./" + path, text, false, path.find("bin/") != std::string::npos});
  }
  std::string ar = "!<arch>\n";
  append_member(ar, "debian-binary", "2.0\n");
  append_member(ar, "control.tar", finished(control_tar));
  append_member(ar, "data.tar", finished(data_tar));
  return ar;
}

FakePackage fake_package(const DebContent& content) {
  FakePackage package;
  package.id = {content.name, content.version, content.arch};
  package.payload = make_deb(content);
  package.control_lines = content.control_lines;
  return package;
}

}  // namespace rocm_offline::test
