// SHA-256 (FIPS 180-4) by OpenSSL's EVP. The only digest this program believes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rocm_offline {

struct Sha256Digest {
  std::array<std::uint8_t, 32> bytes{};
  // 64 lower-case hex digits.
  [[nodiscard]] std::string hex() const;
  // Accepts exactly 64 hex digits of either case; anything else is nullopt.
  [[nodiscard]] static std::optional<Sha256Digest> from_hex(std::string_view text);
  auto operator<=>(const Sha256Digest&) const = default;
};

// Streaming hash. Move-only; finish() may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> data);
  void update(std::string_view text);
  [[nodiscard]] Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

[[nodiscard]] Sha256Digest sha256_of(std::string_view text);

}  // namespace rocm_offline
