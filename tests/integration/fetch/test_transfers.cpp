#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "support/http_server/connection.hpp"
#include "support/http_server/http_server.hpp"

using namespace rocm_offline;
using namespace std::chrono_literals;
using fetch::DownloadRequest;
using test::Fault;
using test::FaultKind;
using test::HttpServer;

namespace {

constexpr const char* kDeadAddress = "http://127.0.0.1:1";  // nothing listens on port 1

class RecordingEvents final : public EventSink {
 public:
  void event(const Event& event) noexcept override {
    const std::lock_guard lock(m_mutex);
    std::string line = event.name + " " + event.message;
    for (const auto& [name, value] : event.fields) {
      line += " " + name + "=" + value;
    }
    all += line + "\n";
    unknown_names += is_event_name(event.name) ? 0 : 1;
  }
  void progress(const Progress& progress) noexcept override {
    const std::lock_guard lock(m_mutex);
    last = progress;
    if (!progress.waiting_for.empty()) {
      waited_for = progress.waiting_for;
    }
  }
  std::string all;
  int unknown_names = 0;
  Progress last;
  std::string waited_for;

 private:
  std::mutex m_mutex;
};

// A sink that keeps the bytes and checks the promises of ByteSink.
class CheckingSink final : public ByteSink {
 public:
  Result<Done> begin(std::uint64_t offset) override {
    begins.push_back(offset);
    in_order = in_order && offset <= bytes.size();
    bytes.resize(offset);
    return Done{};
  }
  Result<Done> write(std::uint64_t offset, std::string_view data) override {
    if (full_at && offset + data.size() > *full_at) {
      return fail({.code = ErrorCode::no_space, .stage = Stage::bundle, .message = "disk full", .reason = "test"});
    }
    in_order = in_order && offset == bytes.size();
    bytes.append(data);
    return Done{};
  }
  std::string bytes;
  std::vector<std::uint64_t> begins;
  bool in_order = true;
  std::optional<std::uint64_t> full_at;
};

std::string content_of(std::size_t size, unsigned seed) {
  std::string content(size, '\0');
  for (char& c : content) {
    seed = seed * 1664525U + 1013904223U;
    c = static_cast<char>(seed >> 24U);
  }
  return content;
}

struct Fixture {
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::fetch, "/tmp", "rocm-test-fetch-").value();
  std::string content = content_of(300000, 7);
  HttpServer server{folder.path()};
  RecordingEvents events;
  std::atomic<bool> stop{false};
  fetch::TransferOptions options;
  CheckingSink sink;

  Fixture() {
    write("a.deb", content);
    options.backoff = 5ms;
    options.retries = 3;
    options.use_netrc = false;
    options.proxy = "";  // whatever the environment of the test run says
  }

  void write(const std::string& name, const std::string& data) const {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name, std::ios::binary) << data;
  }

  DownloadRequest request(std::vector<std::string> urls) {
    DownloadRequest wanted;
    wanted.urls = std::move(urls);
    wanted.what = "package a";
    wanted.expected_size = content.size();
    wanted.expected_sha256 = sha256_of(content);
    wanted.sink = &sink;
    return wanted;
  }
  DownloadRequest request() { return request({server.url("a.deb")}); }
  // Without size and digest, as an InRelease is fetched.
  DownloadRequest plain_request() {
    DownloadRequest wanted = request();
    wanted.expected_size.reset();
    wanted.expected_sha256.reset();
    wanted.size_cap = 1U << 20U;
    return wanted;
  }

  std::vector<Result<fetch::DownloadOutcome>> download(const std::vector<DownloadRequest>& requests) {
    const auto downloader = fetch::make_curl_downloader(options, events, CancelToken(&stop));
    return downloader->download(requests, [this](std::size_t index) { done.push_back(index); });
  }
  Result<fetch::DownloadOutcome> download(const DownloadRequest& wanted) {
    return download(std::vector<DownloadRequest>{wanted}).front();
  }
  std::vector<std::size_t> done;
};

