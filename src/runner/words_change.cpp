// install, dryrun, uninstall, check, status: the words that look at this machine.
#include <iostream>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/install/installer.hpp"
#include "rocm_offline/verify/verifier.hpp"
#include "words.hpp"

namespace rocm_offline::runner {

using nlohmann::json;

namespace {

bool ask_on_terminal(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

Result<Done> verify_members(const bundle::BundleReader& bundle, Session& session, const std::string& target) {
  const verify::VerifyOptions options{.expected_file_digest = session.line().sha256, .only_target = target};
  auto report = verify::verify_bundle(bundle, options, session.events(), session.cancel());
  if (!report) {
    return fail(std::move(report).error());
  }
  if (!report->findings.empty()) {
    return fail(verify::damage_error(*report));
  }
  return Done{};
}

install::InstallOptions options_of(const bundle::BundleReader& bundle, Session& session) {
  const CommandLine& line = session.line();
  install::InstallOptions options;
  options.root = line.root;
  options.dryrun = line.dryrun;
  options.no_mount = line.no_mount;
  options.allow_kernel_mismatch = line.allow_kernel_mismatch;
  options.allow_version_mismatch = line.allow_version_mismatch;
  options.allow_removals = line.allow_removals;
  options.allow_downgrades = line.allow_downgrades;
  options.purge = line.purge;
  options.no_post_install = line.no_post_install;
  options.treat_as = line.treat_as;
  options.work_dir = line.work_dir;
  options.post_install = bundle.manifest().post_install;
  if (line.gpu_access) {
    options.post_install.gpu_access = line.gpu_access;
  }
  if (line.prompt) {
    options.ask = ask_on_terminal;
  }
  options.verify_members = [&bundle, &session](const std::string& target) {
    return verify_members(bundle, session, target);
  };
  return options;
}

json changes_json(const std::vector<install::ChangedPackage>& changes) {
  json list = json::array();
  for (const install::ChangedPackage& change : changes) {
    list.push_back({{"name", change.id.name},
                    {"version", change.id.version},
                    {"arch", change.id.arch},
                    {"before", change.before.empty() ? json(nullptr) : json(change.before)}});
  }
  return list;
}

json checks_json(const std::vector<Check>& checks) {
  json list = json::array();
  for (const Check& check : checks) {
    list.push_back(to_json(check));
  }
  return list;
}

json report_json(const install::InstallReport& report, const Session& session, std::string_view schema) {
  json document = {{"schema", schema},
                   {"bundle_id", report.bundle_id},
                   {"target", report.target},
                   {"dryrun", report.dryrun},
                   {"nothing_to_do", report.nothing_to_do},
                   {"resumed", report.resumed},
                   {"checks", checks_json(report.checks)},
                   {"added", changes_json(report.added)},
                   {"upgraded", changes_json(report.upgraded)},
                   {"removed", changes_json(report.removed)},
                   {"downgraded", changes_json(report.downgraded)},
                   {"post_install", report.post_install},
                   {"notes", report.notes},
                   {"log", nullptr}};
  if (const auto paths = session.log_paths()) {
    document["log"] = paths->text.string();
  }
  return document;
}

std::string change_lines(const install::InstallReport& report) {
  std::string text;
  const auto add = [&](const std::vector<install::ChangedPackage>& changes, const char* what) {
    for (const install::ChangedPackage& change : changes) {
      text += change.id.name + " " + change.id.version + " " + what +
              (change.before.empty() || change.before == change.id.version ? "" : " from " + change.before) + "\n";
    }
  };
  add(report.added, "new");
  add(report.upgraded, "upgraded");
  add(report.downgraded, "downgraded");
  add(report.removed, "removed");
  return text;
}

// "109 new, 1 upgraded": what did not happen is not counted.
std::string change_counts(const install::InstallReport& report) {
  std::vector<std::string> counts;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) {
      counts.push_back(std::to_string(count) + " " + what);
    }
  };
  add(report.added.size(), "new");
  add(report.upgraded.size(), "upgraded");
  add(report.downgraded.size(), "downgraded");
  add(report.removed.size(), "removed");
  return counts.empty() ? "no package changes" : "packages: " + join(counts, ", ");
}

std::string install_text(const install::InstallReport& report, const Session& session) {
  std::string text = report.dryrun ? change_lines(report) : "";
  for (const std::string& note : report.notes) {
    text += "note: " + note + "\n";
  }
  for (const std::string& line : report.post_install) {
    text += line + "\n";
  }
  const std::string counts = change_counts(report);
  if (report.nothing_to_do) {
    text += "nothing to do: everything is installed already\n";
  } else if (report.dryrun) {
    text += "dry run, nothing was changed: " + counts + "\n";
  } else {
    text += "done: " + counts + "\n";
  }
  if (!report.nothing_to_do && !report.dryrun && session.line().word == Word::install) {
    text += report.post_install.empty()
                ? "next: users of the GPU need the groups render and video; --gpu-access USER or all gives that\n"
                : "next: users that were added to groups log in again; then rocminfo shows the GPU\n";
    text += "keep this file: its `status` and `uninstall` go with this installation\n";
  }
  if (const auto paths = session.log_paths()) {
    text += "log: " + paths->text.string() + "\n";
  }
  return text;
}

using Change = Result<install::InstallReport> (*)(const bundle::BundleReader&, const install::InstallOptions&,
                                                  install::Ports&);

int run_change(const bundle::BundleReader& bundle, Session& session, Change change, std::string_view schema) {
  PosixProcessRunner processes;
  install::Ports ports{processes, session.clock(), session.events(), session.cancel()};
  auto report = change(bundle, options_of(bundle, session), ports);
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  if (session.line().json) {
    session.console().print_json(report_json(*report, session, schema));
  } else {
    session.console().print(install_text(*report, session));
  }
  return session.console().finished(0);
}

}  // namespace

