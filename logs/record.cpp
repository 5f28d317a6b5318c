#include "record.hpp"

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::logs {

namespace {

constexpr std::string_view schema = "rocm-offline/log/1";

std::string time_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto since_epoch = floor<milliseconds>(time.time_since_epoch());
  const auto millis = static_cast<unsigned>((since_epoch % seconds(1)).count());
  std::string text = format_time(floor<seconds>(since_epoch).count());
  text.pop_back();  // the Z
  const std::string digits = std::to_string(1000 + millis);
  return text + "." + digits.substr(1) + "Z";
}

// A message or field must not be able to begin a new line or to drive the terminal of whoever reads the log.
std::string one_line(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string clean;
  clean.reserve(text.size());
  bool after_c2 = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // U+0080 to U+009F (0xc2 and then 0x80 to 0x9f in UTF-8) are control characters, too.
    const bool c1 = after_c2 && byte >= 0x80 && byte < 0xa0;
    after_c2 = byte == 0xc2;
    if (byte >= 0x20 && byte != 0x7f && !c1) {
      clean.push_back(c);
    } else {
      clean += "\\x";
      clean.push_back(digits[byte >> 4U]);
      clean.push_back(digits[byte & 0x0fU]);
    }
  }
  return clean;
}

nlohmann::json redacted(nlohmann::json value, const Redactor& redactor) {
  if (value.is_string()) {
    return redactor.redact(value.get_ref<const std::string&>());
  }
  for (auto& element : value) {
    element = redacted(std::move(element), redactor);
  }
  return value;
}

std::string field_text(const std::string& value) {
  const bool bare = !value.empty() && value.find_first_of(" \"=") == std::string::npos;
  return bare ? one_line(value) : "\"" + one_line(value) + "\"";
}

void add_indented(std::string& text, std::string_view label, std::string_view value, const Redactor& redactor) {
  if (!value.empty()) {
    text += "\n    " + std::string(label) + " " + one_line(redactor.redact(value));
  }
}

}  // namespace

std::string json_line(const Record& record, const RunIdentity& run, const Redactor& redactor) {
  nlohmann::json fields = nlohmann::json::object();
  for (const auto& [name, value] : record.event.fields) {
    fields[name] = value;
  }
  const nlohmann::json object = {
      {"schema", schema},
      {"time", time_text(record.time)},
      {"run", run.run},
      {"operation", run.operation},
      {"stage", event_stage(record.event.name)},
      {"level", level_name(record.event.level)},
      {"event", record.event.name},
      {"message", redactor.redact(record.event.message)},
      {"fields", fields.empty() ? nlohmann::json(nullptr) : redacted(std::move(fields), redactor)},
      {"error", record.error ? redacted(to_json(*record.error), redactor) : nlohmann::json(nullptr)},
      {"bundle_id", run.bundle_id.empty() ? nlohmann::json(nullptr) : nlohmann::json(run.bundle_id)}};
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string text_lines(const Record& record, const Redactor& redactor) {
  std::string level(level_name(record.event.level));
  level.resize(7, ' ');
  std::string text = time_text(record.time) + " " + level + " " + record.event.name + "  " +
                     one_line(redactor.redact(record.event.message));
  for (const auto& [name, value] : record.event.fields) {
    text += "  " + name + "=" + field_text(redactor.redact(value));
  }
  if (!record.error) {
    return text;
  }
  const Error& error = *record.error;
  add_indented(text, "error:", error.message, redactor);
  add_indented(text, "reason:", error.reason, redactor);
  for (auto frame = error.context.rbegin(); frame != error.context.rend(); ++frame) {
    add_indented(text, "while:", *frame, redactor);
  }
  for (const auto& [name, value] : error.details) {
    add_indented(text, "  " + name + ":", value, redactor);
  }
  for (const Problem& problem : error.problems) {
    add_indented(text, "  -", problem.summary, redactor);
    for (const std::string& link : problem.chain) {
      add_indented(text, "     ", link, redactor);
    }
    add_indented(text, "    help:", problem.help, redactor);
  }
  add_indented(text, "help:", error.help, redactor);
  return text;
}

}  // namespace rocm_offline::logs
