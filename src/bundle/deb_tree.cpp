#include "deb_tree.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "iso9660.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::bundle {

namespace {

// ".deb" of "a_1_amd64.deb"; empty where there is none of sensible length.
std::string extension_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 || name.size() - dot > 16 ? "" : name.substr(dot);
}

std::string with_mark(const std::string& name, const std::string& mark, std::size_t longest) {
  const std::string extension = extension_of(name);
  const std::size_t room = longest - mark.size() - extension.size();
  return name.substr(0, std::min(room, name.size() - extension.size())) + mark + extension;
}

bool is_field(std::string_view line, std::string_view field) {
  if (line.size() <= field.size() || line[field.size()] != ':') {
    return false;
  }
  return std::equal(field.begin(), field.end(), line.begin(), [](char wanted, char found) {
    return wanted == (found >= 'A' && found <= 'Z' ? static_cast<char>(found - 'A' + 'a') : found);
  });
}

// RFC 5322, without the locale that strftime would ask.
std::string release_date(UnixTime time) {
  static constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  const std::string written = format_time(time);  // "2026-11-21T09:15:44Z"
  return std::string(days.at(static_cast<std::size_t>(parts.tm_wday))) + ", " + written.substr(8, 2) + " " +
         months.at(static_cast<std::size_t>(parts.tm_mon)) + " " + written.substr(0, 4) + " " + written.substr(11, 8) +
         " UTC";
}

}  // namespace

std::string shortened_name(const std::string& name) {
  return name.size() <= longest_name ? name : with_mark(name, "~" + sha256_of(name).hex().substr(0, 16), longest_name);
}

std::string FolderNames::allocate(const std::string& wanted, const Sha256Digest& digest) {
  std::string name = shortened_name(wanted);
  for (unsigned count = 0; !m_used.insert(name).second; ++count) {
    const std::string mark = "~" + digest.hex().substr(0, 8) + (count == 0 ? "" : "." + std::to_string(count));
    name = with_mark(wanted, mark, longest_name);
  }
  return name;
}

Result<std::string> pool_stanza(const PackageRecord& package, const std::string& pool_name) {
  std::string out;
  bool has_filename = false;
  bool has_size = false;
  bool has_digest = false;
  for (const std::string& line : split(package.stanza, '\n')) {
    if (is_field(line, "filename")) {
      if (!has_filename) {
        out += "Filename: pool/" + pool_name + "\n";
      }
      has_filename = true;
      continue;
    }
    has_size = has_size || is_field(line, "size");
    has_digest = has_digest || is_field(line, "sha256");
    // An empty line would end the stanza, and what follows would be a package that nobody chose.
    if (!trim(line).empty()) {
      out += line + "\n";
    }
  }
  if (!has_filename || !has_size || !has_digest) {
    return fail({.code = ErrorCode::metadata_invalid,
                 .stage = Stage::bundle,
                 .message = "the index entry of package " + package.id.name + " cannot be carried over",
                 .reason = "it lacks Filename, Size or SHA256",
                 .details = {{"repository", package.repository}},
                 .help = "report it to who maintains that repository"});
  }
  return out;
}

std::string release_file(const Target& target, const std::string& packages_file, UnixTime source_date) {
  return "Origin: ROCm offline\n"
         "Label: ROCm offline\n"
         "Suite: " +
         target.id +
         "\n"
         "Codename: " +
         (target.codename.empty() ? target.id : target.codename) +
         "\n"
         "Date: " +
         release_date(source_date) +
         "\n"
         "Architectures: " +
         target.arch +
         "\n"
         "Description: packages to install ROCm without a network\n"
         "SHA256:\n"
         " " +
         sha256_of(packages_file).hex() + " " + std::to_string(packages_file.size()) + " Packages\n";
}

}  // namespace rocm_offline::bundle
