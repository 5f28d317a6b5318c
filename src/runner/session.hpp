// One run of the installer program: log, messages, result on standard output, exit status.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/standard_streams.hpp"
#include "rocm_offline/logs/logger.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::runner {

// A document that says only why nothing else can be printed.
[[nodiscard]] nlohmann::json error_document(const Error& error, std::string_view schema);
[[nodiscard]] std::string document_text(const nlohmann::json& document);

class Session {
 public:
  Session(const CommandLine& line, const std::string& bundle_id, CancelToken cancel);

  // install, dryrun and uninstall always write a log, the others only with --log-dir.
  [[nodiscard]] Result<Done> open_log();
  // `schema` of the document that --json prints.
  [[nodiscard]] int failed(const Error& error, std::string_view schema);
  // A result that could not be printed, or a log that could not be written to its end, is a failure all the same.
  [[nodiscard]] int finished(int status);

  void print(std::string_view text);  // standard output
  void print_json(const nlohmann::json& document);

  [[nodiscard]] EventSink& events() { return m_tee; }
  [[nodiscard]] const Clock& clock() const { return m_clock; }
  [[nodiscard]] CancelToken cancel() const { return m_cancel; }
  [[nodiscard]] const CommandLine& line() const { return m_line; }
  [[nodiscard]] std::filesystem::path log_directory() const;
  [[nodiscard]] std::optional<logs::LogPaths> log_paths() const { return m_logger.paths(); }

 private:
  [[nodiscard]] int ends_with(const Error& error);

  const CommandLine& m_line;
  CancelToken m_cancel;
  SystemClock m_clock;
  ui::Terminal m_terminal;
  logs::Logger m_logger;
  TeeEventSink m_tee;
  std::optional<Error> m_output_error;
};

}  // namespace rocm_offline::runner
