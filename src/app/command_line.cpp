#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>

#include "config_file.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"

namespace rocm_offline::app {

namespace {

constexpr const char* program = "rocm-offline-creator";

const std::map<std::string, Level>& levels() {
  static const std::map<std::string, Level> names = {
      {"debug", Level::debug}, {"info", Level::info}, {"warning", Level::warning}, {"error", Level::error}};
  return names;
}

const std::map<std::string, ui::Color>& colors() {
  static const std::map<std::string, ui::Color> names = {
      {"auto", ui::Color::automatic}, {"always", ui::Color::always}, {"never", ui::Color::never}};
  return names;
}

// An option whose words stand for the values of an enumeration.
template <class T>
void add_named(CLI::App& cli, const std::string& name, T& value, const std::map<std::string, T>& words,
               const std::string& type, const std::string& description) {
  std::vector<std::string> names;
  for (const auto& [word, meaning] : words) {
    names.push_back(word);
  }
  cli.add_option_function<std::string>(
         name, [&value, &words](const std::string& word) { value = words.at(word); }, description)
      ->type_name(type)
      ->check(CLI::IsMember(names));
}

void add_global_options(CLI::App& cli, GlobalOptions& global) {
  cli.add_flag("--json", global.json, "print one JSON document on standard output and nothing else");
  cli.add_option("--log-dir", global.log_dir, "folder of the log files")->type_name("DIR");
  add_named<Level>(cli, "--log-level", global.log_level, levels(), "L", "least level written to the log");
  cli.add_flag("-v,--verbose", global.verbose, "say more: debug events too");
  cli.add_flag("-q,--quiet", global.quiet, "warnings and errors only");
  add_named<ui::Color>(cli, "--color", global.color, colors(), "WHEN", "colour on a terminal, always, or never");
  cli.add_option("--catalog", global.catalogs, "folder with catalogue files that extend or replace ours; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  cli.add_option("--cache-dir", global.cache_dir, "folder of the verified indexes")->type_name("DIR");
}

// A repeatable option that takes one argument each time.
template <class T>
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<T>& values, const std::string& type,
                            const std::string& description) {
  return command.add_option(name, values, description + "; repeatable")->type_name(type)->allow_extra_args(false);
}

void add_selection(CLI::App& command, SelectionOptions& s) {
  const std::string what = "What to install";
  const std::string from = "Where from";
  const std::string trust = "Trust";
  const std::string transfer = "Transfers";
  add_repeatable(command, "--target", s.targets, "ID", "target, <ID>-<VERSION_ID> of os-release: debian-13")
      ->group(what);
  command.add_option("--release", s.release, "ROCm release; distro is ROCm as the distribution packages it")
      ->type_name("R")
      ->group(what);
  add_repeatable(command, "--usecase", s.usecases, "A,B", "use cases, see `usecases`")->delimiter(',')->group(what);
  add_repeatable(command, "--package", s.packages, "NAME[=VERSION]", "a package by name")->delimiter(',')->group(what);
  command.add_flag("--driver", s.driver, "the kernel driver too; no release of this version has one")->group(what);
  add_repeatable(command, "--kernel", s.kernels, "K", "a full `uname -r` of the target, checked and recorded")
      ->group(what);
  command.add_option("--deps", s.deps, "full: everything beyond an empty system, the only one of this version")
      ->type_name("MODE")
      ->check(CLI::IsMember({"full", "minimum"}))
      ->group(what);
  command.add_flag("--recommends", s.recommends, "Recommends too")->group(what);
  command.add_option("--treat-as", s.treat_as, "take a derivative as this target; recorded")
      ->type_name("ID")
      ->group(what);
  command.add_option("--gpu-access", s.gpu_access, "who may use the GPU after the install: a user's name, or all")
      ->type_name("USER|all")
      ->group(what);
  command.add_option("--config", s.config, "TOML file with these options' names")->type_name("FILE")->group(what);

  add_repeatable(command, "--mirror", s.mirrors, "NAME=URL[,URL]",
                 "base URL of a repository or group; commas: failover")
      ->group(from);
  command.add_flag("--mirrors-from-host", s.mirrors_from_host, "the base URLs that this host's package manager uses")
      ->group(from);
  add_repeatable(command, "--repo", s.repos, "FILE.json", "a further repository")->group(from);

  add_repeatable(command, "--keyring", s.keyrings, "[NAME=]FILE", "OpenPGP keys for --repo files, or for NAME")
      ->group(trust);
  add_repeatable(command, "--allow-unsigned", s.allow_unsigned, "NAME", "take this repository unsigned; recorded")
      ->group(trust);
  add_repeatable(command, "--allow-expired", s.allow_expired, "NAME",
                 "take this repository past its Valid-Until; recorded")
      ->group(trust);
  add_repeatable(command, "--allow-rollback", s.allow_rollback, "NAME",
                 "take this repository older than last seen; recorded")
      ->group(trust);
  command.add_option("--trust", s.trust, "full: the signed indexes travel in /trust/ (default); none")
      ->type_name("MODE")
      ->check(CLI::IsMember({"full", "none"}))
      ->group(trust);
  command.add_option("--sign-key", s.sign_key, "Ed25519 private key (PEM) of this site; signs the bundle's manifest")
      ->type_name("FILE")
      ->group(trust);
  command.add_option("--lock", s.lock, "write the whole resolution to this file")->type_name("FILE")->group(what);
  command.add_flag("--locked", s.locked, "read it from the --lock file instead, and refuse to deviate")->group(what);

  command.add_option("--proxy", s.proxy, "proxy URL, empty for none (else http_proxy, https_proxy, no_proxy)")
      ->type_name("URL")
      ->group(transfer);
  command.add_option("--cacert", s.cacert, "certificate authorities to trust for https (PEM)")
      ->type_name("FILE")
      ->group(transfer);
  add_repeatable(command, "--client-cert", s.client_certs, "NAME=FILE", "client certificate and key (PEM) for a group")
      ->group(transfer);
  command.add_option("--retries", s.retries, "tries again after a failed transfer")
      ->type_name("N")
      ->check(CLI::Range(0, 100))
      ->capture_default_str()
      ->group(transfer);
  command.add_option("--timeout", s.timeout, "seconds without a byte until a transfer counts as stalled")
      ->type_name("S")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str()
      ->group(transfer);
}

struct CommandRow {
  Command command;
  const char* name;
  const char* description;
  const char* examples;
};

constexpr std::array command_rows = {
    CommandRow{
        Command::check, "check", "Check a target, an image or this host against the releases",
        "Examples:\n  rocm-offline-creator check\n  rocm-offline-creator check --target debian-13 --release distro\n"
        "  rocm-offline-creator check --root /srv/image --json"},
    CommandRow{Command::targets, "targets", "List the targets",
               "Examples:\n  rocm-offline-creator targets\n  rocm-offline-creator targets --release distro"},
    CommandRow{Command::releases, "releases", "List the ROCm releases",
               "Examples:\n  rocm-offline-creator releases\n  rocm-offline-creator releases --target debian-13"},
    CommandRow{Command::usecases, "usecases", "List the use cases of a release",
               "Examples:\n  rocm-offline-creator usecases --release distro --target debian-13"},
    CommandRow{Command::plan, "plan", "Show what create would download, and why; downloads only the indexes",
               "Examples:\n  rocm-offline-creator plan --release distro --target debian-13 --usecase hip\n"
               "  rocm-offline-creator plan --release distro --target debian-13 --package rocminfo --json"},
    CommandRow{Command::create, "create", "Download and write the bundle",
               "Examples:\n  rocm-offline-creator create --release distro --target debian-13 --usecase hip\n"
               "  rocm-offline-creator create --release distro --target debian-13 --usecase rocm \\\n"
               "      --mirror debian=http://mirror.example/debian -o rocm.run"},
    CommandRow{Command::inspect, "inspect", "Show what a bundle holds",
               "Examples:\n  rocm-offline-creator inspect rocm-offline-install.run\n"
               "  rocm-offline-creator inspect --json rocm-offline-install.run"},
    CommandRow{Command::verify, "verify", "Check every byte of a bundle",
               "Examples:\n  rocm-offline-creator verify rocm-offline-install.run\n"
               "  rocm-offline-creator verify --chain --verify-key site.pub rocm-offline-install.run"},
    CommandRow{Command::extract, "extract", "Write the tree of a bundle into an absent or empty folder",
               "Examples:\n  rocm-offline-creator extract rocm-offline-install.run /srv/www/rocm"},
    CommandRow{
        Command::diff, "diff", "Compare the packages of two bundles or lock files",
        "Examples:\n  rocm-offline-creator diff old.run new.run\n  rocm-offline-creator diff --json old.lock new.run"},
    CommandRow{Command::completion, "completion", "Print a completion script for bash, zsh or fish",
               "Examples:\n  rocm-offline-creator completion bash > ~/.local/share/bash-completion/completions/"
               "rocm-offline-creator"},
    CommandRow{Command::help, "help", "Print help, of a command too", "Examples:\n  rocm-offline-creator help create"},
    CommandRow{Command::version, "version", "Print the version", ""},
};

void add_arguments(CLI::App& command, Command which, Invocation& invocation) {
  switch (which) {
    case Command::check:
      command.add_option("--target", invocation.check.target, "a target by its id")->type_name("ID");
      command.add_option("--root", invocation.check.root, "an image's root folder")->type_name("DIR");
      command.add_option("--kernel", invocation.check.kernel, "a full `uname -r`")->type_name("K");
      command.add_option("--release", invocation.check.release, "the release that is to be installed")->type_name("R");
      break;
    case Command::targets:
    case Command::releases:
    case Command::usecases:
      command.add_option("--release", invocation.list.release, "only what this release has")->type_name("R");
      command.add_option("--target", invocation.list.target, "only what this target has")->type_name("ID");
      break;
    case Command::plan:
      add_selection(command, invocation.selection);
      break;
    case Command::create:
      add_selection(command, invocation.selection);
      command.add_option("-o,--output", invocation.create.output, "the file to write")
          ->type_name("FILE.run")
          ->capture_default_str();
      add_repeatable(command, "--reuse", invocation.create.reuse, "PATH",
                     "take packages from an older bundle or a folder");
      command.add_option("--jobs", invocation.create.jobs, "transfers at once")
          ->type_name("N")
          ->check(CLI::Range(1, 64))
          ->capture_default_str();
      break;
    case Command::inspect:
    case Command::verify:
      command.add_option("file", invocation.file.file, "the bundle")->type_name("FILE.run")->required();
      if (which == Command::verify) {
        command
            .add_option("--verify-key", invocation.file.verify_key,
                        "Ed25519 public key (PEM) that must have signed the bundle")
            ->type_name("FILE");
        command.add_flag("--chain", invocation.file.chain, "also link each package to upstream's signature");
      }
      break;
    case Command::extract:
      command.add_option("file", invocation.file.file, "the bundle")->type_name("FILE.run")->required();
      command.add_option("directory", invocation.file.directory, "an absent or empty folder")
          ->type_name("DIR")
          ->required();
      break;
    case Command::diff:
      command.add_option("old", invocation.diff.before, "a bundle or lock file")->type_name("OLD")->required();
      command.add_option("new", invocation.diff.after, "a bundle or lock file")->type_name("NEW")->required();
      break;
    case Command::completion:
      command.add_option("shell", invocation.word, "bash, zsh or fish")
          ->type_name("SHELL")
          ->required()
          ->check(CLI::IsMember({"bash", "zsh", "fish"}));
      break;
    case Command::help:
      command.add_option("command", invocation.word, "a command")->type_name("COMMAND");
      break;
    case Command::version:
    case Command::none:
      break;
  }
}

// An empty value is a shell variable that was not set: never what was meant, and an empty path would be this folder.
void refuse_empty_values(CLI::App& command) {
  const CLI::Validator not_empty(
      [](const std::string& value) { return value.empty() ? std::string("the value is empty") : std::string(); }, "");
  for (CLI::Option* option : command.get_options({})) {
    // An empty proxy is a word of its own: none, whatever the environment says.
    if (option->get_items_expected_max() > 0 && !option->check_lname("proxy")) {
      option->check(not_empty);
    }
  }
}

// The whole description; parsing, help and completion all start from it.
std::unique_ptr<CLI::App> describe(Invocation& invocation) {
  auto cli = std::make_unique<CLI::App>("Builds one file that installs ROCm on machines without a network", program);
  cli->set_help_flag("-h,--help", "print help");
  cli->set_version_flag("--version", std::string(program_version()), "print the version");
  cli->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  cli->require_subcommand(0, 1);
  add_global_options(*cli, invocation.global);
  cli->footer(
      "Start here:\n  rocm-offline-creator usecases --release distro --target debian-13\n"
      "  rocm-offline-creator create --release distro --target debian-13 --usecase hip\n\n"
      "`help COMMAND` shows a command's options. Exit status: 0 done, 2 usage, 3 a check refuses, 4 unsolvable,\n"
      "5 transfer, 6 bundle damaged, 7 package manager, 8 no space, 9 trust, 130 interrupted.");
  for (const CommandRow& row : command_rows) {
    CLI::App* command = cli->add_subcommand(row.name, row.description);
    command->fallthrough();
    command->footer(row.examples);
    command->callback([&invocation, which = row.command] { invocation.command = which; });
    add_arguments(*command, row.command, invocation);
    refuse_empty_values(*command);
  }
  refuse_empty_values(*cli);
  return cli;
}

Error usage_error(std::string reason, const std::string& command) {
  return {.code = ErrorCode::usage,
          .stage = Stage::ui,
          .message = "the command line is not understood",
          .reason = std::move(reason),
          .help = std::string(program) + " help" + (command.empty() ? "" : " " + command) + " shows the right form"};
}

std::string chosen_command(const CLI::App& cli) {
  const auto chosen = cli.get_subcommands();
  return chosen.empty() ? "" : chosen.front()->get_name();
}

// Long options of a command and of the program, for completion.
std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// Known options near the first unknown one.
std::vector<std::string> near_options(const std::vector<std::string>& arguments, const CLI::App& cli,
                                      const std::string& command) {
  std::vector<std::string> known = long_options(cli);
  if (!command.empty()) {
    const auto own = long_options(*cli.get_subcommand(command));
    known.insert(known.end(), own.begin(), own.end());
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (name.starts_with("--") && std::find(known.begin(), known.end(), name) == known.end()) {
      return near_names(name, known);
    }
  }
  return {};
}

}  // namespace

bool wants_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

Result<Invocation> parse_command_line(const std::vector<std::string>& arguments) {
  Invocation invocation;
  invocation.arguments = arguments;
  const auto cli = describe(invocation);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    cli->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    invocation.command = Command::help;
    invocation.word = chosen_command(*cli);
    return invocation;
  } catch (const CLI::CallForVersion&) {
    invocation.command = Command::version;
    return invocation;
  } catch (const CLI::ExtrasError& problem) {
    // An unknown first word is a command that does not exist: name those that come near.
    std::vector<std::string> names;
    for (const CommandRow& row : command_rows) {
      names.emplace_back(row.name);
    }
    const std::string command = chosen_command(*cli);
    const auto first =
        std::find_if(arguments.begin(), arguments.end(), [](const std::string& a) { return !a.starts_with('-'); });
    if (command.empty() && first != arguments.end()) {
      const auto near = near_names(*first, names);
      Error error = usage_error("there is no command '" + *first + "'", "");
      if (!near.empty()) {
        error.help = "did you mean " + join(near, " or ") + "? " + error.help;
      }
      return fail(std::move(error));
    }
    // The library names what is left over in an order of its own.
    std::vector<std::string> extra = cli->remaining(true);
    std::stable_sort(extra.begin(), extra.end(), [&](const std::string& a, const std::string& b) {
      return std::find(arguments.begin(), arguments.end(), a) < std::find(arguments.begin(), arguments.end(), b);
    });
    Error error = usage_error("not expected: " + join(extra, " "), command);
    if (const auto near = near_options(arguments, *cli, command); !near.empty()) {
      error.help = "did you mean " + join(near, " or ") + "? " + error.help;
    }
    return fail(std::move(error));
  } catch (const CLI::ParseError& problem) {
    return fail(usage_error(ui::usage_problem(problem.what()), chosen_command(*cli)));
  }
  if (invocation.selection.config) {
    // Options win over the file: the file is parsed first, then the command line again on top of it.
    auto from_file = read_config(*invocation.selection.config);
    if (!from_file) {
      return fail(std::move(from_file).error());
    }
    const std::string command = chosen_command(*cli);
    auto united = config_arguments(*from_file, *invocation.selection.config, *cli->get_subcommand(command), *cli);
    if (!united) {
      return fail(std::move(united).error());
    }
    if (united->empty()) {
      return invocation;
    }
    std::vector<std::string> all = {command};
    all.insert(all.end(), united->begin(), united->end());
    bool seen_command = false;
    for (const std::string& argument : arguments) {
      if (!seen_command && argument == command) {
        seen_command = true;
        continue;
      }
      all.push_back(argument);
    }
    Invocation again;
    again.arguments = arguments;
    const auto second = describe(again);
    std::reverse(all.begin(), all.end());
    try {
      second->parse(all);
    } catch (const CLI::ParseError& problem) {
      Error error = usage_error(problem.what(), command);
      error.code = ErrorCode::config_invalid;
      error.message = "the configuration file is not understood";
      error.details["path"] = invocation.selection.config->string();
      return fail(std::move(error));
    }
    return again;
  }
  return invocation;
}

