// One fuzz target is one file with LLVMFuzzerTestOneInput. libFuzzer's main drives it in the preset `fuzz`; in every
// other build replay.cpp does, over the same corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace rocm_offline::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process as a finding when a promise of the parser is broken.
inline void require(bool holds) {
  if (!holds) {
    __builtin_trap();
  }
}

// A file in memory with these bytes, for parsers that take a path. One for the process, rewritten each time.
[[nodiscard]] std::string memory_file(std::string_view bytes);

}  // namespace rocm_offline::fuzz
