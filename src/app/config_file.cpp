#include "config_file.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <CLI/CLI.hpp>

#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::app {

namespace {

constexpr std::uint64_t max_config_bytes = 256U << 10U;

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) {
    return *text;
  }
  if (const auto number = node.value_exact<std::int64_t>()) {
    return std::to_string(*number);
  }
  return std::nullopt;
}

Error config_error(const std::filesystem::path& file, const std::string& reason, const toml::source_region& where) {
  return {.code = ErrorCode::config_invalid,
          .stage = Stage::plan,
          .message = "the configuration file is not understood",
          .reason = reason,
          .details = {{"path", file.string()},
                      {"line", std::to_string(where.begin.line)},
                      {"column", std::to_string(where.begin.column)}},
          .help = "keys are the options' names, as in `release = \"distro\"` and `target = [\"debian-13\"]`"};
}

}  // namespace

Result<ConfigEntries> read_config(const std::filesystem::path& file) {
  auto text = read_file(Stage::plan, file, max_config_bytes);
  if (!text) {
    return fail(std::move(text).error());
  }
  const toml::parse_result parsed = toml::parse(*text, file.string());
  if (!parsed) {
    return fail(config_error(file, std::string(parsed.error().description()), parsed.error().source()));
  }
  ConfigEntries entries;
  for (const auto& [key, node] : parsed.table()) {
    std::vector<std::string> values;
    if (const auto flag = node.value_exact<bool>()) {
      if (!*flag) {
        continue;
      }
    } else if (const auto single = scalar_text(node)) {
      values.push_back(*single);
    } else if (const toml::array* list = node.as_array()) {
      for (const toml::node& element : *list) {
        const auto value = scalar_text(element);
        if (!value) {
          return fail(config_error(file, "'" + std::string(key.str()) + "' holds something else than text and numbers",
                                   element.source()));
        }
        values.push_back(*value);
      }
    } else {
      return fail(
          config_error(file, "'" + std::string(key.str()) + "' is no text, number, flag or list", node.source()));
    }
    entries.emplace_back(std::string(key.str()), std::move(values));
  }
  return entries;
}

std::vector<std::string> config_arguments(const ConfigEntries& entries, const CLI::App& command,
                                          const CLI::App& program) {
  std::vector<std::string> arguments;
  for (const auto& [key, values] : entries) {
    const std::string name = "--" + key;
    const CLI::Option* option = command.get_option_no_throw(name);
    option = option != nullptr ? option : program.get_option_no_throw(name);
    // Options win over the file, also where several values are possible.
    if (option != nullptr && option->count() > 0) {
      continue;
    }
    if (values.empty()) {
      arguments.push_back(name);
    }
    for (const std::string& value : values) {
      arguments.push_back(name + "=" + value);
    }
  }
  return arguments;
}

}  // namespace rocm_offline::app
