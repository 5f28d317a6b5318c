// A bundle as it lies on a medium: the stub's constants, the manifest that they lead to, every file, and `verify`.
#include "fuzz_target.hpp"
#include "rocm_offline/bundle/reader.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto reader = bundle::BundleReader::open(fuzz::memory_file(fuzz::text_of(data, size)));
  if (!reader) {
    fuzz::require(!reader.error().message.empty());
    return 0;
  }
  for (const bundle::ImageFile& file : reader->files()) {
    std::uint64_t bytes = 0;
    const auto read = reader->read(file, [&bytes](std::string_view piece) -> Result<Done> {
      bytes += piece.size();
      return Done{};
    });
    fuzz::require(!read || bytes == file.size);
  }
  return 0;
}
