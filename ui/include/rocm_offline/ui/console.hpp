// What a run says: results on standard output, as text or with --json as one document; messages and the end of a run
// that failed on standard error. Both programs end through here, so that they end alike (cli.md, "Exit status").
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::ui {

// As printed: bytes that are no UTF-8 are replaced. Ends with a newline.
[[nodiscard]] std::string document_text(const nlohmann::json& document);

// For what needs no log (help, version, a wrong command line): each prints and returns the exit status.
[[nodiscard]] int present(std::string_view text);
[[nodiscard]] int present_json(const nlohmann::json& document);
[[nodiscard]] int refuse(const Error& error, bool json);
// An exception that reached main: a bug of ours, said as such.
[[nodiscard]] int report_bug(const std::exception& bug);

struct ConsoleOptions {
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  Color color = Color::automatic;
};

class Console {
 public:
  // `log` outlives the console.
  Console(ConsoleOptions options, RunLog& log);

  void print(std::string_view text);
  void print_json(const nlohmann::json& document);
  // Ends a run that failed: the document of `schema` with the error (--json), the error, the log files. Returns the
  // exit status.
  [[nodiscard]] int failed(const Error& error, std::string_view schema);
  // Ends a run that did what it was asked to. A result that could not be printed, or a log that could not be written
  // to its end, is a failure all the same.
  [[nodiscard]] int finished(int status);

  [[nodiscard]] bool json() const { return m_options.json; }
  [[nodiscard]] bool colors_on_stdout() const;
  [[nodiscard]] EventSink& messages() { return m_terminal; }

 private:
  [[nodiscard]] int ends_with(const Error& error);

  ConsoleOptions m_options;
  RunLog& m_log;
  Terminal m_terminal;
  std::optional<Error> m_output_error;
};

}  // namespace rocm_offline::ui
