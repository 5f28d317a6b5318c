#include "rocm_offline/core/events.hpp"

#include <algorithm>
#include <array>

namespace rocm_offline {

std::string_view level_name(Level level) {
  static constexpr std::array<std::string_view, 4> names = {"debug", "info", "warning", "error"};
  return names.at(static_cast<std::size_t>(level));
}

void TeeEventSink::event(const Event& event) noexcept {
  for (EventSink* sink : m_sinks) {
    sink->event(event);
  }
}

void TeeEventSink::progress(const Progress& progress) noexcept {
  for (EventSink* sink : m_sinks) {
    sink->progress(progress);
  }
}

bool is_event_name(std::string_view name) {
  const auto& names = event_names();
  return std::any_of(names.begin(), names.end(), [&](const EventName& known) { return known.name == name; });
}

std::string_view event_stage(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace rocm_offline