// Whatever went wrong, the error tells what, why, where and what to do, and nothing counts as done.
void check_failed(Fixture& fixture, const Result<fetch::DownloadOutcome>& outcome, ErrorCode code) {
  REQUIRE_FALSE(outcome);
  const Error& error = outcome.error();
  CAPTURE(error.message, error.reason);
  CHECK(error_code_name(error.code) == error_code_name(code));
  CHECK(error.message == "cannot download package a");
  CHECK_FALSE(error.reason.empty());
  CHECK_FALSE(error.help.empty());
  CHECK(error.details.count("url") == 1);
  CHECK(fixture.done.empty());
  CHECK(fixture.events.unknown_names == 0);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a file arrives whole and verified", "[fetch]") {
  const auto outcome = download(request());
  REQUIRE(outcome);
  CHECK(sink.bytes == content);
  CHECK(sink.in_order);
  CHECK(outcome->size == content.size());
  CHECK(outcome->sha256 == sha256_of(content));
  CHECK(outcome->url == server.url("a.deb"));
  CHECK(done == std::vector<std::size_t>{0});
  CHECK(events.unknown_names == 0);
  CHECK(events.last.done == content.size());
  CHECK(events.last.total == content.size());
  const auto seen = server.requests();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].user_agent.rfind("rocm-offline-creator/", 0) == 0);
}

TEST_CASE_METHOD(Fixture, "an empty file is a file", "[fetch]") {
  content.clear();
  write("empty", "");
  CHECK(download(request({server.url("empty")})).has_value());
  CHECK(sink.begins == std::vector<std::uint64_t>{0});
}

TEST_CASE_METHOD(Fixture, "temporary failures are tried again", "[fetch]") {
  for (const int status : {500, 502, 503, 408, 429}) {
    server.set_fault("/a.deb", {.kind = FaultKind::status, .status = status, .times = 2});
    CAPTURE(status);
    CHECK(download(request()).has_value());
    CHECK(sink.bytes == content);
  }
  CHECK(events.all.find("fetch.file.retried") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a server that never recovers is given up after the retries", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::status, .status = 503});
  const auto outcome = download(request());
  check_failed(*this, outcome, ErrorCode::http_status);
  CHECK(outcome.error().details.at("status") == "503");
  CHECK(outcome.error().details.at("attempts") == "4");
  CHECK(server.count("/a.deb") == 4);
  CHECK(exit_status(outcome.error().code) == 5);
}

TEST_CASE_METHOD(Fixture, "a server's Retry-After is honoured", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::status, .status = 429, .times = 1, .retry_after = "1"});
  const auto began = std::chrono::steady_clock::now();
  CHECK(download(request()).has_value());
  CHECK(std::chrono::steady_clock::now() - began >= 900ms);
}

TEST_CASE_METHOD(Fixture, "404 is not tried again, and may be fine", "[fetch]") {
  auto missing = request({server.url("b.deb")});
  check_failed(*this, download(missing), ErrorCode::http_status);
  CHECK(server.count("/b.deb") == 1);
  missing.missing_is_fine = true;
  const auto outcome = download(missing);
  REQUIRE(outcome);
  CHECK(outcome->missing);
}

TEST_CASE_METHOD(Fixture, "a file that one mirror lacks is taken from the next", "[fetch]") {
  auto wanted = request({server.url("gone.deb"), std::string(kDeadAddress) + "/a.deb", server.url("a.deb")});
  wanted.missing_is_fine = true;
  const auto outcome = download(wanted);
  REQUIRE(outcome);
  CHECK_FALSE(outcome->missing);
  CHECK(outcome->url_index == 2);
  CHECK(sink.bytes == content);
}

TEST_CASE_METHOD(Fixture, "a broken transfer is resumed where it broke", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000});
  REQUIRE(download(request()).has_value());
  CHECK(sink.bytes == content);
  CHECK(sink.in_order);
  CHECK(sink.begins == std::vector<std::uint64_t>{0, 100000});
  CHECK(server.requests().back().range == "bytes=100000-");
}

TEST_CASE_METHOD(Fixture, "a resume continues on another mirror", "[fetch]") {
  write("mirror/a.deb", content);
  server.set_fault("/a.deb", {.kind = FaultKind::truncate, .after_bytes = 100000});
  const auto outcome = download(request({server.url("a.deb"), server.url("mirror/a.deb")}));
  REQUIRE(outcome);
  CHECK(sink.bytes == content);
  CHECK(outcome->url_index == 1);
}

