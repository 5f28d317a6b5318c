#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "printed.hpp"
#include "rocm_offline/ui/console.hpp"

using namespace rocm_offline;
using tests::printed;

namespace {

class FakeLog final : public RunLog {
 public:
  void run_finished(int exit_status) noexcept override { finished = exit_status; }
  void error(const Error& error) noexcept override { failed = error.message; }
  [[nodiscard]] std::optional<Error> failure() const override { return lost; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override {
    return {"/l/install-1.log", "/l/install-1.jsonl"};
  }

  std::optional<Error> lost{};
  std::optional<int> finished{};
  std::string failed{};
};

const Error failure{.code = ErrorCode::io_error, .stage = Stage::install, .message = "it failed", .help = "do this"};
const Error lost{
    .code = ErrorCode::no_space, .stage = Stage::logs, .message = "the log is incomplete", .reason = "full"};

}  // namespace

TEST_CASE("a run that failed ends with what was lost, the error, its help and the log's paths", "[ui]") {
  FakeLog log;
  log.lost = lost;
  ui::Console console({.color = ui::Color::never}, log);
  int status = 0;
  CHECK(printed(STDERR_FILENO, [&] { status = console.failed(failure, "rocm-offline/install/1"); }) ==
        "warning: the log is incomplete: full\nerror: it failed\nhelp: do this\n"
        "log: /l/install-1.log\nlog: /l/install-1.jsonl\n");
  CHECK(status == exit_status(ErrorCode::io_error));
  CHECK(log.failed == "it failed");
  CHECK_FALSE(log.finished.has_value());
}

TEST_CASE("with --json a failure is a document on standard output as well", "[ui]") {
  FakeLog log;
  ui::Console console({.json = true, .color = ui::Color::never}, log);
  std::string errors;
  const std::string output = printed(STDOUT_FILENO, [&] {
    errors = printed(STDERR_FILENO, [&] { (void)console.failed(failure, "rocm-offline/install/1"); });
  });
  const auto document = nlohmann::json::parse(output);
  CHECK(document.at("schema") == "rocm-offline/install/1");
  CHECK(document.at("error").at("message") == "it failed");
  CHECK(errors.starts_with("error: it failed\n"));
}

TEST_CASE("a run that did its work ends its log with the status", "[ui]") {
  FakeLog log;
  ui::Console console({.color = ui::Color::never}, log);
  CHECK(printed(STDOUT_FILENO, [&] { console.print("done\n"); }) == "done\n");
  CHECK(console.finished(7) == 7);
  CHECK(log.finished == 7);
}

TEST_CASE("a log that could not be written to its end fails a run that did its work", "[ui]") {
  FakeLog log;
  log.lost = lost;
  ui::Console console({.color = ui::Color::never}, log);
  int status = 0;
  CHECK(printed(STDERR_FILENO, [&] { status = console.finished(0); }).starts_with("error: the log is incomplete\n"));
  CHECK(status == exit_status(ErrorCode::no_space));
  // What failed for another reason keeps its own status.
  CHECK(console.finished(7) == 7);
}

TEST_CASE("a result that cannot be printed fails the run", "[ui]") {
  FakeLog log;
  ui::Console console({.color = ui::Color::never}, log);
  const FileDescriptor before(::dup(STDOUT_FILENO));
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ::dup2(full.get(), STDOUT_FILENO);
  console.print("result\n");
  ::dup2(before.get(), STDOUT_FILENO);
  int status = 0;
  const std::string errors = printed(STDERR_FILENO, [&] { status = console.finished(0); });
  CHECK(status == exit_status(ErrorCode::no_space));
  CHECK(errors.find("cannot be written to standard output") != std::string::npos);
  CHECK_FALSE(log.finished.has_value());
}

TEST_CASE("bytes that are no UTF-8 are replaced in a document", "[ui]") {
  CHECK(ui::document_text({{"name", "a\xff"}}) == "{\n  \"name\": \"a\xEF\xBF\xBD\"\n}\n");
}

TEST_CASE("an exception is said to be a bug", "[ui]") {
  int status = 0;
  const std::string errors =
      printed(STDERR_FILENO, [&] { status = ui::report_bug(std::runtime_error("out of range")); });
  CHECK(status == exit_status(ErrorCode::internal));
  CHECK(errors.find("reason: out of range") != std::string::npos);
  CHECK(errors.find("bug of ours") != std::string::npos);
}
