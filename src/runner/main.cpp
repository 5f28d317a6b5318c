// The installer program inside every bundle: reads the command line, does one word, ends with the status of cli.md.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "rocm_offline/core/version.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rocm_offline/verify/site_signature.hpp"
#include "rocm_offline/verify/verifier.hpp"
#include "session.hpp"
#include "words.hpp"

namespace rocm_offline::runner {

namespace {

constexpr const char* error_schema = "rocm-offline/error/1";

int print_help(bool json) {
  return json ? ui::present_json({{"schema", "rocm-offline/help/1"}, {"text", help_text()}}) : ui::present(help_text());
}

int print_version_alone(bool json) {
  const std::string version(program_version());
  return json ? ui::present_json({{"schema", "rocm-offline/version/1"}, {"version", version}, {"bundle_id", nullptr}})
              : ui::present("rocm-offline-install " + version + "\n");
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

// What the options name has to exist before anything else is looked at.
Result<Done> check_named_things(const CommandLine& line) {
  if (std::error_code ignored; !std::filesystem::is_directory(line.root, ignored)) {
    return fail(Error{.code = ErrorCode::file_missing,
                      .stage = Stage::check,
                      .message = "there is no folder " + line.root.string(),
                      .reason = "--root names the root folder of an installed system",
                      .details = {{"path", line.root.string()}},
                      .help = "check the path"});
  }
  if (line.treat_as) {
    auto catalog = distros::Catalog::load({});
    if (!catalog) {
      return fail(std::move(catalog).error());
    }
    if (auto target = catalog->target(*line.treat_as); !target) {
      return fail(in_context(std::move(target).error(), "--treat-as"));
    }
  }
  return Done{};
}

// verify and install compare the digest themselves, with every other byte.
Result<Done> check_file_digest(const bundle::BundleReader& bundle, Session& session) {
  const CommandLine& line = session.line();
  if (!line.sha256 || line.word == Word::verify || line.word == Word::install) {
    return Done{};
  }
  auto report =
      verify::verify_bundle(bundle, {.expected_file_digest = line.sha256}, session.events(), session.cancel());
  if (!report) {
    return fail(std::move(report).error());
  }
  return report->findings.empty() ? Result<Done>(Done{}) : fail(verify::damage_error(*report));
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
    return ui::refuse(line.error(), json);
  }
  if (line->word == Word::help) {
    return print_help(json);
  }
  if (line->word == Word::version && !line->bundle) {
    return print_version_alone(json);
  }
  if (!line->bundle) {
    auto tree = own_tree();
    if (!tree) {
      return ui::refuse(tree.error(), json);
    }
    line->bundle = *tree;
  }
  if (auto named = check_named_things(*line); !named) {
    return ui::refuse(named.error(), json);
  }
  const CancelToken cancel = install_signal_handlers(SecondSignal::is_ignored);
  auto bundle = bundle::BundleReader::open(*line->bundle);
  Session session(*line, bundle ? bundle->bundle_id() : "", cancel);
  if (auto opened = session.open_log(); !opened) {
    return session.console().failed(opened.error(), error_schema);
  }
  if (!bundle) {
    return session.console().failed(bundle.error(), error_schema);
  }
  if (auto trusted = check_verify_key(*bundle, session); !trusted) {
    return session.console().failed(trusted.error(), error_schema);
  }
  if (auto intact = check_file_digest(*bundle, session); !intact) {
    return session.console().failed(intact.error(), error_schema);
  }
  return run_word(*bundle, session);
}

}  // namespace

}  // namespace rocm_offline::runner

int main(int argc, char** argv) {
  rocm_offline::hold_standard_streams();
  // Started from a shell without sbin in its PATH (su), the package manager's programs must be found all the same.
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (std::string(path != nullptr ? path : "") + ":/usr/sbin:/usr/bin:/sbin:/bin").c_str(), 1);
  try {
    return rocm_offline::runner::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& bug) {
    return rocm_offline::ui::report_bug(bug);
  }
}
