// /README.txt of the image: how to use the tree without the installer.
#pragma once

#include <string>
#include <vector>

#include "rocm_offline/bundle/manifest.hpp"

namespace rocm_offline::bundle {

[[nodiscard]] std::string readme_text(const std::vector<ManifestTarget>& targets);

}  // namespace rocm_offline::bundle
