#include "rocm_offline/index/vendor_keys.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "index_cache.hpp"
#include "loading.hpp"
#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "signature.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::uint64_t kMostKeyBytes = 1U << 20U;

// One key to fetch, and the keyrings that wait for it.
struct Wanted {
  std::string group;
  std::string fingerprint;
  std::vector<std::string> urls;
  std::vector<Keyring*> keyrings;
};

std::vector<Wanted> wanted_keys(std::vector<ReleasePlan>& plans) {
  std::map<std::pair<std::vector<std::string>, std::string>, Wanted> wanted;
  for (ReleasePlan& plan : plans) {
    for (RepositoryDefinition& definition : plan.repositories) {
      for (Keyring& keyring : definition.keyrings) {
        if (keyring.data.empty() && !keyring.urls.empty()) {
          Wanted& key = wanted[{keyring.urls, keyring.fingerprints.front()}];
          key.group = key.group.empty() ? definition.group : key.group;
          key.fingerprint = keyring.fingerprints.front();
          key.urls = keyring.urls;
          key.keyrings.push_back(&keyring);
        }
      }
    }
  }
  std::vector<Wanted> list;
  for (auto& [key, value] : wanted) {
    list.push_back(std::move(value));
  }
  return list;
}

class KeyFetcher {
 public:
  KeyFetcher(const VendorKeyOptions& options, const IndexCache& cache, fetch::Downloader& downloader,
             const Clock& clock, EventSink& events)
      : m_options(options),
        m_downloader(downloader),
        m_events(events),
        m_signatures(cache.work_folder(), clock.now()) {}

  Result<Done> fetch(std::vector<Wanted> wanted) {
    if (m_options.prefer_cached) {
      std::erase_if(wanted, [this](const Wanted& key) { return take_cached(key); });
    }
    const auto received = download(wanted);
    std::optional<Error> first;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      auto taken = received[i] ? take(wanted[i], *received[i]) : Result<Done>(tl::unexpect, received[i].error());
      if (taken) {
        continue;
      }
      Error error = explained(wanted[i], std::move(taken).error());
      if (first) {
        first->problems.push_back(problem_of(error));
      } else {
        first = std::move(error);
      }
    }
    return first ? fail(std::move(*first)) : Result<Done>(Done{});
  }

 private:
  struct Received {
    std::string url;
    std::string content;
  };

  // An address that publishes several pinned keys is asked once.
  std::vector<Result<Received>> download(const std::vector<Wanted>& wanted) {
    std::map<std::vector<std::string>, std::size_t> request_of;
    std::vector<fetch::DownloadRequest> requests;
    for (const Wanted& key : wanted) {
      if (request_of.emplace(key.urls, requests.size()).second) {
        fetch::DownloadRequest request;
        request.urls = key.urls;
        request.what = "signing key of " + key.group;
        request.size_cap = kMostKeyBytes;
        request.activity = "reading repositories";
        request.revalidate = true;
        requests.push_back(std::move(request));
      }
    }
    std::vector<fetch::MemorySink> sinks(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].sink = &sinks[i];
    }
    const auto outcomes = requests.empty() ? std::vector<Result<fetch::DownloadOutcome>>()
                                           : m_downloader.download(requests, [](std::size_t) {});
    std::vector<std::string> contents;
    for (fetch::MemorySink& sink : sinks) {
      contents.push_back(sink.take());
    }
    std::vector<Result<Received>> received;
    for (const Wanted& key : wanted) {
      const std::size_t at = request_of.at(key.urls);
      if (outcomes[at]) {
        received.emplace_back(Received{outcomes[at]->url, contents[at]});
      } else {
        received.emplace_back(tl::unexpect, outcomes[at].error());
      }
    }
    return received;
  }

  // The key out of what the address served, or what the cache holds.
  Result<std::string> pinned_part(const Wanted& key, const std::string& source, const std::string& content) {
    const std::vector<Keyring> keyrings = {
        {.name = source, .data = content, .fingerprints = {key.fingerprint}, .urls = {}}};
    return m_signatures.pinned_key({keyrings, source, key.group});
  }

  Result<Done> take(const Wanted& key, const Received& received) {
    auto data = pinned_part(key, "the key file", received.content);
    if (!data) {
      Error error = std::move(data).error();
      error.details["url"] = received.url;
      error.details.try_emplace("expected", key.fingerprint);
      error.details.try_emplace("actual", "no OpenPGP key");
      return fail(std::move(error));
    }
    m_events.event({.level = Level::info,
                    .name = "repos.key.fetched",
                    .message = "signing key " + key.fingerprint + " of " + key.group,
                    .fields = {{"group", key.group},
                               {"url", received.url},
                               {"fingerprint", key.fingerprint},
                               {"sha256", sha256_of(*data).hex()}}});
    if (auto kept = keep(key, *data); !kept) {
      return kept;
    }
    fill(key, *data);
    return Done{};
  }

  bool take_cached(const Wanted& key) {
    auto content = read_file(Stage::repos, cached(key), kMostKeyBytes);
    auto data = content ? pinned_part(key, "the cached key", *content) : std::move(content);
    if (data) {
      fill(key, *data);
    }
    return data.has_value();
  }

  Result<Done> keep(const Wanted& key, const std::string& data) const {
    if (auto folder = make_directories(Stage::repos, cached(key).parent_path()); !folder) {
      return folder;
    }
    return write_file_atomically(Stage::repos, cached(key), data);
  }

  [[nodiscard]] std::filesystem::path cached(const Wanted& key) const {
    return m_options.cache_dir / "keys" / key.fingerprint;
  }

  // apt tells the two forms apart by the ending (sources.list(5), Signed-By).
  static void fill(const Wanted& key, const std::string& data) {
    const bool armored = data.find("-----BEGIN PGP") != std::string::npos;
    for (Keyring* keyring : key.keyrings) {
      keyring->data = data;
      keyring->name = key.fingerprint + (armored ? ".asc" : ".gpg");
    }
  }

  static Error explained(const Wanted& key, Error error) {
    error.message = "the signing key of " + key.group + " cannot be had";
    error.details["repository"] = key.group;
    error.details.try_emplace("url", redact_url(key.urls.front()));
    const std::string way = "give the owner's public key with --keyring " + key.group + "=FILE";
    if (error.help.find("--keyring") == std::string::npos) {
      error.help += (error.help.empty() ? "" : "; or ") + way;
    }
    return error;
  }

  const VendorKeyOptions& m_options;
  fetch::Downloader& m_downloader;
  EventSink& m_events;
  SignatureVerifier m_signatures;
};

}  // namespace

Result<Done> fetch_vendor_keys(std::vector<ReleasePlan>& plans, const VendorKeyOptions& options,
                               fetch::Downloader& downloader, const Clock& clock, EventSink& events) {
  std::vector<Wanted> wanted = wanted_keys(plans);
  if (wanted.empty()) {
    return Done{};
  }
  auto cache = IndexCache::open(options.cache_dir);
  if (!cache) {
    return tl::unexpected(std::move(cache).error());
  }
  return KeyFetcher(options, *cache, downloader, clock, events).fetch(std::move(wanted));
}

}  // namespace rocm_offline::index
