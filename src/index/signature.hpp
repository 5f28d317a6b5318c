// OpenPGP signatures of Release files, by GPGME in a private home that holds exactly the given keys. No agent, no key
// server, nothing of the user's own keyrings.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::index {

// What a good signature covers, and nothing else.
struct SignedText {
  std::string text;
  std::vector<std::string> signed_by;  // fingerprints of primary keys, 40 upper-case hex digits
};

// Who must have signed, and how messages name things.
struct SignatureRequest {
  const std::vector<Keyring>& keyrings;
  std::string file;          // "InRelease"
  std::string keyring_name;  // what --keyring takes: the group
};

// May be asked by several threads: files of different keys are then checked at the same time.
class SignatureVerifier {
 public:
  // Private homes are made below `work_folder` (0700) and removed again. `now`: the time at which keys are judged.
  // `gpg_program` empty: GPGME's own.
  SignatureVerifier(std::filesystem::path work_folder, UnixTime now, std::filesystem::path gpg_program = {});
  ~SignatureVerifier();
  SignatureVerifier(const SignatureVerifier&) = delete;
  SignatureVerifier& operator=(const SignatureVerifier&) = delete;

  // One good signature of a pinned key is enough. Errors: key_unknown (no signature of a known key; details keys),
  // key_expired (expired or revoked), signature_invalid (wrong, weak digest, not a clear-signed file), check_failed (no
  // gpg on this machine).
  [[nodiscard]] Result<SignedText> verify_clearsigned(std::string_view in_release, const SignatureRequest& request);
  [[nodiscard]] Result<SignedText> verify_detached(std::string_view release, std::string_view signature,
                                                   const SignatureRequest& request);

  // The part of the first keyring's data that is its pinned key: the very bytes where they hold no other, else that key
  // alone, exported armored. Errors: key_unknown (details expected, actual) where it is not in there.
  [[nodiscard]] Result<std::string> pinned_key(const SignatureRequest& request);

 private:
  class PrivateKeyring;
  struct Home;
  // The home of these keys, locked: one at a time in each.
  struct Use {
    std::unique_lock<std::mutex> lock;
    PrivateKeyring* keyring = nullptr;
    PrivateKeyring* operator->() const { return keyring; }
  };
  [[nodiscard]] Result<Use> keyring_for(const SignatureRequest& request);
  std::filesystem::path m_work_folder;
  UnixTime m_now;
  std::filesystem::path m_gpg_program;
  // By digest of the keys: repositories of one vendor share a home, each start of gpg costs some 10 ms.
  std::map<std::string, std::unique_ptr<Home>> m_homes;
  std::mutex m_mutex{};  // of m_homes
};

// True for a file that is one clear-signed message and nothing else (RFC 4880, 7).
[[nodiscard]] bool is_one_clearsigned_message(std::string_view text);
// The text of a clear-signed message, its signature unchecked: for --allow-unsigned only.
[[nodiscard]] std::string unverified_text_of(std::string_view clearsigned);

}  // namespace rocm_offline::index
