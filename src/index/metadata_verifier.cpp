#include <algorithm>
#include <utility>

#include "index_loader.hpp"
#include "packages_reader.hpp"
#include "release_loader.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/index/repository_set.hpp"
#include "seen_releases.hpp"
#include "verified_repository.hpp"

namespace rocm_offline::index {
namespace {

Result<Done> check_definition(const RepositoryDefinition& definition) {
  const auto refuse = [&definition](std::string reason, ErrorCode code = ErrorCode::config_invalid) {
    return fail(repository_error(code, definition, "repository '" + definition.name + "' cannot be used",
                                 std::move(reason),
                                 "correct its entry in the catalogue, --repo file or --mirror option"));
  };
  if (definition.type != PackageFamily::deb) {
    return refuse("rpm repositories are not supported by this version", ErrorCode::usage);
  }
  if (!is_safe_relative_path(definition.name)) {
    return refuse("its name is not one that a folder may have");
  }
  if (definition.base_urls.empty()) {
    return refuse("it has no address");
  }
  const std::string dist = dist_path(definition);
  if (!dist.empty() && !is_safe_relative_path(dist)) {
    return refuse("its suite '" + definition.suite + "' is not a path below the repository");
  }
  if (!is_safe_relative_path(definition.arch) || definition.arch.find('/') != std::string::npos) {
    return refuse("its architecture '" + definition.arch + "' is not a name");
  }
  for (const std::string& component : definition.components) {
    if (!is_safe_relative_path(component)) {
      return refuse("its component '" + component + "' is not a path below the suite");
    }
  }
  if (definition.components.empty() && !is_flat(definition)) {
    return refuse("it names no component");
  }
  return Done{};
}

std::vector<Loading*> open_ones(std::vector<Loading>& loadings) {
  std::vector<Loading*> open;
  for (Loading& loading : loadings) {
    if (loading.open()) {
      open.push_back(&loading);
    }
  }
  return open;
}

void make_jobs(const std::vector<Loading*>& loadings) {
  for (Loading* loading : loadings) {
    if (!loading->open()) {
      continue;
    }
    auto jobs = index_jobs_of(*loading->definition, loading->release);
    if (jobs) {
      loading->jobs = std::move(*jobs);
    } else {
      loading->error = std::move(jobs).error();
    }
  }
}

bool has_failed_job(const Loading& loading) {
  return std::any_of(loading.jobs.begin(), loading.jobs.end(),
                     [](const IndexJob& job) { return job.error.has_value(); });
}

}  // namespace

struct MetadataVerifier::Impl {
  fetch::Downloader& downloader;
  const Clock& clock;
  EventSink& events;
  LoadOptions options;
  CancelToken cancel;

