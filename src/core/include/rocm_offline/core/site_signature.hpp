// A site's own signature: Ed25519 (RFC 8032) by OpenSSL's EVP. Keys are PEM files: PKCS #8 the private, SPKI the public
// one, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline {

inline constexpr std::size_t site_signature_size = 64;

struct SitePublicKey {
  std::array<std::uint8_t, 32> bytes{};
  // 64 lower-case hex digits.
  [[nodiscard]] std::string hex() const;
  // Accepts exactly 64 lower-case hex digits.
  [[nodiscard]] static std::optional<SitePublicKey> from_hex(std::string_view text);
  // file_missing; config_invalid for what is no Ed25519 public key. At most 64 KiB.
  [[nodiscard]] static Result<SitePublicKey> read(Stage stage, const std::filesystem::path& path);
  auto operator<=>(const SitePublicKey&) const = default;
};

// False for a signature of any other size, too.
[[nodiscard]] bool site_signature_fits(const SitePublicKey& key, std::string_view text, std::string_view signature);

// A private key. Never asks for a passphrase.
class SiteSigningKey {
 public:
  // file_missing; config_invalid for what is no Ed25519 private key, and for an encrypted one.
  [[nodiscard]] static Result<SiteSigningKey> read(Stage stage, const std::filesystem::path& path);
  SiteSigningKey(SiteSigningKey&&) noexcept;
  SiteSigningKey& operator=(SiteSigningKey&&) noexcept;
  ~SiteSigningKey();

  [[nodiscard]] const SitePublicKey& public_key() const;
  // True when the file's mode lets its group or everybody read it.
  [[nodiscard]] bool readable_by_others() const;
  // site_signature_size bytes, the same for the same text.
  [[nodiscard]] std::string sign(std::string_view text) const;

 private:
  struct State;
  explicit SiteSigningKey(std::unique_ptr<State> state);
  std::unique_ptr<State> m_state;
};

}  // namespace rocm_offline
