// Small valid bundles of made-up packages, through the real layout and writer.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/bundle/writer.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::test {

// What goes into a .deb made by make_deb().
struct DebContent {
  std::string name{};
  std::string version = "1.0";
  std::string arch = "amd64";
  std::vector<std::string> control_lines{};      // "Depends: libc6 (>= 2.0)"
  std::map<std::string, std::string> scripts{};  // "postinst" -> text
  std::map<std::string, std::string> files{};    // "usr/share/x/y" -> content
};

// A real .deb (ar with two uncompressed tar files), the same bytes for the same content: dpkg installs it.
[[nodiscard]] std::string make_deb(const DebContent& content);

// A package of a test bundle. `payload` may be a make_deb(), or any bytes where nobody installs it.
struct FakePackage {
  PackageId id{};
  std::string payload{};
  std::string filename{};                    // empty: "pool/main/<name>_<version>_<arch>.deb", ':' as %3a
  std::vector<std::string> control_lines{};  // further lines of its stanza
  std::string repository = "debian/trixie";
  ReasonKind reason = ReasonKind::requested;
  std::vector<std::string> urls{};
};

// The FakePackage of a real .deb.
[[nodiscard]] FakePackage fake_package(const DebContent& content);

struct FakeTarget {
  std::string id = "debian-13";
  std::string distro = "debian";
  std::string version = "13";
  std::string codename = "trixie";
  std::string release = "distro";
  std::vector<std::string> usecases = {"hip"};
  std::vector<PackageRequest> requests{};  // empty: every package whose reason is `requested`
  std::vector<FakePackage> packages{};
  std::vector<Keyring> keyrings = {{.name = "test.asc", .data = "a key\n"}};
  // Path below trust/<id>/ -> content. The evidence names debian/trixie/InRelease, or Release, where there is one.
  std::map<std::string, std::string> trust{};
  UnixTime date = 1764400000;          // of the Release, in the evidence
  std::vector<std::string> allowed{};  // what an --allow-* let pass, in the evidence
  PostInstall post_install{};
};

struct FakeBundle {
  std::vector<FakeTarget> targets{};
  std::string stub_template{};  // empty: tiny_stub()
  std::string runner = "#!/bin/sh\nexit 0\n";
  UnixTime source_date = 1764500000;
  const SiteSigningKey* signing_key = nullptr;
};

// A script of a few lines with the constants of the contract; prints where it finds the runner.
[[nodiscard]] std::string_view tiny_stub();

[[nodiscard]] PackageRecord record_of(const FakePackage& package);

// compute_layout() for it. Trust files are written below `scratch`, which must outlive the write.
[[nodiscard]] Result<bundle::BundleLayout> lay_out(const FakeBundle& content, const std::filesystem::path& scratch);

// Digest -> payload of all packages.
[[nodiscard]] std::map<Sha256Digest, std::string> payloads_of(const FakeBundle& content);

// Writes the whole bundle to `output` and publishes it; `scratch` is an existing folder.
[[nodiscard]] Result<bundle::FinishedBundle> build_bundle(const FakeBundle& content,
                                                          const std::filesystem::path& output,
                                                          const std::filesystem::path& scratch);

}  // namespace rocm_offline::test
