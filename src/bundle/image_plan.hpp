// Where everything lies in a bundle, as a function of its manifest, the manifest's size and the stub's size.
#pragma once

#include <cstdint>

#include "iso9660.hpp"
#include "rocm_offline/bundle/manifest.hpp"
#include "rocm_offline/core/error.hpp"

namespace rocm_offline::bundle {

[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

struct ImagePlan {
  Iso9660Tree tree;
  std::uint64_t install_script_offset = 0;
  std::uint64_t runner_offset = 0;
  std::uint64_t manifest_offset = 0;
  std::uint64_t signature_offset = 0;  // of the signature, or of the data area where there is none
  std::uint64_t data_offset = 0;
  std::uint64_t file_size = 0;
};

struct ImagePlanInput {
  std::uint64_t manifest_size = 0;
  std::uint64_t stub_script_size = 0;
};

// The tree in it is placed, ready to be rendered.
[[nodiscard]] Result<ImagePlan> plan_image(const Manifest& manifest, const ImagePlanInput& sizes);

}  // namespace rocm_offline::bundle
