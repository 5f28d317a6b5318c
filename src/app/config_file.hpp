// --config FILE: TOML whose keys are the long options' names without dashes. The only place that reads TOML.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/core/error.hpp"

namespace CLI {
class App;
}

namespace rocm_offline::app {

// One key of the file. A flag has no values.
struct ConfigEntry {
  std::string key{};
  std::optional<bool> flag{};
  std::vector<std::string> values{};  // scalars as text
  unsigned line = 0;
};
using ConfigEntries = std::vector<ConfigEntry>;  // in the order of keys

// At most 256 KiB. config_invalid names file, line and column.
[[nodiscard]] Result<ConfigEntries> read_config(const std::filesystem::path& file);

// The same as arguments, without what the command line gave already. A key of `plan` or `create` may stand in the file
// of the other; any other unknown key, and a flag where a value belongs or the reverse, is config_invalid.
[[nodiscard]] Result<std::vector<std::string>> config_arguments(const ConfigEntries& entries,
                                                                const std::filesystem::path& file,
                                                                const CLI::App& command, const CLI::App& program);

}  // namespace rocm_offline::app
