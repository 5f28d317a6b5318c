#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <thread>

#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/logs/logger.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

class FixedClock final : public Clock {
 public:
  [[nodiscard]] UnixTime now() const override { return 1796085812; }  // 2026-12-01T00:43:32Z
};

struct LogFixture {
  FixedClock clock;
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::logs, fs::temp_directory_path(), "logs").value();
  logs::Logger logger{{.operation = "create", .level = Level::debug}, clock};

  [[nodiscard]] std::string text() const { return content(logger.paths().value().text); }
  [[nodiscard]] std::string jsonl() const { return content(logger.paths().value().jsonl); }
  [[nodiscard]] std::vector<nlohmann::json> records() const {
    std::vector<nlohmann::json> all;
    for (const std::string& line : split(trim(jsonl()), '\n')) {
      all.push_back(parse_json(Stage::logs, ErrorCode::internal, "record", line).value());
    }
    return all;
  }
  static std::string content(const fs::path& path) { return read_file(Stage::logs, path, 1U << 24U).value(); }
};

Error sample_error() {
  return {.code = ErrorCode::unsolvable,
          .stage = Stage::resolve,
          .message = "the request cannot be installed",
          .reason = "https://u:tops3cret@h/x?sig=tops3cret says so",
          .context = {"resolving", "creating bundle\nwith a second line"},
          .details = {{"url", "https://u:tops3cret@h/"}},
          .help = "password tops3cret",
          .problems = {{.summary = "nothing provides libfoo", .chain = {"hip", "token=tops3cret"}, .help = "wait"}}};
}

}  // namespace

TEST_CASE_METHOD(LogFixture, "both files have the names of the command line page and closed modes", "[logs]") {
  const auto paths = logger.open(folder.path() / "a" / "b");
  REQUIRE(paths.has_value());
  const std::string stem = "create-20261201T004332Z-" + logger.run_id();
  CHECK(paths->text.filename() == stem + ".log");
  CHECK(paths->jsonl.filename() == stem + ".jsonl");
  CHECK(std::regex_match(logger.run_id(), std::regex("[0-9a-f]{8}")));
  for (const fs::path& path : {paths->text, paths->jsonl}) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0137U) == 0);
  }
}

TEST_CASE_METHOD(LogFixture, "events before the folder is known are kept in order", "[logs]") {
  logger.event({.name = "plan.selection.planned", .message = "first"});
  logger.event({.name = "fetch.batch.done", .message = "second"});
  REQUIRE(logger.open(folder.path()).has_value());
  logger.set_bundle_id("0123456789abcdef");
  logger.event({.name = "made.up.name", .message = "third"});
  const auto all = records();
  REQUIRE(all.size() == 3);
  CHECK(all[0]["message"] == "first");
  CHECK(all[0]["bundle_id"].is_null());
  CHECK(all[1]["stage"] == "fetch");
  CHECK(all[2]["event"] == "made.up.name");
  CHECK(all[2]["bundle_id"] == "0123456789abcdef");
}

TEST_CASE_METHOD(LogFixture, "every record fits the schema", "[logs]") {
  logger.event(
      {.level = Level::warning, .name = "fetch.file.retried", .message = "m", .fields = {{"url", "http://h/"}}});
  logger.event({.name = "install.native.output", .message = "bad bytes \xff\xfe and \x1b[31m"});
  REQUIRE(logger.open(folder.path()).has_value());
  logger.error(sample_error());
  const std::string schema = content(fs::path(ROCM_OFFLINE_SOURCE_DIR) / "logs/schema/log-record.schema.json");
  const SchemaQuestion question{.stage = Stage::logs, .file = "record", .schema = schema};
  const auto all = records();
  REQUIRE(all.size() == 3);
  for (nlohmann::json record : all) {
    const auto fits = check_json_schema(question, record);
    INFO(record.dump() << (fits ? "" : fits.error().reason));
    CHECK(fits.has_value());
    record.erase("run");
    CHECK_FALSE(check_json_schema(question, record).has_value());
  }
}

TEST_CASE_METHOD(LogFixture, "no door lets a secret into either file", "[logs]") {
  logger.add_secret("lit eral/Secret");
  logger.event(
      {.name = "fetch.file.done", .message = "https://u:tops3cret@h/x", .fields = {{"url", "ftp://tops3cret@h"}}});
  REQUIRE(logger.open(folder.path()).has_value());
  logger.event({.name = "install.native.output", .message = "Proxy-Authorization:Basic tops3cret"});
  logger.event(
      {.name = "install.native.output", .message = "lit eral/Secret", .fields = {{"x", "lit%20eral%2fSecret"}}});
  logger.error(sample_error());
  for (const std::string& written : {text(), jsonl()}) {
    for (const std::string secret : {"tops3cret", "eral/Secret", "eral%2fSecret"}) {
      CHECK(written.find(secret) == std::string::npos);
    }
  }
}

TEST_CASE_METHOD(LogFixture, "a line break in a message or field makes no new record", "[logs]") {
  REQUIRE(logger.open(folder.path()).has_value());
  logger.event({.name = "install.native.output",
                .message = "a\n2026-12-01T00:00:00.000Z info forged\r\x1b[2J\xc2\x9b",
                .fields = {{"key", "b\nforged"}}});
  const std::string written = text();
  CHECK(std::count(written.begin(), written.end(), '\n') == 1);
  CHECK(written.find('\x1b') == std::string::npos);
  CHECK(written.find("\xc2\x9b") == std::string::npos);
  CHECK(written.find("a\\x0a2026") != std::string::npos);
  CHECK(records().size() == 1);
}

