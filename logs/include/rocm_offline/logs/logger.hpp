// Writes one run's events in two forms, `.log` for people and `.jsonl` for programs, from the same events.
// Buffers until the folder is known or it is said that there will be none; never throws; never writes a secret.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::logs {

struct LoggerOptions {
  std::string operation{};     // create, install, uninstall, plan, ...: first part of the file name
  Level level = Level::debug;  // least level written
};

struct LogPaths {
  std::filesystem::path text{};  // create-20261201T004332Z-1a2b3c4d.log
  std::filesystem::path jsonl{};
};

// Removes credentials from text: user info and query values of URLs, users of `*_proxy=`, values of Authorization,
// Proxy-Authorization and Cookie headers, what follows `password` (netrc), assignments to telling names
// (`TOKEN=`, `SECRET=`), and every literal given to add_secret, percent-encoded or not.
class Redactor {
 public:
  void add_secret(std::string_view secret);  // shorter than 4 characters is ignored
  [[nodiscard]] std::string redact(std::string_view text) const;

 private:
  std::vector<std::string> m_secrets;
};

class Logger final : public EventSink, public RunLog {
 public:
  Logger(LoggerOptions options, const Clock& clock);
  ~Logger() override;
  // Creates `directory` and the two files (0640) and writes what was buffered. An unwritable folder or a full disk is
  // an error (io_error, no_space) for the caller to report; then neither file is left, and events stay buffered.
  [[nodiscard]] Result<LogPaths> open(const std::filesystem::path& directory);
  // This run writes no log: what was buffered is dropped, and what comes is not kept.
  void discard();
  // First record of a run: version, request, host, user, and the bundle where it is known by then.
  void run_started(std::string_view program, const std::vector<std::string>& arguments) noexcept;
  void run_finished(int exit_status) noexcept override;
  void add_secret(std::string_view secret);
  void set_bundle_id(std::string bundle_id);         // from then on in every record
  void event(const Event& event) noexcept override;  // JSON record: schema, time, run, operation, stage, level, event,
                                                     // message, fields, error, bundle_id; unused keys null
  void progress(const Progress&) noexcept override {}
  void error(const Error& error) noexcept override;
  [[nodiscard]] std::optional<Error> failure() const override;
  [[nodiscard]] std::vector<std::filesystem::path> files() const override;
  [[nodiscard]] const std::string& run_id() const;  // 8 hex digits, in the file names
  [[nodiscard]] std::optional<LogPaths> paths() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

// Default folder of cli.md: /var/log/rocm-offline for root (below `root`), else $XDG_STATE_HOME/rocm-offline.
[[nodiscard]] std::filesystem::path default_log_directory(const std::filesystem::path& root);

}  // namespace rocm_offline::logs
