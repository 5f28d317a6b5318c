#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/standard_streams.hpp"

using namespace rocm_offline;

namespace {

// In a process of its own: streams and signals of the test program stay as they are.
int status_of(const std::function<int()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int print_to(int fd) {
  ::dup2(fd, STDOUT_FILENO);
  const auto written = write_standard_output("result\n");
  return written ? 0 : exit_status(written.error().code);
}

}  // namespace

TEST_CASE("a result that cannot be printed is never a silent success", "[core]") {
  CHECK(status_of([] { return print_to(::open("/dev/null", O_WRONLY)); }) == 0);
  CHECK(status_of([] { return print_to(::open("/dev/full", O_WRONLY)); }) == 8);
  CHECK(status_of([] {
          hold_standard_streams();
          int ends[2] = {-1, -1};
          if (::pipe(ends) != 0) {
            return 1;
          }
          ::close(ends[0]);
          return print_to(ends[1]);
        }) == 8);
  CHECK(status_of([] {
          ::close(STDOUT_FILENO);
          return write_standard_output("result\n") ? 0 : 8;
        }) == 8);
}

TEST_CASE("no file opened later becomes standard output", "[core]") {
  CHECK(status_of([] {
          for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::close(fd);
          }
          hold_standard_streams();
          const int later = ::open("/dev/null", O_RDWR);
          char byte = 0;
          const bool unusable = ::write(STDOUT_FILENO, "x", 1) < 0 && ::write(STDERR_FILENO, "x", 1) < 0 &&
                                ::read(STDIN_FILENO, &byte, 1) < 0;
          return later > STDERR_FILENO && unusable ? 0 : 1;
        }) == 0);
}

TEST_CASE("a signal sets the token, a second one ends the run only where that is wanted", "[core]") {
  CHECK(status_of([] {
          const CancelToken token = install_signal_handlers(SecondSignal::is_ignored);
          std::raise(SIGTERM);
          std::raise(SIGINT);
          return token.cancelled() ? 0 : 1;
        }) == 0);
  CHECK(status_of([] {
          (void)install_signal_handlers(SecondSignal::ends_at_once);
          std::raise(SIGINT);
          std::raise(SIGINT);
          return 0;
        }) == 130);
}

TEST_CASE("nohup is respected, an ignored interrupt is not", "[core]") {
  CHECK(status_of([] {
          ::signal(SIGHUP, SIG_IGN);
          const CancelToken token = install_signal_handlers(SecondSignal::is_ignored);
          std::raise(SIGHUP);
          return token.cancelled() ? 1 : 0;
        }) == 0);
  CHECK(status_of([] {
          ::signal(SIGINT, SIG_IGN);
          const CancelToken token = install_signal_handlers(SecondSignal::is_ignored);
          std::raise(SIGINT);
          return token.cancelled() ? 0 : 1;
        }) == 0);
}
