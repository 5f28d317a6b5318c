#include "config_file.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

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

bool is_option_of_other_command(const std::string& name, const CLI::App& program) {
  const auto commands = program.get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == "plan" || command->get_name() == "create"; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_option_no_throw(name) != nullptr; });
}

std::string suggestion(const std::string& key, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const auto near = near_names(key, names);
  return near.empty() ? "" : ", but " + join(near, " and ");
}

// AMD's own tool is configured by lines like ROCM_VERSION=6.2: no TOML, and not what this version reads.
bool looks_like_shell_assignments(std::string_view text) {
  for (const std::string& line : split(text, '\n')) {
    const auto end = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (!line.empty() && line.front() != '#') {
      return end != std::string::npos && end > 0 && line[end] == '=';
    }
  }
  return false;
}

}  // namespace

Result<ConfigEntries> read_config(const std::filesystem::path& file) {
  auto text = read_file(Stage::plan, file, max_config_bytes);
  if (!text) {
    return fail(std::move(text).error());
  }
  const toml::parse_result parsed = toml::parse(*text, file.string());
  if (!parsed && looks_like_shell_assignments(*text)) {
    Error error = config_error(file, "it looks like a .config file of AMD's tool, which this version does not read",
                               parsed.error().source());
    error.help = "write a TOML file: " + error.help;
    return fail(std::move(error));
  }
  if (!parsed) {
    return fail(config_error(file, std::string(parsed.error().description()), parsed.error().source()));
  }
  ConfigEntries entries;
  for (const auto& [key, node] : parsed.table()) {
    ConfigEntry entry{.key = std::string(key.str()), .line = node.source().begin.line};
    if (const auto flag = node.value_exact<bool>()) {
      entry.flag = *flag;
    } else if (const auto single = scalar_text(node)) {
      entry.values.push_back(*single);
    } else if (const toml::array* list = node.as_array()) {
      for (const toml::node& element : *list) {
        const auto value = scalar_text(element);
        if (!value) {
          return fail(
              config_error(file, "'" + entry.key + "' holds something else than text and numbers", element.source()));
        }
        entry.values.push_back(*value);
      }
    } else {
      return fail(config_error(file, "'" + entry.key + "' is no text, number, flag or list", node.source()));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<std::string>> config_arguments(const ConfigEntries& entries, const std::filesystem::path& file,
                                                  const CLI::App& command, const CLI::App& program) {
  const auto refused = [&](const ConfigEntry& entry, const std::string& reason) {
    Error error = config_error(file, reason, {});
    error.details.erase("column");
    error.details["line"] = std::to_string(entry.line);
    return fail(std::move(error));
  };
  std::vector<std::string> arguments;
  for (const ConfigEntry& entry : entries) {
    const std::string name = "--" + entry.key;
    const CLI::Option* option = command.get_option_no_throw(name);
    option = option != nullptr ? option : program.get_option_no_throw(name);
    if (entry.key == "config" || entry.key == "help") {
      return refused(entry, "'" + entry.key + "' has its place on the command line only");
    }
    if (option == nullptr && is_option_of_other_command(name, program)) {
      continue;  // one file for plan and create
    }
    if (option == nullptr) {
      return refused(entry, "there is no option '" + entry.key + "'" + suggestion(entry.key, command));
    }
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag != entry.flag.has_value()) {
      return refused(entry, "'" + entry.key + "' is " + (is_flag ? "true or false" : "no flag: it needs a value"));
    }
    // Options win over the file, also where several values are possible.
    if (option->count() > 0) {
      continue;
    }
    if (entry.flag.value_or(false)) {
      arguments.push_back(name);
    }
    for (const std::string& value : entry.values) {
      arguments.push_back(name + "=" + value);
    }
  }
  return arguments;
}

}  // namespace rocm_offline::app
