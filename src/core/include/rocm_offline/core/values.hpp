// The values that flow between the stages (design: "The way of the data"). Plain, equality-comparable structs.
// Sizes are bytes. Their JSON forms are in values_json.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline {

enum class PackageFamily { deb, rpm };
[[nodiscard]] std::string_view family_name(PackageFamily family);

// A machine to install on, strictly identified. Source of the names: os-release(5).
struct Target {
  std::string id{};                       // "debian-13": <ID>-<VERSION_ID>
  std::string distro{};                   // ID
  std::string version{};                  // VERSION_ID
  std::string codename{};                 // "trixie"; empty for families without
  PackageFamily family = PackageFamily::deb;
  std::string arch = "amd64";           // in the package family's own words: amd64, x86_64
  std::vector<std::string> kernels{};     // full `uname -r`, as given
  std::optional<std::string> treated_as_from{};  // the derivative's own id, when --treat-as made it this target
  bool operator==(const Target&) const = default;
};

// What a person asked to install: "hipcc" or "hipcc=5.7.1-3".
struct PackageRequest {
  std::string name{};
  std::optional<std::string> version{};
  std::string because{};                  // "usecase hip", "--package"
  bool operator==(const PackageRequest&) const = default;
};

// An OpenPGP public key source. Accepted only when the primary key's fingerprint is listed.
struct Keyring {
  std::string name{};                     // file name for /keys/ in the bundle: "debian-archive-trixie.asc"
  std::string data{};                     // the key material itself (armored or binary); empty: to be fetched
  std::vector<std::string> fingerprints{};  // 40 upper-case hex digits; empty: every key in data is pinned (--keyring)
  std::vector<std::string> urls{};        // where to fetch data, failover order; then exactly one key is pinned
  bool operator==(const Keyring&) const = default;
};

struct Allowances {
  bool unsigned_metadata = false;       // --allow-unsigned
  bool expired = false;                 // --allow-expired
  bool rollback = false;                // --allow-rollback
  bool operator==(const Allowances&) const = default;
};

// One suite of one deb repository (or one rpm tree): what is to be read, and what must have signed it.
struct RepositoryDefinition {
  std::string name{};                     // unique within a plan: "debian/trixie-updates", "rocm/noble"
  std::string group{};                    // catalogue group or --repo name: "debian", "rocm"
  PackageFamily type = PackageFamily::deb;
  std::vector<std::string> base_urls{};   // failover order; without trailing slash; http, https or file
  std::string catalog_url{};              // the catalogue's own address: identifies the repository in bundle and logs
  std::string suite{};                    // deb: "trixie-updates"
  std::vector<std::string> components{};  // deb: "main"
  std::string arch = "amd64";
  std::optional<std::string> codename{};  // expected Codename of Release, when known
  std::vector<Keyring> keyrings{};
  int priority = 500;                   // apt's pin, or 99 - n for rpm
  bool optional = false;                // a 404 of its Release must not stop the rest
  Allowances allowances{};
  bool operator==(const RepositoryDefinition&) const = default;
};

// Post-install defaults carried in the bundle.
struct PostInstall {
  std::optional<std::string> gpu_access{};  // user name, or "all"
  bool blacklist_driver = false;
  bool start_driver = false;
  bool operator==(const PostInstall&) const = default;
};

struct Policy {
  bool recommends = false;
  bool minimum = false;                 // --deps minimum
  bool operator==(const Policy&) const = default;
};

// What to install on one target and where it comes from.
struct ReleasePlan {
  std::string release{};                  // "6.2.0" or "distro"
  Target target{};
  std::vector<std::string> usecases{};
  std::vector<PackageRequest> requests{}; // in the order asked, no duplicates
  std::vector<RepositoryDefinition> repositories{};
  std::vector<std::string> warnings{};    // facts of less than medium confidence, moving aliases, ...
  Policy policy{};
  PostInstall post_install{};
  bool operator==(const ReleasePlan&) const = default;
};

// name, version, architecture: apt's identity of a package.
struct PackageId {
  std::string name{};
  std::string version{};
  std::string arch{};
  auto operator<=>(const PackageId&) const = default;
};

enum class ReasonKind { requested, dependency, essential, baseline };
[[nodiscard]] std::string_view reason_kind_name(ReasonKind kind);

// Why a package is in the closure.
struct Reason {
  ReasonKind kind = ReasonKind::requested;
  std::string by{};                       // package or request that wants it; empty for essential
  std::string relation{};                 // "Depends: libc6 (>= 2.38)"
  bool operator==(const Reason&) const = default;
};

// One package of a closure: verified facts of the signed index, enough to fetch, lay out, index and install it.
struct PackageRecord {
  PackageId id{};
  std::string repository{};               // RepositoryDefinition::name
  std::string filename{};                 // path below the repository's base URL (deb: Filename)
  std::uint64_t size = 0;
  std::optional<std::uint64_t> installed_size{};  // bytes
  Sha256Digest sha256;
  std::string stanza{};                   // deb: the verbatim stanza of the index, without trailing newline
  Reason reason{};
  std::vector<std::string> urls{};        // absolute, failover order
  bool operator==(const PackageRecord&) const = default;
};

// A closure with a reason for each member and the proof that it holds.
struct PackageClosure {
  std::vector<PackageRecord> packages{};  // sorted by name, then architecture
  std::vector<std::string> proofs{};      // "installs on an empty debian-13 (judge: libsolv)"
  std::uint64_t recommends_left_out = 0;
  bool operator==(const PackageClosure&) const = default;
};

// Not an error: an outcome, explained.
struct Unsolvable {
  std::vector<Problem> problems{};
  bool unknown_package = false;         // the request names a package that no repository has
  bool operator==(const Unsolvable&) const = default;
};

using Resolution = std::variant<PackageClosure, Unsolvable>;

// Where a verified index came from; goes into manifest and logs so that support can name the snapshot.
struct RepositoryEvidence {
  std::string name{};                     // RepositoryDefinition::name
  std::string url{};                      // the catalogue's address, not the mirror's
  std::string suite{};
  std::string codename{};
  UnixTime date = 0;                    // Release `Date`
  std::optional<UnixTime> valid_until{};
  std::string release_sha256;           // of InRelease
  std::vector<std::string> signed_by{};   // fingerprints of the primary keys
  std::vector<std::string> allowed{};     // "expired", "unsigned", "rollback": what an --allow-* let pass
  bool operator==(const RepositoryEvidence&) const = default;
};

struct Totals {
  std::uint64_t packages = 0;
  std::uint64_t download_bytes = 0;
  std::uint64_t installed_bytes = 0;
  std::uint64_t installed_unknown = 0;  // packages whose index entry has no Installed-Size
  std::uint64_t bundle_bytes = 0;       // exact size of the file; 0 until the layout is known
  bool operator==(const Totals&) const = default;
};

[[nodiscard]] Totals totals_of(const std::vector<PackageRecord>& packages);

enum class CheckStatus { pass, warn, fail };
[[nodiscard]] std::string_view check_status_name(CheckStatus status);

// One line of `check` and of preflight. `code` is stable: "distribution", "version", "kernel", ...
struct Check {
  std::string code{};
  CheckStatus status = CheckStatus::pass;
  std::string message{};
  std::string help{};
  bool operator==(const Check&) const = default;
};

}  // namespace rocm_offline
