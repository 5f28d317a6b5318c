#include "rocm_offline/fetch/downloader.hpp"

namespace rocm_offline::fetch {
namespace {

// Bounded by the request's expected size or cap, which the downloader enforces.
class MemorySink final : public ByteSink {
 public:
  Result<Done> begin(std::uint64_t offset) override {
    m_bytes.resize(static_cast<std::size_t>(offset));
    return Done{};
  }
  Result<Done> write(std::uint64_t, std::string_view data) override {
    m_bytes.append(data);
    return Done{};
  }
  std::string take() { return std::move(m_bytes); }

 private:
  std::string m_bytes;
};

}  // namespace

Result<std::optional<std::string>> download_to_memory(Downloader& downloader, DownloadRequest request) {
  MemorySink sink;
  request.sink = &sink;
  auto outcomes = downloader.download({request}, [](std::size_t) {});
  auto& outcome = outcomes.front();
  if (!outcome) {
    return tl::unexpected(std::move(outcome).error());
  }
  if (outcome->missing) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(sink.take());
}

}  // namespace rocm_offline::fetch
