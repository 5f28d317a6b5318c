// First link of the chain: fetches Release files, has their signatures verified, and judges suite and dates.
#pragma once

#include <vector>

#include "loading.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "seen_releases.hpp"
#include "signature.hpp"

namespace rocm_offline::index {

class ReleaseLoader {
 public:
  ReleaseLoader(fetch::Downloader& downloader, const Clock& clock, EventSink& events, const IndexCache& cache,
                const SeenReleases& seen, const LoadOptions& options)
      : m_downloader(downloader),
        m_clock(clock),
        m_events(events),
        m_cache(cache),
        m_seen(seen),
        m_options(options),
        m_signatures(cache.work_folder(), clock.now()),
        m_locked_signatures(cache.work_folder(), options.locked_time) {}

  // Fills release, evidence, release_files, served_by, or missing, or error of each, in one batch of transfers. A
  // mirror whose Release is refused is left for the next of its list; when all are, the first one's error has the
  // others' as problems.
  void load(const std::vector<Loading*>& loadings) const;

 private:
  struct Received;
  // What one mirror serves of a repository.
  struct Served {
    Loading* loading;
    const Received* release;
    const Received* signature;  // null: none, or inside
  };
  [[nodiscard]] std::vector<Result<std::optional<Received>>> fetch(const std::vector<Loading*>& loadings,
                                                                   const std::string& file, bool from_same_base) const;
  // The Release that the lock names, with its indexes, where the cache has all of them.
  [[nodiscard]] bool take_locked(Loading& loading) const;
  [[nodiscard]] bool is_locked(const Loading& loading, const std::string& release_sha256) const;
  // Gives those whose mirror served something that is not accepted.
  [[nodiscard]] std::vector<Loading*> load_once(const std::vector<Loading*>& loadings) const;
  [[nodiscard]] std::vector<Loading*> with_next_mirror(const std::vector<Loading*>& refused) const;
  void note_missing(Loading& loading) const;
  // Of several files at the same time: most of what it takes is waiting for gpg.
  [[nodiscard]] std::vector<Result<SignedText>> check_signatures(const std::vector<Served>& served) const;
  [[nodiscard]] Result<SignedText> check_signature(const Served& served) const;
  // What counts as signed: that, or what an allowance makes of its refusal.
  [[nodiscard]] Result<SignedText> allowed_text(const Served& served, Result<SignedText> checked) const;
  // False when what the mirror served is refused.
  [[nodiscard]] bool take(const Served& served, Result<SignedText> checked) const;
  void take_all(const std::vector<Served>& served, std::vector<Loading*>& refused) const;
  [[nodiscard]] Result<Done> judge(Loading& loading) const;
  [[nodiscard]] Result<Done> judge_suite(const Loading& loading) const;
  [[nodiscard]] Result<Done> judge_dates(Loading& loading) const;
  [[nodiscard]] Result<Done> keep_files(Loading& loading, const Received& release, const Received* signature) const;
  void allow(Loading& loading, const std::string& check, const std::string& reason) const;

  fetch::Downloader& m_downloader;
  const Clock& m_clock;
  EventSink& m_events;
  const IndexCache& m_cache;
  const SeenReleases& m_seen;
  const LoadOptions& m_options;
  mutable SignatureVerifier m_signatures;  // caches the private homes
  mutable SignatureVerifier m_locked_signatures;
};

}  // namespace rocm_offline::index