Result<std::string> help_text(const std::string& command) {
  Invocation unused;
  const auto cli = describe(unused);
  if (command.empty()) {
    return cli->help();
  }
  try {
    return cli->get_subcommand(command)->help(program);
  } catch (const CLI::OptionNotFound&) {
    return fail(usage_error("there is no command '" + command + "'", ""));
  }
}

Result<std::string> completion_script(const std::string& shell) {
  Invocation unused;
  const auto cli = describe(unused);
  const std::vector<std::string> global = long_options(*cli);
  std::string names;
  std::string cases;
  std::string fish;
  for (const CLI::App* command : cli->get_subcommands(nullptr)) {
    auto options = long_options(*command);
    options.insert(options.end(), global.begin(), global.end());
    names += (names.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") words=\"" + join(options, " ") + "\" ;;\n";
    fish += std::string("complete -c ") + program + " -n __fish_use_subcommand -a " + command->get_name() + " -d '" +
            command->get_description() + "'\n";
    for (const std::string& option : options) {
      fish += std::string("complete -c ") + program + " -n '__fish_seen_subcommand_from " + command->get_name() +
              "' -l " + option.substr(2) + "\n";
    }
  }
  if (shell == "fish") {
    return fish;
  }
  // zsh runs the same function through its bash compatibility.
  const std::string prologue =
      shell == "zsh" ? "#compdef rocm-offline-creator\nautoload -U +X bashcompinit && bashcompinit\n" : "";
  return prologue +
         "_rocm_offline_creator() {\n  local words command=\"\" word\n  local current=\"${COMP_WORDS[COMP_CWORD]}\"\n" +
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$word\" in -*) ;; *) command=\"$word\"; "
         "break ;; esac\n" +
         "  done\n  case \"$command\" in\n    \"\") words=\"" + names + " " + join(global, " ") + "\" ;;\n" + cases +
         "    *) words=\"\" ;;\n  esac\n" + "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n" +
         "  case \"$current\" in -*) ;; *) COMPREPLY+=($(compgen -f -- \"$current\")) ;; esac\n}\n" +
         "complete -o filenames -F _rocm_offline_creator rocm-offline-creator\n";
}

}  // namespace rocm_offline::app
