#include "support/http_server/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/http_server/connection.hpp"

namespace rocm_offline::test {
namespace {

constexpr std::string_view kLoginPage =
    "<!DOCTYPE html>\n<html><head><title>Please sign in</title></head><body>Network login</body></html>\n";
constexpr std::size_t kPiece = 65536;

int hex_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string header_value(std::string_view head, std::string_view name) {
  std::size_t at = head.find("\r\n");
  while (at != std::string_view::npos && at + 2 < head.size()) {
    const std::size_t start = at + 2;
    const std::size_t end = head.find("\r\n", start);
    std::string_view line = head.substr(start, end - start);
    const std::size_t colon = line.find(':');
    const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
    if (colon == name.size() && std::equal(name.begin(), name.end(), line.begin(), same)) {
      line.remove_prefix(colon + 1);
      while (!line.empty() && line.front() == ' ') {
        line.remove_prefix(1);
      }
      return std::string(line);
    }
    at = end;
  }
  return {};
}

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

std::optional<ByteRange> parse_range(std::string_view text, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (text.substr(0, kUnit.size()) != kUnit || size == 0) {
    return std::nullopt;
  }
  text.remove_prefix(kUnit.size());
  ByteRange range{0, size - 1};
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') {
    return std::nullopt;
  }
  std::from_chars(first.ptr + 1, end, range.last);
  range.last = std::min(range.last, size - 1);
  return range;
}

// What is sent, once the faults are settled.
struct Answer {
  int status = 200;
  std::string headers;
  std::string inline_body;  // used where `file` is empty
  std::filesystem::path file;
  ByteRange range;           // of the file; range.last + 1 == range.first: nothing
  std::uint64_t length = 0;  // bytes of the body announced
  bool announce_length = true;
};

std::uint64_t file_size_or_zero(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

}  // namespace

struct HttpServer::State {
  std::filesystem::path root;
  std::unique_ptr<TlsIdentity> identity;
  int listener = -1;
  unsigned port = 0;
  std::atomic<bool> stopping{false};
  std::thread acceptor;

  mutable std::mutex mutex;
  std::list<std::thread> workers;
  std::set<int> sockets;
  std::map<std::string, std::vector<Fault>> faults;
  std::vector<SeenRequest> seen;
  std::size_t busy = 0;
  std::size_t most_busy = 0;

  void listen_on_free_port();
  void accept_loop();
  void serve(int socket);
  bool answer(Connection& connection, const std::string& head);
  Fault take_fault(const std::string& path);
  bool send_answer(Connection& connection, const Answer& answer, const Fault& fault, bool head_only);
  bool send_body(Connection& connection, const Answer& answer, const Fault& fault);
  Answer file_answer(const std::string& path, const std::string& range, const std::string& if_range,
                     const Fault& fault) const;
};

void HttpServer::State::listen_on_free_port() {
  listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, generic, size) != 0 || ::listen(listener, 64) != 0 ||
      ::getsockname(listener, generic, &size) != 0) {
    throw std::runtime_error("test server: cannot listen on 127.0.0.1");
  }
  port = ntohs(address.sin_port);
}

void HttpServer::State::accept_loop() {
  while (!stopping) {
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      if (stopping || (errno != EINTR && errno != ECONNABORTED)) {
        return;
      }
      continue;
    }
    const std::lock_guard lock(mutex);
    if (stopping) {
      ::close(socket);
      return;
    }
    sockets.insert(socket);
    workers.emplace_back([this, socket] { serve(socket); });
  }
}

void HttpServer::State::serve(int socket) {
  // A second descriptor keeps the number reserved until it has left `sockets`, whatever Connection closes.
  const int own = ::dup(socket);
  {
    Connection connection(own, identity.get());
    while (connection.ok() && !stopping) {
      const std::string head = connection.receive_head();
      if (head.empty()) {
        break;
      }
      {
        const std::lock_guard lock(mutex);
        most_busy = std::max(most_busy, ++busy);
      }
      const bool keep = answer(connection, head);
      {
        const std::lock_guard lock(mutex);
        --busy;
      }
      if (!keep) {
        break;
      }
    }
  }
  const std::lock_guard lock(mutex);
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  sockets.erase(socket);
}

Fault HttpServer::State::take_fault(const std::string& path) {
  const std::lock_guard lock(mutex);
  auto found = faults.find(path);
  if (found == faults.end()) {
    found = faults.find("*");
  }
  if (found == faults.end() || found->second.empty()) {
    return {};
  }
  Fault& first = found->second.front();
  const Fault taken = first;
  if (first.times > 0 && --first.times == 0) {
    found->second.erase(found->second.begin());
  }
  return taken;
}

