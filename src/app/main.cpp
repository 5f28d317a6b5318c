// The creator: reads the command line, runs one command, ends with the exit status of cli.md.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "commands/commands.hpp"
#include "rocm_offline/core/version.hpp"
#include "session.hpp"

namespace rocm_offline::app {

namespace {

int print_help(const Invocation& invocation) {
  auto text = help_text(invocation.word);
  if (!text) {
    return ui::refuse(text.error(), invocation.global.json);
  }
  return invocation.global.json ? ui::present_json({{"schema", "rocm-offline/help/1"}, {"text", *text}})
                                : ui::present(*text);
}

int print_completion(const Invocation& invocation) {
  auto script = completion_script(invocation.word);
  if (!script) {
    return ui::refuse(script.error(), invocation.global.json);
  }
  return invocation.global.json
             ? ui::present_json(
                   {{"schema", "rocm-offline/completion/1"}, {"shell", invocation.word}, {"script", *script}})
             : ui::present(*script);
}

int print_version(bool json) {
  const std::string version(program_version());
  return json ? ui::present_json({{"schema", "rocm-offline/version/1"}, {"version", version}})
              : ui::present("rocm-offline-creator " + version + "\n");
}

int refuse_nothing(bool json) {
  if (json) {
    return ui::refuse({.code = ErrorCode::usage,
                       .stage = Stage::ui,
                       .message = "no command is given",
                       .reason = "--json prints the result of a command",
                       .help = "rocm-offline-creator help lists the commands"},
                      json);
  }
  auto help = help_text("");
  std::fputs(help ? help->c_str() : "", stderr);
  return exit_status(ErrorCode::usage);
}

int run_command(const Invocation& invocation) {
  Session session(invocation, install_signal_handlers(SecondSignal::ends_at_once));
  if (auto opened = session.open_log(); !opened) {
    return session.console().failed(opened.error(), document_schema(invocation.command));
  }
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
    return ui::refuse(invocation.error(), json);
  }
  switch (invocation->command) {
    case Command::none:
      return refuse_nothing(json);
    case Command::help:
      return print_help(*invocation);
    case Command::completion:
      return print_completion(*invocation);
    case Command::version:
      return print_version(json);
    default:
      return run_command(*invocation);
  }
}

}  // namespace

}  // namespace rocm_offline::app

int main(int argc, char** argv) {
  rocm_offline::hold_standard_streams();
  try {
    return rocm_offline::app::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& bug) {
    return rocm_offline::ui::report_bug(bug);
  }
}
