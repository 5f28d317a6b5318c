// A universe from a few lines: what the walk sees, without repositories.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "requests.hpp"
#include "support/native_apt/packages_text.hpp"
#include "universe.hpp"
#include "walk.hpp"

namespace rocm_offline::test {

// Packages texts, in the order of their repositories: {"debian", 500, "Package: a\nVersion: 1\n\n..."}.
struct TableRepository {
  std::string name{};
  int priority = 500;
  std::string text{};
};

class PackageTable {
 public:
  explicit PackageTable(const std::string& text, const std::string& installed = {},
                        const std::vector<std::string>& foreign_archs = {})
      : PackageTable(std::vector<TableRepository>{{"debian", 500, text}}, installed, foreign_archs) {}

  explicit PackageTable(const std::vector<TableRepository>& repositories, const std::string& installed = {},
                        const std::vector<std::string>& foreign_archs = {}) {
    std::vector<resolve::PackageUniverse::Repository> tables;
    for (const TableRepository& repository : repositories) {
      const PackagesText& text = m_texts.emplace_back(read_packages_text(with_architecture(repository.text)));
      tables.push_back({repository.name, repository.priority, text.packages});
    }
    m_installed = read_packages_text(with_architecture(installed));
    m_universe =
        std::make_unique<resolve::PackageUniverse>("amd64", foreign_archs, std::move(tables), m_installed.packages);
  }

  [[nodiscard]] resolve::PackageUniverse& universe() { return *m_universe; }

 private:
  // Stanzas without an Architecture are amd64's.
  static std::string with_architecture(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find("\n\n", at), text.size());
      std::string stanza = text.substr(at, end - at);
      if (stanza.ends_with('\n')) {
        stanza.pop_back();
      }
      result += stanza;
      result += stanza.find("Architecture:") == std::string::npos ? "\nArchitecture: amd64\n\n" : "\n\n";
      at = end + 2;
    }
    return result;
  }

  std::vector<PackagesText> m_texts;
  PackagesText m_installed;
  std::unique_ptr<resolve::PackageUniverse> m_universe;
};

// "a 1, b 2": what a walk for the requests chooses, or "fails: " and the last link of the walk's chain.
inline std::string choose(PackageTable& table, const std::vector<PackageRequest>& requests, bool recommends = false) {
  const resolve::FoundRequests found = resolve::find_requests(table.universe(), requests);
  if (!found.problems.empty()) {
    return "fails: " + found.problems.front().summary;
  }
  resolve::Walk walk(table.universe(), {recommends});
  if (!walk.install(found.requests)) {
    return "fails: " + (walk.failure().chain.empty() ? std::string() : walk.failure().chain.front());
  }
  std::string text;
  for (const resolve::ChosenPackage& chosen : walk.chosen()) {
    text.append(text.empty() ? "" : ", ").append(table.universe().label(chosen.package));
  }
  return text;
}

inline std::string choose(PackageTable& table, const std::vector<std::string>& names, bool recommends = false) {
  std::vector<PackageRequest> requests;
  for (const std::string& name : names) {
    requests.push_back({name, {}, {}});
  }
  return choose(table, requests, recommends);
}

}  // namespace rocm_offline::test
