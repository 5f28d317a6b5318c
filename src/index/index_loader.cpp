#include "index_loader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "rocm_offline/archive/archive.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

// Debian's and Ubuntu's largest have less than 100 MiB.
constexpr std::uint64_t kMostIndexBytes = 512U << 20U;
// xz is the smallest and always there on Debian's mirrors; the plain file usually is not, though Release lists it.
constexpr std::array<std::string_view, 5> kEndings = {"xz", "zst", "gz", "bz2", "lz4"};
constexpr std::string_view kPlainEnding = "packages";

std::string last_part(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

IndexJob job_of(const std::string& component, const std::string& path, const ReleaseFile& release) {
  IndexJob job;
  job.component = component;
  job.path = path;
  if (const auto plain = release.files.find(path); plain != release.files.end()) {
    job.plain = plain->second;
  }
  for (const std::string_view ending : kEndings) {
    const std::string name = path + "." + std::string(ending);
    if (const auto listed = release.files.find(name); listed != release.files.end()) {
      job.choices.push_back({name, std::string(ending), listed->second});
    }
  }
  if (job.plain) {
    job.choices.push_back({path, std::string(kPlainEnding), *job.plain});
  }
  return job;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Debian's security archive once said `updates/main` where its paths say `main`: both words name the same.
bool has_component(const ReleaseFile& release, const std::string& component) {
  return release.components.empty() ||
         std::any_of(release.components.begin(), release.components.end(), [&component](const std::string& present) {
           return present == component || last_part(present) == last_part(component);
         });
}

Error not_offered(const RepositoryDefinition& definition, const std::string& what, const std::string& wanted,
                  const std::vector<std::string>& present) {
  Error error =
      repository_error(ErrorCode::metadata_invalid, definition,
                       "repository '" + definition.name + "' has no " + what + " '" + wanted + "'",
                       "its Release names: " + join(present, ", "), "correct the " + what + " of the repository");
  error.details["expected"] = wanted;
  error.details["actual"] = join(present, ", ");
  return error;
}

Error no_digest(const RepositoryDefinition& definition, const std::string& path) {
  return repository_error(ErrorCode::digest_missing, definition,
                          "repository '" + definition.name + "' has no usable package index",
                          "its Release lists no SHA-256 digest of " + path + " in any compression",
                          "the repository is broken: tell its maintainers, or leave it out");
}

Result<IndexJob> component_job(const RepositoryDefinition& definition, const ReleaseFile& release,
                               const std::string& component, const std::string& arch) {
  for (const std::string& folder : {component, last_part(component)}) {
    IndexJob job = job_of(component, folder + "/binary-" + arch + "/Packages", release);
    if (!job.choices.empty()) {
      return job;
    }
  }
  return fail(no_digest(definition, component + "/binary-" + arch + "/Packages"));
}

bool may_be_cured(ErrorCode code) {
  return code == ErrorCode::digest_mismatch || code == ErrorCode::size_mismatch || code == ErrorCode::http_status;
}

}  // namespace

Result<std::vector<IndexJob>> index_jobs_of(const RepositoryDefinition& definition, const ReleaseFile& release) {
  std::vector<IndexJob> jobs;
  if (is_flat(definition)) {
    IndexJob job = job_of("", "Packages", release);
    if (job.choices.empty()) {
      return fail(no_digest(definition, "Packages"));
    }
    jobs.push_back(std::move(job));
    return jobs;
  }
  if (!release.architectures.empty() && !contains(release.architectures, definition.arch)) {
    return fail(not_offered(definition, "architecture", definition.arch, release.architectures));
  }
  for (const std::string& component : definition.components) {
    if (!has_component(release, component)) {
      return fail(not_offered(definition, "component", component, release.components));
    }
    auto job = component_job(definition, release, component, definition.arch);
    if (!job) {
      return tl::unexpected(std::move(job).error());
    }
    jobs.push_back(std::move(*job));
    if (!release.packages_hold_arch_all) {
      auto for_all = component_job(definition, release, component, "all");
      if (!for_all) {
        return tl::unexpected(std::move(for_all).error());
      }
      jobs.push_back(std::move(*for_all));
    }
  }
  return jobs;
}

bool IndexLoader::load_from_cache(const Loading& loading, IndexJob& job) const {
  // An empty index needs no file: Release itself says that it has no byte.
  if (job.plain && job.plain->size == 0) {
    job.done = true;
    return true;
  }
  const IndexChoice& choice = job.choices[job.choice];
  auto received = m_cache.read(choice.file, choice.ending);
  if (!received) {
    return false;
  }
  auto finished = finish(loading, job, std::move(*received));
  if (!finished) {
    job.error = std::move(finished).error();
    return true;
  }
  job.from_cache = true;
  return true;
}

// Takes a verified file of the chosen compression: decompresses it, unless the verified plain form is at hand.
Result<Done> IndexLoader::finish(const Loading& loading, IndexJob& job, std::string received) const {
  const IndexChoice& choice = job.choices[job.choice];
  const bool is_plain = choice.ending == kPlainEnding;
  std::optional<std::string> plain;
  if (is_plain) {
    plain = std::move(received);
  } else if (job.plain) {
    plain = m_cache.read(*job.plain, kPlainEnding);
  }
  if (!plain) {
    auto text = archive::decompress(received, job.plain ? job.plain->size : kMostIndexBytes);
    if (!text) {
      return tl::unexpected(in_context(std::move(text).error(), "decompressing " + choice.path));
    }
    if (job.plain && (text->size() != job.plain->size || sha256_of(*text) != job.plain->sha256)) {
      Error error = repository_error(ErrorCode::digest_mismatch, *loading.definition,
                                     "index of repository '" + loading.definition->name + "' is not what was signed",
                                     choice.path + " has the right digest, but its decompressed content has not",
                                     "the repository is broken: tell its maintainers, or leave it out");
      error.details["expected"] = job.plain->sha256.hex();
      error.details["actual"] = sha256_of(*text).hex();
      return fail(std::move(error));
    }
    if (job.plain) {
      if (auto stored = m_cache.store(*text, job.plain->sha256, kPlainEnding); !stored) {
        return tl::unexpected(std::move(stored).error());
      }
    }
    plain = std::move(*text);
  }
  job.text = std::move(*plain);
  job.trust_file = TrustFile{loading.definition->name + "/" + choice.path,
                             m_cache.path_of(choice.file.sha256, choice.ending), choice.file.size, choice.file.sha256};
  job.done = true;
  return Done{};
}

void IndexLoader::download(const std::vector<Place>& places) const {
  std::vector<fetch::DownloadRequest> requests;
  std::vector<Place> wanted;
  for (const Place& place : places) {
    const RepositoryDefinition& definition = *place.loading->definition;
    const IndexChoice& choice = place.job->choices[place.job->choice];
    if (choice.file.size > kMostIndexBytes) {
      place.job->error = repository_error(ErrorCode::metadata_invalid, definition, "index is too large",
                                          choice.path + " has " + std::to_string(choice.file.size) + " bytes",
                                          "leave the repository out");
      continue;
    }
    fetch::DownloadRequest request;
    for (std::size_t i = 0; i < definition.base_urls.size(); ++i) {
      const std::size_t base = (place.loading->served_by + i) % definition.base_urls.size();
      if (place.loading->release.acquire_by_hash) {
        const std::string folder = choice.path.substr(0, choice.path.rfind('/') + 1);
        request.urls.push_back(dist_url(
            definition, base,
            (choice.path.find('/') == std::string::npos ? "" : folder) + "by-hash/SHA256/" + choice.file.sha256.hex()));
      }
      request.urls.push_back(dist_url(definition, base, choice.path));
    }
    place.job->sink = std::make_unique<FileSink>(m_cache.work_folder() /
                                                 (std::to_string(wanted.size()) + "-" + choice.file.sha256.hex()));
    request.what = "index " + choice.path + " of repository " + definition.name;
    request.expected_size = choice.file.size;
    request.expected_sha256 = choice.file.sha256;
    request.sink = place.job->sink.get();
    request.activity = "downloading package indexes";
    requests.push_back(std::move(request));
    wanted.push_back(place);
  }
  const auto outcomes = m_downloader.download(requests, [](std::size_t) {});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    IndexJob& job = *wanted[i].job;
    const IndexChoice& choice = job.choices[job.choice];
    const std::filesystem::path partial = job.sink->path();
    job.sink.reset();
    if (!outcomes[i]) {
      job.error = outcomes[i].error();
      job.out_of_step = may_be_cured(job.error->code);
      if (!job.cause || job.cause->code == ErrorCode::http_status) {
        job.cause = job.error;
      }
      continue;
    }
    auto received = read_file(Stage::repos, partial, choice.file.size);
    auto adopted = received ? m_cache.adopt(partial, choice.file.sha256, choice.ending)
                            : Result<std::filesystem::path>(tl::unexpect, received.error());
    auto finished =
        adopted ? finish(*wanted[i].loading, job, std::move(*received)) : Result<Done>(tl::unexpect, adopted.error());
    if (!finished) {
      job.error = std::move(finished).error();
    }
  }
}

