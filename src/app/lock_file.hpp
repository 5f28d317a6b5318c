// --lock FILE: a whole resolution as versioned JSON, to be repeated with --locked or compared with diff.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::app {

// A file that upstream signed or that its Release lists: what --trust full carries.
struct LockedFile {
  std::string path{};  // below the target: "debian/trixie/InRelease"
  std::uint64_t size = 0;
  Sha256Digest sha256{};
  bool operator==(const LockedFile&) const = default;
};

struct LockedTarget {
  Target target{};
  std::string release{};
  std::vector<std::string> usecases{};
  std::vector<PackageRequest> requests{};
  Policy policy{};
  std::vector<RepositoryEvidence> repositories{};
  std::vector<LockedFile> files{};
  std::vector<PackageRecord> packages{};  // without stanza and addresses: those come from the signed index
  bool operator==(const LockedTarget&) const = default;
};

struct Lock {
  std::string creator_version{};
  UnixTime time = 0;         // when it was resolved; --locked judges dates as of then
  UnixTime source_date = 0;  // the one time inside the bundle
  std::vector<LockedTarget> targets{};
  bool operator==(const Lock&) const = default;
};

// A target's content as it was planned. `trust` is what the verified repositories carry, whether it travels or not.
[[nodiscard]] LockedTarget lock_of(const bundle::TargetContent& content, const std::vector<bundle::LocalFile>& trust);

[[nodiscard]] std::string lock_to_json(const Lock& lock);
// At most 64 MiB, then the schema, then digests, times and paths. config_invalid naming file and JSON pointer.
[[nodiscard]] Result<Lock> read_lock(const std::filesystem::path& path);
// True for a file that begins as a JSON object: no bundle.
[[nodiscard]] bool looks_like_lock(const std::filesystem::path& path);

// plan_differs when the plans ask for something else than the lock holds; every difference is a problem.
[[nodiscard]] Result<Done> check_same_request(const Lock& lock, const std::vector<ReleasePlan>& plans);
// Each package against what the signed indexes list under its name, version and architecture. digest_mismatch where
// one has another size or digest, else transfer_failed where one is gone.
struct ListedPackage {
  PackageId id{};
  std::string repository{};
  std::uint64_t size = 0;
  Sha256Digest sha256{};
};
[[nodiscard]] Result<Done> check_still_listed(const LockedTarget& locked, const std::vector<ListedPackage>& listed);
// plan_differs when the new closure is not exactly the locked one.
[[nodiscard]] Result<Done> check_same_closure(const LockedTarget& locked, const PackageClosure& closure);

}  // namespace rocm_offline::app
