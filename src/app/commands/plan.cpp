#include <cstdio>

#include "../pipeline.hpp"
#include "commands.hpp"
#include "plan_json.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::app {

namespace {

constexpr const char* schema = "rocm-offline/plan/1";

std::string reason_text(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::requested:
      return "requested (" + reason.by + ")";
    case ReasonKind::essential:
      return "essential";
    case ReasonKind::baseline:
      return "baseline " + reason.by;
    case ReasonKind::dependency:
      break;
  }
  return reason.by + " " + reason.relation;
}

// The bare name first, so that `cut` and `awk` need no options.
std::string package_line(const PackageRecord& package) {
  return package.id.name + "\t" + package.id.version + "\t" + package.id.arch + "\t" + format_size(package.size) +
         "\t" + package.repository + "\t" + reason_text(package.reason) + "\n";
}

std::string plan_text(const Planned& planned) {
  std::string text;
  for (const bundle::TargetContent& target : planned.targets) {
    if (planned.targets.size() > 1) {
      text += "# " + target.plan.target.id + "\n";
    }
    for (const PackageRecord& package : target.closure.packages) {
      text += package_line(package);
    }
  }
  return text;
}

std::string summary_text(const Planned& planned) {
  const Totals totals = bundle_totals(planned);
  std::string text = counted(totals.packages, "package") + ", " + format_size(totals.download_bytes) +
                     " to download, " + format_size(totals.installed_bytes) + " installed";
  if (totals.installed_unknown > 0) {
    text += " (" + std::to_string(totals.installed_unknown) + " of unknown size)";
  }
  text += "; the bundle will be " + std::to_string(totals.bundle_bytes) + " bytes\n";
  for (const bundle::TargetContent& target : planned.targets) {
    for (const std::string& proof : target.closure.proofs) {
      text += "proven: " + proof + "\n";
    }
    if (target.closure.recommends_left_out > 0) {
      text += std::to_string(target.closure.recommends_left_out) + " recommended packages are left out on " +
              target.plan.target.id + " (--recommends takes them)\n";
    }
  }
  return text;
}

Result<Planned> plan(const SelectionOptions& selection, Session& session) {
  auto plans = make_release_plans(selection, session);
  if (!plans) {
    return fail(std::move(plans).error());
  }
  auto inputs = read_plan_inputs(selection, session);
  if (!inputs) {
    return fail(std::move(inputs).error());
  }
  auto transfers = transfer_options(selection, *plans, default_jobs);
  if (!transfers) {
    return fail(std::move(transfers).error());
  }
  const auto downloader = fetch::make_curl_downloader(std::move(*transfers), session.events(), session.cancel());
  return make_plan(*plans, selection, *inputs, *downloader, session);
}

}  // namespace

int run_plan(const Invocation& invocation, Session& session) {
  auto planned = plan(invocation.selection, session);
  if (!planned) {
    return session.console().failed(planned.error(), schema);
  }
  if (session.options().json) {
    session.console().print_json(plan_to_json(*planned));
  } else {
    session.console().print(plan_text(*planned));
    if (!session.options().quiet) {
      std::fputs(summary_text(*planned).c_str(), stderr);
    }
  }
  return session.console().finished(0);
}

}  // namespace rocm_offline::app
