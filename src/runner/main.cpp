// The installer program inside every bundle: reads the command line, does one word, ends with the status of cli.md.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "rocm_offline/core/version.hpp"
#include "rocm_offline/verify/site_signature.hpp"
#include "session.hpp"
#include "words.hpp"

namespace rocm_offline::runner {

namespace {

constexpr const char* error_schema = "rocm-offline/error/1";

// Before a session exists.
int refuse(const Error& error, bool json) {
  if (json) {
    print_document(error_document(error, error_schema));
  }
  std::fputs(ui::render_error(error, ui::wants_color(ui::Color::automatic, STDERR_FILENO)).c_str(), stderr);
  return exit_status(error.code);
}

int print_version_alone(bool json) {
  if (json) {
    print_document({{"schema", "rocm-offline/version/1"}, {"version", program_version()}, {"bundle_id", nullptr}});
  } else {
    std::puts(("rocm-offline-install " + std::string(program_version())).c_str());
  }
  return 0;
}

// Without the stub: the tree that this program lies in, a mounted or extracted image.
Result<std::filesystem::path> own_tree() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error && std::filesystem::exists(program.parent_path() / "manifest.json", error)) {
    return program.parent_path();
  }
  return fail(Error{.code = ErrorCode::usage,
                    .stage = Stage::ui,
                    .message = "which bundle?",
                    .reason = "there is no manifest.json beside this program, and --bundle is not given",
                    .help = "start the .run file, install.sh of a mounted image, or pass --bundle PATH"});
}

// Before any word looks at the machine.
Result<Done> check_verify_key(const bundle::BundleReader& bundle, Session& session) {
  if (!session.line().verify_key) {
    return Done{};
  }
  auto key = SitePublicKey::read(Stage::verify, *session.line().verify_key);
  if (!key) {
    return fail(in_context(std::move(key).error(), "reading --verify-key"));
  }
  auto trusted = verify::check_site_signature(bundle, *key);
  if (trusted) {
    session.events().event({.level = Level::info,
                            .name = "verify.signature.checked",
                            .message = "the manifest is signed by site key " + key->hex(),
                            .fields = {{"key", key->hex()}}});
  }
  return trusted;
}

int run_word(const bundle::BundleReader& bundle, Session& session) {
  switch (session.line().word) {
    case Word::install:
      return run_install(bundle, session);
    case Word::uninstall:
      return run_uninstall(bundle, session);
    case Word::check:
      return run_check(bundle, session);
    case Word::status:
      return run_status(bundle, session);
    case Word::verify:
      return run_verify(bundle, session);
    case Word::extract:
      return run_extract(bundle, session);
    case Word::list:
      return run_list(bundle, session);
    case Word::notes:
      return run_notes(bundle, session);
    case Word::logs:
      return run_logs(bundle, session);
    case Word::version:
      return run_version(bundle, session);
    case Word::help:
      break;
  }
  return exit_status(ErrorCode::internal);
}

int run(const std::vector<std::string>& arguments) {
  const bool json = wants_json(arguments);
  auto line = parse_command_line(arguments);
  if (!line) {
    return refuse(line.error(), json);
  }
  if (line->word == Word::help) {
    std::fputs(std::string(help_text()).c_str(), stdout);
    return 0;
  }
  if (line->word == Word::version && !line->bundle) {
    return print_version_alone(json);
  }
  if (!line->bundle) {
    auto tree = own_tree();
    if (!tree) {
      return refuse(tree.error(), json);
    }
    line->bundle = *tree;
  }
  const CancelToken cancel = install_signal_handlers();
  auto bundle = bundle::BundleReader::open(*line->bundle);
  Session session(*line, bundle ? bundle->bundle_id() : "", cancel);
  if (auto opened = session.open_log(); !opened) {
    return session.failed(opened.error(), error_schema);
  }
  if (!bundle) {
    return session.failed(bundle.error(), error_schema);
  }
  if (auto trusted = check_verify_key(*bundle, session); !trusted) {
    return session.failed(trusted.error(), error_schema);
  }
  return run_word(*bundle, session);
}

}  // namespace

}  // namespace rocm_offline::runner

int main(int argc, char** argv) {
  // Started from a shell without sbin in its PATH (su), the package manager's programs must be found all the same.
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (std::string(path != nullptr ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin").c_str(), 1);
  try {
    return rocm_offline::runner::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& bug) {
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
