// Whatever a server does to a package: `create` ends with the right file or with none, and says why.
#include <chrono>
#include <fstream>
#include <sstream>

#include "support/creator_run/checks.hpp"

using namespace rocm_offline;
using test::bytes_of;
using test::check_failed;
using test::contains;
using test::CreatorRun;
using test::Fault;
using test::FaultKind;
using test::occurrences;

namespace {

const std::string kDeb = CreatorRun::deb_path("hipcc");

using Scene = test::KnownCreatorRun;

struct Case {
  const char* name;
  Fault fault;
  int status;
  const char* code;
  const char* words;  // in the last lines
};

}  // namespace

TEST_CASE_METHOD(Scene, "create: every way of not delivering a package", "[create]") {
  const Case one = GENERATE(
      Case{"404", {.kind = FaultKind::status, .status = 404}, 5, "http_status", "404"},
      Case{"503", {.kind = FaultKind::status, .status = 503}, 5, "http_status", "503"},
      Case{"closed without an answer", {.kind = FaultKind::close}, 5, "transfer_failed", "connection"},
      Case{"stall", {.kind = FaultKind::stall, .after_bytes = 1000}, 5, "transfer_stalled", "no byte came for 2 s"},
      Case{"silence", {.kind = FaultKind::silent}, 5, "transfer_stalled", "no byte came for 2 s"},
      Case{"redirect loop", {.kind = FaultKind::redirect_loop}, 5, "transfer_failed", "redirects more than"},
      Case{"short body", {.kind = FaultKind::truncate, .after_bytes = 0}, 5, "short_body", "0 of "},
      Case{"complete, but shorter", {.kind = FaultKind::undersize, .after_bytes = 1234}, 9, "size_mismatch", "1234"},
      Case{"0 bytes with 200", {.kind = FaultKind::undersize, .after_bytes = 0}, 9, "size_mismatch", "actual: 0"},
      Case{"oversized", {.kind = FaultKind::oversize, .extra_bytes = 77}, 9, "size_mismatch", "expected: "},
      Case{"endless", {.kind = FaultKind::oversize_chunked, .extra_bytes = 1U << 30U}, 9, "size_mismatch", "more than"},
      Case{"web page", {.kind = FaultKind::web_page}, 9, "web_page", "web page"},
      Case{"web page in disguise", {.kind = FaultKind::web_page_as_binary}, 9, "web_page", "web page"},
      Case{"changed byte", {.kind = FaultKind::flip_byte, .after_bytes = 5000}, 9, "digest_mismatch", "actual: "});
  DYNAMIC_SECTION(one.name) {
    server.set_fault(kDeb, one.fault);
    const auto result = create();
    check_failed(*this, result, one.status, one.code, server.url(kDeb));
    CHECK(contains(result.error_text(), one.words));
    check_mends();
  }
}

TEST_CASE_METHOD(Scene, "create: a package of another size than its index names both and shifts no other", "[create]") {
  const auto file = root / kDeb.substr(1);
  const std::string good = bytes_of(file);
  std::ofstream(file, std::ios::app | std::ios::binary) << std::string(4097, 'x');
  const auto result = create();
  check_failed(*this, result, 9, "size_mismatch", server.url(kDeb));
  CHECK(result.error()["details"]["expected"] == std::to_string(good.size()));
  CHECK(result.error()["details"]["actual"] == std::to_string(good.size() + 4097));
  std::ofstream(file, std::ios::trunc | std::ios::binary) << good;
  server.forget_requests();
  check_mends();
  CHECK(server.count(CreatorRun::deb_path("libhip")) == 0);  // what was right is kept where it was
}

TEST_CASE_METHOD(Scene, "create: a package mangled in place is told by its digest", "[create]") {
  const auto file = root / CreatorRun::deb_path("rocm-core").substr(1);
  std::string bytes = bytes_of(file);
  const std::string good = bytes;
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(file, std::ios::trunc | std::ios::binary) << bytes;
  check_failed(*this, create(), 9, "digest_mismatch", server.url(CreatorRun::deb_path("rocm-core")));
  std::ofstream(file, std::ios::trunc | std::ios::binary) << good;
  check_mends();
}

TEST_CASE_METHOD(Scene, "create: hosts that cannot be reached", "[create]") {
  for (const std::string& mirror :
       {std::string("http://127.0.0.1:1/debian"), std::string("http://no-such-host.invalid/debian")}) {
    mirrors = {mirror};
    check_failed(*this, create(), 5, "transfer_failed", mirror);
  }
}

TEST_CASE_METHOD(Scene, "create: a wrong answer to a range request is not spliced in", "[create]") {
  for (const FaultKind kind : {FaultKind::wrong_range, FaultKind::wrong_range_total, FaultKind::no_ranges}) {
    server.set_faults(kDeb,
                      {{.kind = FaultKind::truncate, .times = 1, .after_bytes = 100000}, {.kind = kind, .times = 1}});
    server.forget_requests();
    const auto result = create({"--retries", "3"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(bytes_of(output) == right);
    CHECK(server.count(kDeb) >= 2);
    std::filesystem::remove(output);
  }
}

TEST_CASE_METHOD(Scene, "create: all failures are listed once, each with its address", "[create]") {
  server.set_fault(kDeb, {.kind = FaultKind::status, .status = 404});
  server.set_fault(CreatorRun::deb_path("libhip"), {.kind = FaultKind::flip_byte, .after_bytes = 99});
  const auto result = create();
  CAPTURE(result.err);
  REQUIRE(result.exit_code != 0);
  CHECK(usable_leftovers().empty());
  for (const char* package : {"hipcc", "libhip"}) {
    CHECK(occurrences(result.err, server.url(CreatorRun::deb_path(package))) == 1);
  }
  CHECK(occurrences(result.err, CreatorRun::deb_path("rocm-core")) == 0);
  check_mends();
}

TEST_CASE_METHOD(Scene, "create: an ill mirror is left for the next of the list", "[create]") {
  mirrors = {server.url("debian"), server.url("second")};
  std::filesystem::copy(root / "debian", root / "second", std::filesystem::copy_options::recursive);
  for (const Fault& fault :
       {Fault{.kind = FaultKind::status, .status = 404}, Fault{.kind = FaultKind::flip_byte},
        Fault{.kind = FaultKind::web_page}, Fault{.kind = FaultKind::truncate, .after_bytes = 7}}) {
    server.set_fault(kDeb, fault);
    const auto result = create();
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(bytes_of(output) == right);
    CHECK(server.count("/second/" + kDeb.substr(8)) == 1);
    server.forget_requests();
    std::filesystem::remove(output);
  }
}

TEST_CASE_METHOD(Scene, "create: whom it waits for is said at least every five seconds", "[create]") {
  server.set_faults(kDeb, {{.kind = FaultKind::silent, .times = 1}});
  const auto result = create({"--timeout", "11"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(occurrences(result.err, "waiting for 127.0.0.1") >= 1);
}

TEST_CASE_METHOD(Scene, "create: --jobs bounds the transfers at once, and the file is the same", "[create]") {
  for (const char* jobs : {"1", "16"}) {
    server.set_fault("*", {.kind = FaultKind::slow, .bytes_per_second = 2000000});
    const auto result = create({"--jobs", jobs});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(bytes_of(output) == right);
    std::filesystem::remove(output);
  }
}
