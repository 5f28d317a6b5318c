// The fixed-width assignments in the bundle's shell stub: where runner and manifest lie, without ISO parsing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"

namespace rocm_offline::bundle {

struct StubConstants {
  std::uint64_t runner_offset = 0;
  std::uint64_t runner_size = 0;
  Sha256Digest runner_sha256{};
  std::uint64_t manifest_offset = 0;
  std::uint64_t manifest_size = 0;
  Sha256Digest manifest_sha256{};
  std::uint64_t file_size = 0;
  bool operator==(const StubConstants&) const = default;
};

// The script in the first 32 KiB: what stands before the first NUL.
[[nodiscard]] std::string_view stub_script(std::string_view system_area);
// bundle_damaged unless each assignment stands exactly once at the start of a line, with its width.
[[nodiscard]] Result<StubConstants> read_stub_constants(std::string_view script);
// The script with the constants in it. A script without the assignments is an internal error.
[[nodiscard]] Result<std::string> fill_stub(std::string_view stub_template, const StubConstants& constants);

}  // namespace rocm_offline::bundle
