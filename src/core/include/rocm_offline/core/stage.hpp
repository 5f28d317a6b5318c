// The stages of the design; first word of every event name and the `stage` of every error.
#pragma once

#include <string_view>

namespace rocm_offline {

enum class Stage { check, plan, repos, resolve, fetch, bundle, install, verify, logs, ui };

// "check", "plan", ... as in event names and JSON.
[[nodiscard]] std::string_view stage_name(Stage stage);

}  // namespace rocm_offline
