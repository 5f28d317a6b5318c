#include "fuzz_target.hpp"
#include "rocm_offline/distros/distro.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = rocm_offline::distros::parse_os_release(rocm_offline::fuzz::text_of(data, size));
  rocm_offline::fuzz::require(parsed || !parsed.error().message.empty());
  return 0;
}
