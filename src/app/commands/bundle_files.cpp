// inspect, verify, extract: what can be done with a bundle without installing it.
#include "commands.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/verify/verifier.hpp"

namespace rocm_offline::app {

namespace {

std::string target_text(const bundle::ManifestTarget& target) {
  std::string text = "target    " + target.target.id + "\n  release   " + target.release + "\n";
  if (!target.usecases.empty()) {
    text += "  usecases  " + join(target.usecases, " ") + "\n";
  }
  std::string requests;
  for (const PackageRequest& request : target.requests) {
    requests += (requests.empty() ? "" : " ") + request.name + (request.version ? "=" + *request.version : "");
  }
  text += "  requests  " + requests + "\n";
  text += "  packages  " + std::to_string(target.totals.packages) + ", " + format_size(target.totals.download_bytes) +
          ", installed " + format_size(target.totals.installed_bytes) + "\n";
  for (const RepositoryEvidence& repository : target.repositories) {
    text += "  from      " + repository.name + " of " + format_time(repository.date) + ", signed by " +
            (repository.signed_by.empty() ? "nobody" : join(repository.signed_by, " ")) +
            (repository.allowed.empty() ? "" : " (allowed: " + join(repository.allowed, ", ") + ")") + "\n";
  }
  for (const std::string& proof : target.proofs) {
    text += "  proven    " + proof + "\n";
  }
  return text;
}

std::string inspect_text(const bundle::BundleReader& reader) {
  std::string text = "bundle    " + reader.bundle_id() + "\ncreator   " + reader.manifest().creator_version +
                     "\nsnapshot  " + format_time(reader.manifest().source_date) + "\n";
  for (const bundle::ManifestTarget& target : reader.manifest().targets) {
    text += target_text(target);
  }
  return text;
}

}  // namespace

int run_inspect(const Invocation& invocation, Session& session) {
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.failed(reader.error(), "rocm-offline/manifest/1");
  }
  session.print(session.options().json ? reader->manifest_json() : inspect_text(*reader));
  return session.finished();
}

int run_verify(const Invocation& invocation, Session& session) {
  constexpr const char* schema = "rocm-offline/verify/1";
  if (auto opened = session.open_log(false); !opened) {
    return session.failed(opened.error(), schema);
  }
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.failed(reader.error(), schema);
  }
  auto report = verify::verify_bundle(*reader, {}, session.events(), session.cancel());
  if (!report) {
    return session.failed(report.error(), schema);
  }
  if (!report->findings.empty()) {
    return session.failed(verify::damage_error(*report), schema);
  }
  if (session.options().json) {
    session.print_json({{"schema", schema},
                        {"bundle_id", report->bundle_id},
                        {"bytes", report->bytes_checked},
                        {"files", report->files_checked},
                        {"findings", nlohmann::json::array()}});
  } else {
    session.print(invocation.file.file.string() + " is sound: bundle " + report->bundle_id + ", " +
                  counted(report->files_checked, "file") + ", " + std::to_string(report->bytes_checked) +
                  " bytes checked\n");
  }
  return session.finished();
}

int run_extract(const Invocation& invocation, Session& session) {
  constexpr const char* schema = "rocm-offline/extract/1";
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.failed(reader.error(), schema);
  }
  if (auto extracted = bundle::extract_tree(*reader, invocation.file.directory); !extracted) {
    return session.failed(extracted.error(), schema);
  }
  if (session.options().json) {
    session.print_json(
        {{"schema", schema}, {"bundle_id", reader->bundle_id()}, {"directory", invocation.file.directory.string()}});
  } else {
    session.print(invocation.file.directory.string() + "\n");
  }
  return session.finished();
}

}  // namespace rocm_offline::app
