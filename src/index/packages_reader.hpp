// Splits Packages files (deb822(5)) into stanzas and fields, and checks all that later stages rely on. Own parser,
// because libsolv's drops Size, Priority, Essential and all but one digest.
//
// Accepted: what apt accepts of a signed index, with these limits: LF line ends (CR LF is refused, because stanzas are
// carried verbatim), no other control characters, lines up to 1 MiB, stanzas up to 1 MiB, each field once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::index {

// A second entry of a name, version and architecture, with another digest than the first.
struct DuplicatePackage {
  std::string name, version, arch;
};

class PackagesReader {
 public:
  // Packages of `arch` and of `all` are kept, others skipped.
  explicit PackagesReader(std::string arch);
  // Adds the packages of one verified index; `what` names it in errors. The views point into `text`.
  // Errors: metadata_invalid and digest_missing, with details stanza (package or number) and field.
  [[nodiscard]] Result<Done> add(std::string_view text, const std::string& what);
  [[nodiscard]] std::vector<DebPackage> take_packages() { return std::move(m_packages); }
  [[nodiscard]] const std::vector<DuplicatePackage>& duplicates() const { return m_duplicates; }
  [[nodiscard]] std::size_t count() const { return m_packages.size(); }

 private:
  // Those from `first` on are compared with all before them; twins are taken out.
  void drop_twins(std::size_t first);
  // Place in m_known of this package, or the free one where it belongs.
  [[nodiscard]] std::size_t& known_place(const DebPackage& package);

  std::string m_arch;
  std::vector<DebPackage> m_packages;
  // Open addressing, a power of two, at most half full: 1 + place in m_packages, 0 where free.
  std::vector<std::size_t> m_known;
  std::vector<DuplicatePackage> m_duplicates;
};

}  // namespace rocm_offline::index
