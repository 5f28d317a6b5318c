#include "signature.hpp"

#include <gpg-error.h>
#include <gpgme++/context.h>
#include <gpgme++/data.h>
#include <gpgme++/engineinfo.h>
#include <gpgme++/error.h>
#include <gpgme++/global.h>
#include <gpgme++/importresult.h>
#include <gpgme++/key.h>
#include <gpgme++/keylistresult.h>
#include <gpgme++/verificationresult.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::string_view kBegin = "-----BEGIN PGP SIGNED MESSAGE-----";
constexpr std::string_view kBeginSignature = "-----BEGIN PGP SIGNATURE-----";
constexpr std::string_view kEndSignature = "-----END PGP SIGNATURE-----";

Error make_error(ErrorCode code, const SignatureRequest& request, std::string reason, std::string help) {
  Error error;
  error.code = code;
  error.stage = Stage::repos;
  error.message = "the repository is not trusted";
  error.reason = std::move(reason);
  error.details["file"] = request.file;
  error.help = std::move(help);
  return error;
}

std::string keyring_help(const SignatureRequest& request) {
  return "check the address; if the vendor has a new key, pass it with --keyring " + request.keyring_name + "=FILE";
}

Error no_gpg(const SignatureRequest& request, const std::string& reason) {
  return make_error(ErrorCode::check_failed, request, "signatures cannot be checked: " + reason,
                    "install GnuPG (package gnupg, gnupg2 or gpg2)");
}

void start_library_once() {
  static const bool done = [] {
    // Only OpenPGP is used: without gpgconf GPGME starts half as many programs before it knows where gpg is.
    GpgME::setGlobalFlag("disable-gpgconf", "1");
    GpgME::initializeLibrary();
    return true;
  }();
  static_cast<void>(done);
}

bool is_pinned(const std::string& primary, const std::vector<Keyring>& keyrings) {
  return std::any_of(keyrings.begin(), keyrings.end(), [&primary](const Keyring& keyring) {
    return keyring.fingerprints.empty() ||
           std::find(keyring.fingerprints.begin(), keyring.fingerprints.end(), primary) != keyring.fingerprints.end();
  });
}

bool is_weak(const GpgME::Signature& signature) {
  const std::string name = signature.hashAlgorithmAsString() == nullptr ? "" : signature.hashAlgorithmAsString();
  return name != "SHA256" && name != "SHA384" && name != "SHA512" && name != "SHA224";
}

// All that the signatures of one file amount to.
struct Judgement {
  std::vector<std::string> good;
  std::set<std::string> unknown, not_pinned, expired, revoked, bad, weak, broken;
};

// (sub)key fingerprint -> fingerprint of its primary key.
using Primaries = std::map<std::string, std::string>;

Judgement judge(const GpgME::VerificationResult& result, const Primaries& primaries,
                const std::vector<Keyring>& keyrings) {
  Judgement judgement;
  for (const GpgME::Signature& signature : result.signatures()) {
    const std::string fingerprint = signature.fingerprint() == nullptr ? "unknown" : signature.fingerprint();
    const auto known = primaries.find(fingerprint);
    const std::string primary = known == primaries.end() ? std::string() : known->second;
    switch (signature.status().code()) {
      case GPG_ERR_NO_ERROR:
        if (primary.empty() || !is_pinned(primary, keyrings)) {
          judgement.not_pinned.insert(primary.empty() ? fingerprint : primary);
        } else if (is_weak(signature)) {
          judgement.weak.insert(primary);
        } else if (std::find(judgement.good.begin(), judgement.good.end(), primary) == judgement.good.end()) {
          judgement.good.push_back(primary);
        }
        break;
      case GPG_ERR_NO_PUBKEY:
        judgement.unknown.insert(fingerprint);
        break;
      case GPG_ERR_KEY_EXPIRED:
      case GPG_ERR_SIG_EXPIRED:
        judgement.expired.insert(fingerprint);
        break;
      case GPG_ERR_CERT_REVOKED:
        judgement.revoked.insert(fingerprint);
        break;
      case GPG_ERR_BAD_SIGNATURE:
        judgement.bad.insert(fingerprint);
        break;
      default:
        judgement.broken.insert(fingerprint);
        break;
    }
  }
  std::sort(judgement.good.begin(), judgement.good.end());
  return judgement;
}

std::string listed(const std::set<std::string>& keys) {
  return join({keys.begin(), keys.end()}, ", ");
}