Answer HttpServer::State::file_answer(const std::string& path, const std::string& range, const std::string& if_range,
                                      const Fault& fault) const {
  Answer answer;
  const std::filesystem::path file = root / std::filesystem::path(path).relative_path();
  if (path.find("..") != std::string::npos || !std::filesystem::is_regular_file(file)) {
    answer.status = 404;
    answer.inline_body = "no such file\n";
    answer.length = answer.inline_body.size();
    return answer;
  }
  const std::uint64_t size = file_size_or_zero(file);
  const std::string etag = "\"" + std::to_string(size) + "-etag\"";
  answer.file = file;
  answer.headers = "Content-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\nETag: " + etag +
                   "\r\nLast-Modified: Sat, 21 Nov 2026 09:15:44 GMT\r\n";
  answer.range = {0, size - 1};
  answer.length = size;
  const auto wanted = parse_range(range, size);
  if (!wanted || fault.kind == FaultKind::no_ranges || (!if_range.empty() && if_range != etag)) {
    return answer;
  }
  if (wanted->first >= size) {
    answer.status = 416;
    answer.file.clear();
    answer.length = 0;
    answer.headers = "Content-Range: bytes */" + std::to_string(size) + "\r\n";
    return answer;
  }
  answer.status = 206;
  answer.range = *wanted;
  std::uint64_t total = size;
  if (fault.kind == FaultKind::wrong_range) {
    answer.range.first = 0;
  }
  if (fault.kind == FaultKind::wrong_range_total) {
    total += 7;
  }
  answer.length = answer.range.last - answer.range.first + 1;
  answer.headers += "Content-Range: bytes " + std::to_string(answer.range.first) + "-" +
                    std::to_string(answer.range.last) + "/" + std::to_string(total) + "\r\n";
  return answer;
}

bool HttpServer::State::send_body(Connection& connection, const Answer& answer, const Fault& fault) {
  const bool cuts = fault.kind == FaultKind::truncate || fault.kind == FaultKind::stall;
  const std::uint64_t limit = cuts ? std::min(fault.after_bytes, answer.length) : answer.length;
  std::ifstream in(answer.file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(answer.range.first));
  std::uint64_t sent = 0;
  std::string piece;
  while (sent < limit && !stopping) {
    const std::uint64_t most =
        fault.kind == FaultKind::slow ? std::max<std::uint64_t>(fault.bytes_per_second / 20, 1) : kPiece;
    piece.assign(static_cast<std::size_t>(std::min(most, limit - sent)), 'x');  // what the file lacks reads as x
    if (!answer.inline_body.empty()) {
      piece = answer.inline_body.substr(static_cast<std::size_t>(sent), piece.size());
    } else {
      in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      in.clear();
    }
    const std::uint64_t at = answer.range.first + sent;
    if (fault.kind == FaultKind::flip_byte && fault.after_bytes >= at && fault.after_bytes < at + piece.size()) {
      piece[static_cast<std::size_t>(fault.after_bytes - at)] ^= 1;
    }
    const std::string framed = answer.announce_length ? piece : [&piece] {
      std::array<char, 20> hex{};
      const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), piece.size(), 16).ptr;
      return std::string(hex.data(), end) + "\r\n" + piece + "\r\n";
    }();
    if (!connection.send(framed)) {
      return false;
    }
    sent += piece.size();
    if (fault.kind == FaultKind::slow) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  if (fault.kind == FaultKind::stall) {
    connection.wait_for_close();
    return false;
  }
  if (!answer.announce_length && !connection.send("0\r\n\r\n")) {
    return false;
  }
  return fault.kind != FaultKind::truncate;
}

bool HttpServer::State::send_answer(Connection& connection, const Answer& answer, const Fault& fault, bool head_only) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " test\r\n" + answer.headers;
  head += answer.announce_length ? "Content-Length: " + std::to_string(answer.length) + "\r\n"
                                 : std::string("Transfer-Encoding: chunked\r\n");
  head += "\r\n";
  if (!connection.send(head)) {
    return false;
  }
  return head_only || send_body(connection, answer, fault);
}

