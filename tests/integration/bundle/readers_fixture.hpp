// A bundle with all that is hard on readers of ISO 9660 images.
#pragma once

#include "support/bundle_builder/bundle_builder.hpp"

namespace rocm_offline::test {

// Names with + ~ : and %3a, one over 160 bytes, a folder that spans sectors, a payload shared by two targets, one
// without bytes.
[[nodiscard]] FakeBundle hard_bundle();

}  // namespace rocm_offline::test
