#include "fuzz_target.hpp"
#include "journal.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = fuzz::memory_file(fuzz::text_of(data, size));
  const auto holder = bundle::read_journal_holder(file);
  fuzz::require(!holder || *holder > 0);
  const auto journal = bundle::read_journal(file);
  // Each claim took a line.
  fuzz::require(!journal || journal->claims.size() <= size);
  return 0;
}
