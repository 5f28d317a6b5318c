// Text views for a terminal or a pipe: errors, progress, messages. Standard error only; results are the caller's.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::ui {

enum class Color { automatic, always, never };

// error: … / reason: … / while: a > b / details / problems with their chains / help: …  Ends with a newline.
[[nodiscard]] std::string render_error(const Error& error, bool color);
// One line per check: "pass  distribution  Debian 13".
[[nodiscard]] std::string render_checks(const std::vector<Check>& checks, bool color);
// What the checks amount to, as their last line: "debian-13 is supported (1 warning)".
[[nodiscard]] std::string render_verdict(const std::vector<Check>& checks, const std::string& fits,
                                         const std::string& fits_not);

// What CLI11 says of a wrong command line, without the words of the library: "--root needs a value".
[[nodiscard]] std::string usage_problem(std::string_view parser_message);

// Colour wanted for this stream: `always`, or automatic on a terminal without NO_COLOR and TERM=dumb.
[[nodiscard]] bool wants_color(Color color, int file_descriptor);

struct TerminalOptions {
  bool quiet = false;  // -q: warnings only (and the error at the end)
  int verbose = 0;     // -v: debug events too
  bool color = false;
  bool is_terminal = false;  // progress redraws one line; else a line every 5 s
};

// Prints messages of events (not of errors: those end up in the one error of the run) and a progress line with rate and
// time left (all to stderr).
class Terminal final : public EventSink {
 public:
  explicit Terminal(TerminalOptions options);
  ~Terminal() override;
  void event(const Event& event) noexcept override;
  void progress(const Progress& progress) noexcept override;
  void clear_progress() noexcept;  // before something else is printed

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace rocm_offline::ui
