#include "pipeline.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "embedded_runner.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"
#include "rocm_offline/index/repository_set.hpp"
#include "rocm_offline/index/vendor_keys.hpp"
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

// What the signed indexes say today of the packages that the lock names.
std::vector<ListedPackage> listed_packages(const LockedTarget& locked, const index::RepositorySet& repositories) {
  std::set<std::string_view> names;
  for (const PackageRecord& package : locked.packages) {
    names.insert(package.id.name);
  }
  std::vector<ListedPackage> listed;
  for (const index::VerifiedRepository& repository : repositories.repositories) {
    for (const index::DebPackage& package : repository.packages()) {
      if (names.contains(package.name)) {
        listed.push_back({.id = {std::string(package.name), std::string(package.version), std::string(package.arch)},
                          .repository = repository.definition().name,
                          .size = package.size,
                          .sha256 = package.sha256});
      }
    }
  }
  return listed;
}

void tell_moved_on(const LockedTarget& locked, const std::vector<RepositoryEvidence>& now, EventSink& events) {
  for (const RepositoryEvidence& evidence : now) {
    const auto then = std::find_if(locked.repositories.begin(), locked.repositories.end(),
                                   [&](const RepositoryEvidence& other) { return other.name == evidence.name; });
    if (then != locked.repositories.end() && then->release_sha256 != evidence.release_sha256) {
      events.event(
          {.level = Level::warning,
           .name = "plan.lock.moved_on",
           .message = "repository " + evidence.name + " is of " + format_time(evidence.date) + ", the lock's of " +
                      format_time(then->date) +
                      ": the packages stay the locked ones, but the file will differ in what it carries as trust",
           .fields = {{"repository", evidence.name},
                      {"date", format_time(evidence.date)},
                      {"locked_date", format_time(then->date)}}});
    }
  }
}

const LockedTarget* locked_target(const PlanInputs& inputs, const std::string& id) {
  if (!inputs.locked) {
    return nullptr;
  }
  for (const LockedTarget& locked : inputs.locked->targets) {
    if (locked.target.id == id) {
      return &locked;
    }
  }
  return nullptr;
}

struct ResolvedTarget {
  bundle::TargetContent content;
  LockedTarget lock;
};

Result<ResolvedTarget> resolve_target(const ReleasePlan& plan, index::MetadataVerifier& verifier, bool trust,
                                      const LockedTarget* locked, Session& session) {
  auto repositories = verifier.load(plan.repositories);
  if (!repositories) {
    return fail(in_context(std::move(repositories).error(), "loading the repositories of " + plan.target.id));
  }
  for (const std::string& warning : repositories->warnings) {
    session.events().event({.level = Level::warning, .name = "repos.repository.warned", .message = warning});
  }
  std::vector<PackageId> pinned;
  if (locked != nullptr) {
    if (auto same = check_still_listed(*locked, listed_packages(*locked, *repositories)); !same) {
      return fail(in_context(std::move(same).error(), "comparing with the lock"));
    }
    for (const PackageRecord& package : locked->packages) {
      pinned.push_back(package.id);
    }
  }
  auto resolution = resolve::resolve({.requests = plan.requests,
                                      .policy = plan.policy,
                                      .arch = plan.target.arch,
                                      .foreign_archs = {},
                                      .installed = {},
                                      .pinned = std::move(pinned),
                                      .target_id = plan.target.id},
                                     *repositories, session.events());
  if (!resolution) {
    return fail(in_context(std::move(resolution).error(), "resolving for " + plan.target.id));
  }
  if (const auto* unsolvable = std::get_if<Unsolvable>(&*resolution)) {
    return fail(unsolvable_error(*unsolvable, plan.target));
  }
  const std::vector<bundle::LocalFile> evidence = trust_files(*repositories, plan.target);
  bundle::TargetContent content{.plan = plan,
                                .closure = std::get<PackageClosure>(std::move(*resolution)),
                                .repositories = {},
                                .trust = trust ? evidence : std::vector<bundle::LocalFile>{}};
  for (const index::VerifiedRepository& repository : repositories->repositories) {
    content.repositories.push_back(repository.evidence());
  }
  if (locked != nullptr) {
    if (auto same = check_same_closure(*locked, content.closure); !same) {
      return fail(in_context(std::move(same).error(), "comparing with the lock"));
    }
    tell_moved_on(*locked, content.repositories, session.events());
  }
  LockedTarget lock = lock_of(content, evidence);
  return ResolvedTarget{std::move(content), std::move(lock)};
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

// Said before the first transfer, and also where no https address would show it.
Result<Done> check_pem(const std::string& option, const std::filesystem::path& file) {
  constexpr std::uint64_t max_pem_bytes = 8U << 20U;
  auto text = read_file(Stage::fetch, file, max_pem_bytes);
  if (!text) {
    return fail(in_context(std::move(text).error(), "reading " + option));
  }
  if (text->find("-----BEGIN ") == std::string::npos) {
    return fail(Error{.code = ErrorCode::config_invalid,
                      .stage = Stage::fetch,
                      .message = option + " names a file without a certificate",
                      .reason = "nothing in PEM form is in it",
                      .details = {{"path", file.string()}},
                      .help = "give a file with -----BEGIN CERTIFICATE----- in it"});
  }
  return Done{};
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

// The state of every repository that the lock names; targets may share one.
std::vector<index::TrustFile> locked_files(const Lock& lock) {
  std::vector<index::TrustFile> files;
  for (const LockedTarget& locked : lock.targets) {
    for (const LockedFile& file : locked.files) {
      files.push_back({.path = file.path, .source = {}, .size = file.size, .sha256 = file.sha256});
    }
  }
  return files;
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
  if (selection.cacert) {
    if (auto readable = check_pem("--cacert", *selection.cacert); !readable) {
      return fail(std::move(readable).error());
    }
  }
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
    if (auto readable = check_pem("--client-cert", pair->second); !readable) {
      return fail(std::move(readable).error());
    }
    options.client_certificates[pair->first] = pair->second;
  }
  return options;
}

Result<PlanInputs> read_plan_inputs(const SelectionOptions& options, Session& session) {
  PlanInputs inputs;
  if (options.sign_key) {
    auto key = SiteSigningKey::read(Stage::plan, *options.sign_key);
    if (!key) {
      return fail(in_context(std::move(key).error(), "reading --sign-key"));
    }
    if (key->readable_by_others()) {
      session.events().event(
          {.level = Level::warning,
           .name = "plan.key.exposed",
           .message = "others can read the signing key " + options.sign_key->string() + ": chmod 600 keeps it yours",
           .fields = {{"path", options.sign_key->string()}}});
    }
    inputs.signing_key = std::move(*key);
  }
  if (options.locked && !options.lock) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::plan,
                 .message = "--locked needs a lock file",
                 .reason = "there is no --lock FILE",
                 .help = "name the file that an earlier run wrote: --lock FILE --locked"});
  }
  if (options.locked) {
    auto lock = read_lock(*options.lock);
    if (!lock) {
      return fail(std::move(lock).error());
    }
    inputs.locked = std::move(*lock);
  }
  return inputs;
}

