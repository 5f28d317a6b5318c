// One request on its way: which address is tried, what has arrived, what each end of an attempt means. Knows HTTP, not
// curl's handles.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "address.hpp"
#include "response_head.hpp"
#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "side_hasher.hpp"

namespace rocm_offline::fetch {

// What follows from a failed attempt.
enum class Next {
  retry,         // the same address may do better later
  next_address,  // this address never will
  stop,          // no address will (the sink's errors)
};

struct Failure {
  Error error;
  Next next = Next::retry;
  bool unreachable = false;                       // the host was not reached at all
  std::optional<std::chrono::milliseconds> wait;  // the server's own wish
};

// How an attempt ended, as curl tells it.
struct AttemptEnd {
  std::optional<Failure> failure;  // curl's error, already in words
  std::string redirect_url;
  std::optional<std::chrono::milliseconds> retry_after;
};

class Transfer {
 public:
  // `hasher` outlives it; transfers of one thread share it.
  Transfer(const DownloadRequest& request, unsigned retries, std::chrono::milliseconds backoff, SideHasher& hasher);

  // --- one attempt
  // Where it goes; nullopt when the address is not one that may be contacted.
  [[nodiscard]] const std::string& url() const { return m_url; }
  [[nodiscard]] std::optional<Address> address() const { return parse_address(m_url); }
  // Byte to resume at, 0 for the whole.
  [[nodiscard]] std::uint64_t resume_at() const;
  void begin_attempt();
  void add_header_line(std::string_view line) { m_head.add_line(line); }
  // False: the attempt must be ended (the reason is kept for end_attempt).
  [[nodiscard]] bool add_body(std::string_view data);
  [[nodiscard]] const ResponseHead& head() const { return m_head; }

  // --- between attempts
  enum class State { again, done, failed };
  // Takes the end of an attempt: again (call begin_attempt not before wait() has passed), done, or failed.
  [[nodiscard]] State end_attempt(AttemptEnd end);
  [[nodiscard]] State fail_attempt(Failure failure);
  [[nodiscard]] std::chrono::milliseconds wait() const { return m_wait; }
  [[nodiscard]] const DownloadOutcome& outcome() const { return m_outcome; }
  [[nodiscard]] const Failure& last_failure() const { return m_last_failure; }
  // True when the last failure ended its address, whatever follows.
  [[nodiscard]] bool gave_up_last_address() const { return m_gave_up_last; }
  // Best explanation of a failed request.
  [[nodiscard]] Error final_error() const;
  [[nodiscard]] bool redirected() const { return m_redirects > 0; }

  [[nodiscard]] const DownloadRequest& request() const { return m_request; }
  [[nodiscard]] std::uint64_t received() const { return m_received; }
  // Size of the whole, where the request or the server told it.
  [[nodiscard]] std::uint64_t known_size() const;

  // An error about this request at its present address.
  [[nodiscard]] Error error(ErrorCode code, std::string reason, std::string help) const;

 private:
  struct Try {
    std::string url;
    unsigned failures = 0;
    bool given_up = false;
    Error error;
    bool unreachable = false;
  };

  [[nodiscard]] bool fail_now(Failure failure);
  [[nodiscard]] bool begin_body();
  [[nodiscard]] std::optional<Failure> check_range() const;
  [[nodiscard]] bool check_announced_size(std::string_view first_piece);
  [[nodiscard]] std::optional<Failure> check_status(const AttemptEnd& end) const;
  [[nodiscard]] std::optional<Failure> follow_redirect(const std::string& to);
  [[nodiscard]] std::optional<Failure> check_complete();
  [[nodiscard]] Failure wrong_size(std::string actual) const;
  [[nodiscard]] Failure web_page() const;
  [[nodiscard]] bool looks_like_web_page() const;
  void start_over();
  [[nodiscard]] State choose_next_address();
  [[nodiscard]] bool is_success_status() const;
  [[nodiscard]] bool is_file() const;

  const DownloadRequest& m_request;
  SideHasher& m_hasher;
  unsigned m_retries;
  std::chrono::milliseconds m_backoff;
  std::vector<Try> m_tries;
  std::size_t m_at = 0;
  std::string m_url;  // of this attempt, after redirects
  unsigned m_redirects = 0;

  ResponseHead m_head;
  std::optional<Failure> m_failure;  // found while the attempt ran
  bool m_body_begun = false;
  std::uint64_t m_asked_from = 0;
  std::uint64_t m_ignored_bytes = 0;  // of error bodies

  Sha256 m_hash;
  std::uint64_t m_received = 0;  // bytes that the sink has and m_hash covers
  bool m_resumed = false;        // m_received came from more than one attempt
  bool m_may_resume = true;
  std::string m_start;  // first bytes, to recognise a web page

  std::chrono::milliseconds m_wait{0};
  Failure m_last_failure;
  bool m_gave_up_last = false;
  DownloadOutcome m_outcome;
};

}  // namespace rocm_offline::fetch