bool HttpServer::State::answer(Connection& connection, const std::string& head) {
  const auto method_end = head.find(' ');
  const auto target_end = head.find(' ', method_end + 1);
  if (method_end == std::string::npos || target_end == std::string::npos) {
    return false;
  }
  SeenRequest request;
  request.method = head.substr(0, method_end);
  std::string target = head.substr(method_end + 1, target_end - method_end - 1);
  if (target.rfind("http://", 0) == 0) {  // as a proxy gets it
    const auto slash = target.find('/', 7);
    target = slash == std::string::npos ? "/" : target.substr(slash);
  }
  request.path = percent_decoded(target.substr(0, target.find('?')));
  request.range = header_value(head, "Range");
  request.user_agent = header_value(head, "User-Agent");
  request.authorization = header_value(head, "Authorization");
  request.cache_control = header_value(head, "Cache-Control");
  {
    const std::lock_guard lock(mutex);
    seen.push_back(request);
  }
  const Fault fault = take_fault(request.path);
  Answer answer;
  const auto text_answer = [&answer](int status, std::string_view body, std::string headers) {
    answer = Answer{};
    answer.status = status;
    answer.inline_body = body;
    answer.length = body.size();
    answer.headers = std::move(headers);
  };
  switch (fault.kind) {
    case FaultKind::silent:
      connection.wait_for_close();
      return false;
    case FaultKind::close:
      return false;
    case FaultKind::status:
      text_answer(fault.status, "fault\n",
                  "Content-Type: text/plain\r\n" +
                      (fault.retry_after.empty() ? std::string() : "Retry-After: " + fault.retry_after + "\r\n"));
      break;
    case FaultKind::redirect:
      text_answer(302, "moved\n", "Location: " + fault.location + "\r\n");
      break;
    case FaultKind::redirect_loop:
      text_answer(302, "moved\n", "Location: " + target + "\r\n");
      break;
    case FaultKind::web_page:
      text_answer(200, kLoginPage, "Content-Type: text/html; charset=utf-8\r\n");
      break;
    case FaultKind::web_page_as_binary:
      text_answer(200, kLoginPage, "Content-Type: application/octet-stream\r\n");
      break;
    default:
      answer = file_answer(request.path, request.range, header_value(head, "If-Range"), fault);
      break;
  }
  if (fault.kind == FaultKind::oversize || fault.kind == FaultKind::oversize_chunked) {
    answer.length += fault.extra_bytes;
    answer.announce_length = fault.kind == FaultKind::oversize;
  }
  if (fault.kind == FaultKind::undersize) {
    answer.length = std::min(answer.length, fault.after_bytes);
  }
  return send_answer(connection, answer, fault, request.method == "HEAD");
}

HttpServer::HttpServer(std::filesystem::path root, Encryption encryption) : m_state(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT: OpenSSL writes without MSG_NOSIGNAL
  m_state->root = std::move(root);
  if (encryption == Encryption::tls) {
    m_state->identity = std::make_unique<TlsIdentity>();
  }
  m_state->listen_on_free_port();
  m_state->acceptor = std::thread([state = m_state.get()] { state->accept_loop(); });
}

HttpServer::~HttpServer() {
  m_state->stopping = true;
  ::shutdown(m_state->listener, SHUT_RDWR);
  m_state->acceptor.join();
  ::close(m_state->listener);
  {
    const std::lock_guard lock(m_state->mutex);
    for (const int socket : m_state->sockets) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }
  // Workers only take the lock at their end, and none is added any more.
  for (auto& worker : m_state->workers) {
    worker.join();
  }
}

unsigned HttpServer::port() const {
  return m_state->port;
}

std::string HttpServer::url(std::string_view path) const {
  std::string address = (m_state->identity ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
  if (!path.empty()) {
    address += path.front() == '/' ? "" : "/";
    address += path;
  }
  return address;
}

std::string HttpServer::certificate_pem() const {
  return m_state->identity ? m_state->identity->certificate_pem() : std::string();
}

void HttpServer::require_client_certificate(const std::string& trusted_pem) {
  m_state->identity->require_client(trusted_pem);
}

void HttpServer::set_fault(const std::string& path, Fault fault) {
  set_faults(path, {std::move(fault)});
}

void HttpServer::set_faults(const std::string& path, std::vector<Fault> faults) {
  const std::lock_guard lock(m_state->mutex);
  m_state->faults[path] = std::move(faults);
}

void HttpServer::clear_faults() {
  const std::lock_guard lock(m_state->mutex);
  m_state->faults.clear();
}

std::vector<SeenRequest> HttpServer::requests() const {
  const std::lock_guard lock(m_state->mutex);
  return m_state->seen;
}

std::size_t HttpServer::count(std::string_view path) const {
  const std::lock_guard lock(m_state->mutex);
  return static_cast<std::size_t>(std::count_if(m_state->seen.begin(), m_state->seen.end(),
                                                [path](const SeenRequest& seen) { return seen.path == path; }));
}

std::size_t HttpServer::most_at_once() const {
  const std::lock_guard lock(m_state->mutex);
  return m_state->most_busy;
}

void HttpServer::forget_requests() {
  const std::lock_guard lock(m_state->mutex);
  m_state->seen.clear();
}

}  // namespace rocm_offline::test
