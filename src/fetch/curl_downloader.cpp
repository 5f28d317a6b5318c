#include <curl/curl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "curl_failure.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "transfer.hpp"

namespace rocm_offline::fetch {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{200};  // also how soon a cancel is seen
constexpr milliseconds kProgressInterval{100};
constexpr std::chrono::seconds kSilence{5};  // until the progress line says what it waits for
constexpr std::chrono::seconds kLongestConnect{30};
constexpr long kBufferBytes = 256L * 1024;

struct FreeEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeHeaders {
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};
struct FreeMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using Multi = std::unique_ptr<CURLM, FreeMulti>;

void initialise_curl_once() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

// One request's place in a batch.
struct Slot {
  Slot(const DownloadRequest& request, std::size_t at, const TransferOptions& options, SideHasher& hasher,
       CancelToken token)
      : transfer(request, options.retries, options.backoff, hasher), index(at), cancel(token) {}

  // Parsed once for each address: the queue is looked through often.
  const std::optional<Address>& address() {
    if (m_parsed_url != transfer.url()) {
      m_parsed_url = transfer.url();
      m_address = transfer.address();
    }
    return m_address;
  }

  Transfer transfer;
  std::size_t index;
  CancelToken cancel;
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  Easy easy;
  std::string origin;  // where the running attempt goes
  SteadyClock::time_point not_before{};
  SteadyClock::time_point last_bytes{};
  std::array<char, CURL_ERROR_SIZE> error_text{};