TEST_CASE_METHOD(Fixture, "a server that cannot resume sends the whole again", "[fetch]") {
  server.set_faults("/a.deb", {{.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000},
                               {.kind = FaultKind::no_ranges, .times = 1}});
  REQUIRE(download(request()).has_value());
  CHECK(sink.bytes == content);
  CHECK(sink.begins == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE_METHOD(Fixture, "a wrong range is never spliced in", "[fetch]") {
  for (const FaultKind kind : {FaultKind::wrong_range, FaultKind::wrong_range_total}) {
    server.set_faults("/a.deb",
                      {{.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000}, {.kind = kind, .times = 1}});
    sink = {};
    REQUIRE(download(request()).has_value());
    CHECK(sink.bytes == content);
    CHECK(sink.begins == std::vector<std::uint64_t>{0, 0});
  }
}

TEST_CASE_METHOD(Fixture, "a file that changed between two parts is fetched again as a whole", "[fetch]") {
  server.set_faults("/a.deb", {{.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000},
                               {.kind = FaultKind::flip_byte, .times = 1, .after_bytes = 200000}});
  REQUIRE(download(request()).has_value());
  CHECK(sink.bytes == content);
}

TEST_CASE_METHOD(Fixture, "without a digest nothing is resumed", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000});
  REQUIRE(download(plain_request()).has_value());
  CHECK(sink.bytes == content);
  CHECK(server.requests().back().range.empty());
}

TEST_CASE_METHOD(Fixture, "a body that always breaks off is a short body", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::truncate, .after_bytes = 0});
  const auto outcome = download(request());
  check_failed(*this, outcome, ErrorCode::short_body);
  CHECK(outcome.error().details.at("expected") == "300000");
}

TEST_CASE_METHOD(Fixture, "a stalled server is left after the time allowed", "[fetch]") {
  options.stall_timeout = 1s;
  options.retries = 0;
  for (const FaultKind kind : {FaultKind::stall, FaultKind::silent}) {
    server.set_fault("/a.deb", {.kind = kind, .after_bytes = 1000});
    const auto began = std::chrono::steady_clock::now();
    check_failed(*this, download(request()), ErrorCode::transfer_stalled);
    CHECK(std::chrono::steady_clock::now() - began < 5s);
  }
}

TEST_CASE_METHOD(Fixture, "a stall is resumed", "[fetch]") {
  options.stall_timeout = 1s;
  server.set_fault("/a.deb", {.kind = FaultKind::stall, .times = 1, .after_bytes = 100000});
  REQUIRE(download(request()).has_value());
  CHECK(sink.begins == std::vector<std::uint64_t>{0, 100000});
}

TEST_CASE_METHOD(Fixture, "a changed file of the right size is a digest mismatch naming both", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::flip_byte, .after_bytes = 12345});
  const auto outcome = download(request());
  check_failed(*this, outcome, ErrorCode::digest_mismatch);
  CHECK(outcome.error().details.at("expected") == sha256_of(content).hex());
  CHECK(outcome.error().details.at("actual").size() == 64);
  CHECK(outcome.error().details.at("actual") != outcome.error().details.at("expected"));
  CHECK(server.count("/a.deb") == 1);
}

TEST_CASE_METHOD(Fixture, "a mirror with a changed file is passed over", "[fetch]") {
  write("mirror/a.deb", content);
  server.set_fault("/a.deb", {.kind = FaultKind::flip_byte, .after_bytes = 12345});
  const auto outcome = download(request({server.url("a.deb"), server.url("mirror/a.deb")}));
  REQUIRE(outcome);
  CHECK(sink.bytes == content);
}

TEST_CASE_METHOD(Fixture, "another size than the signed one is refused before the sink sees a byte", "[fetch]") {
  for (const Fault& fault :
       {Fault{.kind = FaultKind::oversize}, Fault{.kind = FaultKind::undersize, .after_bytes = 10}}) {
    server.set_fault("/a.deb", fault);
    const auto outcome = download(request());
    check_failed(*this, outcome, ErrorCode::size_mismatch);
    CHECK(outcome.error().details.at("expected") == "300000");
    CHECK(outcome.error().details.at("actual") == (fault.kind == FaultKind::oversize ? "300001" : "10"));
    CHECK(exit_status(outcome.error().code) == 9);
    CHECK(sink.bytes.empty());
  }
}

TEST_CASE_METHOD(Fixture, "an endless body is stopped at the declared size", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::oversize_chunked, .extra_bytes = 100000000});
  check_failed(*this, download(request()), ErrorCode::size_mismatch);
  CHECK(sink.bytes.size() <= content.size());
  auto capped = plain_request();
  capped.size_cap = 400000;
  check_failed(*this, download(capped), ErrorCode::size_mismatch);
  CHECK(sink.bytes.size() <= 400000);
}

