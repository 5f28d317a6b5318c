#include "fuzz_target.hpp"
#include "release_file.hpp"
#include "rocm_offline/core/text.hpp"
#include "signature.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto release = index::parse_release(text)) {
    for (const auto& [path, file] : release->files) {
      fuzz::require(is_safe_relative_path(path));
    }
  }
  // What is cut out before any key is asked.
  if (index::is_one_clearsigned_message(text)) {
    fuzz::require(index::unverified_text_of(text).size() <= text.size() + 1);
  }
  return 0;
}