Result<Planned> make_plan(const std::vector<ReleasePlan>& plans, const SelectionOptions& options,
                          const PlanInputs& inputs, fetch::Downloader& downloader, Session& session) {
  if (inputs.locked) {
    if (auto same = check_same_request(*inputs.locked, plans); !same) {
      return fail(in_context(std::move(same).error(), "comparing with the lock"));
    }
  }
  index::LoadOptions load{.cache_dir = session.cache_dir(), .state_dir = session.state_dir()};
  if (inputs.locked) {
    load.locked = locked_files(*inputs.locked);
    load.locked_time = inputs.locked->time;
  }
  std::vector<ReleasePlan> with_keys = plans;
  if (auto keys = index::fetch_vendor_keys(
          with_keys, {.cache_dir = session.cache_dir(), .prefer_cached = inputs.locked.has_value()}, downloader,
          session.clock(), session.events());
      !keys) {
    return fail(in_context(std::move(keys).error(), "fetching signing keys"));
  }
  index::MetadataVerifier verifier(downloader, session.clock(), session.events(), std::move(load), session.cancel());
  Planned planned;
  for (const ReleasePlan& plan : with_keys) {
    auto resolved =
        resolve_target(plan, verifier, options.trust == "full", locked_target(inputs, plan.target.id), session);
    if (!resolved) {
      return fail(std::move(resolved).error());
    }
    planned.targets.push_back(std::move(resolved->content));
    planned.lock.targets.push_back(std::move(resolved->lock));
  }
  auto date = inputs.locked ? Result<UnixTime>(inputs.locked->source_date) : source_date(planned.targets);
  if (!date) {
    return fail(std::move(date).error());
  }
  auto layout = bundle::compute_layout({.targets = planned.targets,
                                        .stub_template = packaging::stub_template(),
                                        .runner = embedded::runner()[0].data,
                                        .source_date = *date,
                                        .signing_key = inputs.signing_key ? &*inputs.signing_key : nullptr});
  if (!layout) {
    return fail(in_context(std::move(layout).error(), "laying out the bundle"));
  }
  planned.layout = std::move(*layout);
  planned.lock.creator_version = program_version();
  planned.lock.time = session.clock().now();
  planned.lock.source_date = *date;
  if (options.lock && !options.locked) {
    if (auto written = write_file_atomically(Stage::plan, *options.lock, lock_to_json(planned.lock)); !written) {
      return fail(in_context(std::move(written).error(), "writing the lock file"));
    }
    session.events().event({.level = Level::info,
                            .name = "plan.lock.written",
                            .message = "the resolution is locked in " + options.lock->string(),
                            .fields = {{"path", options.lock->string()}}});
  }
  return planned;
}

}  // namespace rocm_offline::app
