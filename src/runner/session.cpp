#include "session.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/core/version.hpp"

namespace rocm_offline::runner {

namespace {

std::atomic<bool> interrupted{false};

// A terminal's Ctrl-C comes twice, from the terminal and from the stub: a second signal must not end a run hard.
extern "C" void on_signal(int) {
  interrupted.store(true);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool writes_log(Word word) {
  return word == Word::install || word == Word::uninstall;
}

std::string operation(const CommandLine& line) {
  return line.word == Word::uninstall ? "uninstall"
         : writes_log(line.word)      ? "install"
                                      : std::string(word_name(line.word));
}

}  // namespace

CancelToken install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaction(number, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
  return CancelToken(&interrupted);
}

nlohmann::json error_document(const Error& error, std::string_view schema) {
  return {{"schema", schema}, {"error", to_json(error)}};
}

void print_document(const nlohmann::json& document) {
  // Bytes that are no UTF-8 are replaced, not thrown on.
  const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Session::Session(const CommandLine& line, const std::string& bundle_id, CancelToken cancel)
    : m_line(line),
      m_cancel(cancel),
      m_terminal({.quiet = line.quiet,
                  .verbose = line.verbose,
                  .color = ui::wants_color(line.color, STDERR_FILENO),
                  .is_terminal = ::isatty(STDERR_FILENO) == 1}),
      m_logger({.operation = operation(line), .level = line.log_level}, m_clock),
      m_tee({&m_logger, &m_terminal}) {
  m_logger.set_bundle_id(bundle_id);
  const std::string request = join(line.arguments, " ");
  m_logger.event({.level = Level::info,
                  .name = "logs.run.started",
                  .message = "rocm-offline-install " + std::string(program_version()) + " " + request,
                  .fields = {{"version", std::string(program_version())},
                             {"request", request},
                             {"bundle_id", bundle_id},
                             {"host", host_name()},
                             {"user", std::to_string(::geteuid())}}});
}

std::filesystem::path Session::log_directory() const {
  return m_line.log_dir ? *m_line.log_dir : logs::default_log_directory(m_line.root);
}

Result<Done> Session::open_log() {
  if (!m_line.log_dir && !writes_log(m_line.word)) {
    return Done{};
  }
  auto opened = m_logger.open(log_directory());
  if (!opened) {
    return fail(in_context(std::move(opened).error(), "opening the log"));
  }
  return Done{};
}

int Session::failed(const Error& error, std::string_view schema) {
  m_logger.error(error);
  m_terminal.clear_progress();
  if (m_line.json) {
    print_document(error_document(error, schema));
  }
  std::string text = ui::render_error(error, ui::wants_color(m_line.color, STDERR_FILENO));
  if (const auto paths = m_logger.paths()) {
    text += "log: " + paths->text.string() + "\nlog: " + paths->jsonl.string() + "\n";
  }
  std::fputs(text.c_str(), stderr);
  return exit_status(error.code);
}

int Session::finished(int status) {
  m_terminal.clear_progress();
  m_logger.event({.level = Level::info,
                  .name = "logs.run.finished",
                  .message = "exit status " + std::to_string(status),
                  .fields = {{"exit_status", std::to_string(status)}}});
  return status;
}

void Session::print(std::string_view text) {
  m_terminal.clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Session::print_json(const nlohmann::json& document) {
  m_terminal.clear_progress();
  print_document(document);
}

}  // namespace rocm_offline::runner
