// Command line of the bundle: FILE.run [WORD] [options], as cli.md fixes it. Words may be written as options.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::runner {

enum class Word { install, check, verify, list, extract, status, uninstall, logs, notes, help, version };
[[nodiscard]] std::string_view word_name(Word word);

struct CommandLine {
  std::vector<std::string> arguments{};  // as given
  Word word = Word::install;
  bool dryrun = false;
  bool prompt = false;
  std::optional<std::filesystem::path> bundle{};  // --bundle: given by the stub
  std::optional<std::filesystem::path> extract_to{};
  std::filesystem::path root = "/";
  bool json = false;
  std::optional<std::filesystem::path> log_dir{};
  std::optional<std::filesystem::path> work_dir{};
  Level log_level = Level::debug;
  int verbose = 0;
  bool quiet = false;
  ui::Color color = ui::Color::automatic;
  bool no_mount = false;
  std::optional<std::string> treat_as{};
  std::optional<Sha256Digest> sha256{};
  std::optional<std::filesystem::path> verify_key{};
  bool chain = false;
  bool allow_kernel_mismatch = false;
  bool allow_version_mismatch = false;
  bool allow_removals = false;
  bool allow_downgrades = false;
  bool purge = false;
  std::optional<std::string> gpu_access{};
  bool no_post_install = false;
};

// usage errors name what was not understood and what there is.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);
// True when --json is among the arguments, even of a line that does not parse.
[[nodiscard]] bool wants_json(const std::vector<std::string>& arguments);
[[nodiscard]] std::string_view help_text();

}  // namespace rocm_offline::runner