void IndexLoader::load(const std::vector<Loading*>& loadings) const {
  std::vector<Place> to_download;
  for (Loading* loading : loadings) {
    for (IndexJob& job : loading->jobs) {
      if (job.done || !loading->open()) {
        continue;
      }
      job.error.reset();
      job.out_of_step = false;
      if (!load_from_cache(*loading, job)) {
        to_download.push_back({loading, &job});
      }
    }
  }
  if (!to_download.empty()) {
    download(to_download);
  }
}

Error out_of_step_error(const Loading& loading, const IndexJob& job) {
  Error error = job.cause ? *job.cause : *job.error;
  error.stage = Stage::repos;
  error.message = "index of repository '" + loading.definition->name + "' does not fit its signed Release";
  error.details["repository"] = loading.definition->name;
  error.details["release_date"] = format_time(loading.release.date);
  error.reason = job.path + ": " + error.reason + "; the Release is of " + format_time(loading.release.date);
  const auto modified = error.details.find("last_modified");
  const auto date = modified == error.details.end() ? std::nullopt : parse_release_date(modified->second);
  if (date) {
    error.details["index_date"] = format_time(*date);
    error.reason += ", the mirror's index of " + format_time(*date) +
                    (*date > loading.release.date ? ": the index is newer" : ": the Release is newer");
  }
  error.help =
      "the mirror may be in the middle of an update: try again in some minutes, or use another mirror with --mirror " +
      loading.definition->group + "=URL";
  return error;
}

}  // namespace rocm_offline::index
