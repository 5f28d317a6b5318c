// Second link of the chain: the package indexes that a verified Release lists, by size and SHA-256, from the cache or
// the mirror.
#pragma once

#include <vector>

#include "loading.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/fetch/downloader.hpp"

namespace rocm_offline::index {

// The indexes that the definition asks for and the Release lists. Errors: metadata_invalid (no such component or
// architecture, naming those present), digest_missing (an index without SHA-256).
[[nodiscard]] Result<std::vector<IndexJob>> index_jobs_of(const RepositoryDefinition& definition,
                                                          const ReleaseFile& release);

class IndexLoader {
 public:
  IndexLoader(fetch::Downloader& downloader, const IndexCache& cache) : m_downloader(downloader), m_cache(cache) {}

  // Loads every job of every open loading that is not done: those in the cache from there, the others in one batch of
  // transfers. Afterwards each job is done or has an error.
  void load(const std::vector<Loading*>& loadings) const;

 private:
  struct Place {
    Loading* loading;
    IndexJob* job;
  };
  [[nodiscard]] bool load_from_cache(const Loading& loading, IndexJob& job) const;
  void download(const std::vector<Place>& places) const;
  [[nodiscard]] Result<Done> finish(const Loading& loading, IndexJob& job, std::string received) const;

  fetch::Downloader& m_downloader;
  const IndexCache& m_cache;
};

// The error of a job that no Release and no compression cured; says which of Release and index is newer.
[[nodiscard]] Error out_of_step_error(const Loading& loading, const IndexJob& job);

}  // namespace rocm_offline::index
