// The host's own sources.list(5), one-line and deb822 form. Only read: nothing of it is trusted.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <system_error>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/repos/catalog.hpp"

namespace rocm_offline::repos {
namespace {

constexpr std::uint64_t max_bytes = 1U << 20U;
constexpr std::string_view mirror_list_method = "mirror+file:";

using Fields = std::map<std::string, std::string>;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      }
    } else {
      word += c;
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

std::string without_trailing_slash(std::string url) {
  while (url.size() > 1 && url.ends_with('/')) {
    url.pop_back();
  }
  return url;
}

bool is_usable_url(std::string_view url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://") || url.starts_with("file:/");
  return known && !has_control_characters(url) && url.find_first_of("?#") == std::string_view::npos;
}

// apt also writes file:/path; we write file:///path.
std::string in_our_form(const std::string& url) {
  const bool short_file = url.starts_with("file:/") && !url.starts_with("file://");
  return without_trailing_slash(short_file ? "file://" + url.substr(5) : url);
}

bool has_word(const std::string& list, std::string_view word) {
  std::string spaced = list;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  const std::vector<std::string> words = words_of(spaced);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string field(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

class SourcesReader {
 public:
  explicit SourcesReader(std::filesystem::path root) : m_root(std::move(root)) {}

  std::vector<HostSource> read() {
    const std::filesystem::path apt = m_root / "etc/apt";
    read_source_file(apt / "sources.list");
    std::error_code failure;
    std::set<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(apt / "sources.list.d", failure), end; !failure && entry != end;
         entry.increment(failure)) {
      files.insert(entry->path());
    }
    for (const std::filesystem::path& file : files) {
      read_source_file(file);
    }
    return std::move(m_sources);
  }

 private:
  void read_source_file(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    if (extension != ".list" && extension != ".sources") {
      return;
    }
    const Result<std::string> text = read_file(Stage::repos, file, max_bytes);
    if (!text) {
      return;
    }
    constexpr std::array stock = {"sources.list", "debian.sources", "ubuntu.sources",
                                  "official-package-repositories.list"};
    const std::string name = file.filename().string();
    m_stock_file = std::find(stock.begin(), stock.end(), name) != stock.end();
    if (extension == ".list") {
      for (const std::string& line : split(*text, '\n')) {
        read_line(line);
      }
    } else {
      read_stanzas(*text);
    }
  }

  // deb [option=value ...] address suite component...
  void read_line(std::string_view line) {
    line = trim(line.substr(0, line.find('#')));
    if (!line.starts_with("deb ") && !line.starts_with("deb\t")) {
      return;
    }
    line = trim(line.substr(4));
    Fields options;
    if (line.starts_with('[')) {
      const std::size_t close = line.find(']');
      if (close == std::string_view::npos) {
        return;
      }
      for (const std::string& option : words_of(line.substr(1, close - 1))) {
        const std::size_t equals = option.find('=');
        if (equals != std::string::npos) {
          options[lower(option.substr(0, equals))] = option.substr(equals + 1);
        }
      }
      line = trim(line.substr(close + 1));
    }
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2 || !is_for_amd64(field(options, "arch"))) {
      return;
    }
    add(words[0], {.url = {},
                   .suites = {words[1]},
                   .components = {words.begin() + 2, words.end()},
                   .signed_by = field(options, "signed-by"),
                   .stock_file = m_stock_file});
  }

  void read_stanzas(const std::string& text) {
    Fields stanza;
    std::string last;
    for (const std::string& raw : split(text, '\n')) {
      const std::string line(raw.ends_with('\r') ? raw.substr(0, raw.size() - 1) : raw);
      if (line.starts_with('#')) {
        continue;
      }
      if (trim(line).empty()) {
        add_stanza(stanza);
        stanza.clear();
        last.clear();
      } else if (line.front() == ' ' || line.front() == '\t') {
        if (!last.empty()) {
          stanza[last] += "\n" + std::string(trim(line));
        }
      } else if (const std::size_t colon = line.find(':'); colon != std::string::npos) {
        last = lower(trim(std::string_view(line).substr(0, colon)));
        stanza[last] = trim(std::string_view(line).substr(colon + 1));
      }
    }
    add_stanza(stanza);
  }

  void add_stanza(const Fields& stanza) {
    constexpr std::array off = {"no", "false", "without", "off", "disable", "0"};
    const std::string enabled = lower(field(stanza, "enabled"));
    if (std::find(off.begin(), off.end(), enabled) != off.end() || !has_word(field(stanza, "types"), "deb") ||
        !is_for_amd64(field(stanza, "architectures"))) {
      return;
    }
    for (const std::string& url : words_of(field(stanza, "uris"))) {
      add(url, {.url = {},
                .suites = words_of(field(stanza, "suites")),
                .components = words_of(field(stanza, "components")),
                .signed_by = field(stanza, "signed-by"),
                .stock_file = m_stock_file});
    }
  }

  static bool is_for_amd64(const std::string& architectures) {
    return architectures.empty() || has_word(architectures, "amd64");
  }

  void add(const std::string& url, HostSource source) {
    if (url.starts_with(mirror_list_method)) {
      add_mirror_list(url.substr(mirror_list_method.size()), source);
    } else if (is_usable_url(url)) {
      source.url = in_our_form(url);
      m_sources.push_back(std::move(source));
    }
  }

  // apt-transport-mirror(1): one address a line, then optional words. Debian's cloud images use it.
  void add_mirror_list(std::string_view path, const HostSource& source) {
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const Result<std::string> text = read_file(Stage::repos, m_root / path, max_bytes);
    if (!text) {
      return;
    }
    for (const std::string& line : split(*text, '\n')) {
      const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
      if (!words.empty() && is_usable_url(words.front())) {
        HostSource one = source;
        one.url = in_our_form(words.front());
        m_sources.push_back(std::move(one));
      }
    }
  }

  std::filesystem::path m_root;
  std::vector<HostSource> m_sources;
  bool m_stock_file = false;
};

// The parts of an address's path; host and credentials are no part.
std::vector<std::string> path_parts(std::string_view url) {
  const std::size_t scheme = url.find("://");
  url.remove_prefix(scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::size_t slash = url.find('/');
  std::vector<std::string> parts;
  if (slash != std::string_view::npos) {
    for (std::string& part : split(url.substr(slash + 1), '/')) {
      if (!part.empty()) {
        parts.push_back(std::move(part));
      }
    }
  }
  return parts;
}

std::string last_part(std::string_view url) {
  const std::vector<std::string> parts = path_parts(url);
  return parts.empty() ? std::string() : parts.back();
}

// "{dir}" and "rhel{el}" stand for any text within one part of a path.
bool part_fits(std::string_view pattern, std::string_view part) {
  const std::size_t open = pattern.find('{');
  const std::size_t close = pattern.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return pattern == part;
  }
  const std::string_view head = pattern.substr(0, open);
  const std::string_view tail = pattern.substr(close + 1);
  return part.size() > head.size() + tail.size() && part.starts_with(head) && part.ends_with(tail);
}

// The address in front of a layout's path, or empty when it does not end in that path below the group's last part.
std::string base_before(const HostSource& source, const RepositoryGroup& group, const GroupLayout& layout) {
  const std::vector<std::string> parts = path_parts(source.url);
  std::vector<std::string> wanted = split(layout.path, '/');
  wanted.insert(wanted.begin(), last_part(group.base_url));
  if (parts.size() < wanted.size() ||
      !std::equal(wanted.begin(), wanted.end(), parts.end() - static_cast<std::ptrdiff_t>(wanted.size()), part_fits)) {
    return {};
  }
  std::string base = source.url;
  for (std::size_t i = 1; i < wanted.size(); ++i) {
    base.resize(base.rfind('/'));
  }
  return base;
}

std::set<std::string> known_suites(const RepositoryGroup& group, const GroupLayout& layout) {
  std::set<std::string> suites(group.host_suites.begin(), group.host_suites.end());
  constexpr std::string_view placeholder = "{codename}";
  for (const auto& [target, codename] : group.codenames) {
    for (std::string suite : layout.suites) {
      if (const std::size_t at = suite.find(placeholder); at != std::string::npos) {
        suite.replace(at, placeholder.size(), codename);
      }
      suites.insert(std::move(suite));
    }
  }
  return suites;
}

bool shares_component(const HostSource& source, const GroupLayout& layout) {
  return layout.components.empty() || std::find(source.components.begin(), source.components.end(),
                                                layout.components.front()) != source.components.end();
}

struct Candidate {
  std::string base;
  std::set<std::string> suites;
  bool path_alike = false, own_keyring = false, stock_file = false;

  [[nodiscard]] int likelihood() const {
    return (path_alike ? 2 : 0) + (own_keyring ? 2 : 0) + (suites.size() > 1 ? 2 : 0) + (stock_file ? 1 : 0);
  }
};

class Candidates {
 public:
  Candidate& at(const std::string& base) {
    const auto found =
        std::find_if(m_list.begin(), m_list.end(), [&](const Candidate& one) { return one.base == base; });
    if (found != m_list.end()) {
      return *found;
    }
    m_list.push_back({.base = base, .suites = {}});
    return m_list.back();
  }

  [[nodiscard]] std::vector<std::string> likeliest() const {
    int most = 1;
    for (const Candidate& one : m_list) {
      most = std::max(most, one.likelihood());
    }
    std::vector<std::string> bases;
    for (const Candidate& one : m_list) {
      if (one.likelihood() == most) {
        bases.push_back(one.base);
      }
    }
    return bases;
  }

 private:
  std::vector<Candidate> m_list;
};

void consider(Candidates& candidates, const HostSource& source, const RepositoryGroup& group,
              const GroupLayout& layout) {
  if (!layout.path.empty()) {
    if (const std::string base = base_before(source, group, layout); !base.empty()) {
      candidates.at(base).path_alike = true;
    }
    return;
  }
  if (!shares_component(source, layout)) {
    return;
  }
  const std::set<std::string> known = known_suites(group, layout);
  const std::string archive_keyring = group.name.substr(0, group.name.find('-')) + "-archive";
  for (const std::string& suite : source.suites) {
    if (known.contains(without_trailing_slash(suite))) {
      Candidate& one = candidates.at(source.url);
      one.suites.insert(suite);
      one.path_alike = last_part(source.url) == last_part(group.base_url);
      one.own_keyring = one.own_keyring || source.signed_by.find(archive_keyring) != std::string::npos;
      one.stock_file = one.stock_file || source.stock_file;
    }
  }
}

}  // namespace

std::vector<HostSource> read_host_sources(const std::filesystem::path& root) {
  return SourcesReader(root).read();
}

std::map<std::string, std::vector<std::string>> mirrors_from_host(const std::vector<HostSource>& sources,
                                                                  const Catalog& catalog) {
  std::map<std::string, std::vector<std::string>> mirrors;
  for (const RepositoryGroup& group : catalog.groups()) {
    if (group.type != PackageFamily::deb) {
      continue;
    }
    Candidates candidates;
    for (const HostSource& source : sources) {
      for (const GroupLayout& layout : group.layouts) {
        consider(candidates, source, group, layout);
      }
    }
    if (std::vector<std::string> bases = candidates.likeliest(); !bases.empty()) {
      mirrors[group.name] = std::move(bases);
    }
  }
  return mirrors;
}

}  // namespace rocm_offline::repos