TEST_CASE_METHOD(LogFixture, "an error is a block that people can read", "[logs]") {
  REQUIRE(logger.open(folder.path()).has_value());
  logger.error(sample_error());
  const std::string written = text();
  CHECK(std::regex_search(written, std::regex("^[0-9-]+T[0-9:]+\\.[0-9]{3}Z error   logs\\.run\\.failed  ")));
  CHECK(written.find("\n    error: the request cannot be installed\n    reason: https://h/x?sig=*** says so\n"
                     "    while: creating bundle\\x0awith a second line\n    while: resolving\n") != std::string::npos);
  CHECK(written.find("  - nothing provides libfoo\n") != std::string::npos);
  CHECK(records().at(0)["error"]["code"] == "unsolvable");
}

TEST_CASE("records below the wanted level are left out", "[logs]") {
  const FixedClock clock;
  const auto folder = TemporaryDirectory::create(Stage::logs, fs::temp_directory_path(), "logs").value();
  logs::Logger logger({.operation = "plan", .level = Level::warning}, clock);
  REQUIRE(logger.open(folder.path()).has_value());
  logger.event({.name = "fetch.batch.done", .message = "left out"});
  logger.event({.level = Level::warning, .name = "fetch.file.retried", .message = "kept"});
  const std::string written = LogFixture::content(logger.paths()->text);
  CHECK(written.find("left out") == std::string::npos);
  CHECK(written.find("kept") != std::string::npos);
}

TEST_CASE_METHOD(LogFixture, "records of many threads stay whole", "[logs]") {
  REQUIRE(logger.open(folder.path()).has_value());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        logger.event({.level = Level::debug, .name = "fetch.file.done", .message = std::string(200, 'x')});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(records().size() == 200);
}

TEST_CASE_METHOD(LogFixture, "a full disk loses records and says so, but ends nothing", "[logs]") {
  REQUIRE(logger.open(folder.path()).has_value());
  CHECK_FALSE(logger.failure().has_value());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 64, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  for (int i = 0; i < 3; ++i) {
    logger.event({.name = "fetch.batch.done", .message = std::string(4096, 'x')});
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  REQUIRE(logger.failure().has_value());
  CHECK(logger.failure()->reason == "File too large");
}

TEST_CASE_METHOD(LogFixture, "a folder that cannot be made is an error, and the events stay", "[logs]") {
  REQUIRE(write_file_atomically(Stage::logs, folder.path() / "file", "x").has_value());
  logger.event({.name = "fetch.batch.done", .message = "kept"});
  const auto refused = logger.open(folder.path() / "file" / "logs");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().stage == Stage::logs);
  CHECK_FALSE(logger.paths().has_value());
  REQUIRE(logger.open(folder.path()).has_value());
  CHECK(records().size() == 1);
}

TEST_CASE_METHOD(LogFixture, "a disk that is full from the start leaves no file that looks like a log", "[logs]") {
  logger.run_started("program", {"create"});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
  const auto refused = logger.open(folder.path());
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().stage == Stage::logs);
  CHECK(fs::is_empty(folder.path()));
  REQUIRE(logger.open(folder.path()).has_value());
  CHECK(records().size() == 1);
}

TEST_CASE_METHOD(LogFixture, "where the second file cannot be made the first is taken away", "[logs]") {
  const fs::path second = folder.path() / ("create-20261201T004332Z-" + logger.run_id() + ".jsonl");
  REQUIRE(fs::create_directory(second));
  REQUIRE_FALSE(logger.open(folder.path()).has_value());
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE_METHOD(LogFixture, "a run without a log keeps nothing", "[logs]") {
  logger.event({.name = "fetch.batch.done", .message = "before"});
  logger.discard();
  logger.event({.name = "fetch.batch.done", .message = "after"});
  REQUIRE(logger.open(folder.path()).has_value());
  CHECK(jsonl().empty());
}

TEST_CASE_METHOD(LogFixture, "the first record tells version, request, host and user, the last the exit status",
                 "[logs]") {
  logger.set_bundle_id("0123456789abcdef");
  logger.run_started("rocm-offline-creator", {"create", "--json"});
  REQUIRE(logger.open(folder.path()).has_value());
  logger.run_finished(3);
  const auto all = records();
  REQUIRE(all.size() == 2);
  for (const char* key : {"version", "request", "host", "user", "bundle_id"}) {
    CHECK(all[0]["fields"].contains(key));
  }
  CHECK(all[0]["fields"]["request"] == "create --json");
  CHECK(all[1]["fields"]["exit_status"] == "3");
}

TEST_CASE("logs go where the command line page says", "[logs]") {
  if (::geteuid() == 0) {
    CHECK(logs::default_log_directory("/mnt/target") == "/mnt/target/var/log/rocm-offline");
    CHECK(logs::default_log_directory("") == "/var/log/rocm-offline");
    return;
  }
  ::setenv("XDG_STATE_HOME", "/state", 1);
  CHECK(logs::default_log_directory("/") == "/state/rocm-offline");
  ::unsetenv("XDG_STATE_HOME");
  ::setenv("HOME", "/home/a", 1);
  CHECK(logs::default_log_directory("/") == "/home/a/.local/state/rocm-offline");
}
