#include "pipeline.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "embedded_runner.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/index/repository_set.hpp"
#include "rocm_offline/packaging/stub.hpp"
#include "rocm_offline/plan/planner.hpp"
#include "rocm_offline/resolve/resolver.hpp"
#include "selection.hpp"

namespace rocm_offline::app {

namespace {

Error unsolvable_error(const Unsolvable& unsolvable, const Target& target) {
  Error error;
  error.code = unsolvable.unknown_package ? ErrorCode::unknown_package : ErrorCode::unsolvable;
  error.stage = Stage::resolve;
  error.message = "the request cannot be installed on " + target.id;
  error.reason = unsolvable.problems.empty() ? "no set of packages satisfies it" : unsolvable.problems.front().summary;
  error.details = {{"target", target.id}};
  error.help = unsolvable.problems.empty() || unsolvable.problems.front().help.empty()
                   ? "ask for other packages, or add a repository that has what is missing with --repo"
                   : unsolvable.problems.front().help;
  error.problems = unsolvable.problems;
  return error;
}

std::vector<bundle::LocalFile> trust_files(const index::RepositorySet& repositories, const Target& target) {
  std::vector<bundle::LocalFile> files;
  for (const index::VerifiedRepository& repository : repositories.repositories) {
    for (const index::TrustFile& file : repository.trust_files()) {
      files.push_back({.path = "trust/" + target.id + "/" + file.path,
                       .source = file.source,
                       .size = file.size,
                       .sha256 = file.sha256});
    }
  }
  return files;
}

Result<bundle::TargetContent> resolve_target(const ReleasePlan& plan, index::MetadataVerifier& verifier, bool trust,
                                             Session& session) {
  auto repositories = verifier.load(plan.repositories);
  if (!repositories) {
    return fail(in_context(std::move(repositories).error(), "loading the repositories of " + plan.target.id));
  }
  for (const std::string& warning : repositories->warnings) {
    session.events().event({.level = Level::warning, .name = "repos.repository.warned", .message = warning});
  }
  auto resolution = resolve::resolve({.requests = plan.requests,
                                      .policy = plan.policy,
                                      .arch = plan.target.arch,
                                      .foreign_archs = {},
                                      .installed = {},
                                      .target_id = plan.target.id},
                                     *repositories, session.events());
  if (!resolution) {
    return fail(in_context(std::move(resolution).error(), "resolving for " + plan.target.id));
  }
  if (const auto* unsolvable = std::get_if<Unsolvable>(&*resolution)) {
    return fail(unsolvable_error(*unsolvable, plan.target));
  }
  bundle::TargetContent content{
      .plan = plan,
      .closure = std::get<PackageClosure>(std::move(*resolution)),
      .repositories = {},
      .trust = trust ? trust_files(*repositories, plan.target) : std::vector<bundle::LocalFile>{}};
  for (const index::VerifiedRepository& repository : repositories->repositories) {
    content.repositories.push_back(repository.evidence());
  }
  return content;
}

// Host of an address, without user information and port.
std::string host_of(std::string_view url) {
  const auto begin = url.find("://");
  std::string_view authority = begin == std::string_view::npos ? url : url.substr(begin + 3);
  authority = authority.substr(0, authority.find('/'));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  return std::string(authority.substr(0, authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':')));
}

std::vector<std::string> keys_of(const std::map<std::string, std::vector<std::string>>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) {
    keys.push_back(key);
  }
  return keys;
}

// SOURCE_DATE_EPOCH (reproducible-builds.org), else the newest metadata date.
Result<UnixTime> source_date(const std::vector<bundle::TargetContent>& targets) {
  if (const char* text = std::getenv("SOURCE_DATE_EPOCH"); text != nullptr && *text != '\0') {
    UnixTime value = 0;
    const std::string_view digits(text);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
      return fail({.code = ErrorCode::usage,
                   .stage = Stage::plan,
                   .message = "SOURCE_DATE_EPOCH is not understood",
                   .reason = "'" + std::string(digits) + "' is no number of seconds since 1970",
                   .help = "unset it, or set it to such a number"});
    }
    return value;
  }
  UnixTime newest = 0;
  for (const bundle::TargetContent& target : targets) {
    for (const RepositoryEvidence& evidence : target.repositories) {
      newest = std::max(newest, evidence.date);
    }
  }
  return newest;
}

}  // namespace

