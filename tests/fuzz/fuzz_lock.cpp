#include "fuzz_target.hpp"
#include "lock_file.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto lock = app::read_lock(fuzz::memory_file(fuzz::text_of(data, size)));
  if (!lock) {
    fuzz::require(!lock.error().message.empty() && !lock.error().reason.empty());
    return 0;
  }
  // What was read is written and read again as the same.
  const auto again = app::read_lock(fuzz::memory_file(app::lock_to_json(*lock)));
  fuzz::require(again && *again == *lock);
  return 0;
}