 private:
  std::string m_parsed_url;
  std::optional<Address> m_address;
};

size_t on_body(char* data, size_t, size_t size, void* user) noexcept {
  auto* slot = static_cast<Slot*>(user);
  slot->last_bytes = SteadyClock::now();
  // curl reads a local file in one go, so that the loop's own question may come late.
  return !slot->cancel.cancelled() && slot->transfer.add_body({data, size}) ? size : size + 1;
}

size_t on_header(char* data, size_t, size_t size, void* user) noexcept {
  auto* slot = static_cast<Slot*>(user);
  slot->last_bytes = SteadyClock::now();
  slot->transfer.add_header_line({data, size});
  return size;
}

void allow_only_our_protocols(CURL* handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https,file");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FILE));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // A name server that does not answer must not hold up a cancel: the resolver's thread is left to end by itself.
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

// Opening a fifo or a device would block the one thread that drives every transfer.
std::optional<Failure> check_local_file(const Transfer& transfer, const Address& address) {
  struct stat info {};
  const std::string help = "check the path given with --mirror or --repo";
  if (::stat(address.path.c_str(), &info) != 0) {
    const int cause = errno;
    Error error = transfer.error(ErrorCode::transfer_failed, std::generic_category().message(cause), help);
    if (cause == ENOENT || cause == ENOTDIR) {
      error.details["status"] = "404";
    }
    return Failure{std::move(error), Next::next_address, false, std::nullopt};
  }
  if (!S_ISREG(info.st_mode)) {
    return Failure{transfer.error(ErrorCode::transfer_failed, "not a regular file", help), Next::next_address, false,
                   std::nullopt};
  }
  return std::nullopt;
}

class CurlDownloader final : public Downloader {
 public:
  CurlDownloader(TransferOptions options, EventSink& events, CancelToken cancel)
      : m_options(std::move(options)), m_events(events), m_cancel(cancel) {
    initialise_curl_once();
    m_multi.reset(curl_multi_init());
    m_options.jobs = std::max(m_options.jobs, 1U);
    m_options.jobs_per_host = std::max(m_options.jobs_per_host, 1U);
    // Addresses are compared by the lower-case form of their host.
    for (auto& [group, hosts] : m_options.hosts_by_group) {
      for (std::string& host : hosts) {
        std::transform(host.begin(), host.end(), host.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      }
    }
    curl_multi_setopt(m_multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(m_options.jobs) * 2);
  }

  std::vector<Result<DownloadOutcome>> download(const std::vector<DownloadRequest>& requests,
                                                const std::function<void(std::size_t)>& on_done) override;

 private:
  friend class Batch;
  TransferOptions m_options;
  EventSink& m_events;
  CancelToken m_cancel;
  SideHasher m_hasher{};
  Multi m_multi;
};

// One call of download().
class Batch {
 public:
  Batch(CurlDownloader& owner, const std::vector<DownloadRequest>& requests,
        const std::function<void(std::size_t)>& on_done)
      : m_owner(owner),
        m_options(owner.m_options),
        m_multi(owner.m_multi.get()),
        m_requests(requests),
        m_on_done(on_done),
        m_outcomes(requests.size()) {}

  std::vector<Result<DownloadOutcome>> run();

 private:
  void start_waiting();
  bool start(Slot& slot);
  void set_options(Slot& slot, const Address& address);
  void set_trust_options(CURL* handle, const Address& address);
  void collect_finished();
  AttemptEnd end_of(const Slot& slot, CURLcode code) const;
  void take_out(Slot& slot);
  void settle(Slot& slot, Transfer::State state);
  void note_reachability(const Slot& slot, const std::string& origin, Transfer::State state);
  void settle_failure(Slot& slot);
  void end_stalled();
  void cancel_all();
  void report_progress(bool last);
  void report_retry(const Slot& slot);
  void report_batch(SteadyClock::time_point since);
  [[nodiscard]] std::string waiting_for() const;
  [[nodiscard]] int poll_milliseconds() const;

  CurlDownloader& m_owner;
  const TransferOptions& m_options;
  CURLM* m_multi;
  const std::vector<DownloadRequest>& m_requests;
  const std::function<void(std::size_t)>& m_on_done;
  std::vector<std::optional<Result<DownloadOutcome>>> m_outcomes;
  std::deque<std::unique_ptr<Slot>> m_waiting;
  std::vector<std::unique_ptr<Slot>> m_running;
  std::map<std::string, unsigned> m_running_by_origin;
  std::set<std::string> m_answering;            // origins that sent something in this batch
  std::map<std::string, Error> m_down;          // origins that were given up as unreachable
  std::map<std::string, std::size_t> m_probes;  // origin not reached yet -> the one request that tries again
  bool m_place_became_free = false;
  std::uint64_t m_finished_bytes = 0;
  std::uint64_t m_finished_total = 0;
  SteadyClock::time_point m_next_progress{};
};

void Batch::set_trust_options(CURL* handle, const Address& address) {
  if (m_options.ca_file) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, m_options.ca_file->c_str());
  }
  for (const auto& [group, certificate] : m_options.client_certificates) {
    const auto hosts = m_options.hosts_by_group.find(group);
    if (hosts != m_options.hosts_by_group.end() &&
        std::find(hosts->second.begin(), hosts->second.end(), address.host) != hosts->second.end()) {
      curl_easy_setopt(handle, CURLOPT_SSLCERT, certificate.c_str());
      curl_easy_setopt(handle, CURLOPT_SSLKEY, certificate.c_str());
    }
  }
}

void Batch::set_options(Slot& slot, const Address& address) {
  CURL* handle = slot.easy.get();
  curl_easy_reset(handle);
  slot.error_text.fill('\0');
  const std::string agent = "rocm-offline-creator/" + std::string(program_version());
  curl_easy_setopt(handle, CURLOPT_URL, slot.transfer.url().c_str());
  allow_only_our_protocols(handle);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, &slot);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, slot.error_text.data());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &slot);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &slot);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kBufferBytes);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  const auto connect = std::min<milliseconds>(m_options.stall_timeout, kLongestConnect);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<milliseconds>(connect, milliseconds(1)).count()));
  curl_easy_setopt(handle, CURLOPT_NETRC,
                   static_cast<long>(m_options.use_netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
  if (m_options.proxy) {
    curl_easy_setopt(handle, CURLOPT_PROXY, m_options.proxy->c_str());
  }
  set_trust_options(handle, address);
  if (slot.transfer.request().revalidate) {
    slot.headers.reset(curl_slist_append(nullptr, "Cache-Control: no-cache"));
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, slot.headers.get());
  }
  // CURLOPT_RESUME_FROM would make curl refuse a server that answers with the whole; that answer is welcome.
  if (const std::uint64_t from = slot.transfer.resume_at(); from > 0) {
    curl_easy_setopt(handle, CURLOPT_RANGE, (std::to_string(from) + "-").c_str());
  }
}

