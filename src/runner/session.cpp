#include "session.hpp"

#include <unistd.h>

#include <cstdio>

#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::runner {

namespace {

bool writes_log(Word word) {
  return word == Word::install || word == Word::uninstall;
}

std::string operation(const CommandLine& line) {
  return line.word == Word::uninstall ? "uninstall"
         : writes_log(line.word)      ? "install"
                                      : std::string(word_name(line.word));
}

}  // namespace

nlohmann::json error_document(const Error& error, std::string_view schema) {
  return {{"schema", schema}, {"error", to_json(error)}};
}

std::string document_text(const nlohmann::json& document) {
  // Bytes that are no UTF-8 are replaced, not thrown on.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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
  m_logger.run_started("rocm-offline-install", line.arguments);
}

std::filesystem::path Session::log_directory() const {
  return m_line.log_dir ? *m_line.log_dir : logs::default_log_directory(m_line.root);
}

Result<Done> Session::open_log() {
  if (!m_line.log_dir && !writes_log(m_line.word)) {
    m_logger.discard();
    return Done{};
  }
  auto opened = m_logger.open(log_directory());
  if (!opened && !m_line.log_dir && ::geteuid() != 0) {
    // Who may not install has often no folder for logs either (a service user): the refusal that follows says more.
    m_logger.discard();
    return Done{};
  }
  if (!opened) {
    return fail(in_context(std::move(opened).error(), "opening the log"));
  }
  return Done{};
}

int Session::failed(const Error& error, std::string_view schema) {
  m_terminal.clear_progress();
  if (m_line.json) {
    print_json(error_document(error, schema));
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
  std::fputs(ui::render_failure(failure, ui::wants_color(m_line.color, STDERR_FILENO)).c_str(), stderr);
  return exit_status(error.code);
}

void Session::print(std::string_view text) {
  m_terminal.clear_progress();
  if (auto written = write_standard_output(text); !written && !m_output_error) {
    m_output_error = std::move(written).error();
  }
}

void Session::print_json(const nlohmann::json& document) {
  print(document_text(document));
}

}  // namespace rocm_offline::runner
