// The signature of one Release, outside of loading a repository: for verify --chain.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::index {

struct ReleaseSignatureRequest {
  const std::string& release;                            // InRelease, or Release
  const std::optional<std::string>& detached_signature;  // Release.gpg; nullopt: clear-signed
  const std::vector<Keyring>& keyrings;
  UnixTime as_of = 0;                   // keys are judged as of then, whatever this machine's clock says
  std::filesystem::path work_folder{};  // for a private home, removed again
};

struct SignedRelease {
  std::string text;                    // what the signature covers
  std::vector<std::string> signed_by;  // fingerprints of primary keys
};

// key_unknown, key_expired, signature_invalid; check_failed when this machine has no gpg.
[[nodiscard]] Result<SignedRelease> verify_release_signature(const ReleaseSignatureRequest& request);

}  // namespace rocm_offline::index