// True when the slot runs or is settled; false when it must wait for a free place at its host.
bool Batch::start(Slot& slot) {
  const auto& address = slot.address();
  if (!address) {
    settle(slot, slot.transfer.fail_attempt(
                     {slot.transfer.error(ErrorCode::transfer_failed, "the address cannot be used",
                                          "give an address that begins with http://, https:// or file:///"),
                      Next::next_address, true, std::nullopt}));
    return true;
  }
  const std::string origin = address->origin();
  if (const auto down = m_down.find(origin); down != m_down.end()) {
    Error error = slot.transfer.error(down->second.code, down->second.reason, down->second.help);
    settle(slot, slot.transfer.fail_attempt({std::move(error), Next::next_address, true, std::nullopt}));
    return true;
  }
  if (address->scheme == "file") {
    if (auto failure = check_local_file(slot.transfer, *address)) {
      settle(slot, slot.transfer.fail_attempt(std::move(*failure)));
      return true;
    }
  }
  const auto probe = m_probes.find(origin);
  const bool another_probes = probe != m_probes.end() && probe->second != slot.index;
  if (another_probes || m_running_by_origin[origin] >= m_options.jobs_per_host) {
    return false;
  }
  if (!slot.easy) {
    slot.easy.reset(curl_easy_init());
  }
  slot.transfer.begin_attempt();
  set_options(slot, *address);
  slot.origin = origin;
  slot.last_bytes = SteadyClock::now();
  ++m_running_by_origin[origin];
  curl_multi_add_handle(m_multi, slot.easy.get());
  return true;
}

void Batch::start_waiting() {
  const auto now = SteadyClock::now();
  std::deque<std::unique_ptr<Slot>> waiting;
  waiting.swap(m_waiting);
  while (!waiting.empty() && m_running.size() < m_options.jobs) {
    std::unique_ptr<Slot> slot = std::move(waiting.front());
    waiting.pop_front();
    Slot& place = *slot;
    if (place.not_before > now || !start(place)) {
      m_waiting.push_back(std::move(slot));
    } else if (!place.origin.empty()) {
      m_running.push_back(std::move(slot));
    } else if (!m_outcomes[place.index]) {
      m_waiting.push_back(std::move(slot));
    }
  }
  for (auto& slot : waiting) {
    m_waiting.push_back(std::move(slot));
  }
}

void Batch::take_out(Slot& slot) {
  m_place_became_free = true;
  curl_multi_remove_handle(m_multi, slot.easy.get());
  --m_running_by_origin[slot.origin];
}

AttemptEnd Batch::end_of(const Slot& slot, CURLcode code) const {
  CURL* handle = slot.easy.get();
  AttemptEnd end;
  if (char* target = nullptr; curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &target) == CURLE_OK && target) {
    end.redirect_url = target;
  }
  curl_off_t wait = 0;
  if (curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK && wait > 0) {
    end.retry_after = milliseconds(std::min<curl_off_t>(wait, 3600) * 1000);
  }
  if (code != CURLE_OK) {
    CurlEnd curl;
    curl.code = code;
    curl.text = slot.error_text[0] != '\0' ? slot.error_text.data() : curl_easy_strerror(code);
    curl_easy_getinfo(handle, CURLINFO_HTTP_CONNECTCODE, &curl.connect_status);
    curl_off_t connect_time = 0;
    curl_easy_getinfo(handle, CURLINFO_APPCONNECT_TIME_T, &connect_time);
    curl_off_t plain_time = 0;
    curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME_T, &plain_time);
    curl.connected = connect_time > 0 || plain_time > 0;
    curl.proxy_given = !m_options.proxy.value_or("").empty();
    end.failure = failure_of(curl, slot.transfer);
  }
  return end;
}

void Batch::report_retry(const Slot& slot) {
  const Failure& failure = slot.transfer.last_failure();
  const std::string from = failure.error.details.contains("url") ? failure.error.details.at("url") : "";
  const std::string next = redact_url(slot.transfer.url());
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(slot.transfer.wait()).count();
  m_owner.m_events.event(
      {.level = Level::warning,
       .name = "fetch.file.retried",
       .message = slot.transfer.request().what + ": " + failure.error.reason +
                  (next != from ? "; trying " + next
                                : "; trying again" + (seconds > 0 ? " in " + std::to_string(seconds) + " s" : "")),
       .fields = {{"what", slot.transfer.request().what},
                  {"url", from},
                  {"next_url", redact_url(slot.transfer.url())},
                  {"code", std::string(error_code_name(failure.error.code))},
                  {"reason", failure.error.reason},
                  {"wait_ms", std::to_string(slot.transfer.wait().count())},
                  {"received", std::to_string(slot.transfer.received())}}});
}

void Batch::settle_failure(Slot& slot) {
  Error error = slot.transfer.final_error();
  m_owner.m_events.event({.level = Level::error,
                          .name = "fetch.file.failed",
                          .message = error.message + ": " + error.reason,
                          .fields = {{"what", slot.transfer.request().what},
                                     {"url", redact_url(slot.transfer.url())},
                                     {"code", std::string(error_code_name(error.code))},
                                     {"reason", error.reason}}});
  m_outcomes[slot.index] = fail(std::move(error));
}

