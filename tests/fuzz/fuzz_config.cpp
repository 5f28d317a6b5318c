#include "config_file.hpp"
#include "fuzz_target.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = app::read_config(fuzz::memory_file(fuzz::text_of(data, size)));
  fuzz::require(entries || !entries.error().message.empty());
  return 0;
}
