// What every operation on one root shares: places, the tool with its output going to the log, events.
#pragma once

#include <string>
#include <string_view>

#include "places.hpp"
#include "preflight.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/distros/apt.hpp"
#include "rocm_offline/install/installer.hpp"

namespace rocm_offline::install {

// Tells of every program that is started and how it ended.
class ToldProcessRunner final : public ProcessRunner {
 public:
  ToldProcessRunner(ProcessRunner& processes, EventSink& events) : m_processes(processes), m_events(events) {}
  [[nodiscard]] Result<ProcessOutcome> run(const ProcessRequest& request) override;

 private:
  ProcessRunner& m_processes;
  EventSink& m_events;
};

class Session {
 public:
  Session(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Places& places() const { return m_places; }
  [[nodiscard]] distros::AptTool& tool() { return m_tool; }
  void tell(Level level, std::string name, std::string message);
  void report(const Preflight& preflight);

 private:
  EventSink& m_events;
  Places m_places;
  ToldProcessRunner m_processes;
  distros::AptTool m_tool;
};

// Progress from dpkg's lines: each package is unpacked and set up (or removed).
class StepCounter {
 public:
  StepCounter(EventSink& events, std::string activity, std::size_t total);
  void line(std::string_view line);

 private:
  EventSink& m_events;
  Progress m_progress;
};

}  // namespace rocm_offline::install
