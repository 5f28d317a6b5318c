// All packages that a walk may choose from, interned and indexed. Names are numbers, relations are parsed when first
// asked for: a walk touches a few hundred of the 70,000 stanzas of a distribution.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "relation.hpp"
#include "name_table.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::resolve {

using NameId = std::uint32_t;
using ArchId = std::uint8_t;         // 0 is the native architecture (and "all")
using SlotId = std::uint32_t;        // one name on one architecture: at most one version of it is installed
using PackageIndex = std::uint32_t;  // position in the universe: repositories in their order, stanzas in index order

inline constexpr std::uint32_t k_none = UINT32_MAX;
inline constexpr ArchId k_any_arch = UINT8_MAX;

// One alternative of a relation field, its names interned.
struct Alternative {
  NameId name = k_none;       // of the capability: "python3:any" is one of its own
  NameId base_name = k_none;  // without the qualifier
  ArchId arch = 0;            // that the provider must have (or be Multi-Arch: foreign); k_any_arch: whichever
  VersionOperator op = VersionOperator::none;
  std::string_view version{};
};

struct DependencyGroup {
  std::string_view field{};  // "Pre-Depends", "Depends", "Recommends"
  std::vector<Alternative> alternatives{};
  std::string text{};  // "libc6 (>= 2.38) | libc6.1"
};

struct Conflict {
  std::string_view field{};  // "Conflicts", "Breaks"
  Alternative target{};
  std::string text{};
};

struct ProvidedName {
  NameId name = k_none;
  std::string_view version{};  // empty: fulfils no versioned relation
};

// The relation fields of one stanza. When one of them is malformed, `malformed` names it and all lists are empty.
struct PackageRelations {
  std::vector<DependencyGroup> depends{};  // Pre-Depends, then Depends, in the order written
  std::vector<DependencyGroup> recommends{};
  std::vector<Conflict> conflicts{};
  std::vector<ProvidedName> provides{};  // with the package's own "name:any" when Multi-Arch: allowed
  std::string malformed{};
};

struct UniversePackage {
  const index::DebPackage* deb = nullptr;
  std::uint32_t repository = k_none;  // k_none: known only as installed
  NameId name = k_none;
  SlotId slot = k_none;
  ArchId arch = 0;
  int priority = 0;
};

class PackageUniverse {
 public:
  struct Repository {
    std::string name{};
    int priority = 500;
    std::span<const index::DebPackage> packages{};  // borrowed: must outlive the universe
  };

  // native_arch first; packages of other architectures are left out.
  PackageUniverse(const std::string& native_arch, const std::vector<std::string>& foreign_archs,
                  std::vector<Repository> repositories, std::span<const index::DebPackage> installed = {});
  PackageUniverse(const PackageUniverse&) = delete;
  PackageUniverse& operator=(const PackageUniverse&) = delete;

  [[nodiscard]] std::size_t size() const { return m_packages.size(); }
  [[nodiscard]] std::size_t slot_count() const { return m_slot_count; }
  [[nodiscard]] const UniversePackage& at(PackageIndex package) const { return m_packages[package]; }
  [[nodiscard]] const Repository& repository(std::uint32_t repository) const { return m_repositories[repository]; }
  [[nodiscard]] std::string_view name_of(NameId name) const { return m_names[name]; }
  [[nodiscard]] const std::string& arch_name(ArchId arch) const { return m_archs[arch]; }
  [[nodiscard]] PackageId id_of(PackageIndex package) const;
  // "hipcc 5.7.1-3": for messages; a foreign architecture is said.
  [[nodiscard]] std::string label(PackageIndex package) const;

  [[nodiscard]] std::optional<NameId> find_name(std::string_view name) const;
  [[nodiscard]] std::optional<ArchId> find_arch(std::string_view arch) const;
  [[nodiscard]] bool has_arch(ArchId arch) const { return arch < m_archs.size(); }
  [[nodiscard]] SlotId slot_of(NameId name, ArchId arch) const;
  // Highest priority, then highest version; of equal versions the first repository's. An installed version stays the
  // candidate against lower ones (apt_preferences(5)). k_none when the slot has no package.
  [[nodiscard]] PackageIndex candidate(SlotId slot) const { return m_candidates[slot]; }
  [[nodiscard]] PackageIndex installed(SlotId slot) const { return m_installed[slot]; }
  [[nodiscard]] const std::vector<PackageIndex>& installed_packages() const { return m_installed_packages; }
  // All versions in the slot, in index order.
  [[nodiscard]] std::vector<PackageIndex> versions(SlotId slot) const;
  // Makes this version the candidate (a request of name=version).
  void pin(PackageIndex package) { m_candidates[m_packages[package].slot] = package; }

  // Replaces what is installed by these; each must be the candidate of its slot.
  void assume_installed(std::span<const PackageIndex> packages);

  [[nodiscard]] const PackageRelations& relations(PackageIndex package) const;
  // Packages whose Provides (or Multi-Arch: allowed, for "name:any") has the name, any version, in index order.
  [[nodiscard]] const std::vector<PackageIndex>& providers(NameId name) const;
  // Does the package fulfil the alternative, by its name or by what it provides?
  [[nodiscard]] bool fulfils(PackageIndex package, const Alternative& alternative) const;
  // Candidates that fulfil a group, in the order in which apt tries them.
  [[nodiscard]] std::vector<PackageIndex> targets(const DependencyGroup& group) const;

  // Distinct names of packages, for near-name hints.
  [[nodiscard]] std::vector<std::string> package_names() const;
  [[nodiscard]] bool is_essential(PackageIndex package) const { return m_packages[package].deb->essential; }

 private:
  NameId intern(std::string_view name) const;  // the view must stay valid
  void add_package(const index::DebPackage& deb, std::uint32_t repository, int priority);
  void mark_installed(PackageIndex first);
  void link_slots();
  void index_provides();
  void choose_candidates();
  void choose_installed_candidates();
  [[nodiscard]] NameId capability(const Relation& relation, NameId& base) const;
  [[nodiscard]] Alternative alternative_of(const Relation& relation, ArchId own_arch) const;
  bool read_groups(std::string_view label, std::string_view field, ArchId own_arch, PackageRelations& relations,
                   std::vector<DependencyGroup>& into) const;
  bool read_conflicts(std::string_view label, std::string_view field, PackageRelations& relations) const;
  bool read_provides(const UniversePackage& package, PackageRelations& relations) const;
  [[nodiscard]] std::vector<PackageIndex> sorted_targets(const Alternative& alternative) const;
  [[nodiscard]] bool tried_before(PackageIndex a, PackageIndex b, NameId wanted) const;

  std::vector<std::string> m_archs;
  std::vector<Repository> m_repositories;
  std::vector<UniversePackage> m_packages;
  // Relations are parsed on demand, also from const functions: they are a cache of the stanzas.
  mutable NameTable m_names;
  mutable std::deque<std::string> m_owned_names;
  mutable std::unordered_map<PackageIndex, PackageRelations> m_relations;
  std::vector<std::vector<PackageIndex>> m_providers;  // by name; shorter than m_names
  std::size_t m_slot_count = 0;
  std::size_t m_package_name_count = 0;  // names below it are names of packages and have slots
  std::vector<PackageIndex> m_first_in_slot, m_next_in_slot;
  std::vector<PackageIndex> m_candidates, m_installed;
  std::vector<PackageIndex> m_installed_packages;
};

}  // namespace rocm_offline::resolve
