// One run of the program: where events go, what ends the run, how results and errors are printed.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "options.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/standard_streams.hpp"
#include "rocm_offline/logs/logger.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::app {

class Session {
 public:
  Session(const Invocation& invocation, CancelToken cancel);

  // Opens the log files: in --log-dir, else (create only) in the default folder of cli.md.
  [[nodiscard]] Result<Done> open_log();
  // Prints the error (text on standard error; with --json a document on standard output), ends the log, returns the
  // exit status.
  [[nodiscard]] int failed(const Error& error, std::string_view schema);
  // Ends the log of a run that did what it was asked to. A result that could not be printed, or a log that could not
  // be written to its end, is a failure all the same.
  [[nodiscard]] int finished(int status = 0);

  void print_json(const nlohmann::json& document);
  void print(std::string_view text);  // standard output

  [[nodiscard]] EventSink& events() { return m_tee; }
  [[nodiscard]] const Clock& clock() const { return m_clock; }
  [[nodiscard]] CancelToken cancel() const { return m_cancel; }
  [[nodiscard]] logs::Logger& logger() { return m_logger; }
  [[nodiscard]] const GlobalOptions& options() const { return m_options; }
  [[nodiscard]] bool colors_on_stdout() const { return ui::wants_color(m_options.color, 1); }
  [[nodiscard]] std::filesystem::path cache_dir() const;
  // Where last seen Release dates are remembered: $XDG_STATE_HOME/rocm-offline, or `state` in the cache folder when
  // that place cannot be written.
  [[nodiscard]] std::filesystem::path state_dir() const;

 private:
  [[nodiscard]] int ends_with(const Error& error);

  GlobalOptions m_options;
  Command m_command;
  CancelToken m_cancel;
  SystemClock m_clock;
  ui::Terminal m_terminal;
  logs::Logger m_logger;
  TeeEventSink m_tee;
  std::optional<Error> m_output_error;
};

// "create", "plan", ...
[[nodiscard]] std::string_view command_name(Command command);
// `schema` of the document that a command prints.
[[nodiscard]] std::string document_schema(Command command);

}  // namespace rocm_offline::app
