#include "universe.hpp"

#include <algorithm>
#include <array>

#include "rocm_offline/core/deb_version.hpp"

namespace rocm_offline::resolve {
namespace {

// apt's order of the Priority field (pkgcache.h, `State::VerPriority`): a stanza without one comes first, an unknown
// word counts as extra.
int priority_rank(std::string_view priority) {
  static constexpr std::array<std::string_view, 5> k_order = {"required", "important", "standard", "optional", "extra"};
  if (priority.empty()) {
    return 0;
  }
  const auto found = std::find(k_order.begin(), k_order.end(), priority);
  return found == k_order.end() ? 5 : static_cast<int>(found - k_order.begin()) + 1;
}

// apt keeps one flag for both fields. They are not among DebPackage's, being of no other use than this tie-break.
bool is_important(const index::DebPackage& deb) {
  return deb.stanza.find("\nProtected: yes") != std::string_view::npos ||
         deb.stanza.find("\nImportant: yes") != std::string_view::npos;
}

bool has_any_capability(const index::DebPackage& deb) {
  return deb.multi_arch == "allowed";
}

constexpr int k_installed_priority = 100;   // of the status file, apt_preferences(5)
constexpr int k_downgrade_priority = 1000;  // from here on a pin may downgrade

}  // namespace

PackageUniverse::PackageUniverse(const std::string& native_arch, const std::vector<std::string>& foreign_archs,
                                 std::vector<Repository> repositories, std::span<const index::DebPackage> installed)
    : m_archs{native_arch}, m_repositories(std::move(repositories)) {
  for (const std::string& arch : foreign_archs) {
    if (std::find(m_archs.begin(), m_archs.end(), arch) == m_archs.end()) {
      m_archs.push_back(arch);
    }
  }
  std::size_t count = installed.size();
  for (const Repository& repository : m_repositories) {
    count += repository.packages.size();
  }
  m_packages.reserve(count);
  m_names.reserve(count * 2);
  for (std::uint32_t i = 0; i < m_repositories.size(); ++i) {
    for (const index::DebPackage& deb : m_repositories[i].packages) {
      add_package(deb, i, m_repositories[i].priority);
    }
  }
  const std::size_t first_installed = m_packages.size();
  for (const index::DebPackage& deb : installed) {
    add_package(deb, k_none, k_installed_priority);
  }
  m_package_name_count = m_names.size();
  m_slot_count = m_package_name_count * m_archs.size();
  link_slots();
  choose_candidates();
  mark_installed(static_cast<PackageIndex>(first_installed));
  choose_installed_candidates();
  index_provides();
}

void PackageUniverse::assume_installed(std::span<const PackageIndex> packages) {
  for (const PackageIndex package : m_installed_packages) {
    m_installed[m_packages[package].slot] = k_none;
  }
  m_installed_packages.assign(packages.begin(), packages.end());
  for (const PackageIndex package : packages) {
    m_installed[m_packages[package].slot] = package;
  }
}

// Versions that an index has too are the same package to apt: the index's stanza stands for both.
void PackageUniverse::mark_installed(PackageIndex first) {
  for (PackageIndex i = first; i < m_packages.size(); ++i) {
    const std::vector<PackageIndex> all = versions(m_packages[i].slot);
    const auto same = std::find_if(all.begin(), all.end(), [&](PackageIndex other) {
      return m_packages[other].repository != k_none && m_packages[other].deb->version == m_packages[i].deb->version;
    });
    m_installed[m_packages[i].slot] = same == all.end() ? i : *same;
    m_installed_packages.push_back(m_installed[m_packages[i].slot]);
  }
}

NameId PackageUniverse::intern(std::string_view name) const {
  return m_names.intern(name);
}

void PackageUniverse::add_package(const index::DebPackage& deb, std::uint32_t repository, int priority) {
  const std::optional<ArchId> arch = deb.arch == "all" ? ArchId{0} : find_arch(deb.arch);
  if (!arch) {
    return;
  }
  m_packages.push_back({&deb, repository, intern(deb.name), k_none, *arch, priority});
}

void PackageUniverse::link_slots() {
  m_first_in_slot.assign(m_slot_count, k_none);
  m_candidates.assign(m_slot_count, k_none);
  m_installed.assign(m_slot_count, k_none);
  m_next_in_slot.assign(m_packages.size(), k_none);
  for (std::size_t i = m_packages.size(); i-- > 0;) {
    UniversePackage& package = m_packages[i];
    package.slot = slot_of(package.name, package.arch);
    m_next_in_slot[i] = m_first_in_slot[package.slot];
    m_first_in_slot[package.slot] = static_cast<PackageIndex>(i);
  }
}

void PackageUniverse::choose_candidates() {
  for (PackageIndex i = 0; i < m_packages.size(); ++i) {
    const UniversePackage& package = m_packages[i];
    if (package.repository == k_none) {
      continue;
    }
    PackageIndex& best = m_candidates[package.slot];
    if (best == k_none || package.priority > m_packages[best].priority ||
        (package.priority == m_packages[best].priority &&
         compare_deb_versions(package.deb->version, m_packages[best].deb->version) > 0)) {
      best = i;
    }
  }
}

void PackageUniverse::choose_installed_candidates() {
  for (const PackageIndex installed : m_installed_packages) {
    PackageIndex& best = m_candidates[m_packages[installed].slot];
    const bool kept = best == k_none ||
                      (m_packages[best].priority < k_downgrade_priority &&
                       compare_deb_versions(m_packages[installed].deb->version, m_packages[best].deb->version) >= 0);
    if (kept) {
      best = installed;
    }
  }
}

void PackageUniverse::index_provides() {
  for (PackageIndex i = 0; i < m_packages.size(); ++i) {
    const UniversePackage& package = m_packages[i];
    if (package.deb->provides.empty() && !has_any_capability(*package.deb)) {
      continue;
    }
    PackageRelations relations;
    if (!read_provides(package, relations)) {
      continue;  // relations() says why when the package is touched
    }
    for (const ProvidedName& provided : relations.provides) {
      if (m_providers.size() <= provided.name) {
        m_providers.resize(m_names.size());
      }
      std::vector<PackageIndex>& providers = m_providers[provided.name];
      if (providers.empty() || providers.back() != i) {
        providers.push_back(i);
      }
    }
  }
}

PackageId PackageUniverse::id_of(PackageIndex package) const {
  const index::DebPackage& deb = *m_packages[package].deb;
  return {std::string(deb.name), std::string(deb.version), std::string(deb.arch)};
}

std::string PackageUniverse::label(PackageIndex package) const {
  const UniversePackage& entry = m_packages[package];
  std::string text(entry.deb->name);
  if (entry.arch != 0) {
    text.append(":").append(m_archs[entry.arch]);
  }
  return text.append(" ").append(entry.deb->version);
}

std::optional<NameId> PackageUniverse::find_name(std::string_view name) const {
  return m_names.find(name);
}

std::optional<ArchId> PackageUniverse::find_arch(std::string_view arch) const {
  const auto found = std::find(m_archs.begin(), m_archs.end(), arch);
  return found == m_archs.end() ? std::nullopt : std::optional(static_cast<ArchId>(found - m_archs.begin()));
}

SlotId PackageUniverse::slot_of(NameId name, ArchId arch) const {
  // Architectures outside, names inside: names that no package bears have no slot.
  return name < m_package_name_count ? static_cast<SlotId>(arch * m_package_name_count + name) : k_none;
}

std::vector<PackageIndex> PackageUniverse::versions(SlotId slot) const {
  std::vector<PackageIndex> found;
  for (PackageIndex i = m_first_in_slot[slot]; i != k_none; i = m_next_in_slot[i]) {
    found.push_back(i);
  }
  return found;
}

const std::vector<PackageIndex>& PackageUniverse::providers(NameId name) const {
  static const std::vector<PackageIndex> k_nobody;
  return name < m_providers.size() ? m_providers[name] : k_nobody;
}

NameId PackageUniverse::capability(const Relation& relation, NameId& base) const {
  base = intern(relation.name);
  if (relation.qualifier != "any") {
    return base;
  }
  std::string text = std::string(relation.name) + ":any";
  if (const std::optional<NameId> known = find_name(text)) {
    return *known;
  }
  return intern(m_owned_names.emplace_back(std::move(text)));
}

Alternative PackageUniverse::alternative_of(const Relation& relation, ArchId own_arch) const {
  Alternative alternative;
  alternative.name = capability(relation, alternative.base_name);
  alternative.op = relation.op;
  alternative.version = relation.version;
  if (relation.qualifier.empty()) {
    alternative.arch = own_arch;
  } else if (relation.qualifier == "any") {
    alternative.arch = k_any_arch;
  } else if (relation.qualifier == "native") {
    alternative.arch = 0;
  } else if (const std::optional<ArchId> arch = find_arch(relation.qualifier)) {
    alternative.arch = *arch;
  } else {
    alternative.arch = static_cast<ArchId>(m_archs.size());  // an architecture not in this universe: nobody has it
  }
  return alternative;
}

bool PackageUniverse::read_groups(std::string_view label, std::string_view field, ArchId own_arch,
                                  PackageRelations& relations, std::vector<DependencyGroup>& into) const {
  const auto groups = parse_relations(field);
  if (!groups) {
    relations.malformed = label;
    return false;
  }
  for (const OrGroup& group : *groups) {
    DependencyGroup& entry = into.emplace_back();
    entry.field = label;
    entry.text = group_text(group);
    for (const Relation& relation : group) {
      entry.alternatives.push_back(alternative_of(relation, own_arch));
    }
  }
  return true;
}

bool PackageUniverse::read_conflicts(std::string_view label, std::string_view field,
                                     PackageRelations& relations) const {
  const auto groups = parse_relations(field);
  const bool has_alternatives =
      groups && std::any_of(groups->begin(), groups->end(), [](const OrGroup& group) { return group.size() != 1; });
  if (!groups || has_alternatives) {  // policy 7.1: `|` is allowed in dependencies only
    relations.malformed = label;
    return false;
  }
  for (const OrGroup& group : *groups) {
    // Without a qualifier a conflict is with the name on every architecture (dpkg's Multi-Arch specification).
    Alternative target = alternative_of(group.front(), k_any_arch);
    relations.conflicts.push_back({label, target, relation_text(group.front())});
  }
  return true;
}

bool PackageUniverse::read_provides(const UniversePackage& package, PackageRelations& relations) const {
  const auto groups = parse_relations(package.deb->provides);
  if (!groups) {
    relations.malformed = "Provides";
    return false;
  }
  NameId base = k_none;
  for (const OrGroup& group : *groups) {
    const Relation& provided = group.front();
    if (group.size() != 1 || (provided.op != VersionOperator::none && provided.op != VersionOperator::equal)) {
      relations.malformed = "Provides";
      return false;
    }
    relations.provides.push_back({capability(provided, base), provided.version});
  }
  if (has_any_capability(*package.deb)) {
    relations.provides.push_back({capability({package.deb->name, "any", {}, {}}, base), package.deb->version});
  }
  return true;
}

const PackageRelations& PackageUniverse::relations(PackageIndex package) const {
  const auto [entry, fresh] = m_relations.try_emplace(package);
  PackageRelations& relations = entry->second;
  if (!fresh) {
    return relations;
  }
  const UniversePackage& owner = m_packages[package];
  const index::DebPackage& deb = *owner.deb;
  const bool well_formed = read_groups("Pre-Depends", deb.pre_depends, owner.arch, relations, relations.depends) &&
                           read_groups("Depends", deb.depends, owner.arch, relations, relations.depends) &&
                           read_groups("Recommends", deb.recommends, owner.arch, relations, relations.recommends) &&
                           read_conflicts("Conflicts", deb.conflicts, relations) &&
                           read_conflicts("Breaks", deb.breaks, relations) && read_provides(owner, relations);
  if (!well_formed) {
    std::string field = std::move(relations.malformed);
    relations = {};
    relations.malformed = std::move(field);
  }
  return relations;
}

bool PackageUniverse::fulfils(PackageIndex package, const Alternative& alternative) const {
  const UniversePackage& provider = m_packages[package];
  const bool right_arch =
      alternative.arch == k_any_arch || provider.arch == alternative.arch || provider.deb->multi_arch == "foreign";
  if (!right_arch) {
    return false;
  }
  if (provider.name == alternative.name &&
      version_fulfils(provider.deb->version, alternative.op, alternative.version)) {
    return true;
  }
  if (provider.deb->provides.empty() && !has_any_capability(*provider.deb)) {
    return false;
  }
  const std::vector<ProvidedName>& provides = relations(package).provides;
  return std::any_of(provides.begin(), provides.end(), [&](const ProvidedName& provided) {
    return provided.name == alternative.name &&
           (alternative.op == VersionOperator::none ||
            (!provided.version.empty() && version_fulfils(provided.version, alternative.op, alternative.version)));
  });
}

// The order of apt-pkg's provider comparison, for the flags that an index can set: installed, the named package itself,
// Essential, Important, native architecture, Priority, and then the later in the index.
bool PackageUniverse::tried_before(PackageIndex a, PackageIndex b, NameId wanted) const {
  const UniversePackage& left = m_packages[a];
  const UniversePackage& right = m_packages[b];
  const auto rank = [this, wanted](PackageIndex index, const UniversePackage& package) {
    return std::array<int, 6>{m_installed[package.slot] != k_none ? 0 : 1,
                              package.name == wanted ? 0 : 1,
                              is_essential(index) ? 0 : 1,
                              is_important(*package.deb) ? 0 : 1,
                              package.arch,
                              priority_rank(package.deb->priority)};
  };
  const auto rank_left = rank(a, left);
  const auto rank_right = rank(b, right);
  return rank_left != rank_right ? rank_left < rank_right : a > b;
}

std::vector<PackageIndex> PackageUniverse::sorted_targets(const Alternative& alternative) const {
  std::vector<PackageIndex> found;
  const auto consider = [&](PackageIndex package) {
    if (m_candidates[m_packages[package].slot] == package && fulfils(package, alternative)) {
      found.push_back(package);
    }
  };
  for (std::size_t arch = 0; arch < m_archs.size(); ++arch) {
    const SlotId slot = slot_of(alternative.base_name, static_cast<ArchId>(arch));
    if (slot != k_none && m_candidates[slot] != k_none) {
      consider(m_candidates[slot]);
    }
  }
  for (const PackageIndex provider : providers(alternative.name)) {
    consider(provider);
  }
  std::sort(found.begin(), found.end(),
            [&](PackageIndex a, PackageIndex b) { return tried_before(a, b, alternative.base_name); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<PackageIndex> PackageUniverse::targets(const DependencyGroup& group) const {
  std::vector<PackageIndex> upgrades;
  std::vector<PackageIndex> additions;
  for (const Alternative& alternative : group.alternatives) {
    for (const PackageIndex target : sorted_targets(alternative)) {
      std::vector<PackageIndex>& list = m_installed[m_packages[target].slot] != k_none ? upgrades : additions;
      if (std::find(list.begin(), list.end(), target) == list.end()) {
        list.push_back(target);
      }
    }
  }
  // Over the whole group apt tries to upgrade what is installed before it adds anything.
  upgrades.insert(upgrades.end(), additions.begin(), additions.end());
  return upgrades;
}

std::vector<std::string> PackageUniverse::package_names() const {
  std::vector<std::string> names;
  names.reserve(m_package_name_count);
  for (NameId name = 0; name < m_package_name_count; ++name) {
    names.emplace_back(m_names[name]);
  }
  return names;
}

}  // namespace rocm_offline::resolve