TEST_CASE_METHOD(Fixture, "a web page in the file's place is named as one", "[fetch]") {
  for (const FaultKind kind : {FaultKind::web_page, FaultKind::web_page_as_binary}) {
    server.set_fault("/a.deb", {.kind = kind});
    check_failed(*this, download(request()), ErrorCode::web_page);
    check_failed(*this, download(plain_request()), ErrorCode::web_page);
    CHECK(sink.bytes.empty());
  }
}

TEST_CASE_METHOD(Fixture, "redirects are followed, loops and other schemes are not", "[fetch]") {
  server.set_fault("/r", {.kind = FaultKind::redirect, .location = "/a.deb"});
  CHECK(download(request({server.url("r")})).has_value());
  CHECK(sink.bytes == content);
  done.clear();
  server.set_fault("/loop", {.kind = FaultKind::redirect_loop});
  check_failed(*this, download(request({server.url("loop")})), ErrorCode::transfer_failed);
  CHECK(server.count("/loop") == 11);
  for (const std::string& target : {"file://" + (folder.path() / "a.deb").string(), std::string("ftp://127.0.0.1/a")}) {
    server.set_fault("/r", {.kind = FaultKind::redirect, .location = target});
    check_failed(*this, download(request({server.url("r")})), ErrorCode::transfer_failed);
  }
}

TEST_CASE_METHOD(Fixture, "https is verified, and never left for http", "[fetch]") {
  const HttpServer* plain = &server;
  HttpServer secure(folder.path(), test::Encryption::tls);
  const auto untrusted = download(request({secure.url("a.deb")}));
  check_failed(*this, untrusted, ErrorCode::transfer_failed);
  CHECK(untrusted.error().reason.find("not trusted") != std::string::npos);
  write("ca.pem", secure.certificate_pem());
  options.ca_file = folder.path() / "ca.pem";
  CHECK(download(request({secure.url("a.deb")})).has_value());
  CHECK(sink.bytes == content);
  done.clear();
  secure.set_fault("/r", {.kind = FaultKind::redirect, .location = plain->url("a.deb")});
  const auto downgraded = download(request({secure.url("r")}));
  check_failed(*this, downgraded, ErrorCode::transfer_failed);
  CHECK(downgraded.error().reason.find("https to http") != std::string::npos);
  CHECK(server.requests().empty());
}

