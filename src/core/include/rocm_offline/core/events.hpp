// What happened, as data. Stages report events to an EventSink; logs/ writes them, ui/ draws progress from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/stage.hpp"

namespace rocm_offline {

enum class Level { debug, info, warning, error };
[[nodiscard]] std::string_view level_name(Level level);

// One event. `name` is `<stage>.<object>.<what happened>` and must be in the table of event_names(): stable.
struct Event {
  Level level = Level::info;
  std::string name{};
  std::string message{};                                         // for people, one line
  std::vector<std::pair<std::string, std::string>> fields{};     // for programs; sizes in bytes as decimal
};

// Work done so far in one activity, for a progress line. Not logged.
struct Progress {
  Stage stage = Stage::fetch;
  std::string activity{};        // "downloading packages"
  std::uint64_t done = 0;      // bytes, or items where unit says so
  std::uint64_t total = 0;     // 0 = not known
  bool in_bytes = true;
  std::string waiting_for{};     // host or process that we wait for; empty = moving
};

// Port. Implementations never throw and may be called from several threads.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(const Event& event) noexcept = 0;
  virtual void progress(const Progress& progress) noexcept = 0;
};

// Port: the log of a run, as the one who ends the run needs it.
class RunLog {
 public:
  virtual ~RunLog() = default;
  virtual void run_finished(int exit_status) noexcept = 0;  // last record of a run that did not fail
  virtual void error(const Error& error) noexcept = 0;      // last record of a run that failed
  // A record was lost (no_space, io_error): the first failure, for the end of the run to say.
  [[nodiscard]] virtual std::optional<Error> failure() const = 0;
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;  // written so far
};

// Drops everything.
class NullEventSink final : public EventSink {
 public:
  void event(const Event&) noexcept override {}
  void progress(const Progress&) noexcept override {}
};

// Passes everything on to several sinks, in order.
class TeeEventSink final : public EventSink {
 public:
  explicit TeeEventSink(std::vector<EventSink*> sinks) : m_sinks(std::move(sinks)) {}
  void event(const Event& event) noexcept override;
  void progress(const Progress& progress) noexcept override;

 private:
  std::vector<EventSink*> m_sinks;
};

// The catalogue of event names: stable from the first release on; docs/events.md is generated from it.
struct EventName {
  std::string_view name;
  Level usual_level;
  std::string_view meaning;
  std::string_view fields;  // comma separated names of the fields it carries
};
[[nodiscard]] const std::vector<EventName>& event_names();
[[nodiscard]] bool is_event_name(std::string_view name);
// The stage of a name ("repos.release.verified" -> repos).
[[nodiscard]] std::string_view event_stage(std::string_view name);

}  // namespace rocm_offline
