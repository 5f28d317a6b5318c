// The whole file computed before the first download: every member's offset, every other byte.
//
// From byte 0: stub (32 KiB, padded with NULs) | ISO 9660 descriptors (ECMA-119), path tables, directory records with
// Rock Ridge (IEEE P1282: PX 44 bytes with a serial of its own for every record, NM, TF; names <= 160 bytes) |
// runner | manifest | its signature, if any | data area: files, then package payloads. Every extent is 4096-aligned and
// zero-padded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/bundle/manifest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::bundle {

inline constexpr std::uint64_t alignment = 4096;
inline constexpr std::uint64_t stub_size = 32768;
inline constexpr std::string_view signature_path = "manifest.json.sig";

// A file whose bytes are already here, to be copied into the image (trust data, from the verified cache).
struct LocalFile {
  std::string path{};  // inside the image: "trust/debian-13/debian/trixie/InRelease"
  std::filesystem::path source{};
  std::uint64_t size = 0;
  Sha256Digest sha256{};
};

struct TargetContent {
  ReleasePlan plan{};
  PackageClosure closure{};
  std::vector<RepositoryEvidence> repositories{};
  std::vector<LocalFile> trust{};
};

struct BundleRequest {
  std::vector<TargetContent> targets{};
  std::string_view stub_template;               // packaging/stub.sh, with its fixed-width placeholders
  std::string_view runner;                      // the static ELF
  UnixTime source_date = 0;                     // SOURCE_DATE_EPOCH, else the newest metadata date
  const SiteSigningKey* signing_key = nullptr;  // signs the manifest
};

// A run of bytes that is a function of the request.
struct FixedPart {
  std::uint64_t offset = 0;
  std::string bytes{};
};

// A member that comes from elsewhere: a package to download, or a LocalFile.
struct Member {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;
  Sha256Digest sha256{};
  std::string what{};               // "package hipcc 5.7.1-3 (debian/trixie)"
  std::vector<std::string> urls{};  // empty for local files
  std::optional<std::filesystem::path> source{};
};

struct BundleLayout {
  std::uint64_t file_size = 0;
  std::string bundle_id{};
  Manifest manifest{};
  std::string manifest_json{};
  std::vector<FixedPart> fixed_parts{};  // ascending; gaps that no member covers are zeros
  std::vector<Member> members{};         // ascending by offset, each payload once however many targets share it
};

// Refuses (usage/metadata_invalid) what cannot be laid out: a target twice, a stub over 32 KiB, a missing size.
[[nodiscard]] Result<BundleLayout> compute_layout(const BundleRequest& request);

// All bytes that are no payload, from a manifest and the three files it cannot contain; for verify. `signature` is
// empty exactly when the manifest names no signing key (bundle_damaged).
struct RegeneratedImage {
  std::uint64_t file_size = 0;
  std::uint64_t data_offset = 0;
  std::vector<FixedPart> fixed_parts{};  // stub, records, install.sh, manifest, and the signature where there is one
};
[[nodiscard]] Result<RegeneratedImage> regenerate(const Manifest& manifest, std::string_view manifest_json,
                                                  std::string_view signature, std::string_view stub_template);

// The template of a filled stub (the file's first 32 KiB, or /install.sh): its constants are zeros again. nullopt when
// it has them not. Believed only when its digest is the manifest's stub_sha256.
[[nodiscard]] std::optional<std::string> template_of_stub(std::string_view system_area);

}  // namespace rocm_offline::bundle
