// inspect, verify, extract: what can be done with a bundle without installing it.
#include "commands.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/index/release_signature.hpp"
#include "rocm_offline/verify/chain.hpp"
#include "rocm_offline/verify/site_signature.hpp"
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
  if (const auto& key = reader.manifest().signing_key) {
    text += "site key  " + key->hex() + "\n";
  }
  for (const bundle::ManifestTarget& target : reader.manifest().targets) {
    text += target_text(target);
  }
  return text;
}

// The creator's way to check a Release: the one that loads repositories.
class GpgSignatures final : public verify::ReleaseSignatures {
 public:
  [[nodiscard]] std::string program() const override { return "gpg"; }
  [[nodiscard]] Result<verify::CheckedRelease> check(const verify::SignedRelease& release,
                                                     const std::vector<Keyring>& keys, UnixTime as_of) override {
    auto folder = TemporaryDirectory::create(Stage::verify, std::filesystem::temp_directory_path(), "rocm-offline-");
    if (!folder) {
      return fail(std::move(folder).error());
    }
    auto text = index::verify_release_signature({.release = release.text,
                                                 .detached_signature = release.detached_signature,
                                                 .keyrings = keys,
                                                 .as_of = as_of,
                                                 .work_folder = folder->path()});
    if (!text) {
      Error error = std::move(text).error();
      error.stage = Stage::verify;
      if (error.code != ErrorCode::check_failed) {
        error.help = "the file was not made from what upstream published: do not install it";
      }
      return fail(std::move(error));
    }
    return verify::CheckedRelease{.text = std::move(text->text), .signed_by = std::move(text->signed_by)};
  }
};

nlohmann::json key_json(const bundle::BundleReader& reader) {
  const auto& key = reader.manifest().signing_key;
  return key ? nlohmann::json(key->hex()) : nlohmann::json(nullptr);
}

Event signature_event(const SitePublicKey& key) {
  return {.level = Level::info,
          .name = "verify.signature.checked",
          .message = "the manifest is signed by site key " + key.hex(),
          .fields = {{"key", key.hex()}}};
}

}  // namespace

int run_inspect(const Invocation& invocation, Session& session) {
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.console().failed(reader.error(), "rocm-offline/manifest/1");
  }
  session.console().print(session.options().json ? reader->manifest_json() : inspect_text(*reader));
  return session.console().finished(0);
}

int run_verify(const Invocation& invocation, Session& session) {
  constexpr const char* schema = "rocm-offline/verify/1";
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.console().failed(reader.error(), schema);
  }
  if (invocation.file.verify_key) {
    // Distrust comes before damage: a changed manifest is told as what it is.
    auto key = SitePublicKey::read(Stage::verify, *invocation.file.verify_key);
    auto trusted = key ? verify::check_site_signature(*reader, *key) : Result<Done>(tl::unexpect, key.error());
    if (!trusted) {
      return session.console().failed(trusted.error(), schema);
    }
    session.events().event(signature_event(*key));
  }
  auto report = verify::verify_bundle(*reader, {}, session.events(), session.cancel());
  if (!report) {
    return session.console().failed(report.error(), schema);
  }
  if (!report->findings.empty()) {
    return session.console().failed(verify::damage_error(*report), schema);
  }
  std::optional<verify::ChainReport> chain;
  if (invocation.file.chain) {
    GpgSignatures signatures;
    auto linked = verify::verify_chain(*reader, signatures, session.clock().now(), session.events(), session.cancel());
    if (!linked) {
      return session.console().failed(linked.error(), schema);
    }
    chain = std::move(*linked);
  }
  if (session.options().json) {
    nlohmann::json document = {{"schema", schema},
                               {"bundle_id", report->bundle_id},
                               {"bytes", report->bytes_checked},
                               {"files", report->files_checked},
                               {"signing_key", key_json(*reader)},
                               {"findings", nlohmann::json::array()}};
    if (chain) {
      document["chain"] = verify::to_json(*chain);
    }
    session.console().print_json(document);
  } else {
    session.console().print(invocation.file.file.string() + " is sound: bundle " + report->bundle_id + ", " +
                            counted(report->files_checked, "file") + ", " + std::to_string(report->bytes_checked) +
                            " bytes checked\n" + (chain ? verify::chain_text(*chain) : ""));
  }
  return session.console().finished(0);
}

int run_extract(const Invocation& invocation, Session& session) {
  constexpr const char* schema = "rocm-offline/extract/1";
  auto reader = bundle::BundleReader::open(invocation.file.file);
  if (!reader) {
    return session.console().failed(reader.error(), schema);
  }
  if (auto extracted = bundle::extract_tree(*reader, invocation.file.directory); !extracted) {
    return session.console().failed(extracted.error(), schema);
  }
  if (session.options().json) {
    session.console().print_json({{"schema", schema},
                                  {"bundle_id", reader->bundle_id()},
                                  {"directory", invocation.file.directory.string()},
                                  {"files", reader->files().size()}});
  } else {
    session.console().print(invocation.file.directory.string() + "\n");
  }
  return session.console().finished(0);
}

}  // namespace rocm_offline::app
