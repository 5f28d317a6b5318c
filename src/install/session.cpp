#include "session.hpp"

#include <algorithm>
#include <utility>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::install {

Result<ProcessOutcome> ToldProcessRunner::run(const ProcessRequest& request) {
  const std::string command = join(request.argv, " ");
  m_events.event({.level = Level::debug,
                  .name = "install.native.started",
                  .message = "running " + command,
                  .fields = {{"command", command}}});
  auto outcome = m_processes.run(request);
  const std::string status = outcome ? std::to_string(outcome->exit_code) : "not started";
  m_events.event({.level = Level::debug,
                  .name = "install.native.finished",
                  .message = request.argv.front() + " ended with status " + status,
                  .fields = {{"command", request.argv.front()}, {"exit_status", status}}});
  return outcome;
}

Session::Session(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports)
    : m_events(ports.events),
      m_places{.root = options.root, .bundle_id = bundle.bundle_id(), .work_dir = options.work_dir},
      m_processes(ports.processes, ports.events),
      m_tool(m_processes, options.root, [this](std::string_view line) {
        m_events.event(
            {.level = Level::debug, .name = "install.native.output", .message = std::string(line), .fields = {}});
      }) {}

void Session::tell(Level level, std::string name, std::string message) {
  m_events.event({.level = level, .name = std::move(name), .message = std::move(message), .fields = {}});
}

void Session::report(const Preflight& preflight) {
  static constexpr const char* names[] = {"install.preflight.passed", "install.preflight.warned",
                                          "install.preflight.refused"};
  static constexpr Level levels[] = {Level::debug, Level::warning, Level::error};
  for (const Finding& finding : preflight.findings) {
    const auto status = static_cast<std::size_t>(finding.check.status);
    m_events.event({.level = levels[status],
                    .name = names[status],
                    .message = finding.check.code + ": " + finding.check.message,
                    .fields = {{"code", finding.check.code}}});
  }
}

StepCounter::StepCounter(EventSink& events, std::string activity, std::size_t total)
    : m_events(events),
      m_progress{.stage = Stage::install, .activity = std::move(activity), .total = total, .in_bytes = false} {}

void StepCounter::line(std::string_view line) {
  const auto is_step = [&](std::string_view start) { return line.starts_with(start); };
  if (is_step("Unpacking ") || is_step("Setting up ") || is_step("Removing ") || is_step("Purging ")) {
    m_progress.done = std::min(m_progress.done + 1, m_progress.total);
    m_events.progress(m_progress);
  }
}

}  // namespace rocm_offline::install
