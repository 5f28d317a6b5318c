#include "rocm_offline/plan/planner.hpp"

#include <algorithm>
#include <set>

#include "repositories.hpp"
#include "requests.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::plan {
namespace {

std::vector<std::string> release_targets(const repos::Release& release) {
  std::vector<std::string> ids;
  for (const repos::ReleaseTarget& target : release.targets) {
    ids.push_back(target.target);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

const repos::ReleaseTarget* target_of(const repos::Release& release, std::string_view id) {
  const auto found = std::find_if(release.targets.begin(), release.targets.end(),
                                  [&](const repos::ReleaseTarget& target) { return target.target == id; });
  return found == release.targets.end() ? nullptr : &*found;
}

// Of the release asked for where it is known, else of all; in the catalogue's order.
std::vector<std::string> possible_usecases(const Selection& selection, const repos::Catalog& repos) {
  std::vector<std::string> possible;
  const auto add = [&possible](const repos::Release& release) {
    for (const repos::UseCase& usecase : release.usecases) {
      if (std::find(possible.begin(), possible.end(), usecase.id) == possible.end()) {
        possible.push_back(usecase.id);
      }
    }
  };
  if (!selection.release.empty()) {
    if (const auto release = repos.release(selection.release)) {
      add(**release);
      return possible;
    }
  }
  for (const repos::Release& release : repos.releases()) {
    add(release);
  }
  return possible;
}

// Targets that the release asked for supports, or any release where it is not known.
std::vector<std::string> possible_targets(const Selection& selection, const repos::Catalog& repos) {
  if (!selection.release.empty()) {
    if (const auto release = repos.release(selection.release)) {
      return release_targets(**release);
    }
  }
  std::set<std::string> ids;
  for (const repos::Release& release : repos.releases()) {
    const std::vector<std::string> targets = release_targets(release);
    ids.insert(targets.begin(), targets.end());
  }
  return {ids.begin(), ids.end()};
}

// Everything that is missing, at once, each with its possible values.
Result<Done> check_complete(const Selection& selection, const repos::Catalog& repos) {
  Error error{.code = ErrorCode::usage, .stage = Stage::plan, .message = "the selection is not complete"};
  std::vector<std::string> missing;
  std::vector<std::string> values;
  const auto miss = [&](const std::string& option, const std::string& what, const std::vector<std::string>& possible) {
    missing.push_back(what);
    values.push_back(option + " (" + join(possible, ", ") + ")");
    error.details["missing " + option] = join(possible, ", ");
  };
  if (selection.targets.empty()) {
    miss("--target", "a target", possible_targets(selection, repos));
  }
  if (selection.release.empty()) {
    miss("--release", "a release", repos.release_ids());
  }
  if (selection.usecases.empty() && selection.packages.empty() && !selection.driver) {
    miss("--usecase", "something to install", possible_usecases(selection, repos));
    values.back() += ", --package NAME or --driver";
  }
  if (missing.empty()) {
    return Done{};
  }
  error.reason = "neither the command line nor --config has " + join(missing, ", ");
  error.help = "add " + join(values, "; ");
  return fail(std::move(error));
}

Error no_minimum() {
  return {
      .code = ErrorCode::usage,
      .stage = Stage::plan,
      .message = "--deps minimum needs to know what the target has",
      .reason = "there is neither a profile of it nor a baseline in the catalogue",
      .help =
          "use --deps full; profiles, which the script of `probe-script` takes on the target, are not offered by this "
          "version yet"};
}

Result<Done> check_sites(const Selection& selection, const repos::Catalog& repos) {
  std::set<std::string> names;
  for (const repos::SiteRepository& site : selection.site_repositories) {
    const bool taken = repos.group(site.name) != nullptr;
    if (taken || !names.insert(site.name).second) {
      return fail({.code = ErrorCode::usage,
                   .stage = Stage::plan,
                   .message = "--repo '" + site.name + "' cannot have that name",
                   .reason = taken ? "the catalogue has a repository group of that name" : "two --repo files use it",
                   .details = {{"repository", site.name}},
                   .help = "change 'name' in the file; to replace an address of the catalogue use --mirror"});
    }
  }
  if (selection.keyrings.contains("") && selection.site_repositories.empty()) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::plan,
                 .message = "--keyring does not say which repository it is for",
                 .reason = "without a NAME it is for --repo files, and there are none",
                 .help = "write it like --keyring debian=FILE"});
  }
  return Done{};
}

