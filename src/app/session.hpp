// One run of the program: its log, its console, its folders.
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
#include "rocm_offline/ui/console.hpp"

namespace rocm_offline::app {

class Session {
 public:
  Session(const Invocation& invocation, CancelToken cancel);

  // Opens the log files: in --log-dir, else (create only) in the default folder of cli.md.
  [[nodiscard]] Result<Done> open_log();

  [[nodiscard]] ui::Console& console() { return m_console; }
  [[nodiscard]] EventSink& events() { return m_tee; }
  [[nodiscard]] const Clock& clock() const { return m_clock; }
  [[nodiscard]] CancelToken cancel() const { return m_cancel; }
  [[nodiscard]] logs::Logger& logger() { return m_logger; }
  [[nodiscard]] const GlobalOptions& options() const { return m_options; }
  [[nodiscard]] std::filesystem::path cache_dir() const;
  // Where last seen Release dates are remembered: $XDG_STATE_HOME/rocm-offline, or `state` in the cache folder when
  // that place cannot be written.
  [[nodiscard]] std::filesystem::path state_dir() const;

 private:
  GlobalOptions m_options;
  Command m_command;
  CancelToken m_cancel;
  SystemClock m_clock;
  logs::Logger m_logger;
  ui::Console m_console;
  TeeEventSink m_tee;
};

// "create", "plan", ...
[[nodiscard]] std::string_view command_name(Command command);
// `schema` of the document that a command prints.
[[nodiscard]] std::string document_schema(Command command);

}  // namespace rocm_offline::app
