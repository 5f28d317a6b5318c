#include "release_loader.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "rocm_offline/core/parallel.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::uint64_t kMostReleaseBytes = 16U << 20U;
constexpr std::uint64_t kMostSignatureBytes = 1U << 20U;
constexpr UnixTime kClockTolerance = 24 * 3600;

}  // namespace

struct ReleaseLoader::Received {
  std::string file;  // "InRelease", "Release" or "Release.gpg"
  std::string content;
  std::size_t base = 0;  // which of base_urls it came from
};

std::vector<Result<std::optional<ReleaseLoader::Received>>> ReleaseLoader::fetch(const std::vector<Loading*>& loadings,
                                                                                 const std::string& file,
                                                                                 bool from_same_base) const {
  std::vector<fetch::MemorySink> sinks(loadings.size());
  std::vector<fetch::DownloadRequest> requests;
  for (std::size_t i = 0; i < loadings.size(); ++i) {
    const RepositoryDefinition& definition = *loadings[i]->definition;
    fetch::DownloadRequest request;
    for (std::size_t base = loadings[i]->first_base; base < definition.base_urls.size(); ++base) {
      if (!from_same_base || base == loadings[i]->served_by) {
        request.urls.push_back(dist_url(definition, base, file));
      }
    }
    request.what = file + " of repository " + definition.name;
    request.size_cap = file == "Release.gpg" ? kMostSignatureBytes : kMostReleaseBytes;
    request.missing_is_fine = true;
    request.revalidate = true;
    request.sink = &sinks[i];
    request.activity = "reading repositories";
    requests.push_back(std::move(request));
  }
  const auto outcomes = m_downloader.download(requests, [](std::size_t) {});
  std::vector<Result<std::optional<Received>>> received;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) {
      received.emplace_back(tl::unexpect, outcomes[i].error());
    } else if (outcomes[i]->missing) {
      received.emplace_back(std::nullopt);
    } else {
      const std::size_t base =
          from_same_base ? loadings[i]->served_by : loadings[i]->first_base + outcomes[i]->url_index;
      received.emplace_back(Received{file, sinks[i].take(), base});
    }
  }
  return received;
}

void ReleaseLoader::load(const std::vector<Loading*>& loadings) const {
  std::vector<Loading*> now;
  for (Loading* loading : loadings) {
    if (!take_locked(*loading)) {
      now.push_back(loading);
    }
  }
  while (!now.empty()) {
    now = with_next_mirror(load_once(now));
  }
  for (Loading* loading : loadings) {
    if (loading->error && !loading->refused.empty()) {
      Error first = loading->refused.front();
      for (std::size_t i = 1; i < loading->refused.size(); ++i) {
        first.problems.push_back(problem_of(loading->refused[i]));
      }
      first.problems.push_back(problem_of(*loading->error));
      loading->error = std::move(first);
    }
    loading->refused.clear();
  }
}

bool ReleaseLoader::is_locked(const Loading& loading, const std::string& release_sha256) const {
  return std::any_of(m_options.locked.begin(), m_options.locked.end(), [&](const TrustFile& file) {
    return (file.path == loading.definition->name + "/InRelease" ||
            file.path == loading.definition->name + "/Release") &&
           file.sha256.hex() == release_sha256;
  });
}

bool ReleaseLoader::take_locked(Loading& loading) const {
  const std::string below = loading.definition->name + "/";
  std::map<std::string, Received> release_files;
  for (const TrustFile& file : m_options.locked) {
    if (!file.path.starts_with(below)) {
      continue;
    }
    const std::string name = file.path.substr(below.size());
    const std::string ending = name.substr(name.rfind('/') + 1);
    const bool is_release = name == "InRelease" || name == "Release" || name == "Release.gpg";
    const auto dot = ending.rfind('.');
    const std::string kind = is_release ? name : dot == std::string::npos ? "packages" : ending.substr(dot + 1);
    auto content = m_cache.read({file.size, file.sha256}, kind);
    if (!content) {
      return false;
    }
    if (is_release) {
      release_files[name] = {.file = name, .content = std::move(*content), .base = 0};
    }
  }
  const auto release = release_files.find(release_files.contains("InRelease") ? "InRelease" : "Release");
  // Read again because an index did not fit: then the mirror is asked.
  if (release == release_files.end() || loading.reread) {
    return false;
  }
  const auto signature = release_files.find("Release.gpg");
  const Served served{&loading, &release->second, signature == release_files.end() ? nullptr : &signature->second};
  if (take(served, check_signature(served))) {
    return true;
  }
  loading.error.reset();
  return false;
}

