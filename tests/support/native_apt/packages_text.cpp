#include "support/native_apt/packages_text.hpp"

#include <charconv>
#include <map>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::test {
namespace {

using FieldPointer = std::string_view index::DebPackage::*;

const std::map<std::string_view, FieldPointer>& text_fields() {
  static const std::map<std::string_view, FieldPointer> k_fields = {
      {"Package", &index::DebPackage::name},
      {"Version", &index::DebPackage::version},
      {"Architecture", &index::DebPackage::arch},
      {"Depends", &index::DebPackage::depends},
      {"Pre-Depends", &index::DebPackage::pre_depends},
      {"Recommends", &index::DebPackage::recommends},
      {"Suggests", &index::DebPackage::suggests},
      {"Conflicts", &index::DebPackage::conflicts},
      {"Breaks", &index::DebPackage::breaks},
      {"Replaces", &index::DebPackage::replaces},
      {"Provides", &index::DebPackage::provides},
      {"Multi-Arch", &index::DebPackage::multi_arch},
      {"Priority", &index::DebPackage::priority},
      {"Section", &index::DebPackage::section},
      {"Filename", &index::DebPackage::filename},
  };
  return k_fields;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct StanzaReader {
  index::DebPackage package{};
  bool installed = true;

  void field(std::string_view name, std::string_view value) {
    if (const auto known = text_fields().find(name); known != text_fields().end()) {
      package.*known->second = value;
    } else if (name == "Essential") {
      package.essential = value == "yes";
    } else if (name == "Size") {
      package.size = number(value);
    } else if (name == "Installed-Size") {
      package.installed_size = number(value) * 1024;
    } else if (name == "SHA256") {
      package.sha256 = Sha256Digest::from_hex(value).value_or(Sha256Digest{});
    } else if (name == "Status") {
      installed = value.ends_with(" installed");
    }
  }
};

// The end of the field that begins at `begin`: the line break before a line that does not begin with a blank.
std::size_t end_of_field(std::string_view text, std::size_t begin) {
  std::size_t end = text.find('\n', begin);
  while (end != std::string_view::npos && end + 1 < text.size() && (text[end + 1] == ' ' || text[end + 1] == '\t')) {
    end = text.find('\n', end + 1);
  }
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

PackagesText read_packages_text(std::string text) {
  PackagesText result;
  result.text = std::make_unique<std::string>(std::move(text));
  const std::string_view all = *result.text;
  StanzaReader reader;
  std::size_t stanza_begin = 0;
  const auto finish = [&](std::size_t end) {
    if (!reader.package.name.empty() && reader.installed) {
      reader.package.stanza = all.substr(stanza_begin, end - stanza_begin);
      result.packages.push_back(reader.package);
    }
    reader = {};
  };
  std::size_t at = 0;
  while (at < all.size()) {
    if (all[at] == '\n') {
      finish(at - (at > 0 ? 1 : 0));
      stanza_begin = ++at;
      continue;
    }
    const std::size_t end = end_of_field(all, at);
    const std::string_view line = all.substr(at, end - at);
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      reader.field(line.substr(0, colon), trim(line.substr(colon + 1)));
    }
    at = end + 1;
  }
  finish(all.size());
  return result;
}

}  // namespace rocm_offline::test
