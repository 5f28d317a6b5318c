#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

extern char** environ;  // NOLINT: the process environment, environ(7)

namespace rocm_offline {

namespace {

// What the child needs, made before fork(2): between fork and exec only async-signal-safe calls are allowed.
struct PreparedCommand {
  std::vector<std::string> environment_text;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

std::string variable_name(std::string_view assignment) {
  return std::string(assignment.substr(0, assignment.find('=')));
}

PreparedCommand prepare(const ProcessRequest& request) {
  PreparedCommand command;
  if (!request.clear_environment) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      if (!request.environment.contains(variable_name(*entry))) {
        command.environment_text.emplace_back(*entry);
      }
    }
  }
  for (const auto& [name, value] : request.environment) {
    command.environment_text.push_back(name + "=" + value);
  }
  for (const std::string& argument : request.argv) {
    command.argv.push_back(const_cast<char*>(argument.c_str()));
  }
  command.argv.push_back(nullptr);
  for (const std::string& entry : command.environment_text) {
    command.environment.push_back(const_cast<char*>(entry.c_str()));
  }
  command.environment.push_back(nullptr);
  return command;
}

// Runs in the child. Reports errno of a failed step through the close-on-exec pipe.
[[noreturn]] void become(const ProcessRequest& request, const PreparedCommand& command, int output, int errors,
                         int report) {
  const int null_device = ::open("/dev/null", O_RDONLY);
  bool ready = null_device < 0 || ::dup2(null_device, STDIN_FILENO) >= 0;
  ready = ready && ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0;
  if (ready && request.chroot) {
    ready = ::chroot(request.chroot->c_str()) == 0 && ::chdir("/") == 0;
  }
  if (ready && request.directory) {
    ready = ::chdir(request.directory->c_str()) == 0;
  }
  if (ready) {
    // Signal dispositions of ours must not leak: a child that ignores SIGPIPE behaves differently.
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) {
      ::signal(number, SIG_DFL);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(command.argv[0], command.argv.data(), command.environment.data());
  }
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(report, &reason, sizeof reason);
  ::_exit(127);
}

// Splits what arrives into lines for the callback, and keeps it up to the cap.
class OutputCollector {
 public:
  OutputCollector(const ProcessRequest& request, std::string& kept, bool& truncated)
      : m_request(request), m_kept(kept), m_truncated(truncated) {}
  void take(std::string_view piece) {
    const std::size_t room = m_request.capture_limit - std::min(m_request.capture_limit, m_kept.size());
    m_kept.append(piece.substr(0, room));
    m_truncated = m_truncated || piece.size() > room;
    if (!m_request.on_line) {
      return;
    }
    for (const char c : piece) {
      // A line without end must not grow without bound.
      if (c == '\n' || m_line.size() >= max_line) {
        flush();
      }
      if (c != '\n') {
        m_line.push_back(c);
      }
    }
  }
  void flush() {
    if (m_request.on_line && !m_line.empty()) {
      m_request.on_line(m_line);
    }
    m_line.clear();
  }

 private:
  static constexpr std::size_t max_line = 64U << 10U;
  const ProcessRequest& m_request;
  std::string& m_kept;
  bool& m_truncated;
  std::string m_line;
};

// One end of the child's output. False at its end.
bool drain(const FileDescriptor& from, OutputCollector& collector) {
  std::array<char, 1U << 15U> buffer{};
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) {
    return true;
  }
  if (got > 0) {
    collector.take({buffer.data(), static_cast<std::size_t>(got)});
  }
  return got > 0;
}

// Reads both until the child, and whoever inherited its ends, closed them. `errors` may be invalid: one pipe for both.
void collect(FileDescriptor output, FileDescriptor errors, OutputCollector& from_output,
             OutputCollector& from_errors) {
  while (output.valid() || errors.valid()) {
    std::array<pollfd, 2> ends = {pollfd{output.get(), POLLIN, 0}, pollfd{errors.get(), POLLIN, 0}};
    if (::poll(ends.data(), ends.size(), -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      break;
    }
    if (ends[0].revents != 0 && !drain(output, from_output)) {
      output.reset();
    }
    if (ends[1].revents != 0 && !drain(errors, from_errors)) {
      errors.reset();
    }
  }
  from_output.flush();
  from_errors.flush();
}

Error start_error(const ProcessRequest& request, int reason) {
  return {.code = ErrorCode::native_tool_failed,
          .stage = Stage::install,
          .message = "cannot start " + (request.argv.empty() ? std::string("a program") : request.argv[0]),
          .reason = std::generic_category().message(reason),
          .details = {{"command", join(request.argv, " ")}},
          .help = "check that the program is installed and may be run"};
}

int exit_code_of(int status) {
  if (WIFEXITED(status)) {
    return WEXITSTATUS(status);
  }
  return 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

}  // namespace

Result<ProcessOutcome> PosixProcessRunner::run(const ProcessRequest& request) {
  if (request.argv.empty()) {
    return fail(start_error(request, EINVAL));
  }
  std::array<int, 2> output{};
  std::array<int, 2> errors{-1, -1};
  std::array<int, 2> report{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0) {
    return fail(start_error(request, errno));
  }
  FileDescriptor output_read(output[0]);
  FileDescriptor output_write(output[1]);
  if (request.separate_errors && ::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return fail(start_error(request, errno));
  }
  FileDescriptor errors_read(errors[0]);
  FileDescriptor errors_write(errors[1]);
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    return fail(start_error(request, errno));
  }
  const FileDescriptor report_read(report[0]);
  FileDescriptor report_write(report[1]);

  const PreparedCommand command = prepare(request);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(start_error(request, errno));
  }
  if (child == 0) {
    become(request, command, output_write.get(), (errors_write.valid() ? errors_write : output_write).get(),
           report_write.get());
  }
  output_write.reset();
  errors_write.reset();
  report_write.reset();

  ProcessOutcome outcome;
  OutputCollector from_output(request, outcome.output, outcome.truncated);
  OutputCollector from_errors(request, outcome.errors, outcome.truncated);
  collect(std::move(output_read), std::move(errors_read), from_output, from_errors);

  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int reason = 0;
  if (::read(report_read.get(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    return fail(start_error(request, reason));
  }
  outcome.exit_code = exit_code_of(status);
  return outcome;
}

}  // namespace rocm_offline
