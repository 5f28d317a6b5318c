#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/user_name.hpp"

namespace rocm_offline::runner {

namespace {

constexpr std::array<std::string_view, 11> word_names = {"install",   "check", "verify", "list", "extract", "status",
                                                         "uninstall", "logs",  "notes",  "help", "version"};

Error usage(std::string message, std::string reason) {
  return {.code = ErrorCode::usage,
          .stage = Stage::ui,
          .message = std::move(message),
          .reason = std::move(reason),
          .help = "FILE.run help lists the words and options"};
}

std::vector<std::string> known_words() {
  std::vector<std::string> words(word_names.begin(), word_names.end());
  words.insert(words.end(), {"dryrun", "prompt"});
  return words;
}

// "--dryrun", "--dry-run", "--verify": the word.
std::optional<std::string> word_of(std::string argument) {
  if (argument.starts_with("--")) {
    argument.erase(0, 2);
  }
  if (argument == "dry-run") {
    argument = "dryrun";
  }
  if (argument == "-h") {
    argument = "help";
  }
  const std::vector<std::string> words = known_words();
  return std::find(words.begin(), words.end(), argument) != words.end() ? std::optional(argument) : std::nullopt;
}

const std::vector<std::string>& options_with_value() {
  static const std::vector<std::string> names = {"--bundle",         "--root",       "--log-dir",   "--work-dir",
                                                 "--log-level",      "--color",      "--treat-as",  "--sha256",
                                                 "--allow-mismatch", "--gpu-access", "--verify-key"};
  return names;
}

struct Separated {
  std::vector<std::string> words;
  std::vector<std::string> options;
  std::optional<std::string> folder;  // of extract
};

// CLI11 gets the options only: words can stand anywhere, and the value of an option is never taken for a word.
Result<Separated> separate(const std::vector<std::string>& arguments) {
  Separated parts;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto& valued = options_with_value();
    if (std::find(valued.begin(), valued.end(), argument) != valued.end()) {
      parts.options.push_back(argument);
      if (i + 1 < arguments.size()) {
        parts.options.push_back(arguments[++i]);
      }
    } else if (argument.starts_with("--extract=")) {
      parts.words.emplace_back("extract");
      parts.folder = argument.substr(std::string_view("--extract=").size());
    } else if (auto word = word_of(argument)) {
      parts.words.push_back(*word);
      const bool takes_folder = *word == "extract" && i + 1 < arguments.size() && !arguments[i + 1].starts_with("-");
      if (takes_folder) {
        parts.folder = arguments[++i];
      }
    } else if (argument.starts_with("-")) {
      parts.options.push_back(argument);
    } else {
      Error error = usage("unknown word '" + argument + "'", "there are " + join(known_words(), ", "));
      if (const auto near = near_names(argument, known_words()); !near.empty()) {
        error.help = "did you mean " + join(near, " or ") + "? " + error.help;
      }
      return fail(std::move(error));
    }
  }
  return parts;
}

Result<Done> take_words(const Separated& parts, CommandLine& line) {
  std::optional<std::string> chosen;
  for (const std::string& word : parts.words) {
    if (word == "dryrun") {
      line.dryrun = true;
    } else if (word == "prompt") {
      line.prompt = true;
    } else if (word == "help" || chosen == "help") {
      chosen = "help";  // FILE.run install --help
    } else if (chosen && *chosen != word) {
      return fail(usage("more than one word: " + *chosen + " and " + word, "each run does one thing"));
    } else {
      chosen = word;
    }
  }
  const auto found = std::find(word_names.begin(), word_names.end(), chosen.value_or("install"));
  line.word = static_cast<Word>(found - word_names.begin());
  if (line.dryrun && line.word != Word::install && line.word != Word::uninstall && line.word != Word::help) {
    return fail(usage("dryrun goes with install or uninstall only",
                      std::string(word_name(line.word)) + " changes nothing anyway"));
  }
  if (line.word == Word::extract && !parts.folder) {
    return fail(usage("extract needs a folder", "extract DIR writes the image's tree into an absent or empty folder"));
  }
  if (parts.folder) {
    line.extract_to = *parts.folder;
  }
  return Done{};
}

Result<Done> take_mismatches(const std::vector<std::string>& values, CommandLine& line) {
  for (const std::string& value : values) {
    if (value == "kernel") {
      line.allow_kernel_mismatch = true;
    } else if (value == "version") {
      line.allow_version_mismatch = true;
    } else {
      return fail(usage("unknown value of --allow-mismatch: " + value, "there are kernel and version"));
    }
  }
  return Done{};
}

}  // namespace

std::string_view word_name(Word word) {
  return word_names.at(static_cast<std::size_t>(word));
}