std::vector<Loading*> ReleaseLoader::with_next_mirror(const std::vector<Loading*>& refused) const {
  std::vector<Loading*> next;
  for (Loading* loading : refused) {
    const RepositoryDefinition& definition = *loading->definition;
    if (loading->served_by + 1 >= definition.base_urls.size()) {
      continue;
    }
    const Error& why = *loading->error;
    loading->first_base = loading->served_by + 1;
    m_events.event({.level = Level::warning,
                    .name = "repos.mirror.refused",
                    .message = "repository " + definition.name + " at " +
                               redact_url(definition.base_urls[loading->served_by]) + ": " + why.reason +
                               "; trying the next mirror",
                    .fields = {{"repository", definition.name},
                               {"url", redact_url(definition.base_urls[loading->served_by])},
                               {"next_url", redact_url(definition.base_urls[loading->first_base])},
                               {"code", std::string(error_code_name(why.code))},
                               {"reason", why.reason}}});
    loading->refused.push_back(why);
    loading->error.reset();
    next.push_back(loading);
  }
  return next;
}

std::vector<Loading*> ReleaseLoader::load_once(const std::vector<Loading*>& loadings) const {
  std::vector<Loading*> refused;
  std::vector<Loading*> without_in_release;
  auto in_releases = fetch(loadings, "InRelease", false);
  std::vector<Served> served;
  for (std::size_t i = 0; i < loadings.size(); ++i) {
    if (!in_releases[i]) {
      loadings[i]->error = std::move(in_releases[i]).error();
    } else if (!*in_releases[i]) {
      without_in_release.push_back(loadings[i]);
    } else {
      served.push_back({loadings[i], &**in_releases[i], nullptr});
    }
  }
  take_all(served, refused);
  if (without_in_release.empty()) {
    return refused;
  }
  auto releases = fetch(without_in_release, "Release", false);
  std::vector<Loading*> detached;
  std::vector<Received> texts;
  for (std::size_t i = 0; i < without_in_release.size(); ++i) {
    Loading& loading = *without_in_release[i];
    if (!releases[i]) {
      loading.error = std::move(releases[i]).error();
    } else if (*releases[i]) {
      loading.served_by = (*releases[i])->base;
      detached.push_back(&loading);
      texts.push_back(std::move(**releases[i]));
    } else {
      note_missing(loading);
    }
  }
  if (detached.empty()) {
    return refused;
  }
  auto signatures = fetch(detached, "Release.gpg", true);
  served.clear();
  for (std::size_t i = 0; i < detached.size(); ++i) {
    if (!signatures[i]) {
      detached[i]->error = std::move(signatures[i]).error();
    } else {
      served.push_back({detached[i], &texts[i], *signatures[i] ? &**signatures[i] : nullptr});
    }
  }
  take_all(served, refused);
  return refused;
}

void ReleaseLoader::note_missing(Loading& loading) const {
  const RepositoryDefinition& definition = *loading.definition;
  const std::string url = redact_url(dist_url(definition, loading.first_base, "InRelease"));
  if (definition.optional) {
    loading.missing = true;
    m_events.event({.level = Level::warning,
                    .name = "repos.release.missing",
                    .message = "optional repository " + definition.name + " is not there",
                    .fields = {{"repository", definition.name}, {"url", url}}});
    return;
  }
  loading.error = repository_error(
      ErrorCode::http_status, definition, "repository '" + definition.name + "' is not there",
      "the server has neither InRelease nor Release of suite " + definition.suite,
      "check the address and suite, or give another mirror with --mirror " + definition.group + "=URL");
  loading.error->details["status"] = "404";
  loading.error->details["url"] = url;
}

void ReleaseLoader::allow(Loading& loading, const std::string& check, const std::string& reason) const {
  loading.evidence.allowed.push_back(check);
  loading.warnings.push_back("repository " + loading.definition->name + ": " + reason + " (allowed)");
  m_events.event({.level = Level::warning,
                  .name = "repos.check.allowed",
                  .message = "repository " + loading.definition->name + ": " + reason + " (allowed)",
                  .fields = {{"repository", loading.definition->name}, {"check", check}, {"reason", reason}}});
}

