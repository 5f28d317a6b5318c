// The walk: chooses packages in apt's own order, so that the target's apt asks for nothing else.
// Source: observed behaviour of apt 2.2 to 3.3 and apt-pkg's marking rules (docs/adr); apt-get(8), apt_preferences(5).
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "universe.hpp"

namespace rocm_offline::resolve {

struct WalkOptions {
  bool recommends = false;
};

// A package to mark, with the reason that it will bear.
struct WalkRequest {
  PackageIndex package = k_none;
  Reason reason{};
};

// Why a request could not be marked, as the walk saw it: the last link first.
struct WalkFailure {
  PackageIndex request = k_none;
  std::vector<std::string> chain{};
};

struct ChosenPackage {
  PackageIndex package = k_none;
  Reason reason{};
};

// One state of a target, from what is installed on. Marks are undone when something they need fails.
class Walk {
 public:
  Walk(const PackageUniverse& universe, WalkOptions options);
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // As one `apt-get install` of all: first the requests are marked, then in the same order what each needs. False when
  // one fails (see failure()); the state is then that of the failure and the walk is not to be used further.
  [[nodiscard]] bool install(const std::vector<WalkRequest>& requests);

  // Marked packages that were not installed before, by name, then architecture.
  [[nodiscard]] std::vector<ChosenPackage> chosen() const;
  [[nodiscard]] const WalkFailure& failure() const { return m_failure; }
  // Packages whose stanza has a malformed relation field, that were wanted and refused.
  [[nodiscard]] const std::vector<PackageIndex>& refused() const { return m_refused; }
  [[nodiscard]] PackageIndex selected(SlotId slot) const { return m_selected[slot]; }
  // Is the group fulfilled by what is marked or installed?
  [[nodiscard]] bool satisfied(const DependencyGroup& group) const;

 private:
  struct Step {
    PackageIndex package = k_none;
    PackageIndex replaced = k_none;
  };

  bool mark(PackageIndex package, const Reason& reason, std::size_t depth);
  bool select_with_conflicts(PackageIndex package, const Reason& reason, std::size_t depth);
  bool install_dependencies(PackageIndex package, std::size_t depth);
  bool install_group(PackageIndex package, const DependencyGroup& group, std::size_t depth);
  bool upgrade_broken_installed();
  [[nodiscard]] bool is_broken(PackageIndex package) const;
  [[nodiscard]] bool is_selected(PackageIndex package) const;
  [[nodiscard]] bool fulfilled(const Alternative& alternative, NameId except = k_none) const;
  [[nodiscard]] std::vector<PackageIndex> conflicting(PackageIndex package) const;
  void collect_selected(const Alternative& alternative, NameId except, std::vector<PackageIndex>& into) const;
  void collect_against(PackageIndex package, NameId name, std::vector<PackageIndex>& into) const;
  void select(PackageIndex package, const Reason& reason);
  void register_conflicts(PackageIndex package);
  void undo_to(std::size_t step);
  void note_failure(std::string link);

  const PackageUniverse& m_universe;
  WalkOptions m_options;
  std::vector<PackageIndex> m_selected;  // by slot
  std::vector<Step> m_steps;
  std::unordered_map<PackageIndex, Reason> m_reasons;
  // By name: marked packages with a conflict against it. Entries of replaced packages stay and are skipped.
  std::unordered_map<NameId, std::vector<std::pair<PackageIndex, const Conflict*>>> m_conflicts_against;
  std::vector<PackageIndex> m_refused;
  std::unordered_set<PackageIndex> m_broken_before;  // installed ones
  WalkFailure m_failure;
  std::size_t m_marks = 0;
};

}  // namespace rocm_offline::resolve
