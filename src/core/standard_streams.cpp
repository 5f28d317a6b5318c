#include "rocm_offline/core/standard_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace rocm_offline {

namespace {

std::atomic<bool> interrupted{false};
std::atomic<bool> second_ends{false};

extern "C" void on_signal(int) {
  if (interrupted.exchange(true) && second_ends.load()) {
    ::_exit(exit_status(ErrorCode::cancelled));
  }
}

Error output_error(int errno_value) {
  const bool reader_gone = errno_value == EPIPE;
  const bool closed = errno_value == EBADF;
  return {.code = ErrorCode::no_space,
          .stage = Stage::ui,
          .message = "the result cannot be written to standard output",
          .reason = closed        ? "standard output is closed"
                    : reader_gone ? "who was reading it has ended"
                                  : std::generic_category().message(errno_value),
          .help = "see where standard output leads to; everything else was done"};
}

}  // namespace

void hold_standard_streams() {
  ::signal(SIGPIPE, SIG_IGN);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) {
      continue;
    }
    // The lowest free number is this one. Opened the wrong way round, so that a write still fails.
    const int taken = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (taken < 0) {
      const int root = ::open("/", O_RDONLY | O_DIRECTORY);  // a root without /dev
      (void)root;
    }
  }
}

Result<Done> write_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
      continue;
    }
    if (errno == EAGAIN) {  // a caller's pipe that does not block
      pollfd wait{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return fail(output_error(errno));
    }
  }
  return Done{};
}

CancelToken install_signal_handlers(SecondSignal second) {
  second_ends = second == SecondSignal::ends_at_once;
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = second == SecondSignal::is_ignored ? SA_RESTART : 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // nohup(1) asks that the end of the terminal is not the end of the run. An ignored SIGINT is no such wish: shells
    // without job control give it to everything that they start with "&".
    const bool by_nohup =
        number == SIGHUP && ::sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (!by_nohup) {
      ::sigaction(number, &action, nullptr);
    }
  }
  return CancelToken(&interrupted);
}

}  // namespace rocm_offline
