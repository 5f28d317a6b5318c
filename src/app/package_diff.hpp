// What differs between the packages of two bundles or lock files. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rocm_offline/core/values.hpp"

namespace rocm_offline::app {

// Target id -> its packages.
using PackagesByTarget = std::map<std::string, std::vector<PackageRecord>>;

struct PackageChange {
  std::string target{};
  PackageRecord before{};  // name empty: it was not there
  PackageRecord after{};   // name empty: it is no longer there
};

struct PackageDiff {
  bool equal = true;  // the same targets with the same packages from the same places
  // Each sorted by target, name and architecture. `moved`: the same version, but from another repository or path, or
  // with other bytes.
  std::vector<PackageChange> added{}, removed{}, upgraded{}, downgraded{}, moved{};
  std::uint64_t unchanged = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;  // of all packages, each payload once
  std::uint64_t bytes_new = 0;                      // of payloads that only the second has
};

// Versions are ordered as dpkg orders them.
[[nodiscard]] PackageDiff compare_packages(const PackagesByTarget& before, const PackagesByTarget& after);

// {schema, equal, added, removed, upgraded, downgraded, moved, totals}
[[nodiscard]] nlohmann::json diff_to_json(const PackageDiff& diff);
// One line for each package, the bare name first; with several targets the target last.
[[nodiscard]] std::string diff_text(const PackageDiff& diff, bool with_target);

}  // namespace rocm_offline::app
