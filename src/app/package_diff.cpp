#include "package_diff.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "rocm_offline/core/deb_version.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::app {

using nlohmann::json;

namespace {

using Slot = std::pair<std::string, std::string>;  // name, architecture

std::map<Slot, std::vector<PackageRecord>> by_slot(const PackagesByTarget& side, const std::string& target) {
  std::map<Slot, std::vector<PackageRecord>> slots;
  if (const auto found = side.find(target); found != side.end()) {
    for (const PackageRecord& package : found->second) {
      slots[{package.id.name, package.id.arch}].push_back(package);
    }
  }
  return slots;
}

bool same_place(const PackageRecord& a, const PackageRecord& b) {
  return std::tie(a.id, a.repository, a.filename, a.size, a.sha256) ==
         std::tie(b.id, b.repository, b.filename, b.size, b.sha256);
}

std::map<Sha256Digest, std::uint64_t> payloads(const PackagesByTarget& side) {
  std::map<Sha256Digest, std::uint64_t> sizes;
  for (const auto& [target, packages] : side) {
    for (const PackageRecord& package : packages) {
      sizes.emplace(package.sha256, package.size);
    }
  }
  return sizes;
}

class Comparison {
 public:
  PackageDiff run(const PackagesByTarget& before, const PackagesByTarget& after) {
    std::set<std::string> targets;
    for (const PackagesByTarget* side : {&before, &after}) {
      for (const auto& [target, packages] : *side) {
        targets.insert(target);
        m_diff.equal = m_diff.equal && before.contains(target) && after.contains(target);
      }
    }
    for (const std::string& target : targets) {
      compare_target(target, by_slot(before, target), by_slot(after, target));
    }
    const auto old_payloads = payloads(before);
    for (const auto& [digest, size] : old_payloads) {
      m_diff.bytes_before += size;
    }
    for (const auto& [digest, size] : payloads(after)) {
      m_diff.bytes_after += size;
      m_diff.bytes_new += old_payloads.contains(digest) ? 0 : size;
    }
    m_diff.equal = m_diff.equal && m_diff.added.empty() && m_diff.removed.empty() && m_diff.upgraded.empty() &&
                   m_diff.downgraded.empty() && m_diff.moved.empty();
    return std::move(m_diff);
  }

 private:
  void compare_target(const std::string& target, std::map<Slot, std::vector<PackageRecord>> before,
                      std::map<Slot, std::vector<PackageRecord>> after) {
    std::set<Slot> slots;
    for (const auto* side : {&before, &after}) {
      for (const auto& [slot, packages] : *side) {
        slots.insert(slot);
      }
    }
    for (const Slot& slot : slots) {
      compare_slot(target, std::move(before[slot]), std::move(after[slot]));
    }
  }

  // A closure has one version in a slot; whatever a file claims, what is the same on both sides goes first.
  void compare_slot(const std::string& target, std::vector<PackageRecord> before, std::vector<PackageRecord> after) {
    for (auto old = before.begin(); old != before.end();) {
      const auto same =
          std::find_if(after.begin(), after.end(), [&](const PackageRecord& one) { return same_place(one, *old); });
      if (same == after.end()) {
        ++old;
        continue;
      }
      ++m_diff.unchanged;
      after.erase(same);
      old = before.erase(old);
    }
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      PackageChange change{.target = target};
      change.before = i < before.size() ? std::move(before[i]) : PackageRecord{};
      change.after = i < after.size() ? std::move(after[i]) : PackageRecord{};
      list_of(change).push_back(std::move(change));
    }
  }

  std::vector<PackageChange>& list_of(const PackageChange& change) {
    if (change.before.id.name.empty()) {
      return m_diff.added;
    }
    if (change.after.id.name.empty()) {
      return m_diff.removed;
    }
    const int order = compare_deb_versions(change.before.id.version, change.after.id.version);
    return order < 0 ? m_diff.upgraded : order > 0 ? m_diff.downgraded : m_diff.moved;
  }

  PackageDiff m_diff{};
};

json place_json(const PackageRecord& package) {
  return {{"version", package.id.version},
          {"repository", package.repository},
          {"filename", package.filename},
          {"size", package.size},
          {"sha256", package.sha256.hex()}};
}

// One side: the package itself; both: what was and what is.
json changes_json(const std::vector<PackageChange>& changes) {
  json list = json::array();
  for (const PackageChange& change : changes) {
    const bool was = !change.before.id.name.empty();
    const bool is = !change.after.id.name.empty();
    json entry = was && is ? json{{"before", place_json(change.before)}, {"after", place_json(change.after)}}
                           : place_json(was ? change.before : change.after);
    const PackageId& id = was ? change.before.id : change.after.id;
    entry["target"] = change.target;
    entry["name"] = id.name;
    entry["arch"] = id.arch;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string moved_words(const PackageChange& change) {
  if (change.before.repository != change.after.repository) {
    return change.before.repository + " -> " + change.after.repository;
  }
  return change.before.sha256 != change.after.sha256 ? "other bytes"
                                                     : change.before.filename + " -> " + change.after.filename;
}

}  // namespace

PackageDiff compare_packages(const PackagesByTarget& before, const PackagesByTarget& after) {
  return Comparison().run(before, after);
}

json diff_to_json(const PackageDiff& diff) {
  return {{"schema", "rocm-offline/diff/1"},
          {"equal", diff.equal},
          {"added", changes_json(diff.added)},
          {"removed", changes_json(diff.removed)},
          {"upgraded", changes_json(diff.upgraded)},
          {"downgraded", changes_json(diff.downgraded)},
          {"moved", changes_json(diff.moved)},
          {"totals",
           {{"added", diff.added.size()},
            {"removed", diff.removed.size()},
            {"upgraded", diff.upgraded.size()},
            {"downgraded", diff.downgraded.size()},
            {"moved", diff.moved.size()},
            {"unchanged", diff.unchanged},
            {"bytes_before", diff.bytes_before},
            {"bytes_after", diff.bytes_after},
            {"bytes_new", diff.bytes_new}}}};
}

std::string diff_text(const PackageDiff& diff, bool with_target) {
  std::string text;
  const auto add = [&](const std::vector<PackageChange>& changes, const char* what) {
    for (const PackageChange& change : changes) {
      const PackageRecord& shown = change.after.id.name.empty() ? change.before : change.after;
      const bool both = !change.before.id.name.empty() && !change.after.id.name.empty();
      const bool same_version = both && change.before.id.version == change.after.id.version;
      text += shown.id.name + "\t" + shown.id.arch + "\t" + what + "\t" +
              (both && !same_version ? change.before.id.version + " -> " : "") + shown.id.version +
              (same_version ? "\t" + moved_words(change) : "") + (with_target ? "\t" + change.target : "") + "\n";
    }
  };
  add(diff.added, "added");
  add(diff.removed, "removed");
  add(diff.upgraded, "upgraded");
  add(diff.downgraded, "downgraded");
  add(diff.moved, "moved");
  return text;
}

}  // namespace rocm_offline::app