// The rest of a long batch need not find out one by one that a host is down: while it has not answered anything, one
// request tries it again, and what that one finds holds for all.
void Batch::note_reachability(const Slot& slot, const std::string& origin, Transfer::State state) {
  if (origin.empty()) {
    return;
  }
  const Failure& failure = slot.transfer.last_failure();
  if (slot.transfer.head().status != 0 || state == Transfer::State::done || !failure.unreachable) {
    m_answering.insert(origin);
  }
  if (m_answering.contains(origin)) {
    m_probes.erase(origin);
    return;
  }
  const auto next = slot.transfer.address();
  const bool tries_again = state == Transfer::State::again && next && next->origin() == origin;
  if (tries_again) {
    m_probes.try_emplace(origin, slot.index);
    return;
  }
  const auto probe = m_probes.find(origin);
  if (slot.transfer.gave_up_last_address() && (probe == m_probes.end() || probe->second == slot.index)) {
    m_down.emplace(origin, failure.error);
  }
  if (probe != m_probes.end() && probe->second == slot.index) {
    m_probes.erase(probe);
  }
}

// After it, the slot has an outcome or waits for its next attempt; `origin` is empty either way.
void Batch::settle(Slot& slot, Transfer::State state) {
  const std::string origin = std::exchange(slot.origin, {});
  note_reachability(slot, origin, state);
  if (state == Transfer::State::again) {
    slot.not_before = SteadyClock::now() + slot.transfer.wait();
    // A cut that our own cancel made is no failure of the server.
    if (!slot.transfer.redirected() && !m_owner.m_cancel.cancelled()) {
      report_retry(slot);
    }
    return;
  }
  if (state == Transfer::State::failed) {
    settle_failure(slot);
    return;
  }
  const DownloadOutcome& outcome = slot.transfer.outcome();
  m_finished_bytes += outcome.size;
  m_finished_total += outcome.size;
  m_outcomes[slot.index] = outcome;
  m_owner.m_events.event({.level = Level::debug,
                          .name = outcome.missing ? "fetch.file.missing" : "fetch.file.done",
                          .message = slot.transfer.request().what,
                          .fields = {{"what", slot.transfer.request().what},
                                     {"url", outcome.url},
                                     {"bytes", std::to_string(outcome.size)},
                                     {"sha256", outcome.missing ? "" : outcome.sha256.hex()}}});
  if (m_on_done) {
    m_on_done(slot.index);
  }
}

void Batch::collect_finished() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(m_multi, &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    const CURLcode code = message->data.result;
    const auto found = std::find_if(m_running.begin(), m_running.end(), [message](const std::unique_ptr<Slot>& slot) {
      return slot->easy.get() == message->easy_handle;
    });
    if (found == m_running.end()) {
      continue;
    }
    std::unique_ptr<Slot> slot = std::move(*found);
    m_running.erase(found);
    AttemptEnd end = end_of(*slot, code);
    take_out(*slot);
    settle(*slot, slot->transfer.end_attempt(std::move(end)));
    if (!m_outcomes[slot->index]) {
      m_waiting.push_front(std::move(slot));
    }
  }
}

void Batch::end_stalled() {
  const auto now = SteadyClock::now();
  for (std::size_t i = 0; i < m_running.size();) {
    if (now - m_running[i]->last_bytes < m_options.stall_timeout) {
      ++i;
      continue;
    }
    std::unique_ptr<Slot> slot = std::move(m_running[i]);
    m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(i));
    take_out(*slot);
    Error error =
        slot->transfer.error(ErrorCode::transfer_stalled,
                             "no byte came for " + std::to_string(m_options.stall_timeout.count()) + " s, after " +
                                 std::to_string(slot->transfer.received()) + " bytes",
                             "try again later, use another mirror with --mirror, or wait longer with --timeout");
    settle(*slot, slot->transfer.fail_attempt({std::move(error), Next::retry, false, std::nullopt}));
    if (!m_outcomes[slot->index]) {
      m_waiting.push_front(std::move(slot));
    }
  }
}

void Batch::cancel_all() {
  for (auto& slot : m_running) {
    take_out(*slot);
  }
  m_running.clear();
  m_waiting.clear();
  for (std::size_t i = 0; i < m_outcomes.size(); ++i) {
    if (!m_outcomes[i]) {
      m_outcomes[i] = fail({.code = ErrorCode::cancelled,
                            .stage = Stage::fetch,
                            .message = "cancelled while downloading " + m_requests[i].what,
                            .reason = "the program was asked to stop",
                            .help = "start it again: what has arrived is kept"});
    }
  }
}

