// One event of a run, and its two written forms.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/logs/logger.hpp"

namespace rocm_offline::logs {

struct Record {
  std::chrono::system_clock::time_point time;
  Event event;
  std::optional<Error> error;
};

// What is the same for every record of a run.
struct RunIdentity {
  std::string run;        // 8 hex digits
  std::string operation;  // create, install, ...
  std::string bundle_id;  // empty until it is known
};

// One JSON object in one line, schema rocm-offline/log/1 (logs/schema/log-record.schema.json); unused keys are null.
[[nodiscard]] std::string json_line(const Record& record, const RunIdentity& run, const Redactor& redactor);
// "2026-12-01T00:43:32.123Z info     repos.release.verified  message  key=value"; an error follows as indented lines.
[[nodiscard]] std::string text_lines(const Record& record, const Redactor& redactor);

}  // namespace rocm_offline::logs
