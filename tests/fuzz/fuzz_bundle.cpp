// A bundle as it lies on a medium: the stub's constants, the manifest that they lead to, every file, and `verify`.
#include "fuzz_target.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/verify/verifier.hpp"

using namespace rocm_offline;

namespace {

class NoEvents final : public EventSink {
 public:
  void event(const Event& /*event*/) noexcept override {}
  void progress(const Progress& /*progress*/) noexcept override {}
};

}  // namespace

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
  NoEvents events;
  const auto report = verify::verify_bundle(*reader, {.expected_file_digest = {}, .only_target = {}, .threads = 1},
                                            events, CancelToken());
  fuzz::require(!report || !report->bundle_id.empty());
  return 0;
}
