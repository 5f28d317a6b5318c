// The few facts that the chain needs of a Release and of a package index. Only bytes whose signature or digest was
// checked come here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::verify {

// What a Release signs: its dates and the SHA256 section.
struct SignedList {
  UnixTime date = 0;
  std::optional<UnixTime> valid_until{};
  std::map<Sha256Digest, std::uint64_t> files{};  // digest -> size
};
// nullopt: no Date, no SHA256 section, or a line of it that is malformed.
[[nodiscard]] std::optional<SignedList> read_signed_list(std::string_view release);

// A stanza's identity and proof.
struct IndexEntry {
  PackageId id{};
  std::uint64_t size = 0;
  Sha256Digest sha256{};
  auto operator<=>(const IndexEntry&) const = default;
};
// Calls on_entry for each stanza of a Packages file that has all of it; others link nothing.
void for_each_entry(std::string_view index, const std::function<void(const IndexEntry&)>& on_entry);

// A clear-signed message taken apart (RFC 4880, 7): the text as it was signed, without dash escapes and trailing
// blanks, and the armoured signature. nullopt unless it is exactly one such message.
struct ClearSigned {
  std::string text{};
  std::string signature{};
};
[[nodiscard]] std::optional<ClearSigned> take_apart(std::string_view message);

// The binary form of armoured OpenPGP data, several blocks one after the other; what is not armoured stays as it is.
// nullopt when a block is malformed.
[[nodiscard]] std::optional<std::string> without_armour(std::string_view data);

}  // namespace rocm_offline::verify
