#include "generated_documents.hpp"

#include <map>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::docs {

namespace {

constexpr std::string_view generated = "<!-- Generated from the code by generate_events_doc: do not edit. -->\n";

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string events_page() {
  std::string text = std::string(generated) +
                     "# Events of the logs\n\n"
                     "Each record of a `.jsonl` log (schema `logs/schema/log-record.schema.json`) has one of these\n"
                     "names in `event`. Names are stable: new ones are added, none is renamed.\n";
  std::string_view stage;
  for (const EventName& event : event_names()) {
    if (event_stage(event.name) != stage) {
      stage = event_stage(event.name);
      text += "\n## " + std::string(stage) + "\n\n| event | level | meaning | fields |\n|---|---|---|---|\n";
    }
    std::vector<std::string> fields;
    for (const std::string& field : split(event.fields, ',')) {
      if (!field.empty()) {
        fields.push_back(code(field));
      }
    }
    text += "| " + code(event.name) + " | " + std::string(level_name(event.usual_level)) + " | " +
            std::string(event.meaning) + " | " + join(fields, ", ") + " |\n";
  }
  return text;
}

std::string exit_status_page() {
  std::map<int, std::vector<std::string>> codes;
  for (const ErrorCode error : all_error_codes()) {
    codes[exit_status(error)].push_back(code(error_code_name(error)));
  }
  std::string text = std::string(generated) +
                     "# Exit status\n\n"
                     "`code` of an error in `--json` and in the logs, by the exit status it ends the program with.\n"
                     "0 means done.\n\n| status | codes |\n|---|---|\n";
  for (const auto& [status, names] : codes) {
    text += "| " + std::to_string(status) + " | " + join(names, ", ") + " |\n";
  }
  return text;
}

}  // namespace

std::vector<GeneratedDocument> generated_documents() {
  return {{"docs/events.md", events_page()}, {"docs/exit-status.md", exit_status_page()}};
}

}  // namespace rocm_offline::docs
