#include "rocm_offline/verify/chain.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "rocm_offline/archive/archive.hpp"
#include "rocm_offline/core/text.hpp"
#include "signed_lists.hpp"

namespace rocm_offline::verify {

using bundle::BundleReader;

namespace {

constexpr std::uint64_t most_release_bytes = 16U << 20U;
constexpr std::uint64_t most_index_bytes = 1U << 30U;
constexpr std::uint64_t most_key_bytes = 4U << 20U;
constexpr UnixTime clock_tolerance = 24 * 3600;
constexpr std::size_t named_packages = 20;

Error broken(ErrorCode code, std::string reason) {
  return {.code = code,
          .stage = Stage::verify,
          .message = "the chain from the bundle to upstream's signatures is broken",
          .reason = std::move(reason),
          .help = "do not install this file before that is explained; make it again, or get it from who made it"};
}

Error cancelled() {
  return {.code = ErrorCode::cancelled,
          .stage = Stage::verify,
          .message = "interrupted while checking the chain",
          .reason = "a signal asked to stop",
          .help = "run the command again; nothing was changed"};
}

Result<std::string> read_whole(const BundleReader& reader, const bundle::ManifestFile& file, std::uint64_t cap) {
  if (file.size > cap) {
    return fail(broken(ErrorCode::metadata_invalid, file.path + " has " + std::to_string(file.size) + " bytes"));
  }
  std::string content;
  auto done = reader.read({file.path, file.size, file.sha256}, [&](std::string_view piece) -> Result<Done> {
    content.append(piece);
    return Done{};
  });
  if (!done) {
    return fail(std::move(done).error());
  }
  return content;
}

// The evidence files of one repository of one target.
struct TrustFolder {
  std::map<std::string, const bundle::ManifestFile*> files{};  // path below trust/<target>/<repository>/
  [[nodiscard]] const bundle::ManifestFile* find(const std::string& name) const {
    const auto found = files.find(name);
    return found == files.end() ? nullptr : found->second;
  }
};

class Chain {
 public:
  Chain(const BundleReader& reader, ReleaseSignatures& signatures, UnixTime now, EventSink& events, CancelToken cancel)
      : m_reader(reader), m_signatures(signatures), m_now(now), m_events(events), m_cancel(cancel) {}

  Result<ChainReport> run() {
    m_report.program = m_signatures.program();
    if (auto ready = read_keys(); !ready) {
      return fail(std::move(ready).error());
    }
    for (const bundle::ManifestTarget& target : m_reader.manifest().targets) {
      if (auto linked = link_target(target); !linked) {
        return fail(std::move(linked).error());
      }
    }
    if (!m_problems.empty()) {
      return fail(united());
    }
    m_events.event({Level::info,
                    "verify.chain.checked",
                    counted(m_report.packages, "package") + " linked to upstream's signatures",
                    {{"packages", std::to_string(m_report.packages)}, {"program", m_report.program}}});
    return std::move(m_report);
  }

 private:
  Result<Done> read_keys() {
    const auto& files = m_reader.manifest().files;
    if (std::none_of(files.begin(), files.end(), [](const auto& file) { return file.path.starts_with("trust/"); })) {
      Error error = broken(ErrorCode::signature_invalid, "the file was made with --trust none: it carries no index");
      error.message = "there is no chain to check";
      error.help = "compare --sha256, or --verify-key, with what you know; or make the file with --trust full";
      return fail(std::move(error));
    }
    for (const bundle::ManifestFile& file : files) {
      if (file.path.starts_with("keys/")) {
        auto data = read_whole(m_reader, file, most_key_bytes);
        if (!data) {
          return fail(std::move(data).error());
        }
        m_keys.push_back({.name = file.path.substr(5), .data = std::move(*data)});
      }
    }
    return Done{};
  }

  void remember(Error error, const std::string& where) {
    m_problems.push_back(std::move(error));
    m_places.push_back(where);
  }