Result<std::vector<ReleasePlan>> make_release_plans(const SelectionOptions& options, Session& session) {
  auto catalogs = load_catalogs(session.options().catalogs);
  if (!catalogs) {
    return fail(std::move(catalogs).error());
  }
  auto selection = make_selection(options, *catalogs, session.events());
  if (!selection) {
    return fail(std::move(selection).error());
  }
  auto plans = plan::make_release_plans(*selection, catalogs->distros, catalogs->repos);
  if (!plans) {
    return plans;
  }
  for (const ReleasePlan& plan : *plans) {
    session.events().event(
        {.level = Level::info,
         .name = "plan.selection.planned",
         .message = "planning " + plan.release + " for " + plan.target.id,
         .fields = {{"target", plan.target.id}, {"release", plan.release}, {"usecases", join(plan.usecases, ",")}}});
    for (const std::string& warning : plan.warnings) {
      session.events().event({.level = Level::warning, .name = "plan.fact.uncertain", .message = warning});
    }
  }
  return plans;
}

Result<fetch::TransferOptions> transfer_options(const SelectionOptions& selection,
                                                const std::vector<ReleasePlan>& plans, unsigned jobs) {
  fetch::TransferOptions options;
  options.proxy = selection.proxy;
  options.ca_file = selection.cacert;
  options.retries = selection.retries;
  options.stall_timeout = std::chrono::seconds(selection.timeout);
  options.jobs = jobs;
  options.jobs_per_host = jobs;
  for (const ReleasePlan& plan : plans) {
    for (const RepositoryDefinition& repository : plan.repositories) {
      for (const std::string& url : repository.base_urls) {
        options.hosts_by_group[repository.group].push_back(host_of(url));
      }
    }
  }
  for (const std::string& text : selection.client_certs) {
    auto pair = name_and_value("--client-cert", text);
    if (!pair) {
      return fail(std::move(pair).error());
    }
    if (!options.hosts_by_group.contains(pair->first)) {
      return fail({.code = ErrorCode::unknown_repository,
                   .stage = Stage::plan,
                   .message = "--client-cert names an unknown repository group",
                   .reason = "no repository of this request is of group '" + pair->first + "'",
                   .help = "groups of this request: " + join(keys_of(options.hosts_by_group), ", ")});
    }
    options.client_certificates[pair->first] = pair->second;
  }
  return options;
}

Result<Planned> make_plan(const std::vector<ReleasePlan>& plans, bool carry_trust, fetch::Downloader& downloader,
                          Session& session) {
  index::MetadataVerifier verifier(downloader, session.clock(), session.events(),
                                   {.cache_dir = session.cache_dir(), .state_dir = session.state_dir()},
                                   session.cancel());
  Planned planned;
  for (const ReleasePlan& plan : plans) {
    auto content = resolve_target(plan, verifier, carry_trust, session);
    if (!content) {
      return fail(std::move(content).error());
    }
    planned.targets.push_back(std::move(*content));
  }
  auto date = source_date(planned.targets);
  if (!date) {
    return fail(std::move(date).error());
  }
  auto layout = bundle::compute_layout({.targets = planned.targets,
                                        .stub_template = packaging::stub_template(),
                                        .runner = embedded::runner()[0].data,
                                        .source_date = *date});
  if (!layout) {
    return fail(in_context(std::move(layout).error(), "laying out the bundle"));
  }
  planned.layout = std::move(*layout);
  return planned;
}

}  // namespace rocm_offline::app
