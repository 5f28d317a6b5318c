// verify, list, extract, notes, logs, version: the words that only read the bundle.
#include <algorithm>
#include <filesystem>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/core/version.hpp"
#include "rocm_offline/verify/chain.hpp"
#include "rocm_offline/verify/verifier.hpp"
#include "words.hpp"

namespace rocm_offline::runner {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json package_json(const bundle::ManifestPackage& package) {
  return {{"name", package.id.name},
          {"version", package.id.version},
          {"arch", package.id.arch},
          {"repository", package.repository},
          {"filename", package.filename},
          {"path", package.path},
          {"size", package.size},
          {"installed_size", package.installed_size ? json(*package.installed_size) : json(nullptr)},
          {"sha256", package.sha256.hex()},
          {"reason", to_json(package.reason)}};
}

json target_ids(const bundle::Manifest& manifest) {
  json ids = json::array();
  for (const bundle::ManifestTarget& target : manifest.targets) {
    ids.push_back(target.target.id);
  }
  return ids;
}

std::string requests_text(const bundle::ManifestTarget& target) {
  std::vector<std::string> names;
  for (const PackageRequest& request : target.requests) {
    names.push_back(request.name + (request.version ? "=" + *request.version : ""));
  }
  return join(names, " ");
}

std::string notes_text(const bundle::ManifestTarget& target) {
  std::string text = "target " + target.target.id + "\n";
  text += "  release: " + target.release + "\n";
  text += "  requested: " + requests_text(target) + "\n";
  if (!target.usecases.empty()) {
    text += "  use cases: " + join(target.usecases, " ") + "\n";
  }
  if (target.target.treated_as_from) {
    text += "  made for " + *target.target.treated_as_from + ", treated as " + target.target.id + "\n";
  }
  for (const RepositoryEvidence& repository : target.repositories) {
    text += "  from " + repository.name + ", " + repository.url + ", dated " + format_time(repository.date) +
            ", signed by " + (repository.signed_by.empty() ? "nobody" : join(repository.signed_by, " ")) + "\n";
    for (const std::string& allowed : repository.allowed) {
      text += "    allowed when the file was made: " + allowed + "\n";
    }
  }
  for (const std::string& proof : target.proofs) {
    text += "  proven: " + proof + "\n";
  }
  return text;
}

json notes_json(const bundle::ManifestTarget& target) {
  json repositories = json::array();
  for (const RepositoryEvidence& repository : target.repositories) {
    repositories.push_back(to_json(repository));
  }
  json requests = json::array();
  for (const PackageRequest& request : target.requests) {
    requests.push_back({{"name", request.name},
                        {"version", request.version ? json(*request.version) : json(nullptr)},
                        {"because", request.because}});
  }
  return {{"target", to_json(target.target)}, {"release", target.release}, {"usecases", target.usecases},
          {"requests", std::move(requests)},  {"proofs", target.proofs},   {"repositories", std::move(repositories)}};
}

// Newest first: the names begin with operation and time.
std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("install-") || name.starts_with("uninstall-")) && name.ends_with(".log")) {
      found.push_back(entry.path());
    }
  }
  const auto time_of = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.substr(name.find('-') + 1);
  };
  std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) { return time_of(a) > time_of(b); });
  return found;
}

fs::path chain_work_dir(const CommandLine& line) {
  std::error_code ignored;
  const fs::path usual = fs::temp_directory_path(ignored);
  return line.work_dir ? *line.work_dir : usual.empty() ? fs::path("/tmp") : usual;
}

}  // namespace

int run_verify(const bundle::BundleReader& bundle, Session& session) {
  constexpr const char* schema = "rocm-offline/verify/1";
  verify::VerifyOptions options;
  options.expected_file_digest = session.line().sha256;
  auto report = verify::verify_bundle(bundle, options, session.events(), session.cancel());
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  if (!report->findings.empty()) {
    return session.console().failed(verify::damage_error(*report), schema);
  }
  std::optional<verify::ChainReport> chain;
  if (session.line().chain) {
    PosixProcessRunner processes;
    const auto signatures = verify::make_native_signatures(processes, chain_work_dir(session.line()));
    auto linked = verify::verify_chain(bundle, *signatures, session.clock().now(), session.events(), session.cancel());
    if (!linked) {
      return session.console().failed(linked.error(), schema);
    }
    chain = std::move(*linked);
  }
  if (session.line().json) {
    json document = {{"schema", schema},
                     {"bundle_id", report->bundle_id},
                     {"bytes", report->bytes_checked},
                     {"files", report->files_checked},
                     {"findings", json::array()}};
    if (chain) {
      document["chain"] = verify::to_json(*chain);
    }
    session.console().print_json(document);
  } else {
    session.console().print("sound: " + counted(report->files_checked, "file") + ", " +
                            format_size(report->bytes_checked) + ", bundle " + report->bundle_id + "\n" +
                            (chain ? verify::chain_text(*chain) : ""));
  }
  return session.console().finished(0);
}