  void load_indexes(std::vector<Loading>& loadings, const ReleaseLoader& releases, const IndexLoader& indexes);
  void reread(const std::vector<Loading*>& loadings, const ReleaseLoader& releases);
  static void take_next_choice(Loading& loading);
  [[nodiscard]] Result<std::unique_ptr<VerifiedRepository::Data>> read_packages(Loading& loading) const;
  void report_duplicates(const Loading& loading, const PackagesReader& reader) const;
  void remember(SeenReleases& seen, const std::vector<Loading>& loadings) const;
  [[nodiscard]] static std::optional<Error> failure_of(std::vector<Loading>& loadings);
};

// A mirror in the middle of a sync serves a Release and indexes that do not fit: read the Release once more, then try
// the other compressions, which may have been renewed earlier.
void MetadataVerifier::Impl::load_indexes(std::vector<Loading>& loadings, const ReleaseLoader& releases,
                                          const IndexLoader& indexes) {
  make_jobs(open_ones(loadings));
  for (;;) {
    indexes.load(open_ones(loadings));
    std::vector<Loading*> to_reread;
    bool again = false;
    for (Loading* loading : open_ones(loadings)) {
      if (!has_failed_job(*loading)) {
        continue;
      }
      const auto incurable = std::find_if(loading->jobs.begin(), loading->jobs.end(),
                                          [](const IndexJob& job) { return job.error && !job.out_of_step; });
      if (incurable != loading->jobs.end()) {
        loading->error = *incurable->error;
      } else if (!std::exchange(loading->reread, true)) {
        to_reread.push_back(loading);
      } else {
        take_next_choice(*loading);
      }
      again = again || loading->open();
    }
    reread(to_reread, releases);
    if (!again || cancel.cancelled()) {
      return;
    }
  }
}

void MetadataVerifier::Impl::reread(const std::vector<Loading*>& loadings, const ReleaseLoader& releases) {
  std::vector<std::string> before;
  for (const Loading* loading : loadings) {
    before.push_back(loading->evidence.release_sha256);
    const auto failed = std::find_if(loading->jobs.begin(), loading->jobs.end(),
                                     [](const IndexJob& job) { return job.error.has_value(); });
    events.event({.level = Level::warning,
                  .name = "repos.release.reread",
                  .message = "repository " + loading->definition->name + ": " + failed->path +
                             " does not fit the Release, which is read again",
                  .fields = {{"repository", loading->definition->name},
                             {"url", redact_url(loading->definition->base_urls[loading->served_by])},
                             {"reason", failed->error->reason}}});
  }
  releases.load(loadings);
  for (std::size_t i = 0; i < loadings.size(); ++i) {
    if (!loadings[i]->open()) {
      continue;
    }
    if (loadings[i]->evidence.release_sha256 != before[i]) {
      make_jobs({loadings[i]});
    } else {
      take_next_choice(*loadings[i]);
    }
  }
}

void MetadataVerifier::Impl::take_next_choice(Loading& loading) {
  for (IndexJob& job : loading.jobs) {
    if (!job.error) {
      continue;
    }
    if (job.choice + 1 == job.choices.size()) {
      loading.error = out_of_step_error(loading, job);
      return;
    }
    ++job.choice;
  }
}

void MetadataVerifier::Impl::report_duplicates(const Loading& loading, const PackagesReader& reader) const {
  for (const DuplicatePackage& twin : reader.duplicates()) {
    events.event({.level = Level::warning,
                  .name = "repos.index.duplicate",
                  .message = "repository " + loading.definition->name + " has two different packages " + twin.name +
                             " " + twin.version + " " + twin.arch + "; the first one counts",
                  .fields = {{"repository", loading.definition->name},
                             {"name", twin.name},
                             {"version", twin.version},
                             {"arch", twin.arch}}});
  }
}

Result<std::unique_ptr<VerifiedRepository::Data>> MetadataVerifier::Impl::read_packages(Loading& loading) const {
  auto data = std::make_unique<VerifiedRepository::Data>();
  data->definition = *loading.definition;
  data->evidence = loading.evidence;
  data->trust_files = loading.release_files;
  data->served_by = loading.served_by;
  PackagesReader reader(loading.definition->arch);
  std::string digests = loading.definition->arch;
  for (IndexJob& job : loading.jobs) {
    const std::size_t before = reader.count();
    data->texts.push_back(std::move(job.text));
    if (auto added = reader.add(data->texts.back(), job.path + " of repository '" + loading.definition->name + "'");
        !added) {
      return tl::unexpected(std::move(added).error());
    }
    if (job.trust_file) {
      data->trust_files.push_back(*job.trust_file);
    }
    const Sha256Digest digest = job.plain ? job.plain->sha256 : job.choices[job.choice].file.sha256;
    digests += " " + digest.hex();
    events.event({.level = Level::info,
                  .name = "repos.index.loaded",
                  .message = "repository " + loading.definition->name + ": " +
                             counted(reader.count() - before, "package") + " in " + job.path,
                  .fields = {{"repository", loading.definition->name},
                             {"component", job.component},
                             {"packages", std::to_string(reader.count() - before)},
                             {"bytes", std::to_string(data->texts.back().size())},
                             {"sha256", digest.hex()},
                             {"source", job.from_cache ? "cache" : "network"}}});
  }
  report_duplicates(loading, reader);
  data->packages = reader.take_packages();
  data->index_cache_key = options.cache_dir / "indexes" / sha256_of(digests).hex();
  return data;
}

void MetadataVerifier::Impl::remember(SeenReleases& seen, const std::vector<Loading>& loadings) const {
  for (const Loading& loading : loadings) {
    if (loading.open()) {
      seen.remember(loading.definition->base_urls[loading.served_by], loading.definition->suite,
                    {loading.release.date, loading.evidence.release_sha256});
    }
  }
  // A read-only home must not stop a create that is otherwise in order.
  if (const auto saved = seen.save(); !saved) {
    events.event({.level = Level::warning,
                  .name = "repos.state.unwritable",
                  .message = "the dates of the repositories could not be remembered: " + saved.error().reason,
                  .fields = {{"path", seen.path().string()}, {"reason", saved.error().reason}}});
  }
}

std::optional<Error> MetadataVerifier::Impl::failure_of(std::vector<Loading>& loadings) {
  std::optional<Error> first;
  for (Loading& loading : loadings) {
    if (!loading.error) {
      continue;
    }
    // Whatever found it: whose index it is, and where it came from.
    auto& details = loading.error->details;
    details.try_emplace("repository", loading.definition->name);
    details.try_emplace("url", redact_url(loading.definition->base_urls[loading.served_by]));
    if (first) {
      first->problems.push_back(problem_of(*loading.error));
      first->problems.insert(first->problems.end(), loading.error->problems.begin(), loading.error->problems.end());
    } else {
      first = in_context(in_context(*loading.error, "repository '" + loading.definition->name + "'"),
                         "loading repositories");
    }
  }
  return first;
}

MetadataVerifier::MetadataVerifier(fetch::Downloader& downloader, const Clock& clock, EventSink& events,
                                   LoadOptions options, CancelToken cancel)
    : m_impl(new Impl{downloader, clock, events, std::move(options), cancel}) {}

MetadataVerifier::~MetadataVerifier() = default;

Result<RepositorySet> MetadataVerifier::load(const std::vector<RepositoryDefinition>& definitions) {
  for (const RepositoryDefinition& definition : definitions) {
    if (auto checked = check_definition(definition); !checked) {
      return tl::unexpected(std::move(checked).error());
    }
  }
  auto cache = IndexCache::open(m_impl->options.cache_dir);
  if (!cache) {
    return tl::unexpected(std::move(cache).error());
  }
  auto seen = SeenReleases::load(m_impl->options.state_dir);
  if (!seen) {
    return tl::unexpected(std::move(seen).error());
  }
  const ReleaseLoader releases(m_impl->downloader, m_impl->clock, m_impl->events, *cache, *seen,
                               m_impl->options);
  const IndexLoader indexes(m_impl->downloader, *cache);
  std::vector<Loading> loadings(definitions.size());
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    loadings[i].definition = &definitions[i];
  }
  releases.load(open_ones(loadings));
  // With one repository refused nothing will be built: its indexes would be downloaded for nothing.
  if (auto failure = Impl::failure_of(loadings)) {
    return fail(std::move(*failure));
  }
  m_impl->load_indexes(loadings, releases, indexes);
  std::vector<std::unique_ptr<VerifiedRepository::Data>> read(loadings.size());
  for (std::size_t i = 0; i < loadings.size(); ++i) {
    if (!loadings[i].open()) {
      continue;
    }
    auto data = m_impl->read_packages(loadings[i]);
    if (data) {
      read[i] = std::move(*data);
    } else {
      loadings[i].error = std::move(data).error();
    }
  }
  if (auto failure = Impl::failure_of(loadings)) {
    return fail(std::move(*failure));
  }
  m_impl->remember(*seen, loadings);
  RepositorySet set;
  for (std::size_t i = 0; i < loadings.size(); ++i) {
    set.warnings.insert(set.warnings.end(), loadings[i].warnings.begin(), loadings[i].warnings.end());
    if (read[i]) {
      set.repositories.push_back(VerifiedRepository(std::move(read[i])));
    } else {
      set.warnings.push_back("optional repository " + loadings[i].definition->name + " is not there");
    }
  }
  return set;
}

}  // namespace rocm_offline::index
