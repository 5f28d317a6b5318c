// --config FILE: TOML whose keys are the long options' names without dashes. The only place that reads TOML.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "rocm_offline/core/error.hpp"

namespace CLI {
class App;
}

namespace rocm_offline::app {

// Key and its values, in the file's order of keys. Scalars become text; true is an empty list (a flag), false is left
// out. At most 256 KiB.
using ConfigEntries = std::vector<std::pair<std::string, std::vector<std::string>>>;

// config_invalid names file, line and column.
[[nodiscard]] Result<ConfigEntries> read_config(const std::filesystem::path& file);

// The same as arguments; a key that the command line gave already is left out when the option is not repeatable there.
[[nodiscard]] std::vector<std::string> config_arguments(const ConfigEntries& entries, const CLI::App& command,
                                                        const CLI::App& program);

}  // namespace rocm_offline::app
