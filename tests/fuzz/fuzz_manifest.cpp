#include "fuzz_target.hpp"
#include "rocm_offline/bundle/manifest.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = bundle::manifest_from_json(fuzz::text_of(data, size));
  if (!manifest) {
    fuzz::require(!manifest.error().reason.empty());
    return 0;
  }
  // What was read is written and read again as the same.
  const std::string written = bundle::manifest_to_json(*manifest);
  const auto again = bundle::manifest_from_json(written);
  fuzz::require(again && bundle::manifest_to_json(*again) == written);
  return 0;
}
