#include "rocm_offline/ui/console.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "printable.hpp"
#include "rocm_offline/core/standard_streams.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::ui {

namespace {

TerminalOptions terminal_options(const ConsoleOptions& options) {
  return {.quiet = options.quiet,
          .verbose = options.verbose,
          .color = wants_color(options.color, STDERR_FILENO),
          .is_terminal = ::isatty(STDERR_FILENO) == 1};
}

std::string failure_document(const Error& error, std::string_view schema) {
  return document_text({{"schema", schema}, {"error", to_json(error)}});
}

int end_without_log(const Error& error) {
  std::fputs(render_error(error, wants_color(Color::automatic, STDERR_FILENO)).c_str(), stderr);
  return exit_status(error.code);
}

}  // namespace

std::string document_text(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int present(std::string_view text) {
  const auto written = write_standard_output(text);
  return written ? 0 : end_without_log(written.error());
}

int present_json(const nlohmann::json& document) {
  return present(document_text(document));
}

int refuse(const Error& error, bool json) {
  if (json) {
    (void)present(failure_document(error, "rocm-offline/error/1"));
  }
  return end_without_log(error);
}

int report_bug(const std::exception& bug) {
  return end_without_log({.code = ErrorCode::internal,
                          .stage = Stage::ui,
                          .message = "the program met a condition that it does not expect",
                          .reason = bug.what(),
                          .help = "this is a bug of ours: please report it with the command line and the log"});
}

Console::Console(ConsoleOptions options, RunLog& log)
    : m_options(options), m_log(log), m_terminal(terminal_options(options)) {}

void Console::print(std::string_view text) {
  m_terminal.clear_progress();
  if (auto written = write_standard_output(text); !written && !m_output_error) {
    m_output_error = std::move(written).error();
  }
}

void Console::print_json(const nlohmann::json& document) {
  print(document_text(document));
}

int Console::failed(const Error& error, std::string_view schema) {
  m_terminal.clear_progress();
  if (m_options.json) {
    print(failure_document(error, schema));
  }
  return ends_with(error);
}

int Console::finished(int status) {
  m_terminal.clear_progress();
  if (m_output_error) {
    return ends_with(*m_output_error);
  }
  m_log.run_finished(status);
  const auto lost = m_log.failure();
  return lost && status == 0 ? ends_with(*lost) : status;
}

int Console::ends_with(const Error& error) {
  m_log.error(error);
  const bool color = wants_color(m_options.color, STDERR_FILENO);
  std::string text;
  if (const auto lost = m_log.failure(); lost && error.stage != Stage::logs) {
    text += (color ? "\x1b[1;33mwarning:\x1b[0m " : "warning: ") + printable(lost->message) + ": " +
            printable(lost->reason) + "\n";
  }
  text += render_error(error, color);
  for (const std::filesystem::path& file : m_log.files()) {
    text += "log: " + printable(file.string()) + "\n";
  }
  std::fputs(text.c_str(), stderr);
  return exit_status(error.code);
}

bool Console::colors_on_stdout() const {
  return wants_color(m_options.color, STDOUT_FILENO);
}

}  // namespace rocm_offline::ui
