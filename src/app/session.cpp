#include "session.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "rocm_offline/core/text.hpp"

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
      m_logger({.operation = std::string(command_name(invocation.command)), .level = invocation.global.log_level},
               m_clock),
      m_console(
          {.json = m_options.json, .quiet = m_options.quiet, .verbose = m_options.verbose, .color = m_options.color},
          m_logger),
      m_tee({&m_logger, &m_console.messages()}) {
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

fs::path Session::cache_dir() const {
  return m_options.cache_dir ? *m_options.cache_dir : home_folder("XDG_CACHE_HOME", ".cache");
}

fs::path Session::state_dir() const {
  fs::path preferred = home_folder("XDG_STATE_HOME", ".local/state");
  return can_write(preferred) ? preferred : cache_dir() / "state";
}

}  // namespace rocm_offline::app
