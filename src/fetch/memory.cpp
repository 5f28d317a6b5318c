#include "rocm_offline/fetch/downloader.hpp"

namespace rocm_offline::fetch {
Result<Done> MemorySink::begin(std::uint64_t offset) {
  m_bytes.resize(static_cast<std::size_t>(offset));
  return Done{};
}

Result<Done> MemorySink::write(std::uint64_t, std::string_view data) {
  m_bytes.append(data);
  return Done{};
}

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