std::vector<Result<SignedText>> ReleaseLoader::check_signatures(const std::vector<Served>& served) const {
  constexpr unsigned threads = 4;
  std::vector<std::optional<Result<SignedText>>> checked(served.size());
  const auto all = for_each_in_parallel(served.size(), threads, [&](std::size_t i) -> Result<Done> {
    checked[i] = check_signature(served[i]);
    return Done{};
  });
  static_cast<void>(all);  // each has its own outcome
  std::vector<Result<SignedText>> results;
  for (auto& one : checked) {
    results.push_back(std::move(*one));
  }
  return results;
}

Result<SignedText> ReleaseLoader::check_signature(const Served& served) const {
  const RepositoryDefinition& definition = *served.loading->definition;
  const Received& release = *served.release;
  const bool clearsigned = release.file == "InRelease";
  if (!clearsigned && served.signature == nullptr) {
    return fail(repository_error(ErrorCode::signature_invalid, definition, "", "its Release carries no signature",
                                 "use a signed mirror, or accept this one with --allow-unsigned " + definition.group));
  }
  const SignatureRequest request{definition.keyrings, release.file, definition.group};
  SignatureVerifier& signatures =
      is_locked(*served.loading, sha256_of(release.content).hex()) ? m_locked_signatures : m_signatures;
  return clearsigned ? signatures.verify_clearsigned(release.content, request)
                     : signatures.verify_detached(release.content, served.signature->content, request);
}

// Whoever may strip a signature may also sign with any key: the two are one case. A wrong signature is another.
Result<SignedText> ReleaseLoader::allowed_text(const Served& served, Result<SignedText> checked) const {
  const Received& release = *served.release;
  const bool clearsigned = release.file == "InRelease";
  const bool stripped = !clearsigned && served.signature == nullptr;
  if (checked || !served.loading->definition->allowances.unsigned_metadata ||
      (!stripped && checked.error().code != ErrorCode::key_unknown)) {
    return checked;
  }
  allow(*served.loading, "unsigned", checked.error().reason);
  return SignedText{clearsigned ? unverified_text_of(release.content) : release.content, {}};
}

void ReleaseLoader::take_all(const std::vector<Served>& served, std::vector<Loading*>& refused) const {
  auto checked = check_signatures(served);
  for (std::size_t i = 0; i < served.size(); ++i) {
    if (!take(served[i], std::move(checked[i]))) {
      refused.push_back(served[i].loading);
    }
  }
}

bool ReleaseLoader::take(const Served& served, Result<SignedText> checked) const {
  Loading& loading = *served.loading;
  const Received& release = *served.release;
  const Received* signature = served.signature;
  const RepositoryDefinition& definition = *loading.definition;
  loading.served_by = release.base;
  loading.warnings.clear();
  loading.release_files.clear();
  loading.evidence = {};
  auto text = allowed_text(served, std::move(checked));
  // False where the mirror is to blame; a full disk or a missing gpg of this machine would be the same with the next.
  const auto refuse = [&loading, &definition](Error error) {
    constexpr int status_of_trust = 9;
    const bool by_mirror = exit_status(error.code) == status_of_trust;
    error.message = by_mirror ? "repository '" + definition.name + "' is not trusted"
                              : "repository '" + definition.name + "' cannot be checked";
    error.details["repository"] = definition.name;
    error.details["url"] = redact_url(definition.base_urls[loading.served_by]);
    loading.error = std::move(error);
    return !by_mirror;
  };
  if (!text) {
    return refuse(std::move(text).error());
  }
  auto parsed = parse_release(text->text);
  if (!parsed) {
    return refuse(std::move(parsed).error());
  }
  loading.release = std::move(*parsed);
  loading.evidence.name = definition.name;
  loading.evidence.url = definition.catalog_url;
  loading.evidence.suite = loading.release.suite;
  loading.evidence.codename = loading.release.codename;
  loading.evidence.date = loading.release.date;
  loading.evidence.valid_until = loading.release.valid_until;
  loading.evidence.release_sha256 = sha256_of(release.content).hex();
  loading.evidence.signed_by = text->signed_by;
  if (auto judged = judge(loading); !judged) {
    return refuse(std::move(judged).error());
  }
  if (auto kept = keep_files(loading, release, signature); !kept) {
    loading.error = std::move(kept).error();
    return true;  // no fault of the mirror
  }
  m_events.event(
      {.level = Level::info,
       .name = "repos.release.verified",
       .message = "repository " + definition.name + " of " + format_time(loading.release.date),
       .fields = {{"repository", definition.name},
                  {"url", redact_url(definition.base_urls[loading.served_by])},
                  {"suite", loading.release.suite},
                  {"codename", loading.release.codename},
                  {"date", format_time(loading.release.date)},
                  {"valid_until", loading.release.valid_until ? format_time(*loading.release.valid_until) : ""},
                  {"release_sha256", loading.evidence.release_sha256},
                  {"signed_by", join(loading.evidence.signed_by, ",")}}});
  return true;
}

