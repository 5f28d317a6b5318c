#include "transfer.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::fetch {
namespace {

constexpr unsigned kMostRedirects = 10;
constexpr std::size_t kStartBytes = 256;
constexpr std::uint64_t kMostIgnoredBytes = 1U << 20U;
constexpr std::chrono::milliseconds kLongestServerWait{60000};
constexpr unsigned kMostDoublings = 6;

// Jitter keeps many clients that lost the same server from coming back at the same moment.
std::chrono::milliseconds with_jitter(std::chrono::milliseconds wait) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> part(wait.count() / 2, wait.count());
  return std::chrono::milliseconds(part(random));
}

std::string_view status_words(int status) {
  switch (status) {
    case 401:
      return "the server wants a user name and password";
    case 403:
      return "the server refuses access";
    case 404:
      return "the server has no such file";
    case 407:
      return "the proxy wants a user name and password";
    case 410:
      return "the file has been removed from the server";
    case 429:
      return "the server says that it gets too many requests";
    default:
      return status >= 500 ? "the server has a problem of its own" : "the server does not give the file";
  }
}

std::string_view status_help(int status) {
  switch (status) {
    case 401:
      return "put the credentials into ~/.netrc or into the address given with --mirror";
    case 403:
      return "check credentials, or use another mirror with --mirror";
    case 404:
    case 410:
      return "the mirror may be in the middle of an update: try again later, or use another mirror with --mirror";
    case 407:
      return "give the proxy with its credentials: --proxy http://user:password@host:port";
    default:
      return "try again later, or use another mirror with --mirror";
  }
}

bool is_temporary(int status) {
  return status == 408 || status == 429 || status >= 500;
}

}  // namespace

Transfer::Transfer(const DownloadRequest& request, unsigned retries, std::chrono::milliseconds backoff,
                   SideHasher& hasher)
    : m_request(request), m_hasher(hasher), m_retries(retries), m_backoff(backoff) {
  for (const std::string& url : request.urls) {
    m_tries.push_back({.url = url, .failures = 0, .given_up = false, .error = {}, .unreachable = false});
  }
  if (!m_tries.empty()) {
    m_url = m_tries.front().url;
  }
}

Error Transfer::error(ErrorCode code, std::string reason, std::string help) const {
  Error error;
  error.code = code;
  error.stage = Stage::fetch;
  error.message = "cannot download " + m_request.what;
  error.reason = std::move(reason);
  error.details["url"] = redact_url(m_url);
  if (!m_head.last_modified.empty()) {
    error.details["last_modified"] = m_head.last_modified;
  }
  error.help = std::move(help);
  return error;
}

bool Transfer::is_file() const {
  const auto where = address();
  return where && where->scheme == "file";
}

bool Transfer::is_success_status() const {
  return m_head.status == 200 || m_head.status == 206 || (m_head.status == 0 && is_file());
}

std::uint64_t Transfer::known_size() const {
  if (m_request.expected_size) {
    return *m_request.expected_size;
  }
  return is_success_status() ? m_head.content_length.value_or(0) : 0;
}

std::uint64_t Transfer::resume_at() const {
  // Without digest and size nothing would prove that both parts are of one file.
  const bool provable = m_request.expected_sha256 && m_request.expected_size;
  return m_may_resume && provable && !is_file() && m_received < m_request.expected_size.value_or(0) ? m_received : 0;
}

void Transfer::start_over() {
  m_hash = Sha256();
  m_received = 0;
  m_resumed = false;
  m_start.clear();
}

void Transfer::begin_attempt() {
  m_head = {};
  m_failure.reset();
  m_body_begun = false;
  m_ignored_bytes = 0;
  m_asked_from = resume_at();
}

bool Transfer::fail_now(Failure failure) {
  m_failure = std::move(failure);
  return false;
}

std::optional<Failure> Transfer::check_range() const {
  const auto& range = m_head.content_range;
  const bool whole = range && range->total == m_request.expected_size && range->last + 1 == m_request.expected_size;
  if (m_asked_from > 0 && whole && range->first == m_asked_from) {
    return std::nullopt;
  }
  return Failure{error(ErrorCode::transfer_failed, "the server sent another part of the file than the one asked for",
                       "use another mirror with --mirror"),
                 Next::retry, false, std::chrono::milliseconds(0)};
}

Failure Transfer::wrong_size(std::string actual) const {
  Error wrong = error(ErrorCode::size_mismatch, "", "");
  if (m_request.expected_size) {
    const std::string expected = std::to_string(*m_request.expected_size);
    wrong.reason = "the file has " + actual + " bytes where the signed index says " + expected;
    wrong.details["expected"] = expected;
  } else {
    wrong.reason = "the file has " + actual + " bytes; at most " + std::to_string(m_request.size_cap) + " are accepted";
    wrong.details["expected"] = "at most " + std::to_string(m_request.size_cap);
  }
  wrong.details["actual"] = std::move(actual);
  wrong.help = "the mirror serves another file than the one that was signed: use another mirror with --mirror";
  return {std::move(wrong), Next::next_address, false, std::nullopt};
}

