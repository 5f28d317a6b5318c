// The command line of cli.md, by CLI11. The only place that knows CLI11.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "rocm_offline/core/error.hpp"

namespace rocm_offline::app {

// Options of the command line win over those of --config (read_config, applied here). `usage` names the command whose
// help would show the right form.
[[nodiscard]] Result<Invocation> parse_command_line(const std::vector<std::string>& arguments);

// Help of one command, or of the program for "".  `usage` for an unknown command.
[[nodiscard]] Result<std::string> help_text(const std::string& command);

// A completion script, generated from the very same description of commands and options. Shells: bash, zsh, fish.
[[nodiscard]] Result<std::string> completion_script(const std::string& shell);

// True when the arguments ask for JSON, also when they do not parse.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);

}  // namespace rocm_offline::app