int run_extract(const bundle::BundleReader& bundle, Session& session) {
  constexpr const char* schema = "rocm-offline/extract/1";
  const fs::path& folder = *session.line().extract_to;
  if (auto extracted = bundle::extract_tree(bundle, folder); !extracted) {
    return session.console().failed(extracted.error(), schema);
  }
  if (session.line().json) {
    session.console().print_json({{"schema", schema},
                                  {"bundle_id", bundle.bundle_id()},
                                  {"directory", folder.string()},
                                  {"files", bundle.files().size()}});
  } else {
    session.console().print("extracted " + counted(bundle.files().size(), "file") + " to " + folder.string() + "\n");
  }
  return session.console().finished(0);
}

int run_list(const bundle::BundleReader& bundle, Session& session) {
  json targets = json::array();
  std::string text;
  for (const bundle::ManifestTarget& target : bundle.manifest().targets) {
    json packages = json::array();
    for (const bundle::ManifestPackage& package : target.packages) {
      packages.push_back(package_json(package));
      text += package.id.name + " " + package.id.version + " " + package.id.arch + " " + std::to_string(package.size) +
              " " + target.target.id + "\n";
    }
    targets.push_back(
        {{"target", target.target.id}, {"packages", std::move(packages)}, {"totals", to_json(target.totals)}});
  }
  if (session.line().json) {
    json document = {{"schema", "rocm-offline/list/1"}, {"bundle_id", bundle.bundle_id()}, {"targets", targets}};
    if (targets.size() == 1) {
      document["target"] = targets[0]["target"];
      document["packages"] = targets[0]["packages"];
    }
    session.console().print_json(document);
  } else {
    session.console().print(text);
  }
  return session.console().finished(0);
}

int run_notes(const bundle::BundleReader& bundle, Session& session) {
  json targets = json::array();
  std::string text = "made by rocm-offline-creator " + bundle.manifest().creator_version + ", state of " +
                     format_time(bundle.manifest().source_date) + "\n";
  for (const bundle::ManifestTarget& target : bundle.manifest().targets) {
    targets.push_back(notes_json(target));
    text += notes_text(target);
  }
  if (session.line().json) {
    session.console().print_json({{"schema", "rocm-offline/notes/1"},
                                  {"bundle_id", bundle.bundle_id()},
                                  {"creator_version", bundle.manifest().creator_version},
                                  {"source_date", format_time(bundle.manifest().source_date)},
                                  {"targets", std::move(targets)}});
  } else {
    session.console().print(text);
  }
  return session.console().finished(0);
}

int run_logs(const bundle::BundleReader&, Session& session) {
  const fs::path folder = session.log_directory();
  const std::vector<fs::path> found = logs_in(folder);
  if (session.line().json) {
    json list = json::array();
    for (const fs::path& path : found) {
      fs::path records = path;
      list.push_back({{"log", path.string()}, {"jsonl", records.replace_extension(".jsonl").string()}});
    }
    session.console().print_json(
        {{"schema", "rocm-offline/logs/1"}, {"directory", folder.string()}, {"logs", std::move(list)}});
  } else {
    std::string text;
    for (const fs::path& path : found) {
      text += path.string() + "\n";
    }
    session.console().print(text.empty() ? "no install log in " + folder.string() + "\n" : text);
  }
  return session.console().finished(0);
}

int run_version(const bundle::BundleReader& bundle, Session& session) {
  const bundle::Manifest& manifest = bundle.manifest();
  std::vector<std::string> releases;
  for (const bundle::ManifestTarget& target : manifest.targets) {
    if (std::find(releases.begin(), releases.end(), target.release) == releases.end()) {
      releases.push_back(target.release);
    }
  }
  if (session.line().json) {
    session.console().print_json({{"schema", "rocm-offline/version/1"},
                                  {"version", program_version()},
                                  {"creator_version", manifest.creator_version},
                                  {"bundle_id", bundle.bundle_id()},
                                  {"releases", releases},
                                  {"targets", target_ids(manifest)}});
    return session.console().finished(0);
  }
  std::string text = "rocm-offline-install " + std::string(program_version()) + "\ncreator " +
                     manifest.creator_version + "\nbundle " + bundle.bundle_id() + "\nrelease " + join(releases, " ") +
                     "\n";
  for (const bundle::ManifestTarget& target : manifest.targets) {
    text += "target " + target.target.id + "\n";
  }
  session.console().print(text);
  return session.console().finished(0);
}

}  // namespace rocm_offline::runner