Failure Transfer::web_page() const {
  Error page = error(ErrorCode::web_page, "the server sent a web page instead of the file",
                     "a network login page or a proxy may answer in the mirror's place: open the address in a browser");
  page.details["content_type"] = m_head.content_type;
  return {std::move(page), Next::next_address, false, std::nullopt};
}

bool Transfer::looks_like_web_page() const {
  return m_request.refuse_web_page && (m_head.says_html() || begins_as_html(m_start));
}

// The announced size is judged before a byte reaches the sink, so that a mirror's wrong file costs no transfer.
bool Transfer::check_announced_size(std::string_view first_piece) {
  const auto& announced = m_head.content_length;
  if (!announced || m_head.status == 206) {
    return true;  // of a part, check_range() judges place and total
  }
  const bool fits = m_request.expected_size ? *announced == *m_request.expected_size : *announced <= m_request.size_cap;
  if (fits) {
    return true;
  }
  m_start.assign(first_piece.substr(0, kStartBytes));
  return fail_now(looks_like_web_page() ? web_page() : wrong_size(std::to_string(*announced)));
}

bool Transfer::begin_body() {
  m_body_begun = true;
  if (m_head.status == 206) {
    if (auto failure = check_range()) {
      m_may_resume = false;
      return fail_now(std::move(*failure));
    }
    m_resumed = true;
  } else {
    start_over();
  }
  if (m_request.sink == nullptr) {
    return true;
  }
  if (auto begun = m_request.sink->begin(m_received); !begun) {
    return fail_now({std::move(begun).error(), Next::stop, false, std::nullopt});
  }
  return true;
}

bool Transfer::add_body(std::string_view data) {
  if (!is_success_status()) {
    m_ignored_bytes += data.size();
    return m_ignored_bytes <= kMostIgnoredBytes;
  }
  if (!m_body_begun && (!check_announced_size(data) || !begin_body())) {
    return false;
  }
  if (m_start.size() < kStartBytes && m_received == m_start.size()) {
    m_start.append(data.substr(0, kStartBytes - m_start.size()));
  }
  // With a known digest the digest decides; a right body is right whatever it is called.
  if (!m_request.expected_sha256 && looks_like_web_page()) {
    return fail_now(web_page());
  }
  const std::uint64_t limit = m_request.expected_size.value_or(m_request.size_cap);
  if (data.size() > limit - m_received) {
    return fail_now(looks_like_web_page() ? web_page() : wrong_size("more than " + std::to_string(limit)));
  }
  m_hasher.begin(m_hash, data);
  Result<Done> written = m_request.sink == nullptr ? Result<Done>(Done{}) : m_request.sink->write(m_received, data);
  m_hasher.wait();
  if (!written) {
    return fail_now({std::move(written).error(), Next::stop, false, std::nullopt});
  }
  m_received += data.size();
  return true;
}

std::optional<Failure> Transfer::check_status(const AttemptEnd& end) const {
  if (is_success_status()) {
    return std::nullopt;
  }
  const int status = m_head.status;
  Error wrong =
      error(ErrorCode::http_status, "HTTP status " + std::to_string(status) + ": " + std::string(status_words(status)),
            std::string(status_help(status)));
  wrong.details["status"] = std::to_string(status);
  return Failure{std::move(wrong), is_temporary(status) ? Next::retry : Next::next_address, false, end.retry_after};
}

std::optional<Failure> Transfer::follow_redirect(const std::string& to) {
  const auto from = address();
  const auto target = parse_address(to);
  const auto refuse = [this, &to](std::string reason) {
    Error refused = error(ErrorCode::transfer_failed, std::move(reason), "use another mirror with --mirror");
    refused.details["redirect"] = redact_url(to);
    return Failure{std::move(refused), Next::next_address, false, std::nullopt};
  };
  if (!target || target->scheme == "file") {
    return refuse("the server redirects to an address that is neither http nor https");
  }
  if (from && from->scheme == "https" && target->scheme != "https") {
    return refuse("the server redirects from https to http, which is not followed");
  }
  if (++m_redirects > kMostRedirects) {
    return refuse("the server redirects more than " + std::to_string(kMostRedirects) + " times");
  }
  m_url = with_credentials_of(m_url, to);
  return std::nullopt;
}