Result<Done> ReleaseLoader::judge(Loading& loading) const {
  if (auto suite = judge_suite(loading); !suite) {
    return suite;
  }
  return judge_dates(loading);
}

Result<Done> ReleaseLoader::judge_suite(const Loading& loading) const {
  const RepositoryDefinition& definition = *loading.definition;
  const ReleaseFile& release = loading.release;
  // A flat repository has no suite to compare.
  const bool named = is_flat(definition) || definition.suite == release.suite || definition.suite == release.codename;
  const bool codename_fits =
      !definition.codename || release.codename.empty() || *definition.codename == release.codename;
  if (named && codename_fits) {
    return Done{};
  }
  Error error = repository_error(
      ErrorCode::metadata_invalid, definition, "",
      "its Release is of suite '" + release.suite + "', codename '" + release.codename + "', not of '" +
          (named && definition.codename ? *definition.codename : definition.suite) + "'",
      "the mirror serves another suite under this address: use another mirror with --mirror " + definition.group +
          "=URL");
  error.details["expected"] = named && definition.codename ? *definition.codename : definition.suite;
  error.details["actual"] = named ? release.codename : release.suite;
  return fail(std::move(error));
}

Result<Done> ReleaseLoader::judge_dates(Loading& loading) const {
  const RepositoryDefinition& definition = *loading.definition;
  const ReleaseFile& release = loading.release;
  const bool locked = is_locked(loading, loading.evidence.release_sha256);
  const UnixTime now = locked ? m_options.locked_time : m_clock.now();
  if (release.date > now + kClockTolerance) {
    return fail(repository_error(ErrorCode::metadata_invalid, definition, "",
                                 "its Release is dated " + format_time(release.date) + ", which is in the future",
                                 "check this machine's clock, which says " + format_time(now)));
  }
  if (release.valid_until && *release.valid_until < now) {
    const std::string reason =
        "its Release expired at " + format_time(*release.valid_until) + "; now it is " + format_time(now);
    if (!definition.allowances.expired) {
      return fail(repository_error(ErrorCode::metadata_expired, definition, "", reason,
                                   "use a mirror that is up to date, check this machine's clock, or accept it with "
                                   "--allow-expired " +
                                       definition.group));
    }
    allow(loading, "expired", reason);
  }
  const auto seen = m_seen.find(definition.base_urls[loading.served_by], definition.suite);
  if (!locked && seen && release.date < seen->date) {
    const std::string reason = "its Release of " + format_time(release.date) +
                               " is older than the one seen before, of " + format_time(seen->date);
    if (!definition.allowances.rollback) {
      return fail(repository_error(ErrorCode::metadata_rollback, definition, "", reason,
                                   "the mirror may be out of step: try again later, use another mirror, or accept it "
                                   "with --allow-rollback " +
                                       definition.group));
    }
    allow(loading, "rollback", reason);
  }
  return Done{};
}

Result<Done> ReleaseLoader::keep_files(Loading& loading, const Received& release, const Received* signature) const {
  const auto keep = [this, &loading](const std::string& content, const std::string& name) -> Result<Done> {
    const Sha256Digest sha256 = sha256_of(content);
    auto path = m_cache.store(content, sha256, name);
    if (!path) {
      return tl::unexpected(std::move(path).error());
    }
    loading.release_files.push_back({loading.definition->name + "/" + name, *path, content.size(), sha256});
    return Done{};
  };
  if (auto kept = keep(release.content, release.file); !kept || signature == nullptr) {
    return kept;
  }
  return keep(signature->content, signature->file);
}

}  // namespace rocm_offline::index
