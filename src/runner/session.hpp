// One run of the installer program: its log, its console.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "command_line.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/standard_streams.hpp"
#include "rocm_offline/logs/logger.hpp"
#include "rocm_offline/ui/console.hpp"

namespace rocm_offline::runner {

class Session {
 public:
  Session(const CommandLine& line, const std::string& bundle_id, CancelToken cancel);

  // install, dryrun and uninstall always write a log, the others only with --log-dir.
  [[nodiscard]] Result<Done> open_log();

  [[nodiscard]] ui::Console& console() { return m_console; }
  [[nodiscard]] EventSink& events() { return m_tee; }
  [[nodiscard]] const Clock& clock() const { return m_clock; }
  [[nodiscard]] CancelToken cancel() const { return m_cancel; }
  [[nodiscard]] const CommandLine& line() const { return m_line; }
  [[nodiscard]] std::filesystem::path log_directory() const;
  [[nodiscard]] std::optional<logs::LogPaths> log_paths() const { return m_logger.paths(); }

 private:
  const CommandLine& m_line;
  CancelToken m_cancel;
  SystemClock m_clock;
  logs::Logger m_logger;
  ui::Console m_console;
  TeeEventSink m_tee;
};

}  // namespace rocm_offline::runner
