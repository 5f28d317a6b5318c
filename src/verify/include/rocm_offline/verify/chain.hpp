// verify --chain: from each package of a bundle to upstream's signature, with what the bundle carries in /trust/ and
// the keys in /keys/. Those keys came with the file: the report names their fingerprints, to be compared with known
// ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::verify {

// What upstream published: a clear-signed InRelease, or a Release with the signature beside it.
struct SignedRelease {
  std::string text{};
  std::optional<std::string> detached_signature{};
};

// What a good signature covers, and who made it.
struct CheckedRelease {
  std::string text{};
  std::vector<std::string> signed_by{};  // fingerprints of primary keys, 40 upper-case hex digits
  std::vector<std::string> warnings{};   // "key ... has expired since"
};

// Port: whoever can check an OpenPGP signature here.
class ReleaseSignatures {
 public:
  virtual ~ReleaseSignatures() = default;
  [[nodiscard]] virtual std::string program() const = 0;  // "gpgv"
  // One good signature by one of the keys is enough. A key that has expired after `as_of` is a warning. Errors:
  // key_unknown, key_expired, signature_invalid; check_failed where no program can check.
  [[nodiscard]] virtual Result<CheckedRelease> check(const SignedRelease& release, const std::vector<Keyring>& keys,
                                                     UnixTime as_of) = 0;
};

// By this machine's gpgv, else sqv. Files go to a private folder below `work_dir`.
[[nodiscard]] std::unique_ptr<ReleaseSignatures> make_native_signatures(ProcessRunner& processes,
                                                                        std::filesystem::path work_dir);

struct ChainLink {
  std::string target{};
  std::string repository{};
  UnixTime date = 0;
  std::vector<std::string> signed_by{};
  std::uint64_t packages = 0;
  bool operator==(const ChainLink&) const = default;
};

struct ChainReport {
  std::string program{};
  std::vector<ChainLink> links{};
  std::uint64_t packages = 0;
  std::vector<std::string> warnings{};
  bool operator==(const ChainReport&) const = default;
};

// {program, packages, repositories: [{target, name, date, signed_by, packages}], warnings}
[[nodiscard]] nlohmann::json to_json(const ChainReport& report);
// For people: one line for each repository, with the fingerprints to compare.
[[nodiscard]] std::string chain_text(const ChainReport& report);

// Every package of every target: signature -> Release -> index by size and SHA-256 -> package by size and SHA-256, as
// of the bundle's date; `now` only makes warnings. Errors of the trust family list every broken link as a problem;
// check_failed where no program can check; bundle_damaged where a file of the chain is not what the manifest says.
[[nodiscard]] Result<ChainReport> verify_chain(const bundle::BundleReader& reader, ReleaseSignatures& signatures,
                                               UnixTime now, EventSink& events, CancelToken cancel);

}  // namespace rocm_offline::verify
