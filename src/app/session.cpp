#include "session.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/core/version.hpp"

namespace rocm_offline::app {

namespace fs = std::filesystem;

namespace {

std::atomic<bool> interrupted{false};

extern "C" void on_signal(int) {
  if (interrupted.exchange(true)) {
    ::_exit(130);
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

fs::path home_folder(const char* variable, const char* below_home) {
  if (const char* folder = std::getenv(variable); folder != nullptr && *folder == '/') {
    return fs::path(folder) / "rocm-offline";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : "/") / below_home / "rocm-offline";
}

// True when the folder, or its nearest parent that exists, may be written.
bool can_write(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return ::access(folder.c_str(), W_OK) == 0;
}

ui::TerminalOptions terminal_options(const GlobalOptions& options) {
  return {.quiet = options.quiet,
          .verbose = options.verbose,
          .color = ui::wants_color(options.color, STDERR_FILENO),
          .is_terminal = ::isatty(STDERR_FILENO) == 1};
}

// Passwords on the command line or in the environment must appear in no log, whatever prints them.
void add_secrets(logs::Logger& logger, const Invocation& invocation) {
  std::vector<std::string> addresses = invocation.selection.mirrors;
  if (invocation.selection.proxy) {
    addresses.push_back(*invocation.selection.proxy);
  }
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      addresses.emplace_back(value);
    }
  }
  for (const std::string& address : addresses) {
    const auto begin = address.find("://");
    const auto end = begin == std::string::npos ? begin : address.find('@', begin);
    if (end == std::string::npos) {
      continue;
    }
    const std::string user_info = address.substr(begin + 3, end - begin - 3);
    if (const auto colon = user_info.find(':'); colon != std::string::npos) {
      logger.add_secret(user_info.substr(colon + 1));
    }
  }
}

}  // namespace

CancelToken install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaction(number, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
  return CancelToken(&interrupted);
}

std::string_view command_name(Command command) {
  static constexpr std::array<std::string_view, 14> names = {"none", "check",      "targets", "releases", "usecases",
                                                             "plan", "create",     "inspect", "verify",   "extract",
                                                             "diff", "completion", "help",    "version"};
  return names.at(static_cast<std::size_t>(command));
}

Session::Session(const Invocation& invocation, CancelToken cancel)
    : m_options(invocation.global),
      m_cancel(cancel),
      m_terminal(terminal_options(invocation.global)),
      m_logger({.operation = std::string(command_name(invocation.command)), .level = invocation.global.log_level},
               m_clock),
      m_tee({&m_logger, &m_terminal}) {
  add_secrets(m_logger, invocation);
  m_logger.event(
      {.level = Level::info,
       .name = "logs.run.started",
       .message = "rocm-offline-creator " + std::string(program_version()) + " " + join(invocation.arguments, " "),
       .fields = {{"version", std::string(program_version())},
                  {"request", join(invocation.arguments, " ")},
                  {"host", host_name()},
                  {"user", std::to_string(::geteuid())}}});
}

Result<Done> Session::open_log(bool by_default) {
  if (!m_options.log_dir && !by_default) {
    return Done{};
  }
  auto opened = m_logger.open(m_options.log_dir ? *m_options.log_dir : logs::default_log_directory("/"));
  if (!opened) {
    return fail(in_context(std::move(opened).error(), "opening the log"));
  }
  return Done{};
}

int Session::failed(const Error& error, std::string_view schema) {
  const int status = exit_status(error.code);
  m_logger.error(error);
  m_terminal.clear_progress();
  if (m_options.json) {
    print_json({{"schema", schema}, {"error", to_json(error)}});
  }
  std::string text = ui::render_error(error, ui::wants_color(m_options.color, STDERR_FILENO));
  if (const auto paths = m_logger.paths()) {
    text += "log: " + paths->text.string() + "\n";
  }
  std::fputs(text.c_str(), stderr);
  tell_lost_records();
  return status;
}

int Session::finished(int status) {
  m_terminal.clear_progress();
  m_logger.event({.level = Level::info,
                  .name = "logs.run.finished",
                  .message = "exit status " + std::to_string(status),
                  .fields = {{"exit_status", std::to_string(status)}}});
  tell_lost_records();
  return status;
}

void Session::tell_lost_records() const {
  if (m_logger.failed()) {
    std::fputs("warning: the log is incomplete: its folder could not be written to\n", stderr);
  }
}

void Session::print_json(const nlohmann::json& document) {
  // Untrusted bytes that are no UTF-8 are replaced, not thrown on.
  print(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void Session::print(std::string_view text) {
  m_terminal.clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

fs::path Session::cache_dir() const {
  return m_options.cache_dir ? *m_options.cache_dir : home_folder("XDG_CACHE_HOME", ".cache");
}

fs::path Session::state_dir() const {
  fs::path preferred = home_folder("XDG_STATE_HOME", ".local/state");
  return can_write(preferred) ? preferred : cache_dir() / "state";
}

}  // namespace rocm_offline::app
