#include "rocm_offline/core/digest.hpp"

#include <openssl/evp.h>
#include <array>

#include <new>

namespace rocm_offline {

namespace {

// Value of a hex digit by its character, or more than 15: an index has 70,000 digests.
constexpr std::array<std::uint8_t, 256> hex_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(0xff);
  for (std::uint8_t i = 0; i < 10; ++i) {
    values[static_cast<std::size_t>('0') + i] = i;
  }
  for (std::uint8_t i = 0; i < 6; ++i) {
    values[static_cast<std::size_t>('a') + i] = values[static_cast<std::size_t>('A') + i] =
        static_cast<std::uint8_t>(10 + i);
  }
  return values;
}();

}  // namespace

std::string Sha256Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(digits[byte >> 4U]);
    text.push_back(digits[byte & 0x0fU]);
  }
  return text;
}

std::optional<Sha256Digest> Sha256Digest::from_hex(std::string_view text) {
  Sha256Digest digest;
  if (text.size() != digest.bytes.size() * 2) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const unsigned high = hex_values[static_cast<unsigned char>(text[2 * i])];
    const unsigned low = hex_values[static_cast<unsigned char>(text[2 * i + 1])];
    if ((high | low) > 0xf) {
      return std::nullopt;
    }
    digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return digest;
}

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      throw std::bad_alloc();
    }
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> data) {
  EVP_DigestUpdate(m_state->context, data.data(), data.size());
}

void Sha256::update(std::string_view text) {
  EVP_DigestUpdate(m_state->context, text.data(), text.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  unsigned size = 0;
  EVP_DigestFinal_ex(m_state->context, digest.bytes.data(), &size);
  return digest;
}

Sha256Digest sha256_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

}  // namespace rocm_offline
