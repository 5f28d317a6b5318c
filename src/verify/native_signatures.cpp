// OpenPGP signatures by the machine's own gpgv (GnuPG) or sqv (Sequoia). Sources: doc/DETAILS of GnuPG for the status
// lines; sqv(1).
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/verify/chain.hpp"
#include "signed_lists.hpp"

namespace rocm_offline::verify {

namespace fs = std::filesystem;

namespace {

Error distrust(ErrorCode code, std::string reason, std::string help) {
  return {.code = code,
          .stage = Stage::verify,
          .message = "upstream's signature does not hold",
          .reason = std::move(reason),
          .help = std::move(help)};
}

constexpr std::string_view rebuilt = "the file was not made from what upstream published: do not install it";

Error no_program() {
  return {.code = ErrorCode::check_failed,
          .stage = Stage::verify,
          .message = "the chain to upstream's signatures cannot be checked on this machine",
          .reason = "there is neither gpgv nor sqv here",
          .help = "install gpgv or sqv, or check on another machine: rocm-offline-creator verify --chain FILE.run"};
}

bool is_fingerprint(std::string_view text) {
  return text.size() == 40 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); });
}

// SHA-224 to SHA-512, by their numbers in RFC 4880, 9.4.
bool is_strong(const std::string& algorithm) {
  return algorithm == "8" || algorithm == "9" || algorithm == "10" || algorithm == "11";
}

// One signature as the status lines tell it.
struct StatusSignature {
  std::string state{};  // "GOODSIG", "EXPKEYSIG", "BADSIG", ...
  std::string key{};
  std::string fingerprint{};  // of the primary key
  std::string algorithm{};
};

struct Status {
  std::vector<StatusSignature> signatures{};
  std::optional<UnixTime> key_expired{};  // the newest date on which a key expired
};