// The gravest finding is named: a wrong signature before a key that is merely not known.
Error refusal(const Judgement& judgement, const SignatureRequest& request) {
  const auto refuse = [&request](ErrorCode code, std::string reason, const std::set<std::string>& keys,
                                 std::string help) {
    Error error = make_error(code, request, std::move(reason), std::move(help));
    error.details["keys"] = listed(keys);
    return error;
  };
  const std::string& file = request.file;
  if (!judgement.bad.empty()) {
    return refuse(ErrorCode::signature_invalid,
                  file + " does not fit its signature by key " + listed(judgement.bad) + ": it was changed or damaged",
                  judgement.bad, "try again later, or use another mirror with --mirror");
  }
  if (!judgement.weak.empty()) {
    return refuse(ErrorCode::signature_invalid, file + " is signed with a digest weaker than SHA-2", judgement.weak,
                  "ask the repository's maintainers for a SHA-256 or SHA-512 signature");
  }
  if (!judgement.revoked.empty()) {
    return refuse(ErrorCode::key_expired, file + " is signed by revoked key " + listed(judgement.revoked),
                  judgement.revoked, keyring_help(request));
  }
  if (!judgement.expired.empty()) {
    return refuse(ErrorCode::key_expired, file + " is signed by expired key " + listed(judgement.expired),
                  judgement.expired, "check this machine's clock; " + keyring_help(request));
  }
  if (!judgement.not_pinned.empty()) {
    return refuse(ErrorCode::key_unknown,
                  file + " is signed by key " + listed(judgement.not_pinned) + ", which is not the one expected",
                  judgement.not_pinned, keyring_help(request));
  }
  if (!judgement.unknown.empty()) {
    return refuse(ErrorCode::key_unknown, file + " is signed by unknown key " + listed(judgement.unknown),
                  judgement.unknown, keyring_help(request));
  }
  return refuse(ErrorCode::signature_invalid, file + " carries no signature that can be checked", judgement.broken,
                "try again later, or use another mirror with --mirror");
}

Result<std::vector<std::string>> accepted(const GpgME::VerificationResult& result, const Primaries& primaries,
                                          const SignatureRequest& request) {
  const Judgement judgement = judge(result, primaries, request.keyrings);
  if (judgement.good.empty()) {
    return fail(refusal(judgement, request));
  }
  return judgement.good;
}

Error no_keys(const SignatureRequest& request) {
  return make_error(ErrorCode::key_unknown, request, "no key is known for this repository",
                    "pass the vendor key with --keyring " + request.keyring_name + "=FILE");
}

}  // namespace

// A context on a fresh private home with exactly the given keys.
class SignatureVerifier::PrivateKeyring {
 public:
  static Result<std::unique_ptr<PrivateKeyring>> open(const std::filesystem::path& work_folder, UnixTime now,
                                                      const std::filesystem::path& gpg_program,
                                                      const SignatureRequest& request);
  GpgME::Context& context() { return *m_context; }
  [[nodiscard]] const Primaries& primaries() const { return m_primaries; }

 private:
  PrivateKeyring(TemporaryDirectory home, std::unique_ptr<GpgME::Context> context)
      : m_home(std::move(home)), m_context(std::move(context)) {}
  Result<Done> import(const SignatureRequest& request);
  Result<Done> list(const SignatureRequest& request);

  TemporaryDirectory m_home;
  std::unique_ptr<GpgME::Context> m_context;
  Primaries m_primaries;
};

Result<std::unique_ptr<SignatureVerifier::PrivateKeyring>> SignatureVerifier::PrivateKeyring::open(
    const std::filesystem::path& work_folder, UnixTime now, const std::filesystem::path& gpg_program,
    const SignatureRequest& request) {
  start_library_once();
  const char* own_program = GpgME::engineInfo(GpgME::OpenPGP).fileName();
  const std::string program = !gpg_program.empty() ? gpg_program.string() : own_program == nullptr ? "" : own_program;
  if (program.empty() || ::access(program.c_str(), X_OK) != 0) {
    return fail(no_gpg(request, "there is no gpg program here"));
  }
  auto home = TemporaryDirectory::create(Stage::repos, work_folder, "gpg-");
  if (!home) {
    return tl::unexpected(std::move(home).error());
  }
  // Verifying needs neither agent nor dirmngr; none may be left running. Keys are judged by our clock. One that says
  // the key is not made yet is no reason to call the signature wrong: the Release's own date then says that the clock
  // is.
  const std::string clock = "ignore-time-conflict\nignore-valid-from\nfaked-system-time " + std::to_string(now) + "\n";
  auto written = write_file_atomically(Stage::repos, home->path() / "gpg.conf",
                                       "no-autostart\ndisable-dirmngr\ntrust-model always\nno-auto-key-locate\n"
                                       "no-auto-key-import\nno-auto-check-trustdb\n" +
                                           clock,
                                       0600);
  if (!written) {
    return tl::unexpected(std::move(written).error());
  }
  std::unique_ptr<GpgME::Context> context = GpgME::Context::create(GpgME::OpenPGP);
  if (!context) {
    return fail(no_gpg(request, "GPGME has no OpenPGP engine"));
  }
  GpgME::Error problem = context->setEngineHomeDirectory(home->path().c_str());
  if (!problem && !gpg_program.empty()) {
    problem = context->setEngineFileName(gpg_program.c_str());
  }
  if (problem) {
    return fail(no_gpg(request, problem.asString()));
  }
  context->setOffline(true);
  std::unique_ptr<PrivateKeyring> keyring(new PrivateKeyring(std::move(*home), std::move(context)));
  if (auto imported = keyring->import(request); !imported) {
    return tl::unexpected(std::move(imported).error());
  }
  if (auto listed = keyring->list(request); !listed) {
    return tl::unexpected(std::move(listed).error());
  }
  return keyring;
}

