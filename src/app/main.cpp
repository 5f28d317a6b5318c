// The creator: reads the command line, runs one command, ends with the exit status of cli.md.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands/commands.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/core/version.hpp"
#include "session.hpp"

namespace rocm_offline::app {

namespace {

// Before a session exists: the command line itself is wrong.
int refuse(const Error& error, bool json) {
  if (json) {
    const nlohmann::json document = {{"schema", "rocm-offline/error/1"}, {"error", to_json(error)}};
    std::puts(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  std::fputs(ui::render_error(error, ui::wants_color(ui::Color::automatic, 2)).c_str(), stderr);
  return exit_status(error.code);
}

int print_or_refuse(const Result<std::string>& text, bool json) {
  if (!text) {
    return refuse(text.error(), json);
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

int print_version(bool json) {
  if (json) {
    const nlohmann::json document = {{"schema", "rocm-offline/version/1"}, {"version", program_version()}};
    std::puts(document.dump(2).c_str());
  } else {
    std::puts(("rocm-offline-creator " + std::string(program_version())).c_str());
  }
  return 0;
}

int run_command(const Invocation& invocation) {
  Session session(invocation, install_signal_handlers());
  switch (invocation.command) {
    case Command::check:
      return run_check(invocation, session);
    case Command::targets:
    case Command::releases:
    case Command::usecases:
      return run_list(invocation, session);
    case Command::plan:
      return run_plan(invocation, session);
    case Command::create:
      return run_create(invocation, session);
    case Command::inspect:
      return run_inspect(invocation, session);
    case Command::verify:
      return run_verify(invocation, session);
    case Command::extract:
      return run_extract(invocation, session);
    case Command::diff:
      return run_diff(invocation, session);
    case Command::none:
    case Command::completion:
    case Command::help:
    case Command::version:
      break;
  }
  return exit_status(ErrorCode::internal);
}

int run(const std::vector<std::string>& arguments) {
  const bool json = wants_json(arguments);
  auto invocation = parse_command_line(arguments);
  if (!invocation) {
    return refuse(invocation.error(), json);
  }
  switch (invocation->command) {
    case Command::none: {
      auto help = help_text("");
      std::fputs(help ? help->c_str() : "", stderr);
      return exit_status(ErrorCode::usage);
    }
    case Command::help:
      return print_or_refuse(help_text(invocation->word), json);
    case Command::completion:
      return print_or_refuse(completion_script(invocation->word), json);
    case Command::version:
      return print_version(json);
    default:
      return run_command(*invocation);
  }
}

}  // namespace

}  // namespace rocm_offline::app

int main(int argc, char** argv) {
  try {
    return rocm_offline::app::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& bug) {
    // Exceptions mean bugs: say so, and how to report it.
    const rocm_offline::Error error{
        .code = rocm_offline::ErrorCode::internal,
        .stage = rocm_offline::Stage::ui,
        .message = "the program met a condition that it does not expect",
        .reason = bug.what(),
        .help = "this is a bug of ours: please report it with the command line and the log"};
    std::fputs(rocm_offline::ui::render_error(error, false).c_str(), stderr);
    return rocm_offline::exit_status(error.code);
  }
}