  // The code of the first broken link; every one is listed.
  Error united() const {
    Error error = broken(m_problems.front().code, m_places.front() + ": " + m_problems.front().reason);
    for (std::size_t i = 0; i < m_problems.size(); ++i) {
      error.problems.push_back(
          {.summary = m_places[i] + ": " + m_problems[i].reason, .chain = {}, .help = m_problems[i].help});
    }
    error.details["broken"] = std::to_string(m_problems.size());
    error.details["bundle_id"] = m_reader.bundle_id();
    return error;
  }

  // A file belongs to the repository with the longest name that leads to it: one name may begin with another.
  std::map<std::string, TrustFolder> folders_of(const bundle::ManifestTarget& target) const {
    std::map<std::string, TrustFolder> folders;
    for (const bundle::ManifestFile& file : m_reader.manifest().files) {
      std::string longest;
      std::string below;
      for (const RepositoryEvidence& repository : target.repositories) {
        const std::string prefix = "trust/" + target.target.id + "/" + repository.name + "/";
        if (file.path.starts_with(prefix) && repository.name.size() > longest.size()) {
          longest = repository.name;
          below = file.path.substr(prefix.size());
        }
      }
      if (!longest.empty()) {
        folders[longest].files[below] = &file;
      }
    }
    return folders;
  }

  Result<Done> link_target(const bundle::ManifestTarget& target) {
    const std::map<std::string, TrustFolder> folders = folders_of(target);
    std::map<std::string, std::set<IndexEntry>> wanted;
    for (const bundle::ManifestPackage& package : target.packages) {
      wanted[package.repository].insert({package.id, package.size, package.sha256});
    }
    for (const RepositoryEvidence& repository : target.repositories) {
      const auto packages = wanted.extract(repository.name);
      const auto folder = folders.find(repository.name);
      const std::string where = target.target.id + ", repository " + repository.name;
      if (packages.empty() && folder == folders.end()) {
        continue;
      }
      auto linked = link_repository(target, repository, folder == folders.end() ? TrustFolder{} : folder->second,
                                    packages.empty() ? std::set<IndexEntry>{} : packages.mapped());
      if (linked) {
        m_report.packages += linked->packages;
        m_report.links.push_back(std::move(*linked));
      } else if (exit_status(linked.error().code) == exit_status(ErrorCode::signature_invalid)) {
        remember(std::move(linked).error(), where);
      } else {
        return fail(in_context(std::move(linked).error(), where));
      }
    }
    for (const auto& [name, packages] : wanted) {
      remember(broken(ErrorCode::signature_invalid,
                      counted(packages.size(), "package") + " of a repository that the manifest does not describe"),
               target.target.id + ", repository " + name);
    }
    return Done{};
  }

  Result<ChainLink> link_repository(const bundle::ManifestTarget& target, const RepositoryEvidence& repository,
                                    const TrustFolder& folder, std::set<IndexEntry> unlinked) {
    auto release = checked_release(repository, folder);
    if (!release) {
      return fail(std::move(release).error());
    }
    const auto list = read_signed_list(release->text);
    if (!list) {
      return fail(broken(ErrorCode::metadata_invalid, "its Release has no date or no SHA-256 digests"));
    }
    ChainLink link{.target = target.target.id,
                   .repository = repository.name,
                   .date = list->date,
                   .signed_by = release->signed_by,
                   .packages = unlinked.size()};
    warn_of_dates(repository.name, *list);
    for (const std::string& warning : release->warnings) {
      warn("repository " + repository.name + ": " + warning);
    }
    for (const auto& [name, file] : folder.files) {
      if (name == "InRelease" || name == "Release" || name == "Release.gpg") {
        continue;
      }
      if (m_cancel.cancelled()) {
        return fail(cancelled());
      }
      const auto listed = list->files.find(file->sha256);
      if (listed == list->files.end() || listed->second != file->size) {
        return fail(broken(ErrorCode::digest_mismatch, "its Release does not list " + name + " with this SHA-256"));
      }
      auto read = read_whole(m_reader, *file, most_index_bytes);
      auto index = read ? archive::decompress(*read, most_index_bytes) : std::move(read);
      if (!index) {
        return fail(std::move(index).error());
      }
      for_each_entry(*index, [&](const IndexEntry& entry) { unlinked.erase(entry); });
    }
    if (!unlinked.empty()) {
      std::vector<std::string> names;
      for (const IndexEntry& entry : unlinked) {
        if (names.size() == named_packages) {
          names.push_back("and " + std::to_string(unlinked.size() - named_packages) + " more");
          break;
        }
        names.push_back(entry.id.name + " " + entry.id.version);
      }
      return fail(broken(ErrorCode::digest_mismatch,
                         "no signed index lists, with this size and SHA-256: " + join(names, ", ")));
    }
    return link;
  }

