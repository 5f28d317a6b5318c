#include "../selection.hpp"
#include "commands.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/plan/planner.hpp"

namespace rocm_offline::app {

namespace {

constexpr const char* schema = "rocm-offline/check/1";

Error both_given() {
  return {.code = ErrorCode::usage,
          .stage = Stage::check,
          .message = "--target and --root exclude each other",
          .reason = "a check is of one machine",
          .help = "give one of them, or neither for this host"};
}

// What --target names, as if read from such a machine.
Result<distros::MachineFacts> facts_of_target(const std::string& id, const distros::Catalog& catalog) {
  auto target = catalog.target(id);
  if (!target) {
    return fail(std::move(target).error());
  }
  distros::MachineFacts facts;
  facts.os_release = distros::OsRelease{.id = target->distro,
                                        .version_id = target->version,
                                        .version_codename = target->codename,
                                        .pretty_name = target->id};
  facts.machine = "x86_64";
  facts.of_a_target = true;
  return facts;
}

Result<distros::CheckReport> check(const CheckOptions& options, const Catalogs& catalogs, const Clock& clock) {
  if (options.target && options.root) {
    return fail(both_given());
  }
  distros::CheckQuestion question;
  if (options.target) {
    auto facts = facts_of_target(*options.target, catalogs.distros);
    if (!facts) {
      return fail(std::move(facts).error());
    }
    question.facts = std::move(*facts);
  } else if (std::error_code ignored; options.root && !std::filesystem::is_directory(*options.root, ignored)) {
    return fail({.code = ErrorCode::file_missing,
                 .stage = Stage::check,
                 .message = "there is no folder " + options.root->string(),
                 .reason = "--root names the root folder of an image",
                 .details = {{"path", options.root->string()}},
                 .help = "check the path"});
  } else {
    question.facts = distros::read_machine_facts(options.root.value_or("/"));
  }
  question.today = format_time(clock.now()).substr(0, std::string_view("2026-12-01").size());
  if (options.kernel) {
    question.facts.kernel = *options.kernel;
  }
  if (options.release) {
    auto release = catalogs.repos.release(*options.release);
    if (!release) {
      return fail(std::move(release).error());
    }
    question.release = (*release)->id;
  }
  if (const auto target = distros::identify_target(question.facts, catalogs.distros, std::nullopt)) {
    question.support = plan::support_rows(catalogs.repos, target->id);
  }
  return distros::check_machine(question, catalogs.distros);
}

}  // namespace

int run_check(const Invocation& invocation, Session& session) {
  auto catalogs = load_catalogs(session.options().catalogs);
  if (!catalogs) {
    return session.console().failed(catalogs.error(), schema);
  }
  auto report = check(invocation.check, *catalogs, session.clock());
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  session.events().event({.level = Level::debug,
                          .name = "check.target.checked",
                          .message = report->target + (report->supported ? " is supported" : " is not supported"),
                          .fields = {{"target", report->target}, {"supported", report->supported ? "true" : "false"}}});
  if (session.options().json) {
    nlohmann::json checks = nlohmann::json::array();
    for (const Check& one : report->checks) {
      checks.push_back(to_json(one));
    }
    session.console().print_json({{"schema", schema},
                                  {"target", report->target},
                                  {"supported", report->supported},
                                  {"releases", report->releases},
                                  {"checks", std::move(checks)}});
  } else {
    session.console().print(
        ui::render_checks(report->checks, session.console().colors_on_stdout()) +
        ui::render_verdict(report->checks, report->target + " is supported",
                           (report->target.empty() ? "this machine" : report->target) + " is not supported"));
  }
  return session.console().finished(report->supported ? 0 : exit_status(ErrorCode::check_failed));
}

}  // namespace rocm_offline::app