TEST_CASE_METHOD(Fixture, "a client certificate goes to the hosts of its group, and to no other", "[fetch]") {
  HttpServer secure(folder.path(), test::Encryption::tls);
  const test::TlsIdentity client;
  secure.require_client_certificate(client.certificate_pem());
  write("ca.pem", secure.certificate_pem());
  write("client.pem", client.certificate_pem() + client.key_pem());
  options.ca_file = folder.path() / "ca.pem";
  options.retries = 0;
  check_failed(*this, download(request({secure.url("a.deb")})), ErrorCode::transfer_failed);
  options.client_certificates = {{"rocm", folder.path() / "client.pem"}};
  options.hosts_by_group = {{"rocm", {"mirror.example"}}, {"debian", {"127.0.0.1"}}};
  check_failed(*this, download(request({secure.url("a.deb")})), ErrorCode::transfer_failed);
  CHECK(secure.requests().empty());
  options.hosts_by_group["rocm"] = {"LocalHost"};  // as a person writes it
  const std::string by_name = "https://LOCALHOST:" + std::to_string(secure.port()) + "/a.deb";
  REQUIRE(download(request({by_name})).has_value());
  CHECK(sink.bytes == content);
  options.client_certificates = {{"rocm", folder.path() / "ca.pem"}};  // no key in it
  const auto unusable = download(request({by_name}));
  REQUIRE_FALSE(unusable);
  CHECK(unusable.error().help.find("--client-cert") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "netrc gives user and password, which are told nowhere", "[fetch]") {
  write(".netrc", "machine 127.0.0.1 login reader password s3cr3t\n");
  ::setenv("HOME", folder.path().c_str(), 1);
  options.use_netrc = true;
  CHECK(download(request()).has_value());
  CHECK(server.requests().back().authorization == "Basic cmVhZGVyOnMzY3IzdA==");
  options.use_netrc = false;
  CHECK(download(request()).has_value());
  CHECK(server.requests().back().authorization.empty());
  options.use_netrc = true;
  const auto missing = download(request({server.url("none")}));
  REQUIRE_FALSE(missing);
  CHECK((missing.error().message + missing.error().reason + events.all).find("s3cr3t") == std::string::npos);
}

TEST_CASE_METHOD(Fixture, "waits before another try grow and differ", "[fetch]") {
  options.backoff = 20ms;
  options.retries = 6;
  server.set_fault("/a.deb", {.kind = FaultKind::status, .status = 503, .times = 6});
  REQUIRE(download(request()).has_value());
  std::vector<long> waits;
  for (auto at = events.all.find("wait_ms="); at != std::string::npos; at = events.all.find("wait_ms=", at + 1)) {
    waits.push_back(std::stol(events.all.substr(at + 8)));
  }
  REQUIRE(waits.size() == 6);
  long even = 20;
  std::size_t off = 0;
  for (const long wait : waits) {
    CHECK(wait >= even / 2);
    CHECK(wait <= even * 2);
    off += wait == even ? 0 : 1;
    even *= 2;
  }
  CHECK(off >= 3);  // jitter
}

TEST_CASE_METHOD(Fixture, "each way of not reaching a host has its own words", "[fetch]") {
  options.retries = 0;
  const auto refused = download(request({std::string(kDeadAddress) + "/a.deb"}));
  check_failed(*this, refused, ErrorCode::transfer_failed);
  CHECK(refused.error().reason.find("cannot connect to 127.0.0.1") != std::string::npos);
  const auto unnamed = download(request({"http://no-such-host.invalid/a.deb"}));
  check_failed(*this, unnamed, ErrorCode::transfer_failed);
  CHECK(unnamed.error().reason.find("cannot be resolved") != std::string::npos);
  const auto not_tls = download(request({"https://127.0.0.1:" + std::to_string(server.port()) + "/a.deb"}));
  check_failed(*this, not_tls, ErrorCode::transfer_failed);
  CHECK(not_tls.error().reason.find("TLS") != std::string::npos);
  const auto scheme = download(request({"ftp://127.0.0.1/a.deb"}));
  check_failed(*this, scheme, ErrorCode::transfer_failed);
  CHECK(scheme.error().help.find("https://") != std::string::npos);
  options.proxy = kDeadAddress;
  const auto proxy = download(request());
  check_failed(*this, proxy, ErrorCode::transfer_failed);
  CHECK(proxy.error().reason.find("proxy") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a host that is down is not tried again for each file of a batch", "[fetch]") {
  std::vector<DownloadRequest> requests(200, request({"http://no-such-host.invalid/a.deb"}));
  options.jobs = 4;
  options.backoff = 50ms;
  const auto began = std::chrono::steady_clock::now();
  const auto outcomes = download(requests);
  CHECK(std::chrono::steady_clock::now() - began < 10s);
  REQUIRE(outcomes.size() == 200);
  for (const auto& outcome : outcomes) {
    CHECK_FALSE(outcome.has_value());
  }
}

TEST_CASE_METHOD(Fixture, "a proxy is used where one is given", "[fetch]") {
  options.proxy = server.url();
  CHECK(download(request({"http://no-such-host.invalid/a.deb"})).has_value());
  CHECK(sink.bytes == content);
}

TEST_CASE_METHOD(Fixture, "one failure does not stop the others, and outcomes keep their order", "[fetch]") {
  std::vector<CheckingSink> sinks(40);
  std::vector<DownloadRequest> requests;
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    const std::string name = "many/" + std::to_string(i);
    const std::string data = content_of(1000 + i * 977, static_cast<unsigned>(i));
    write(name, data);
    DownloadRequest wanted;
    wanted.urls = {server.url(i == 5 ? "many/none" : name)};
    wanted.what = name;
    wanted.expected_size = data.size();
    wanted.expected_sha256 = sha256_of(data);
    wanted.sink = &sinks[i];
    requests.push_back(wanted);
  }
  options.jobs = 8;
  options.jobs_per_host = 3;
  const auto outcomes = download(requests);
  REQUIRE(outcomes.size() == 40);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i);
    CHECK(outcomes[i].has_value() == (i != 5));
    CHECK((i == 5 || sha256_of(sinks[i].bytes) == *requests[i].expected_sha256));
  }
  CHECK(done.size() == 39);
  CHECK(server.most_at_once() <= 3);
}

