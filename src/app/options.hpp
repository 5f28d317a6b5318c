// What the command line (and --config) said, before anything is looked up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/core/events.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::app {

struct GlobalOptions {
  bool json = false;
  std::optional<std::filesystem::path> log_dir;
  Level log_level = Level::debug;
  int verbose = 0;
  bool quiet = false;
  ui::Color color = ui::Color::automatic;
  std::vector<std::filesystem::path> catalogs;
  std::optional<std::filesystem::path> cache_dir;
};

// SELECTION of cli.md, as far as this version offers it.
struct SelectionOptions {
  std::vector<std::string> targets;
  std::string release;
  std::vector<std::string> usecases, packages, kernels;
  bool driver = false;
  std::string deps = "full";
  bool recommends = false;
  std::vector<std::string> mirrors;  // NAME=URL[,URL...]
  bool mirrors_from_host = false;
  std::vector<std::filesystem::path> repos;
  std::vector<std::string> keyrings;  // [NAME=]FILE
  std::vector<std::string> allow_unsigned, allow_expired, allow_rollback;
  std::string trust = "full";
  std::optional<std::filesystem::path> sign_key;
  std::optional<std::filesystem::path> lock;
  bool locked = false;
  std::optional<std::string> treat_as;
  std::optional<std::string> proxy;
  std::optional<std::filesystem::path> cacert;
  std::vector<std::string> client_certs;  // NAME=FILE
  unsigned retries = 5;
  unsigned timeout = 30;
  std::optional<std::filesystem::path> config;
  std::optional<std::string> gpu_access;
};

inline constexpr unsigned default_jobs = 8;

struct CreateOptions {
  std::filesystem::path output = "rocm-offline-install.run";
  std::vector<std::filesystem::path> reuse;
  unsigned jobs = default_jobs;
};

struct CheckOptions {
  std::optional<std::string> target;
  std::optional<std::filesystem::path> root;
  std::optional<std::string> kernel, release;
};

struct ListOptions {
  std::optional<std::string> release, target;
};

struct FileOptions {
  std::filesystem::path file, directory;
  std::optional<std::filesystem::path> verify_key;  // verify
  bool chain = false;                               // verify
};

struct DiffOptions {
  std::filesystem::path before, after;
};

enum class Command {
  none,
  check,
  targets,
  releases,
  usecases,
  plan,
  create,
  inspect,
  verify,
  extract,
  diff,
  completion,
  help,
  version
};

struct Invocation {
  Command command = Command::none;
  GlobalOptions global;
  SelectionOptions selection;
  CreateOptions create;
  CheckOptions check;
  ListOptions list;
  FileOptions file;
  DiffOptions diff;
  std::string word;                    // the shell of `completion`, the command of `help`
  std::vector<std::string> arguments;  // the whole command line, for the log
};

}  // namespace rocm_offline::app