// cli.md: --treat-as takes a derivative as another target, and records from what.
Result<std::vector<Target>> chosen_targets(const Selection& selection, const distros::Catalog& distros) {
  std::vector<Target> targets;
  for (const std::string& id : selection.targets) {
    Result<Target> target = distros.target(id);
    const bool other = !target || (selection.targets.size() == 1 && target->id != selection.treat_as);
    if (selection.treat_as && other) {
      Result<Target> taken_for = distros.target(*selection.treat_as);
      if (!taken_for) {
        return fail(in_context(std::move(taken_for).error(), "reading --treat-as"));
      }
      if (has_control_characters(id)) {
        return fail(std::move(target).error());
      }
      target = std::move(taken_for);
      target->treated_as_from = id;
    }
    if (!target) {
      return fail(std::move(target).error());
    }
    target->kernels = selection.kernels;
    const auto same =
        std::find_if(targets.begin(), targets.end(), [&](const Target& known) { return known.id == target->id; });
    if (same == targets.end()) {
      targets.push_back(std::move(*target));
    } else if (target->treated_as_from) {
      same->treated_as_from = target->treated_as_from;
    }
  }
  return targets;
}

Error unsupported(const repos::Release& release, const Target& target, const repos::Catalog& repos) {
  std::vector<std::string> releases;
  for (const repos::Release& other : repos.releases()) {
    if (target_of(other, target.id) != nullptr) {
      releases.push_back(other.id);
    }
  }
  const std::vector<std::string> targets = release_targets(release);
  const std::string others = releases.empty() ? "no release of the catalogue supports " + target.id
                                              : "releases for " + target.id + ": " + join(releases, ", ");
  return {.code = ErrorCode::target_unsupported,
          .stage = Stage::plan,
          .message = "release '" + release.id + "' does not support " + target.id,
          .reason = "it is for " + (targets.empty() ? std::string("no target") : join(targets, ", ")),
          .details = {{"release", release.id},
                      {"target", target.id},
                      {"supported targets", join(targets, ", ")},
                      {"supporting releases", join(releases, ", ")}},
          .help = "choose one of these targets; " + others};
}

bool is_kernel_name(std::string_view kernel) {
  return !kernel.empty() && kernel.size() <= 128 && kernel.front() >= '0' && kernel.front() <= '9' &&
         std::all_of(kernel.begin(), kernel.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._+~-").find(c) != std::string_view::npos;
         });
}

Result<Done> check_kernel_names(const std::vector<std::string>& kernels) {
  for (const std::string& kernel : kernels) {
    if (!is_kernel_name(kernel)) {
      return fail({.code = ErrorCode::usage,
                   .stage = Stage::plan,
                   .message = "--kernel is not understood",
                   .reason = has_control_characters(kernel) ? "it has control characters"
                                                            : "'" + kernel + "' is not what `uname -r` prints",
                   .help = "give the whole output of `uname -r` on the target, such as 6.12.41+deb13-amd64"});
    }
  }
  return Done{};
}

// The strict check's word on one kernel.
Check judge_kernel(const std::string& kernel, bool with_driver, const ReleasePlan& plan,
                   const distros::Catalog& distros, const repos::Catalog& repos) {
  distros::CheckQuestion question;
  question.facts.os_release = distros::OsRelease{};
  question.facts.os_release->id = plan.target.distro;
  question.facts.os_release->version_id = plan.target.version;
  question.facts.machine = "x86_64";
  question.facts.kernel = kernel;
  question.release = plan.release;
  question.support = support_rows(repos, plan.target.id);
  question.with_driver = with_driver;
  for (Check& check : distros::check_machine(question, distros).checks) {
    if (check.code == "kernel") {
      return std::move(check);
    }
  }
  return {};
}

class Planner {
 public:
  Planner(const Selection& selection, const distros::Catalog& distros, const repos::Catalog& repos)
      : m_selection(selection), m_distros(distros), m_repos(repos) {}

  Result<ReleasePlan> plan(const repos::Release& release, const Target& target) const {
    const repos::ReleaseTarget* release_target = target_of(release, target.id);
    if (release_target == nullptr) {
      return fail(unsupported(release, target, m_repos));
    }
    ReleasePlan plan;
    plan.release = release.id;
    plan.target = target;
    plan.policy = {.recommends = m_selection.recommends, .minimum = m_selection.minimum};
    plan.post_install = m_selection.post_install;
    Result<std::vector<PackageRequest>> requests = make_requests(m_selection, release, target);
    if (!requests) {
      return fail(std::move(requests).error());
    }
    plan.requests = std::move(*requests);
    plan.usecases = *chosen_usecases(m_selection, release);
    Result<std::vector<RepositoryDefinition>> repositories =
        define_repositories({m_selection, m_distros, m_repos, release, *release_target, target});
    if (!repositories) {
      return fail(std::move(repositories).error());
    }
    plan.repositories = std::move(*repositories);
    if (Result<Done> warned = add_warnings(plan, *release_target); !warned) {
      return fail(std::move(warned).error());
    }
    return plan;
  }