std::string Batch::waiting_for() const {
  const auto now = SteadyClock::now();
  const Slot* quietest = nullptr;
  for (const auto& slot : m_running) {
    if (now - slot->last_bytes < kSilence) {
      return {};
    }
    if (quietest == nullptr || slot->last_bytes < quietest->last_bytes) {
      quietest = slot.get();
    }
  }
  const auto address = quietest == nullptr ? std::nullopt : quietest->transfer.address();
  return address ? address->host : std::string();
}

void Batch::report_progress(bool last) {
  const auto now = SteadyClock::now();
  if (!last && now < m_next_progress) {
    return;
  }
  m_next_progress = now + kProgressInterval;
  Progress progress;
  progress.stage = Stage::fetch;
  progress.activity =
      m_requests.front().activity.empty()
          ? "downloading " + (m_requests.size() == 1 ? m_requests.front().what : counted(m_requests.size(), "file"))
          : m_requests.front().activity;
  progress.done = m_finished_bytes;
  progress.total = m_finished_total;
  for (const auto& slot : m_running) {
    progress.done += slot->transfer.received();
    progress.total += slot->transfer.known_size();
  }
  for (const auto& slot : m_waiting) {
    progress.done += slot->transfer.received();
    progress.total += slot->transfer.known_size();
  }
  progress.waiting_for = waiting_for();
  m_owner.m_events.progress(progress);
}

void Batch::report_batch(SteadyClock::time_point since) {
  const auto failed =
      std::count_if(m_outcomes.begin(), m_outcomes.end(), [](const auto& outcome) { return !*outcome; });
  const auto fetched = std::count_if(m_outcomes.begin(), m_outcomes.end(),
                                     [](const auto& outcome) { return *outcome && !(*outcome)->missing; });
  const auto took = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - since);
  m_owner.m_events.event(
      {.level = fetched == 0 && failed == 0 ? Level::debug : Level::info,
       .name = "fetch.batch.done",
       .message =
           "downloaded " + counted(static_cast<std::uint64_t>(fetched), "file") + ", " + format_size(m_finished_bytes) +
           (failed == 0 ? "" : "; " + std::to_string(failed) + (m_owner.m_cancel.cancelled() ? " left" : " failed")),
       .fields = {{"files", std::to_string(m_outcomes.size())},
                  {"failed", std::to_string(failed)},
                  {"bytes", std::to_string(m_finished_bytes)},
                  {"milliseconds", std::to_string(took.count())}}});
}

int Batch::poll_milliseconds() const {
  auto wait = kPoll;
  const auto now = SteadyClock::now();
  for (const auto& slot : m_waiting) {
    const auto left = std::chrono::ceil<milliseconds>(slot->not_before - now);
    if (left > milliseconds(0)) {
      wait = std::min(wait, left);
    }
  }
  return static_cast<int>(wait.count());
}

std::vector<Result<DownloadOutcome>> Batch::run() {
  const auto began = SteadyClock::now();
  for (std::size_t i = 0; i < m_requests.size(); ++i) {
    m_waiting.push_back(std::make_unique<Slot>(m_requests[i], i, m_options, m_owner.m_hasher, m_owner.m_cancel));
  }
  while (!m_waiting.empty() || !m_running.empty()) {
    if (m_owner.m_cancel.cancelled()) {
      cancel_all();
      break;
    }
    start_waiting();
    int running = 0;
    curl_multi_perform(m_multi, &running);
    collect_finished();
    end_stalled();
    report_progress(false);
    if (m_waiting.empty() && m_running.empty()) {
      break;
    }
    // A place that has just become free is filled before anything is waited for.
    if (!std::exchange(m_place_became_free, false)) {
      curl_multi_poll(m_multi, nullptr, 0, poll_milliseconds(), nullptr);
    }
  }
  report_progress(true);
  report_batch(began);
  std::vector<Result<DownloadOutcome>> outcomes;
  for (auto& outcome : m_outcomes) {
    outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

std::vector<Result<DownloadOutcome>> CurlDownloader::download(const std::vector<DownloadRequest>& requests,
                                                              const std::function<void(std::size_t)>& on_done) {
  if (requests.empty()) {
    return {};
  }
  return Batch(*this, requests, on_done).run();
}

}  // namespace

std::unique_ptr<Downloader> make_curl_downloader(TransferOptions options, EventSink& events, CancelToken cancel) {
  return std::make_unique<CurlDownloader>(std::move(options), events, cancel);
}

}  // namespace rocm_offline::fetch
