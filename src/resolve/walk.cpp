#include "walk.hpp"

#include <algorithm>

#include "rocm_offline/resolve/resolver.hpp"

namespace rocm_offline::resolve {
namespace {

// Real closures are less than 100 links deep and need some thousand marks. A hostile index could make the walk recurse
// or try without end.
constexpr std::size_t k_max_depth = 1000;
constexpr std::size_t k_max_marks = 200'000;
constexpr std::size_t k_max_chain = 50;

}  // namespace

Walk::Walk(const PackageUniverse& universe, WalkOptions options)
    : m_universe(universe), m_options(options), m_selected(universe.slot_count(), k_none) {
  for (const PackageIndex package : universe.installed_packages()) {
    m_selected[universe.at(package).slot] = package;
    register_conflicts(package);
  }
  for (const PackageIndex package : universe.installed_packages()) {
    if (is_broken(package)) {
      m_broken_before.insert(package);
    }
  }
}

bool Walk::install(const std::vector<WalkRequest>& requests) {
  for (const WalkRequest& request : requests) {
    m_failure = {request.package, {}};
    if (!is_selected(request.package) && !select_with_conflicts(request.package, request.reason, 0)) {
      return false;
    }
    m_reasons[request.package] = request.reason;  // also where another package had wanted it before
  }
  for (const WalkRequest& request : requests) {
    m_failure = {request.package, {}};
    if (!install_dependencies(request.package, 0)) {
      return false;
    }
  }
  m_failure = {};
  return upgrade_broken_installed();
}

std::vector<ChosenPackage> Walk::chosen() const {
  std::vector<ChosenPackage> chosen;
  for (SlotId slot = 0; slot < m_selected.size(); ++slot) {
    const PackageIndex package = m_selected[slot];
    if (package != k_none && package != m_universe.installed(slot)) {
      const auto reason = m_reasons.find(package);
      chosen.push_back({package, reason == m_reasons.end() ? Reason{} : reason->second});
    }
  }
  std::sort(chosen.begin(), chosen.end(), [this](const ChosenPackage& a, const ChosenPackage& b) {
    const index::DebPackage& left = *m_universe.at(a.package).deb;
    const index::DebPackage& right = *m_universe.at(b.package).deb;
    return std::pair(left.name, left.arch) < std::pair(right.name, right.arch);
  });
  return chosen;
}

bool Walk::is_selected(PackageIndex package) const {
  return m_selected[m_universe.at(package).slot] == package;
}

bool Walk::fulfilled(const Alternative& alternative, NameId except) const {
  std::vector<PackageIndex> found;
  collect_selected(alternative, except, found);
  return !found.empty();
}

bool Walk::satisfied(const DependencyGroup& group) const {
  return std::any_of(group.alternatives.begin(), group.alternatives.end(),
                     [this](const Alternative& alternative) { return fulfilled(alternative); });
}

void Walk::collect_selected(const Alternative& alternative, NameId except, std::vector<PackageIndex>& into) const {
  const auto consider = [&](PackageIndex package) {
    if (package != k_none && m_universe.at(package).name != except && m_universe.fulfils(package, alternative) &&
        std::find(into.begin(), into.end(), package) == into.end()) {
      into.push_back(package);
    }
  };
  for (ArchId arch = 0; m_universe.has_arch(arch); ++arch) {
    const SlotId slot = m_universe.slot_of(alternative.base_name, arch);
    if (slot != k_none) {
      consider(m_selected[slot]);
    }
  }
  for (const PackageIndex provider : m_universe.providers(alternative.name)) {
    if (is_selected(provider)) {
      consider(provider);
    }
  }
}

void Walk::collect_against(PackageIndex package, NameId name, std::vector<PackageIndex>& into) const {
  const auto found = m_conflicts_against.find(name);
  if (found == m_conflicts_against.end()) {
    return;
  }
  const NameId own_name = m_universe.at(package).name;
  for (const auto& [owner, conflict] : found->second) {
    if (is_selected(owner) && m_universe.at(owner).name != own_name && m_universe.fulfils(package, conflict->target) &&
        std::find(into.begin(), into.end(), owner) == into.end()) {
      into.push_back(owner);
    }
  }
}

// Marked and installed packages that cannot stand beside this one, in either direction. A package never conflicts with
// itself, nor with another version or architecture of itself (policy 7.4).
std::vector<PackageIndex> Walk::conflicting(PackageIndex package) const {
  std::vector<PackageIndex> found;
  const UniversePackage& entry = m_universe.at(package);
  const PackageRelations& relations = m_universe.relations(package);
  for (const Conflict& conflict : relations.conflicts) {
    collect_selected(conflict.target, entry.name, found);
  }
  collect_against(package, entry.name, found);
  for (const ProvidedName& provided : relations.provides) {
    collect_against(package, provided.name, found);
  }
  return found;
}

void Walk::register_conflicts(PackageIndex package) {
  for (const Conflict& conflict : m_universe.relations(package).conflicts) {
    m_conflicts_against[conflict.target.name].emplace_back(package, &conflict);
  }
}

void Walk::select(PackageIndex package, const Reason& reason) {
  PackageIndex& selected = m_selected[m_universe.at(package).slot];
  m_steps.push_back({package, selected});
  selected = package;
  m_reasons[package] = reason;
  register_conflicts(package);
}

void Walk::undo_to(std::size_t step) {
  while (m_steps.size() > step) {
    const Step last = m_steps.back();
    m_steps.pop_back();
    m_selected[m_universe.at(last.package).slot] = last.replaced;
    m_reasons.erase(last.package);
    for (const Conflict& conflict : m_universe.relations(last.package).conflicts) {
      m_conflicts_against[conflict.target.name].pop_back();
    }
  }
}

void Walk::note_failure(std::string link) {
  if (m_failure.chain.size() < k_max_chain) {
    m_failure.chain.push_back(std::move(link));
  }
}

bool Walk::mark(PackageIndex package, const Reason& reason, std::size_t depth) {
  if (is_selected(package)) {
    return true;
  }
  if (depth > k_max_depth || ++m_marks > k_max_marks) {
    note_failure("gave up: the dependencies of " + m_universe.label(package) + " have no end");
    return false;
  }
  const std::size_t start = m_steps.size();
  if (select_with_conflicts(package, reason, depth) && install_dependencies(package, depth)) {
    return true;
  }
  undo_to(start);
  return false;
}

// Marks the package alone, after upgrading what is installed in an older version that it conflicts with.
bool Walk::select_with_conflicts(PackageIndex package, const Reason& reason, std::size_t depth) {
  const PackageRelations& relations = m_universe.relations(package);
  if (!relations.malformed.empty()) {
    note_failure(m_universe.label(package) + " is refused: its field " + relations.malformed + " is malformed");
    if (std::find(m_refused.begin(), m_refused.end(), package) == m_refused.end()) {
      m_refused.push_back(package);
    }
    return false;
  }
  const UniversePackage& entry = m_universe.at(package);
  const PackageIndex present = m_selected[entry.slot];
  if (present != k_none && present != m_universe.installed(entry.slot)) {
    note_failure(m_universe.label(package) + " and " + m_universe.label(present) + " cannot be installed together");
    return false;
  }
  std::vector<PackageIndex> upgrades;
  for (const PackageIndex other : conflicting(package)) {
    const SlotId slot = m_universe.at(other).slot;
    if (other != m_universe.installed(slot) || m_universe.candidate(slot) == other) {
      note_failure(m_universe.label(package) + " conflicts with " + m_universe.label(other));
      return false;
    }
    upgrades.push_back(m_universe.candidate(slot));
  }
  select(package, reason);
  const Reason because{ReasonKind::dependency, std::string(entry.deb->name), "Breaks: the installed version"};
  for (const PackageIndex upgrade : upgrades) {
    if (!mark(upgrade, because, depth + 1)) {
      return false;
    }
  }
  if (!upgrades.empty() && !conflicting(package).empty()) {
    note_failure(m_universe.label(package) + " conflicts with " + m_universe.label(conflicting(package).front()));
    return false;
  }
  return true;
}

bool Walk::install_dependencies(PackageIndex package, std::size_t depth) {
  const PackageRelations& relations = m_universe.relations(package);
  for (const DependencyGroup& group : relations.depends) {
    if (!install_group(package, group, depth)) {
      note_failure(m_universe.label(package) + " needs " + group.text);
      return false;
    }
  }
  if (m_options.recommends && m_universe.installed(m_universe.at(package).slot) == k_none) {
    const WalkFailure before = m_failure;
    for (const DependencyGroup& group : relations.recommends) {
      if (!install_group(package, group, depth)) {
        m_failure = before;  // what is only recommended may fail
      }
    }
  }
  return true;
}

bool Walk::install_group(PackageIndex package, const DependencyGroup& group, std::size_t depth) {
  if (satisfied(group)) {
    return true;
  }
  const Reason reason{ReasonKind::dependency, std::string(m_universe.at(package).deb->name),
                      std::string(group.field) + ": " + group.text};
  // Only the first alternative's failure is kept for the explanation: it is the one that was meant.
  const std::vector<std::string> before = m_failure.chain;
  std::vector<std::string> first_failure;
  for (const PackageIndex target : m_universe.targets(group)) {
    m_failure.chain = before;
    if (mark(target, reason, depth + 1)) {
      m_failure.chain = before;
      return true;
    }
    if (first_failure.empty()) {
      first_failure = m_failure.chain;
    }
  }
  m_failure.chain = first_failure.empty() ? before : std::move(first_failure);
  if (m_failure.chain == before) {
    note_failure("nothing provides " + group.text);
  }
  return false;
}

bool Walk::is_broken(PackageIndex package) const {
  const PackageRelations& relations = m_universe.relations(package);
  const bool dependencies_hold = std::all_of(relations.depends.begin(), relations.depends.end(),
                                             [this](const DependencyGroup& group) { return satisfied(group); });
  return !dependencies_hold || !conflicting(package).empty();
}

// An upgrade may break installed packages that are locked to the old version: apt upgrades these too.
bool Walk::upgrade_broken_installed() {
  std::size_t seen = 0;
  while (seen < m_steps.size()) {
    seen = m_steps.size();
    for (const PackageIndex package : m_universe.installed_packages()) {
      const SlotId slot = m_universe.at(package).slot;
      if (!is_selected(package) || !is_broken(package)) {
        continue;
      }
      if (m_broken_before.count(package) != 0) {
        continue;  // not ours to mend
      }
      const PackageIndex candidate = m_universe.candidate(slot);
      m_failure = {candidate, {}};
      const Reason reason{ReasonKind::dependency, "", "the installed version would break"};
      if (candidate == package || !mark(candidate, reason, 0)) {
        note_failure("the installed " + m_universe.label(package) + " would break");
        return false;
      }
    }
  }
  m_failure = {};
  return true;
}

}  // namespace rocm_offline::resolve