bool wants_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  auto parts = separate(arguments);
  if (!parts) {
    return fail(std::move(parts).error());
  }
  CommandLine line;
  // As it was typed: the first two are the stub's.
  line.arguments = arguments;
  if (line.arguments.size() >= 2 && line.arguments[0] == "--bundle") {
    line.arguments.erase(line.arguments.begin(), line.arguments.begin() + 2);
  }
  if (auto words = take_words(*parts, line); !words) {
    return fail(std::move(words).error());
  }
  static const std::map<std::string, Level> levels = {
      {"debug", Level::debug}, {"info", Level::info}, {"warning", Level::warning}, {"error", Level::error}};
  static const std::map<std::string, ui::Color> colors = {
      {"auto", ui::Color::automatic}, {"always", ui::Color::always}, {"never", ui::Color::never}};
  std::string sha256;
  std::vector<std::string> mismatches;
  bool yes = false;  // never asking is the default; accepted everywhere
  CLI::App app;
  app.set_help_flag();
  app.allow_windows_style_options(false);
  app.add_option("--bundle", line.bundle);
  app.add_option("--root", line.root);
  app.add_option("--log-dir", line.log_dir);
  app.add_option("--work-dir", line.work_dir);
  app.add_option("--log-level", line.log_level)->transform(CLI::CheckedTransformer(levels));
  app.add_option("--color", line.color)->transform(CLI::CheckedTransformer(colors));
  app.add_option("--treat-as", line.treat_as);
  app.add_option("--sha256", sha256);
  app.add_option("--verify-key", line.verify_key);
  app.add_option("--allow-mismatch", mismatches)->delimiter(',')->expected(1)->take_all();
  app.add_option("--gpu-access", line.gpu_access);
  app.add_flag("--json", line.json);
  app.add_flag("--yes,-y", yes);
  app.add_flag("-v,--verbose", line.verbose);
  app.add_flag("-q,--quiet", line.quiet);
  app.add_flag("--no-mount", line.no_mount);
  app.add_flag("--chain", line.chain);
  app.add_flag("--allow-removals", line.allow_removals);
  app.add_flag("--allow-downgrades", line.allow_downgrades);
  app.add_flag("--purge", line.purge);
  app.add_flag("--no-post-install", line.no_post_install);
  // An empty value is a shell variable that was not set: never what was meant, and an empty --root would be this
  // machine.
  const CLI::Validator not_empty(
      [](const std::string& value) { return value.empty() ? std::string("the value is empty") : std::string(); }, "");
  for (CLI::Option* option : app.get_options({})) {
    if (option->get_items_expected_max() > 0) {
      option->check(not_empty);
    }
  }
  try {
    std::vector<std::string> reversed(parts->options.rbegin(), parts->options.rend());
    app.parse(reversed);
  } catch (const CLI::Error& error) {
    return fail(usage("the command line is not understood", ui::usage_problem(error.what())));
  }
  if (!sha256.empty()) {
    line.sha256 = Sha256Digest::from_hex(sha256);
    if (!line.sha256) {
      return fail(usage("--sha256 needs 64 hex digits", "'" + sha256 + "' is something else"));
    }
  }
  if (auto taken = take_mismatches(mismatches, line); !taken) {
    return fail(std::move(taken).error());
  }
  if (line.chain && line.word != Word::verify && line.word != Word::help) {
    return fail(
        usage("--chain goes with verify only", "verify --chain first, then " + std::string(word_name(line.word))));
  }
  if (line.gpu_access && !is_user_name(*line.gpu_access)) {
    return fail(usage("--gpu-access is not understood", "'" + *line.gpu_access + "' cannot be the name of a user"));
  }
  if (line.purge && line.word != Word::uninstall && line.word != Word::help) {
    return fail(usage("--purge goes with uninstall only", "FILE.run uninstall --purge takes back configuration too"));
  }
  std::error_code ignored;
  line.root = std::filesystem::weakly_canonical(line.root, ignored);
  return line;
}

std::string_view help_text() {
  return R"(ROCm offline installer: installs what this file holds, without a network, by the machine's own package manager.

usage: FILE.run [WORD] [options]

words (without one: install)
  install         check the machine, verify the file, install
  dryrun          everything but the installation itself; with uninstall: what would be removed
  check           does this machine fit?
  verify          compare every byte of the file with its digests
  list            the packages inside
  extract DIR     write the repository tree and everything else into an absent or empty folder
  status          is this file's content installed, and intact? exit 0 if so, else 3
  uninstall       take back what this file added and nothing else needs
  logs            where the logs are
  notes           what was recorded when the file was made: sources, proofs, allowances
  version         versions, release, targets, bundle id
  help            this text

options
  --prompt                  ask before something is changed (never asked otherwise); also as a word
  --yes                     accepted everywhere; it is the default
  --root DIR                act on the system below DIR
  --json                    one JSON document on standard output
  --log-dir DIR             where to write the log (default /var/log/rocm-offline for root)
  --work-dir DIR            where to run the installer from and keep private files
  --no-mount                copy the needed packages instead of mounting this file
  --sha256 HEX              the digest that the whole file must have
  --verify-key FILE         Ed25519 public key (PEM) that must have signed this file's manifest; with any word
  --chain                   with verify: also link each package to upstream's signature, by gpgv or sqv
  --treat-as ID             take a derivative for target ID, e.g. debian-13
  --allow-mismatch WHAT     version or kernel: accept another one than the file is made for
  --allow-removals          accept that packages are removed
  --allow-downgrades        accept that packages are downgraded
  --gpu-access USER|all     let USER (groups video and render) or everybody (a udev rule) use the GPUs
  --no-post-install         only packages; no GPU access
  --purge                   with uninstall: also configuration, of packages that were not there at all before
  --log-level L, -v, -q, --color auto|always|never

exit status: 0 done, 1 bug, 2 usage, 3 a check refuses, 4 unsolvable or not as planned, 6 file damaged,
             7 package manager failed, 8 no space, 9 trust, 130 interrupted (run it again: it continues)
)";
}

}  // namespace rocm_offline::runner
