// The table of event names, by stage. Stable: add, never rename. docs/events.md is generated from it.
#include "rocm_offline/core/events.hpp"

namespace rocm_offline {

const std::vector<EventName>& event_names() {
  using enum Level;
  static const std::vector<EventName> names = {
      // check
      {"check.target.checked", info, "a machine or target was checked", "target,supported"},
      // plan
      {"plan.selection.planned", info, "the choices became a plan", "target,release,usecases"},
      // repos
      // resolve
      // fetch
      // bundle
      // install
      // verify
      // logs
      {"logs.run.started", info, "first record of a run", "version,request,bundle_id,host,user"},
      {"logs.run.finished", info, "last record of a run", "exit_status"},
      {"logs.run.failed", error, "last record of a run that failed", "exit_status"},
      // ui
  };
  return names;
}

}  // namespace rocm_offline