Status read_status(std::string_view output) {
  static const std::set<std::string> states = {"GOODSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "BADSIG", "ERRSIG"};
  Status status;
  for (const std::string& line : split(output, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() < 3 || words[0] != "[GNUPG:]") {
      continue;
    }
    if (states.contains(words[1])) {
      status.signatures.push_back({.state = words[1], .key = words[2]});
    } else if (words[1] == "VALIDSIG" && words.size() >= 10 && !status.signatures.empty()) {
      status.signatures.back().fingerprint = words.size() >= 12 ? words[11] : words[2];
      status.signatures.back().algorithm = words[9];
    } else if (words[1] == "KEYEXPIRED") {
      UnixTime date = 0;
      if (std::from_chars(words[2].data(), words[2].data() + words[2].size(), date).ec == std::errc()) {
        status.key_expired = std::max(status.key_expired.value_or(date), date);
      }
    }
  }
  return status;
}

Result<CheckedRelease> judge(const Status& status, std::string text, UnixTime as_of) {
  CheckedRelease checked{.text = std::move(text)};
  std::map<std::string, std::string> others;  // state -> key, of what does not count
  for (const StatusSignature& signature : status.signatures) {
    const bool expired_later = signature.state == "EXPKEYSIG" && status.key_expired && *status.key_expired >= as_of;
    if (!is_fingerprint(signature.fingerprint) || (signature.state != "GOODSIG" && !expired_later)) {
      others.emplace(signature.state, signature.key);
    } else if (!is_strong(signature.algorithm)) {
      others.emplace("weak", signature.key);
    } else {
      checked.signed_by.push_back(signature.fingerprint);
      if (expired_later) {
        checked.warnings.push_back("key " + signature.fingerprint + " has expired since the file was made, at " +
                                   format_time(*status.key_expired));
      }
    }
  }
  if (others.contains("BADSIG")) {
    return fail(distrust(ErrorCode::signature_invalid,
                         "it was changed after key " + others["BADSIG"] + " had signed it", std::string(rebuilt)));
  }
  if (!checked.signed_by.empty()) {
    std::sort(checked.signed_by.begin(), checked.signed_by.end());
    return checked;
  }
  if (others.contains("weak")) {
    return fail(distrust(ErrorCode::signature_invalid, "it is signed with a digest weaker than SHA-2",
                         "ask who maintains the repository for a SHA-256 signature"));
  }
  for (const auto& [state, words] :
       {std::pair("REVKEYSIG", "revoked"), std::pair("EXPKEYSIG", "expired"), std::pair("EXPSIG", "expired")}) {
    if (others.contains(state)) {
      return fail(distrust(ErrorCode::key_expired,
                           "it is signed by key " + others[state] + ", which is " + words +
                               (state[0] == 'E' ? " since before the file was made" : ""),
                           std::string(rebuilt)));
    }
  }
  if (others.contains("ERRSIG")) {
    return fail(distrust(ErrorCode::key_unknown, "it is signed by key " + others["ERRSIG"] + ", which is not in /keys",
                         std::string(rebuilt)));
  }
  return fail(
      distrust(ErrorCode::signature_invalid, "it carries no signature that can be checked", std::string(rebuilt)));
}

class NativeSignatures final : public ReleaseSignatures {
 public:
  NativeSignatures(ProcessRunner& processes, fs::path work_dir)
      : m_processes(processes), m_work_dir(std::move(work_dir)) {
    for (const char* name : {"gpgv", "sqv"}) {
      if (m_program.empty() && find_program(name)) {
        m_program = name;
      }
    }
  }

  [[nodiscard]] std::string program() const override { return m_program; }

  [[nodiscard]] Result<CheckedRelease> check(const SignedRelease& release, const std::vector<Keyring>& keys,
                                             UnixTime as_of) override {
    if (m_program.empty()) {
      return fail(no_program());
    }
    ClearSigned parts;
    if (release.detached_signature) {
      parts = {release.text, *release.detached_signature};
    } else if (auto taken = take_apart(release.text)) {
      parts = std::move(*taken);
    } else {
      return fail(
          distrust(ErrorCode::signature_invalid, "it is not exactly one clear-signed message", std::string(rebuilt)));
    }
    auto folder = TemporaryDirectory::create(Stage::verify, m_work_dir, "rocm-offline-chain-");
    if (!folder) {
      return fail(std::move(folder).error());
    }
    std::string keyring;
    for (const Keyring& key : keys) {
      auto binary = without_armour(key.data);
      if (!binary) {
        return fail(distrust(ErrorCode::key_unknown, key.name + " of /keys is no OpenPGP key", std::string(rebuilt)));
      }
      keyring += *binary;
    }
    for (const auto& [name, content] : {std::pair<const char*, const std::string*>("keys.gpg", &keyring),
                                        {"signature", &parts.signature},
                                        {"text", &parts.text}}) {
      if (auto written = write_file_atomically(Stage::verify, folder->path() / name, *content, 0600); !written) {
        return fail(std::move(written).error());
      }
    }
    return m_program == "gpgv" ? by_gpgv(folder->path(), std::move(parts.text), as_of)
                               : by_sqv(folder->path(), std::move(parts.text), as_of);
  }

 private:
  Result<ProcessOutcome> run(const fs::path& folder, std::vector<std::string> argv) {
    return m_processes.run({.argv = std::move(argv),
                            .environment = {{"HOME", folder.string()},
                                            {"GNUPGHOME", folder.string()},
                                            {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"},
                                            {"LC_ALL", "C"}},
                            .clear_environment = true,
                            .capture_limit = 1U << 20U});
  }

  Result<CheckedRelease> by_gpgv(const fs::path& folder, std::string text, UnixTime as_of) {
    // The exit status also tells of signatures by keys that we do not have: the status lines are what counts.
    auto outcome =
        run(folder, {"gpgv", "--homedir", folder.string(), "--ignore-time-conflict", "--status-fd", "1", "--keyring",
                     (folder / "keys.gpg").string(), (folder / "signature").string(), (folder / "text").string()});
    if (!outcome) {
      return fail(std::move(outcome).error());
    }
    return judge(read_status(outcome->output), std::move(text), as_of);
  }

  // sqv judges keys as of the signature's own time. A machine whose clock is behind must not refuse it: signatures up
  // to some time after the newest Release count.
  Result<CheckedRelease> by_sqv(const fs::path& folder, std::string text, UnixTime as_of) {
    constexpr UnixTime signing_delay = 7 * 24 * 3600;
    auto outcome =
        run(folder, {"sqv", "--not-after", format_time(as_of + signing_delay), "--keyring",
                     (folder / "keys.gpg").string(), (folder / "signature").string(), (folder / "text").string()});
    if (!outcome) {
      return fail(std::move(outcome).error());
    }
    CheckedRelease checked{.text = std::move(text)};
    for (const std::string& line : split(outcome->output, '\n')) {
      if (is_fingerprint(line)) {
        checked.signed_by.push_back(line);
      }
    }
    if (outcome->exit_code == 0 && !checked.signed_by.empty()) {
      std::sort(checked.signed_by.begin(), checked.signed_by.end());
      return checked;
    }
    const std::vector<std::string> lines = split(trim(outcome->output), '\n');
    return fail(distrust(ErrorCode::signature_invalid, "sqv says: " + lines.back(), std::string(rebuilt)));
  }

  ProcessRunner& m_processes;
  fs::path m_work_dir;
  std::string m_program{};
};

}  // namespace

std::unique_ptr<ReleaseSignatures> make_native_signatures(ProcessRunner& processes, fs::path work_dir) {
  return std::make_unique<NativeSignatures>(processes, std::move(work_dir));
}

}  // namespace rocm_offline::verify