  Result<CheckedRelease> checked_release(const RepositoryEvidence& repository, const TrustFolder& folder) {
    const bundle::ManifestFile* in_release = folder.find("InRelease");
    const bundle::ManifestFile* plain = folder.find("Release");
    const bundle::ManifestFile* signature = folder.find("Release.gpg");
    const bool allowed_unsigned =
        std::find(repository.allowed.begin(), repository.allowed.end(), "unsigned") != repository.allowed.end();
    if (allowed_unsigned || (in_release == nullptr && (plain == nullptr || signature == nullptr))) {
      return fail(broken(ErrorCode::signature_invalid, allowed_unsigned
                                                           ? "it was taken without a signature (--allow-unsigned)"
                                                           : "the file carries no signed Release of it"));
    }
    auto text = read_whole(m_reader, in_release != nullptr ? *in_release : *plain, most_release_bytes);
    if (!text) {
      return fail(std::move(text).error());
    }
    if (sha256_of(*text).hex() != repository.release_sha256) {
      return fail(broken(ErrorCode::digest_mismatch, "its Release is not the one that the manifest names"));
    }
    SignedRelease release{.text = std::move(*text)};
    if (in_release == nullptr) {
      auto detached = read_whole(m_reader, *signature, most_release_bytes);
      if (!detached) {
        return fail(std::move(detached).error());
      }
      release.detached_signature = std::move(*detached);
    }
    const UnixTime as_of = std::max(m_reader.manifest().source_date, repository.date);
    return m_signatures.check(release, m_keys, as_of);
  }

  void warn(std::string words) {
    m_events.event({.level = Level::warning, .name = "verify.chain.warned", .message = words});
    m_report.warnings.push_back(std::move(words));
  }

  // What create judged; here it is told only.
  void warn_of_dates(const std::string& name, const SignedList& list) {
    if (list.date > m_now + clock_tolerance) {
      warn("repository " + name + ": its Release is of " + format_time(list.date) + ", but this machine's clock says " +
           format_time(m_now));
    } else if (list.valid_until && *list.valid_until < m_now) {
      warn("repository " + name + ": its Release was valid until " + format_time(*list.valid_until));
    }
  }

  const BundleReader& m_reader;
  ReleaseSignatures& m_signatures;
  UnixTime m_now;
  EventSink& m_events;
  CancelToken m_cancel;
  std::vector<Keyring> m_keys{};
  std::vector<Error> m_problems{};
  std::vector<std::string> m_places{};
  ChainReport m_report{};
};

}  // namespace

nlohmann::json to_json(const ChainReport& report) {
  nlohmann::json repositories = nlohmann::json::array();
  for (const ChainLink& link : report.links) {
    repositories.push_back({{"target", link.target},
                            {"name", link.repository},
                            {"date", format_time(link.date)},
                            {"signed_by", link.signed_by},
                            {"packages", link.packages}});
  }
  return {{"program", report.program},
          {"packages", report.packages},
          {"repositories", std::move(repositories)},
          {"warnings", report.warnings}};
}

std::string chain_text(const ChainReport& report) {
  std::string text =
      "linked to upstream's signatures by " + report.program + ": " + counted(report.packages, "package") + "\n";
  for (const ChainLink& link : report.links) {
    text += "  " + link.target + ", " + link.repository + " of " + format_time(link.date) + ": " +
            counted(link.packages, "package") + ", signed by " + join(link.signed_by, " ") + "\n";
  }
  return text;
}

Result<ChainReport> verify_chain(const BundleReader& reader, ReleaseSignatures& signatures, UnixTime now,
                                 EventSink& events, CancelToken cancel) {
  return Chain(reader, signatures, now, events, cancel).run();
}

}  // namespace rocm_offline::verify
