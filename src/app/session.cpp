#include "session.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::app {

namespace fs = std::filesystem;

namespace {

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

std::string_view command_name(Command command) {
  static constexpr std::array<std::string_view, 14> names = {"none", "check",      "targets", "releases", "usecases",
                                                             "plan", "create",     "inspect", "verify",   "extract",
                                                             "diff", "completion", "help",    "version"};
  return names.at(static_cast<std::size_t>(command));
}

std::string document_schema(Command command) {
  return "rocm-offline/" + std::string(command == Command::inspect ? "manifest" : command_name(command)) + "/1";
}

Session::Session(const Invocation& invocation, CancelToken cancel)
    : m_options(invocation.global),
      m_command(invocation.command),
      m_cancel(cancel),
      m_terminal(terminal_options(invocation.global)),
      m_logger({.operation = std::string(command_name(invocation.command)), .level = invocation.global.log_level},
               m_clock),
      m_tee({&m_logger, &m_terminal}) {
  add_secrets(m_logger, invocation);
  m_logger.run_started("rocm-offline-creator", invocation.arguments);
}

Result<Done> Session::open_log() {
  if (!m_options.log_dir && m_command != Command::create) {
    m_logger.discard();
    return Done{};
  }
  auto opened = m_logger.open(m_options.log_dir ? *m_options.log_dir : logs::default_log_directory("/"));
  if (!opened) {
    return fail(in_context(std::move(opened).error(), "opening the log"));
  }
  return Done{};
}

int Session::failed(const Error& error, std::string_view schema) {
  m_terminal.clear_progress();
  if (m_options.json) {
    print_json({{"schema", schema}, {"error", to_json(error)}});
  }
  return ends_with(error);
}

int Session::finished(int status) {
  m_terminal.clear_progress();
  if (m_output_error) {
    return ends_with(*m_output_error);
  }
  m_logger.run_finished(status);
  const auto lost = m_logger.failure();
  return lost && status == 0 ? ends_with(*lost) : status;
}

int Session::ends_with(const Error& error) {
  m_logger.error(error);
  ui::Failure failure{.error = error};
  if (const auto paths = m_logger.paths()) {
    failure.logs = {paths->text, paths->jsonl};
  }
  if (error.stage != Stage::logs) {
    failure.lost_records = m_logger.failure();
  }
  std::fputs(ui::render_failure(failure, ui::wants_color(m_options.color, STDERR_FILENO)).c_str(), stderr);
  return exit_status(error.code);
}

void Session::print_json(const nlohmann::json& document) {
  // Untrusted bytes that are no UTF-8 are replaced, not thrown on.
  print(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void Session::print(std::string_view text) {
  m_terminal.clear_progress();
  if (auto written = write_standard_output(text); !written && !m_output_error) {
    m_output_error = std::move(written).error();
  }
}

fs::path Session::cache_dir() const {
  return m_options.cache_dir ? *m_options.cache_dir : home_folder("XDG_CACHE_HOME", ".cache");
}

fs::path Session::state_dir() const {
  fs::path preferred = home_folder("XDG_STATE_HOME", ".local/state");
  return can_write(preferred) ? preferred : cache_dir() / "state";
}

}  // namespace rocm_offline::app