Result<Done> SignatureVerifier::PrivateKeyring::import(const SignatureRequest& request) {
  // Armored and binary keys each in one go; gpg reads either form, several keys one after the other.
  std::string armored;
  std::string binary;
  std::vector<std::string> names;
  for (const Keyring& keyring : request.keyrings) {
    const bool is_armored = keyring.data.find("-----BEGIN PGP") != std::string::npos;
    (is_armored ? armored : binary) += keyring.data + (is_armored ? "\n" : "");
    names.push_back(keyring.name);
  }
  std::size_t keys = 0;
  for (const std::string* blob : {&armored, &binary}) {
    if (blob->empty()) {
      continue;
    }
    GpgME::Data data(blob->data(), blob->size(), false);
    const GpgME::ImportResult result = m_context->importKeys(data);
    if (result.error().code() == GPG_ERR_INV_ENGINE || result.error().code() == GPG_ERR_ENOENT) {
      return fail(no_gpg(request, result.error().asString()));
    }
    keys += result.error() ? 0 : static_cast<std::size_t>(std::max(result.numConsidered(), 0));
  }
  if (keys >= request.keyrings.size()) {
    return Done{};
  }
  // gpg does not say that it could not write its keyring: a full disk is no fault of the key.
  constexpr std::size_t probe_bytes = 256U << 10U;
  if (auto room = write_file_atomically(Stage::repos, m_home.path() / "room", std::string(probe_bytes, '\0'), 0600);
      !room) {
    return fail(in_context(std::move(room).error(), "keeping keys for gpg"));
  }
  Error error =
      make_error(ErrorCode::key_unknown, request,
                 (names.size() == 1 ? "keyring " : "one of the keyrings ") + join(names, ", ") + " holds no usable key",
                 "pass the vendor key with --keyring " + request.keyring_name + "=FILE");
  error.details["keyring"] = join(names, ", ");
  return fail(std::move(error));
}

Result<Done> SignatureVerifier::PrivateKeyring::list(const SignatureRequest& request) {
  if (const GpgME::Error problem = m_context->startKeyListing()) {
    return fail(no_gpg(request, problem.asString()));
  }
  GpgME::Error problem;
  for (GpgME::Key key = m_context->nextKey(problem); !problem && !key.isNull(); key = m_context->nextKey(problem)) {
    for (const GpgME::Subkey& subkey : key.subkeys()) {
      m_primaries[subkey.fingerprint()] = key.primaryFingerprint();
    }
  }
  const auto ended = m_context->endKeyListing();
  static_cast<void>(ended);
  return Done{};
}

bool is_one_clearsigned_message(std::string_view text) {
  const auto line_at = [text](std::size_t at, std::string_view line) {
    const std::size_t end = at + line.size();
    return (at == 0 || text[at - 1] == '\n') && (end == text.size() || text[end] == '\n' || text[end] == '\r');
  };
  const std::size_t signature = text.find(kBeginSignature);
  const std::size_t end = text.find(kEndSignature);
  return text.starts_with(kBegin) && line_at(0, kBegin) && text.find(kBegin, 1) == std::string_view::npos &&
         signature != std::string_view::npos && line_at(signature, kBeginSignature) && end != std::string_view::npos &&
         end > signature && text.find(kBeginSignature, signature + 1) == std::string_view::npos &&
         trim(text.substr(end + kEndSignature.size())).empty();
}

