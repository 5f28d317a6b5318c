#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

TemporaryDirectory scratch() {
  return TemporaryDirectory::create(Stage::check, fs::temp_directory_path(), "core").value();
}

ProcessOutcome run(const ProcessRequest& request) {
  return PosixProcessRunner().run(request).value();
}

}  // namespace

TEST_CASE("standard error can be kept out of an answer", "[core]") {
  const auto apart = PosixProcessRunner().run(
      {.argv = {"/bin/sh", "-c", "echo warning >&2; echo amd64; echo more >&2"}, .separate_errors = true});
  REQUIRE(apart);
  CHECK(apart->output == "amd64\n");
  CHECK(apart->errors == "warning\nmore\n");
  // More than a pipe holds on each side: neither may wait for the other to be read.
  const auto much = PosixProcessRunner().run(
      {.argv = {"/bin/sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"}, .separate_errors = true});
  REQUIRE(much);
  CHECK(much->output.size() == 300000);
  CHECK(much->errors.size() == 300000);
}

TEST_CASE("arguments reach the program as they are, shell characters too", "[core]") {
  const std::string hostile = "$(id); `id` | cat > x && 'a\" *";
  CHECK(run({.argv = {"printf", "%s", hostile}}).output == hostile);
}

TEST_CASE("exit codes and signals are told apart from a failed start", "[core]") {
  CHECK(run({.argv = {"true"}}).exit_code == 0);
  CHECK(run({.argv = {"sh", "-c", "exit 7"}}).exit_code == 7);
  CHECK(run({.argv = {"sh", "-c", "kill -9 $$"}}).exit_code == 137);
  const auto missing = PosixProcessRunner().run({.argv = {"/no/such/program"}});
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == ErrorCode::native_tool_failed);
  CHECK_FALSE(PosixProcessRunner().run({}).has_value());
}

TEST_CASE("output is captured in order up to the cap, every line reported", "[core]") {
  std::vector<std::string> lines;
  const auto outcome = run({.argv = {"sh", "-c", "echo one; echo two >&2; printf three"},
                            .on_line = [&](std::string_view line) { lines.emplace_back(line); },
                            .capture_limit = 5});
  CHECK(outcome.output == "one\nt");
  CHECK(outcome.truncated);
  CHECK(lines == std::vector<std::string>{"one", "two", "three"});
}

TEST_CASE("environment and directory are those of the request", "[core]") {
  const auto folder = scratch();
  CHECK(run({.argv = {"/usr/bin/env"}, .environment = {{"A", "b c"}}, .clear_environment = true}).output == "A=b c\n");
  CHECK(run({.argv = {"pwd", "-P"}, .directory = folder.path()}).output ==
        fs::canonical(folder.path()).string() + "\n");
  CHECK(run({.argv = {"cat"}}).output.empty());  // standard input is /dev/null
}

TEST_CASE("a program runs inside a chroot", "[core]") {
  const auto busybox = read_file(Stage::check, "/bin/busybox", 16U << 20U);
  if (::geteuid() != 0 || !busybox || busybox->find("/ld-linux") != std::string::npos) {
    WARN("left out: needs root and a static /bin/busybox");
    return;
  }
  const auto folder = scratch();
  REQUIRE(write_file_atomically(Stage::check, folder.path() / "busybox", *busybox, 0755).has_value());
  CHECK(run({.argv = {"/busybox", "ls", "/"}, .chroot = folder.path()}).output == "busybox\n");
}

TEST_CASE("our digest of a file is that of sha256sum", "[core]") {
  const auto folder = scratch();
  const std::string content(123457, '\x5a');
  REQUIRE(write_file_atomically(Stage::check, folder.path() / "f", content).has_value());
  CHECK(run({.argv = {"sha256sum", "f"}, .directory = folder.path()}).output == sha256_of(content).hex() + "  f\n");
}

TEST_CASE("files are replaced as a whole, and leave nothing beside them", "[core]") {
  const auto folder = scratch();
  const fs::path file = folder.path() / "f";
  REQUIRE(write_file_atomically(Stage::check, file, "old").has_value());
  REQUIRE(write_file_atomically(Stage::check, file, "new", 0600).has_value());
  CHECK(read_file(Stage::check, file, 3).value() == "new");
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  CHECK_FALSE(write_file_atomically(Stage::check, folder.path() / "no" / "f", "x").has_value());
}

TEST_CASE("reads are capped, and a missing file is told as such", "[core]") {
  const auto folder = scratch();
  REQUIRE(write_file_atomically(Stage::check, folder.path() / "f", "1234").has_value());
  CHECK(read_file(Stage::check, folder.path() / "f", 3).error().code == ErrorCode::io_error);
  CHECK(read_file(Stage::check, folder.path() / "g", 3).error().code == ErrorCode::file_missing);
  CHECK(system_error(Stage::bundle, "m", "/p", ENOSPC).code == ErrorCode::no_space);
  CHECK(system_error(Stage::bundle, "m", "/p", ENOSPC).details.at("path") == "/p");
}

TEST_CASE("a temporary folder is private and goes away with its content", "[core]") {
  fs::path path;
  {
    const auto folder = scratch();
    path = folder.path();
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700U);
    REQUIRE(make_directories(Stage::check, path / "a" / "b").has_value());
    REQUIRE(write_file_atomically(Stage::check, path / "a" / "b" / "f", "x").has_value());
  }
  CHECK_FALSE(fs::exists(path));
}
