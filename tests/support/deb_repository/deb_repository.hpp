// Builds small, signed deb repositories for tests: pool files that dpkg accepts, Packages in several compressions with
// by-hash, Release, InRelease, Release.gpg. Keys are throw-away ones in private GNUPGHOMEs, removed with the object.
//
//   SigningKey key;
//   DebRepositorySpec spec;
//   spec.packages = {{.name = "hipcc", .version = "5.7.1-3", .fields = {{"Depends", "libc6"}}}};
//   build_deb_repository(folder, spec, &key);          // folder/dists/..., folder/pool/...
//   definition.base_urls = {"file://" + folder.string()};
//   definition.keyrings = {{.name = "test.asc", .data = key.public_key(), .fingerprints = {key.fingerprint()}}};
//
// All functions throw std::runtime_error when something of the test's own set-up fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rocm_offline::test {

// A path and its content, inside a package.
struct DebFile {
  std::string path = {};  // "usr/bin/hipcc", relative
  std::string content = {};
  unsigned mode = 0644;
};

struct DebSpec {
  std::string name = {};
  std::string version = "1.0";
  std::string arch = "amd64";
  std::string component = "main";
  // Further control fields in order; "Maintainer", "Description", "Installed-Size" get defaults.
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::vector<DebFile> files = {};                                // default: usr/share/doc/<name>/README
  std::vector<std::pair<std::string, std::string>> scripts = {};  // {"postinst", "#!/bin/sh\n..."}
  std::uint64_t padding = 0;                                      // bytes of incompressible filler, for size
};

// The bytes of a .deb (format 2.0: ar of debian-binary, control.tar.gz, data.tar.gz).
[[nodiscard]] std::string build_deb(const DebSpec& spec);

enum class KeyKind {
  valid,
  expired,  // made and expired in the year 2020; signatures are made as of then
  revoked,  // public_key() carries its revocation; signatures are made before it
};

// A throw-away Ed25519 key.
class SigningKey {
 public:
  explicit SigningKey(KeyKind kind = KeyKind::valid);
  ~SigningKey();
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;
  [[nodiscard]] const std::string& fingerprint() const;  // 40 upper-case hex digits
  [[nodiscard]] const std::string& public_key() const;   // armored
  [[nodiscard]] std::string clearsign(std::string_view text, std::string_view digest = "SHA512") const;
  [[nodiscard]] std::string detached_signature(std::string_view text) const;  // armored

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

enum class ReleaseForm {
  in_release,  // InRelease, and Release + Release.gpg beside it
  in_release_only,
  detached,          // Release + Release.gpg only
  unsigned_release,  // Release only
};

struct DebRepositorySpec {
  std::string suite = "trixie";          // folder below dists/
  std::string release_suite = "stable";  // Suite field
  std::string codename = "trixie";       // Codename field
  std::string origin = "Test";
  std::vector<std::string> components = {"main"};
  std::vector<std::string> architectures = {"amd64"};
  std::optional<std::int64_t> date = {};                 // default: now
  std::optional<std::int64_t> valid_until = {};          // default: no such field
  std::vector<std::string> compressions = {"xz", "gz"};  // of "xz", "gz", "zst", "bz2", "" (plain, written too)
  bool list_uncompressed = true;                         // Release names the digest of the plain file, written or not
  bool by_hash = true;                                   // Acquire-By-Hash and the by-hash folders
  bool only_by_hash = false;                             // no Packages.* under their plain names
  bool sha256 = true;                                    // else Release has MD5Sum only
  ReleaseForm form = ReleaseForm::in_release;
  std::vector<DebSpec> packages = {};
  // Raw text appended to Packages of the first component and architecture (broken or hostile stanzas).
  std::string raw_stanzas = {};
  // Replaces the whole of that Packages file.
  std::optional<std::string> raw_packages = {};
  // Further fields of Release, appended as "Name: value".
  std::vector<std::pair<std::string, std::string>> release_fields = {};
  std::string release_digest = "SHA512";  // digest algorithm of the clear signature
};

// What was built, for assertions.
struct BuiltDebRepository {
  std::filesystem::path root = {};
  std::string release = {};         // text that was signed
  std::filesystem::path dist = {};  // root/dists/<suite>
};

// Writes the repository below `root` (made where it is missing; files of an earlier build of the suite are replaced).
// `key` may be null for ReleaseForm::unsigned_release.
BuiltDebRepository build_deb_repository(const std::filesystem::path& root, const DebRepositorySpec& spec,
                                        const SigningKey* key);

// The spec of `test_make_deb_repository DIR [SPEC.json]`, see README.md beside this file.
[[nodiscard]] DebRepositorySpec spec_from_json(std::string_view text);

}  // namespace rocm_offline::test
