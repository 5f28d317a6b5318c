// Verified transfer. One batch of requests gives one outcome each; every byte passes one verifying sink: size cap,
// digest while streaming. libcurl is named in no header.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::fetch {

struct TransferOptions {
  std::optional<std::string> proxy{};  // else the usual environment variables; "": none at all
  std::optional<std::filesystem::path> ca_file{};
  std::map<std::string, std::filesystem::path> client_certificates{};  // group name -> PEM with certificate and key
  std::map<std::string, std::vector<std::string>> hosts_by_group{};    // which hosts a client certificate is for
  unsigned retries = 5;
  std::chrono::seconds stall_timeout{30};  // no byte for that long: transfer_stalled
  unsigned jobs = 8;                       // transfers at once
  unsigned jobs_per_host = 6;
  bool use_netrc = true;
  // Wait before the same address is tried again: doubled each time up to 64-fold, with jitter; a server's Retry-After
  // (up to a minute) wins.
  std::chrono::milliseconds backoff{500};
};

struct DownloadRequest {
  std::vector<std::string> urls{};               // failover order; http, https, file
  std::string what{};                            // "package hipcc 5.7.1-3": for messages
  std::optional<std::uint64_t> expected_size{};  // transfer stops and fails with size_mismatch beyond it
  std::uint64_t size_cap = 0;                    // where no size is known: larger is refused
  std::optional<Sha256Digest> expected_sha256;   // digest_mismatch when the complete body has another
  bool refuse_web_page = true;                   // a body that begins as HTML where none was expected -> web_page
  bool missing_is_fine = false;                  // 404 and 410 (file: ENOENT) give Outcome::missing, not an error
  ByteSink* sink = nullptr;
  std::string activity = {};  // of the batch, for the progress line; the first request's counts
  // Caches on the way must ask the server (Cache-Control: no-cache): for files that change under one name.
  bool revalidate = false;
};

struct DownloadOutcome {
  std::string url{};  // the one that served it, credentials removed
  std::uint64_t size = 0;
  Sha256Digest sha256;
  bool missing = false;       // every address said so
  std::size_t url_index = 0;  // which of the request's urls served it
};

// Port; the real one is CurlDownloader, tests have a fake.
class Downloader {
 public:
  virtual ~Downloader() = default;
  // Outcomes in the order of the requests. All are tried: one failure does not stop the others (a cancel does).
  // `on_done(index)` is called as each request is complete and verified, from any thread, one at a time.
  // Errors: transfer_failed, http_status, transfer_stalled, short_body (after all retries and addresses),
  // size_mismatch, digest_mismatch, web_page (details: expected, actual, url, last_modified where the server told),
  // cancelled, and whatever the sink returned, unchanged. No address in errors, events or outcomes carries credentials.
  [[nodiscard]] virtual std::vector<Result<DownloadOutcome>> download(
      const std::vector<DownloadRequest>& requests, const std::function<void(std::size_t)>& on_done) = 0;
};

// Works in the caller's thread, one batch at a time; keeps connections open from batch to batch. Follows at most ten
// redirects, to http and https only, never from https to http. Resumes by Range after a break, where the expected
// digest is known to judge the whole.
[[nodiscard]] std::unique_ptr<Downloader> make_curl_downloader(TransferOptions options, EventSink& events,
                                                               CancelToken cancel);

// Keeps what arrives. The request's expected_size or size_cap bounds it.
class MemorySink final : public ByteSink {
 public:
  [[nodiscard]] Result<Done> begin(std::uint64_t offset) override;
  [[nodiscard]] Result<Done> write(std::uint64_t offset, std::string_view data) override;
  [[nodiscard]] std::string take() { return std::move(m_bytes); }

 private:
  std::string m_bytes;
};

// Downloads one small file into memory (its size_cap or expected_size is the most memory used); `sink` is ignored.
// nullopt: missing, where missing_is_fine.
[[nodiscard]] Result<std::optional<std::string>> download_to_memory(Downloader& downloader, DownloadRequest request);

}  // namespace rocm_offline::fetch