 private:
  Result<Done> add_warnings(ReleasePlan& plan, const repos::ReleaseTarget& release_target) const {
    if (!release_target.certain) {
      plan.warnings.push_back("that release '" + plan.release + "' supports " + plan.target.id +
                              " is inferred or unverified: try the bundle on one machine first");
    }
    if (plan.target.treated_as_from) {
      plan.warnings.push_back("'" + *plan.target.treated_as_from + "' is taken for " + plan.target.id +
                              ", because --treat-as says so: packages may not fit");
    }
    for (const repos::SiteRepository& site : m_selection.site_repositories) {
      const bool used = std::any_of(plan.repositories.begin(), plan.repositories.end(),
                                    [&](const RepositoryDefinition& one) { return one.name == site.name; });
      if (!used) {
        plan.warnings.push_back("repository '" + site.name + "' is not for " + plan.target.id + " and is left out");
      }
    }
    return add_kernel_warnings(plan);
  }

  Result<Done> add_kernel_warnings(ReleasePlan& plan) const {
    for (const std::string& kernel : plan.target.kernels) {
      const Check check = judge_kernel(kernel, m_selection.driver, plan, m_distros, m_repos);
      if (check.status == CheckStatus::fail) {
        return fail({.code = ErrorCode::check_failed,
                     .stage = Stage::plan,
                     .message = check.message,
                     .reason = "a driver for it was never validated",
                     .details = {{"kernel", kernel}, {"target", plan.target.id}},
                     .help = check.help});
      }
      if (check.status == CheckStatus::warn) {
        plan.warnings.push_back(check.message + (check.help.empty() ? "" : "; " + check.help));
      }
    }
    return Done{};
  }

  const Selection& m_selection;
  const distros::Catalog& m_distros;
  const repos::Catalog& m_repos;
};

Result<Done> check_selection(const Selection& selection, const repos::Catalog& repos) {
  if (Result<Done> complete = check_complete(selection, repos); !complete) {
    return complete;
  }
  if (selection.minimum) {
    return fail(no_minimum());
  }
  if (Result<Done> kernels = check_kernel_names(selection.kernels); !kernels) {
    return kernels;
  }
  return check_sites(selection, repos);
}

Result<Done> apply_to_all(const Selection& selection, const repos::Catalog& repos, std::vector<ReleasePlan>& plans) {
  if (Result<Done> known = check_names(selection, repository_names(selection, repos, plans)); !known) {
    return known;
  }
  for (ReleasePlan& plan : plans) {
    for (RepositoryDefinition& definition : plan.repositories) {
      if (Result<Done> applied = apply_selection(selection, repos, definition); !applied) {
        return fail(in_context(std::move(applied).error(), "planning for " + plan.target.id));
      }
    }
  }
  return Done{};
}

}  // namespace

std::vector<distros::SupportRow> support_rows(const repos::Catalog& repos, std::string_view target_id) {
  std::vector<distros::SupportRow> rows;
  for (const repos::Release& release : repos.releases()) {
    distros::SupportRow row;
    row.release = release.id;
    if (const repos::ReleaseTarget* target = target_of(release, target_id)) {
      row.supported = true;
      row.certain = target->certain;
      for (const repos::ReleaseKernel& kernel : target->kernels) {
        row.kernels.push_back({.prefix = kernel.prefix, .status = kernel.status, .track = kernel.track});
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<ReleasePlan>> make_release_plans(const Selection& selection, const distros::Catalog& distros,
                                                    const repos::Catalog& repos) {
  if (Result<Done> usable = check_selection(selection, repos); !usable) {
    return fail(std::move(usable).error());
  }
  const Result<const repos::Release*> release = repos.release(selection.release);
  if (!release) {
    return fail(release.error());
  }
  const Result<std::vector<Target>> targets = chosen_targets(selection, distros);
  if (!targets) {
    return fail(targets.error());
  }
  const Planner planner(selection, distros, repos);
  std::vector<ReleasePlan> plans;
  for (const Target& target : *targets) {
    Result<ReleasePlan> plan = planner.plan(**release, target);
    if (!plan) {
      return fail(std::move(plan).error());
    }
    plans.push_back(std::move(*plan));
  }
  if (Result<Done> applied = apply_to_all(selection, repos, plans); !applied) {
    return fail(std::move(applied).error());
  }
  return plans;
}

}  // namespace rocm_offline::plan
