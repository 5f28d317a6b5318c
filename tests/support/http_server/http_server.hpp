// A small HTTP/1.1 server for tests, on a free port of 127.0.0.1: serves a folder, and misbehaves on demand.
//
//   HttpServer server(folder);
//   server.set_fault("/dists/trixie/InRelease", {.kind = FaultKind::status, .status = 503, .times = 2});
//   ... server.url("pool/a.deb") ... server.requests() ...
//
// Knows GET and HEAD, keep-alive, `Range: bytes=N-` and `bytes=N-M`, If-Range (ETag), percent-encoded paths. Faults may
// be set and read from any thread while it runs. Stopped, with all its threads, by the destructor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocm_offline::test {

enum class FaultKind {
  none,
  status,              // answer with `status` (404, 503, 429, ...) and a short text body
  stall,               // send `after_bytes` of the body, then nothing more
  silent,              // accept the request, answer nothing at all
  truncate,            // right Content-Length, but close after `after_bytes` of the body
  close,               // close the connection without an answer
  redirect,            // 302 to `location`
  redirect_loop,       // 302 to itself
  oversize,            // `extra_bytes` more than the file has, in Content-Length and body
  oversize_chunked,    // the same without a Content-Length
  undersize,           // a complete, shorter body: Content-Length is `after_bytes`
  flip_byte,           // the byte at `after_bytes` is another one; same size
  web_page,            // 200, text/html, a login page
  web_page_as_binary,  // 200, application/octet-stream, a login page
  no_ranges,           // ignores Range: 200 and the whole body
  wrong_range,         // 206, but Content-Range (and bytes) start at 0
  wrong_range_total,   // 206 with a wrong total in Content-Range
  slow,                // `bytes_per_second`
};

struct Fault {
  FaultKind kind = FaultKind::none;
  int status = 503;
  int times = -1;  // how many requests of that path it hits; -1: every one
  std::uint64_t after_bytes = 0;
  std::uint64_t extra_bytes = 1;
  std::uint64_t bytes_per_second = 65536;
  std::string location = {};     // for redirect
  std::string retry_after = {};  // Retry-After header of `status`
};

// One request as it came.
struct SeenRequest {
  std::string method = {};
  std::string path = {};   // decoded, begins with "/"
  std::string range = {};  // value of Range, or empty
  std::string user_agent = {};
  std::string authorization = {};
  std::string cache_control = {};
  bool operator==(const SeenRequest&) const = default;
};

enum class Encryption { none, tls };  // tls: self-signed certificate for 127.0.0.1 and localhost, see certificate_pem()

class HttpServer {
 public:
  // Serves the files below `root`. Aborts the test (throws std::runtime_error) when it cannot listen.
  explicit HttpServer(std::filesystem::path root, Encryption encryption = Encryption::none);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] unsigned port() const;
  // "http://127.0.0.1:PORT", with a path "http://127.0.0.1:PORT/path". `path` is taken as it is (already encoded).
  [[nodiscard]] std::string url(std::string_view path = {}) const;
  // The certificate that a client must trust (Encryption::tls only).
  [[nodiscard]] std::string certificate_pem() const;
  // Refuses clients without a certificate that `trusted_pem` is or has signed (Encryption::tls only; before the first
  // request).
  void require_client_certificate(const std::string& trusted_pem);

  // From now on `path` ("/pool/a.deb", or "*" for every path without a fault of its own) misbehaves.
  void set_fault(const std::string& path, Fault fault);
  // Several faults for one path, one after the other, then none.
  void set_faults(const std::string& path, std::vector<Fault> faults);
  void clear_faults();

  // In the order they came.
  [[nodiscard]] std::vector<SeenRequest> requests() const;
  [[nodiscard]] std::size_t count(std::string_view path) const;
  // The most transfers that were being answered at the same time.
  [[nodiscard]] std::size_t most_at_once() const;
  void forget_requests();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace rocm_offline::test