int run_install(const bundle::BundleReader& bundle, Session& session) {
  return run_change(bundle, session, install::install, "rocm-offline/install/1");
}

int run_uninstall(const bundle::BundleReader& bundle, Session& session) {
  return run_change(bundle, session, install::uninstall, "rocm-offline/uninstall/1");
}

int run_check(const bundle::BundleReader& bundle, Session& session) {
  constexpr const char* schema = "rocm-offline/check/1";
  PosixProcessRunner processes;
  install::Ports ports{processes, session.clock(), session.events(), session.cancel()};
  auto report = install::preflight(bundle, options_of(bundle, session), ports);
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  if (session.line().json) {
    session.console().print_json({{"schema", schema},
                                  {"target", report->target},
                                  {"supported", report->supported},
                                  {"releases", report->releases},
                                  {"checks", checks_json(report->checks)}});
  } else {
    session.console().print(
        ui::render_checks(report->checks, session.console().colors_on_stdout()) +
        ui::render_verdict(report->checks,
                           "this machine fits; the file's bytes were not compared, verify and install do that",
                           "this machine does not fit"));
  }
  return session.console().finished(report->supported ? 0 : exit_status(ErrorCode::check_failed));
}

int run_status(const bundle::BundleReader& bundle, Session& session) {
  constexpr const char* schema = "rocm-offline/status/1";
  PosixProcessRunner processes;
  install::Ports ports{processes, session.clock(), session.events(), session.cancel()};
  auto report = install::status(bundle, options_of(bundle, session), ports);
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  if (session.line().json) {
    session.console().print_json({{"schema", schema},
                                  {"bundle_id", bundle.bundle_id()},
                                  {"state", report->state},
                                  {"differences", report->differences}});
  } else {
    std::string text = report->state + "\n";
    for (const std::string& difference : report->differences) {
      text += "  " + difference + "\n";
    }
    session.console().print(text);
  }
  return session.console().finished(report->state == "installed" ? 0 : exit_status(ErrorCode::not_installed));
}

}  // namespace rocm_offline::runner