TEST_CASE_METHOD(Fixture, "local files are read and judged like any other", "[fetch]") {
  const std::string base = "file://" + folder.path().string();
  CHECK(download(request({base + "/a.deb"})).has_value());
  CHECK(sink.bytes == content);
  done.clear();
  auto missing = request({base + "/none.deb"});
  check_failed(*this, download(missing), ErrorCode::transfer_failed);
  missing.missing_is_fine = true;
  CHECK(download(missing)->missing);
  done.clear();
  write("short.deb", content.substr(1));
  check_failed(*this, download(request({base + "/short.deb"})), ErrorCode::size_mismatch);
  write("long.deb", content + "x");
  check_failed(*this, download(request({base + "/long.deb"})), ErrorCode::size_mismatch);
  std::string other = content;
  other[0] ^= 1;
  write("other.deb", other);
  check_failed(*this, download(request({base + "/other.deb"})), ErrorCode::digest_mismatch);
  check_failed(*this, download(request({base})), ErrorCode::transfer_failed);
  check_failed(*this, download(request({"file:///dev/zero"})), ErrorCode::transfer_failed);
}

TEST_CASE_METHOD(Fixture, "an error of the sink ends the transfer and is passed on as it is", "[fetch]") {
  sink.full_at = 100000;
  const auto outcome = download(request({server.url("a.deb"), server.url("a.deb")}));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::no_space);
  CHECK(outcome.error().message == "disk full");
  CHECK(outcome.error().stage == Stage::bundle);
  CHECK(server.count("/a.deb") == 1);
}

TEST_CASE_METHOD(Fixture, "a cancel is heard within a second", "[fetch]") {
  server.set_fault("*", {.kind = FaultKind::stall, .after_bytes = 1000});
  std::thread killer([this] {
    std::this_thread::sleep_for(300ms);
    stop = true;
  });
  const auto began = std::chrono::steady_clock::now();
  const auto outcomes = download(std::vector<DownloadRequest>(5, request()));
  killer.join();
  CHECK(std::chrono::steady_clock::now() - began < 1300ms);
  for (const auto& outcome : outcomes) {
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == ErrorCode::cancelled);
    CHECK(exit_status(outcome.error().code) == 130);
  }
}

TEST_CASE_METHOD(Fixture, "the progress line says whom it waits for", "[fetch]") {
  server.set_fault("/a.deb", {.kind = FaultKind::silent});
  options.stall_timeout = 6s;
  options.retries = 0;
  check_failed(*this, download(request()), ErrorCode::transfer_stalled);
  CHECK(events.waited_for == "127.0.0.1");
}

TEST_CASE_METHOD(Fixture, "credentials are sent and never told", "[fetch]") {
  const std::string secret = "s3cr3t";
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  CHECK(download(request({"http://user:" + secret + "@" + host + "/a.deb?token=" + secret})).has_value());
  CHECK(server.requests().back().authorization.rfind("Basic ", 0) == 0);
  done.clear();
  server.set_fault("/r", {.kind = FaultKind::redirect, .location = "https://127.0.0.1:1/x?token=" + secret});
  options.retries = 1;
  std::string told;
  for (const std::string& url : {"http://user:" + secret + "@" + host + "/none?token=" + secret,
                                 "http://user:" + secret + "@127.0.0.1:1/a?token=" + secret,
                                 "ftp://user:" + secret + "@127.0.0.1:1/a", "http://" + host + "/r"}) {
    const auto outcome = download(request({url}));
    REQUIRE_FALSE(outcome);
    told += outcome.error().message + outcome.error().reason + outcome.error().help;
    for (const auto& [name, value] : outcome.error().details) {
      told += name + "=" + value + "\n";
    }
  }
  told += events.all;
  CHECK(told.find(secret) == std::string::npos);
  CHECK(told.find("127.0.0.1") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a small file is fetched into memory", "[fetch]") {
  const auto downloader = fetch::make_curl_downloader(options, events, CancelToken(&stop));
  const auto text = fetch::download_to_memory(*downloader, plain_request());
  REQUIRE(text);
  CHECK(*text == content);
  auto missing = plain_request();
  missing.urls = {server.url("none")};
  missing.missing_is_fine = true;
  const auto none = fetch::download_to_memory(*downloader, missing);
  REQUIRE(none);
  CHECK_FALSE(none->has_value());
}