std::optional<Failure> Transfer::check_complete() {
  if (!m_body_begun && (!check_announced_size({}) || !begin_body())) {
    return std::move(m_failure);
  }
  if (m_request.expected_size && m_received < *m_request.expected_size) {
    const std::string actual = std::to_string(m_received);
    if (looks_like_web_page()) {
      return web_page();
    }
    if (is_file()) {
      return wrong_size(actual);
    }
    Error cut =
        error(ErrorCode::short_body,
              "the transfer ended after " + actual + " of " + std::to_string(*m_request.expected_size) + " bytes",
              "try again, or use another mirror with --mirror");
    cut.details["expected"] = std::to_string(*m_request.expected_size);
    cut.details["actual"] = actual;
    return Failure{std::move(cut), Next::retry, false, std::nullopt};
  }
  m_outcome.size = m_received;
  m_outcome.sha256 = std::exchange(m_hash, Sha256()).finish();
  m_outcome.url = redact_url(m_tries[m_at].url);
  m_outcome.url_index = m_at;
  if (!m_request.expected_sha256 || m_outcome.sha256 == *m_request.expected_sha256) {
    return std::nullopt;
  }
  if (looks_like_web_page()) {
    return web_page();
  }
  Error wrong = error(ErrorCode::digest_mismatch, "the complete file has another digest than the signed index says",
                      "the mirror or something on the way changed the file: use another mirror with --mirror");
  wrong.details["expected"] = m_request.expected_sha256->hex();
  wrong.details["actual"] = m_outcome.sha256.hex();
  // Parts of two attempts may be of two files, and then no address is to blame: once more, as a whole.
  const Next next = m_resumed ? Next::retry : Next::next_address;
  m_may_resume = m_may_resume && !m_resumed;
  return Failure{std::move(wrong), next, false, std::nullopt};
}

Transfer::State Transfer::end_attempt(AttemptEnd end) {
  if (m_failure) {
    start_over();  // what came was of another file
    return fail_attempt(std::move(*m_failure));
  }
  // Past its headers an error answer says more than the broken connection that ended its body.
  const bool answered = m_head.status >= 300;
  if (end.failure && !answered) {
    return fail_attempt(std::move(*end.failure));
  }
  if (!end.redirect_url.empty() && m_head.status >= 300 && m_head.status < 400) {
    if (auto failure = follow_redirect(end.redirect_url)) {
      return fail_attempt(std::move(*failure));
    }
    m_wait = std::chrono::milliseconds(0);
    return State::again;
  }
  if (m_head.status == 416) {
    m_may_resume = false;
    start_over();
    return fail_attempt({error(ErrorCode::http_status, "HTTP status 416: the server cannot send the rest of the file",
                               "use another mirror with --mirror"),
                         Next::retry, false, std::chrono::milliseconds(0)});
  }
  if (auto failure = check_status(end)) {
    return fail_attempt(std::move(*failure));
  }
  if (auto failure = check_complete()) {
    if (failure->error.code != ErrorCode::short_body) {
      start_over();
    }
    return fail_attempt(std::move(*failure));
  }
  return State::done;
}

Transfer::State Transfer::fail_attempt(Failure failure) {
  m_last_failure = failure;
  Try& attempt = m_tries[m_at];
  attempt.error = failure.error;
  attempt.unreachable = failure.unreachable;
  ++attempt.failures;
  if (failure.next == Next::stop) {
    for (Try& other : m_tries) {
      other.given_up = true;
    }
    return State::failed;
  }
  attempt.given_up = failure.next == Next::next_address || attempt.failures > m_retries;
  m_gave_up_last = attempt.given_up;
  return choose_next_address();
}

Transfer::State Transfer::choose_next_address() {
  const auto server_wish = m_last_failure.wait;
  const std::size_t count = m_tries.size();
  for (std::size_t step = 1; step <= count; ++step) {
    const std::size_t next = (m_at + step) % count;
    if (m_tries[next].given_up) {
      continue;
    }
    m_wait = std::chrono::milliseconds(0);
    if (m_tries[next].failures > 0) {
      const unsigned doublings = std::min(m_tries[next].failures - 1, kMostDoublings);
      m_wait = with_jitter(m_backoff * (1U << doublings));
      if (next == m_at && server_wish) {
        m_wait = std::min(*server_wish, kLongestServerWait);
      }
    }
    m_at = next;
    m_url = m_tries[next].url;
    m_redirects = 0;
    return State::again;
  }
  const bool all_missing = std::all_of(m_tries.begin(), m_tries.end(), [](const Try& attempt) {
    const auto status = attempt.error.details.find("status");
    return status != attempt.error.details.end() && (status->second == "404" || status->second == "410");
  });
  if (m_request.missing_is_fine && all_missing) {
    m_outcome.missing = true;
    m_outcome.url = redact_url(m_url);
    m_outcome.url_index = m_at;
    return State::done;
  }
  return State::failed;
}

Error Transfer::final_error() const {
  if (m_last_failure.next == Next::stop) {
    return m_last_failure.error;
  }
  // A failed proof says more than a host that was not there; the first address is the one the user meant.
  const auto rank = [](const Try& attempt) {
    const bool trust = exit_status(attempt.error.code) == exit_status(ErrorCode::digest_mismatch);
    return trust ? 2 : attempt.unreachable ? 0 : 1;
  };
  const auto best = std::max_element(m_tries.begin(), m_tries.end(),
                                     [&rank](const Try& a, const Try& b) { return rank(a) < rank(b); });
  Error chosen = best->error;
  unsigned attempts = 0;
  std::vector<std::string> tried;
  for (const Try& attempt : m_tries) {
    attempts += attempt.failures;
    tried.push_back(redact_url(attempt.url) + ": " + attempt.error.reason);
  }
  chosen.details["attempts"] = std::to_string(attempts);
  if (m_tries.size() > 1) {
    chosen.details["tried"] = join(tried, "; ");
  }
  return chosen;
}

}  // namespace rocm_offline::fetch
