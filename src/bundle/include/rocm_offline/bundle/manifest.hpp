// /manifest.json: what the bundle holds, for whom, from where. Its SHA-256 is the bundle's identity (first 16 hex).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/site_signature.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::bundle {

// A package as one target sees it.
struct ManifestPackage {
  PackageId id{};
  std::string repository{};
  std::string filename{};    // of the upstream index (for plan-like output and diff)
  std::string path{};        // inside the image: "repos/debian-13/pool/hipcc_5.7.1-3_amd64.deb"
  std::uint64_t offset = 0;  // from the start of the data area (BundleReader::data_offset)
  std::uint64_t size = 0;
  std::optional<std::uint64_t> installed_size{};
  Sha256Digest sha256{};
  Reason reason{};
  bool operator==(const ManifestPackage&) const = default;
};

struct ManifestTarget {
  Target target{};
  std::string release{};
  std::vector<std::string> usecases{};
  std::vector<PackageRequest> requests{};
  Policy policy{};
  std::vector<RepositoryEvidence> repositories{};
  std::vector<ManifestPackage> packages{};
  std::vector<std::string> proofs{};
  Totals totals{};  // bundle_bytes is 0 here: it stands at the top of plan and create
  bool operator==(const ManifestTarget&) const = default;
};

// A file of the image that is no package: Packages, Release, keys, trust, README.
struct ManifestFile {
  std::string path{};
  std::uint64_t offset = 0;  // from the start of the data area
  std::uint64_t size = 0;
  Sha256Digest sha256{};
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::string creator_version{};
  UnixTime source_date = 0;               // the only time in the file
  std::vector<ManifestTarget> targets{};  // sorted by target id
  std::vector<ManifestFile> files{};      // sorted by path; without manifest, runner, stub
  std::uint64_t runner_size = 0;
  Sha256Digest runner_sha256{};
  Sha256Digest stub_sha256{};  // of the stub template, before its constants are filled in
  PostInstall post_install{};
  // Whose signature over manifest.json lies beside it, as manifest.json.sig. It is no proof of itself: who checks must
  // know the key beforehand (ADR 6).
  std::optional<SitePublicKey> signing_key{};
  bool operator==(const Manifest&) const = default;
};

[[nodiscard]] std::string manifest_to_json(const Manifest& manifest);
// Untrusted text (caller caps it at 64 MiB). Checks every path, size, digest; bundle_damaged when it does not fit.
[[nodiscard]] Result<Manifest> manifest_from_json(std::string_view text);
[[nodiscard]] std::string bundle_id_of(std::string_view manifest_json);

}  // namespace rocm_offline::bundle