std::string unverified_text_of(std::string_view clearsigned) {
  std::string text;
  enum class Part { begin_line, headers, body } part = Part::begin_line;
  for (const std::string& line : split(clearsigned, '\n')) {
    if (part == Part::begin_line) {
      part = Part::headers;
    } else if (part == Part::headers) {
      part = trim(line).empty() ? Part::body : Part::headers;
    } else if (line.starts_with(kBeginSignature)) {
      return text;
    } else {
      text.append(line, line.starts_with("- ") ? 2 : 0);
      text += '\n';
    }
  }
  return text;
}

struct SignatureVerifier::Home {
  std::mutex mutex{};
  std::unique_ptr<PrivateKeyring> keyring{};  // none until it was opened without a fault
};

SignatureVerifier::SignatureVerifier(std::filesystem::path work_folder, UnixTime now, std::filesystem::path gpg_program)
    : m_work_folder(std::move(work_folder)), m_now(now), m_gpg_program(std::move(gpg_program)) {}

SignatureVerifier::~SignatureVerifier() = default;

Result<SignatureVerifier::Use> SignatureVerifier::keyring_for(const SignatureRequest& request) {
  if (request.keyrings.empty()) {
    return fail(no_keys(request));
  }
  std::string digests;
  for (const Keyring& keyring : request.keyrings) {
    digests += sha256_of(keyring.data).hex();
  }
  Home* home = nullptr;
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    auto& entry = m_homes[digests];
    if (!entry) {
      entry = std::make_unique<Home>();
    }
    home = entry.get();
  }
  Use use{.lock = std::unique_lock<std::mutex>(home->mutex)};
  if (!home->keyring) {
    auto keyring = PrivateKeyring::open(m_work_folder, m_now, m_gpg_program, request);
    if (!keyring) {
      return tl::unexpected(std::move(keyring).error());
    }
    home->keyring = std::move(*keyring);
  }
  use.keyring = home->keyring.get();
  return use;
}

Result<std::string> SignatureVerifier::pinned_key(const SignatureRequest& request) {
  auto keyring = keyring_for(request);
  if (!keyring) {
    return tl::unexpected(std::move(keyring).error());
  }
  const std::string& pinned = request.keyrings.front().fingerprints.front();
  std::set<std::string> primaries;
  for (const auto& [subkey, primary] : (*keyring)->primaries()) {
    primaries.insert(primary);
  }
  if (!primaries.contains(pinned)) {
    Error error = make_error(ErrorCode::key_unknown, request,
                             request.file + " holds key " + listed(primaries) + ", not the pinned one, " + pinned,
                             keyring_help(request));
    error.details["expected"] = pinned;
    error.details["actual"] = listed(primaries);
    return fail(std::move(error));
  }
  if (primaries.size() == 1) {
    return request.keyrings.front().data;
  }
  GpgME::Data exported;
  GpgME::Context& context = (*keyring)->context();
  context.setArmor(true);
  if (const GpgME::Error problem = context.exportPublicKeys(pinned.c_str(), exported)) {
    return fail(no_gpg(request, problem.asString()));
  }
  return exported.toString();
}

Result<SignedText> SignatureVerifier::verify_clearsigned(std::string_view in_release, const SignatureRequest& request) {
  if (!is_one_clearsigned_message(in_release)) {
    return fail(make_error(ErrorCode::signature_invalid, request,
                           request.file + " is not exactly one clear-signed message",
                           "try again later, or use another mirror with --mirror"));
  }
  auto keyring = keyring_for(request);
  if (!keyring) {
    return tl::unexpected(std::move(keyring).error());
  }
  GpgME::Data signed_data(in_release.data(), in_release.size(), false);
  GpgME::Data plain;
  const auto result = (*keyring)->context().verifyOpaqueSignature(signed_data, plain);
  auto signers = accepted(result, (*keyring)->primaries(), request);
  if (!signers) {
    return tl::unexpected(std::move(signers).error());
  }
  // gpg's own output: what stands outside the signed part is not in it.
  return SignedText{plain.toString(), std::move(*signers)};
}

Result<SignedText> SignatureVerifier::verify_detached(std::string_view release, std::string_view signature,
                                                      const SignatureRequest& request) {
  auto keyring = keyring_for(request);
  if (!keyring) {
    return tl::unexpected(std::move(keyring).error());
  }
  GpgME::Data signature_data(signature.data(), signature.size(), false);
  GpgME::Data text_data(release.data(), release.size(), false);
  const auto result = (*keyring)->context().verifyDetachedSignature(signature_data, text_data);
  auto signers = accepted(result, (*keyring)->primaries(), request);
  if (!signers) {
    return tl::unexpected(std::move(signers).error());
  }
  return SignedText{std::string(release), std::move(*signers)};
}

}  // namespace rocm_offline::index
