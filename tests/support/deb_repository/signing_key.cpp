#include <cstdlib>
#include <stdexcept>

#include "rocm_offline/core/posix.hpp"
#include "support/deb_repository/deb_repository.hpp"

namespace rocm_offline::test {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result) {
    throw std::runtime_error("deb_repository: " + result.error().message + ": " + result.error().reason);
  }
  return std::move(*result);
}

}  // namespace

struct SigningKey::State {
  TemporaryDirectory home;
  std::string fingerprint;
  std::string public_key;
  std::vector<std::string> as_of;  // options that set gpg's clock

  explicit State(TemporaryDirectory folder) : home(std::move(folder)) {}

  std::string gpg(std::vector<std::string> arguments) const {
    ProcessRequest request;
    request.argv = {"gpg",          "--homedir", home.path().string(), "--batch", "--no-tty", "--yes", "--quiet",
                    "--passphrase", "",          "--pinentry-mode",    "loopback"};
    request.argv.insert(request.argv.end(), as_of.begin(), as_of.end());
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    PosixProcessRunner runner;
    const ProcessOutcome outcome = value_of(runner.run(request));
    if (outcome.exit_code != 0) {
      throw std::runtime_error("deb_repository: gpg failed: " + outcome.output);
    }
    return outcome.output;
  }

  // The public key with the revocation that gpg made beside it. In a home of its own: here the key must go on signing.
  std::string revoked_form() const {
    std::string revocation =
        value_of(read_file(Stage::repos, home.path() / "openpgp-revocs.d" / (fingerprint + ".rev"), 1U << 20U));
    // gpg writes a colon before the armor, against use by accident.
    const auto colon = revocation.find(":-----BEGIN");
    if (colon == std::string::npos) {
      throw std::runtime_error("deb_repository: no revocation certificate in: " + revocation);
    }
    revocation.erase(0, colon + 1);
    State other(value_of(TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-gpg-")));
    const auto file = other.home.path() / "key.asc";
    for (const std::string& part : {public_key, revocation}) {
      value_of(write_file_atomically(Stage::repos, file, part));
      other.gpg({"--import", file.string()});
    }
    other.gpg({"--armor", "--output", file.string(), "--export"});
    return value_of(read_file(Stage::repos, file, 1U << 20U));
  }

  std::string sign(std::string_view text, const std::vector<std::string>& how) const {
    const auto in = home.path() / "in";
    const auto out = home.path() / "out";
    value_of(write_file_atomically(Stage::repos, in, text));
    std::vector<std::string> arguments = how;
    arguments.insert(arguments.end(), {"--output", out.string(), in.string()});
    gpg(arguments);
    return value_of(read_file(Stage::repos, out, 64U << 20U));
  }
};

SigningKey::SigningKey(KeyKind kind) {
  // Below /tmp: the agent's socket path must stay under 108 bytes, which a deep build folder exceeds.
  m_state = std::make_unique<State>(value_of(TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-gpg-")));
  std::string validity = "0";
  if (kind == KeyKind::expired) {
    m_state->as_of = {"--faked-system-time", "20200101T000000"};
    validity = "1d";
  }
  m_state->gpg({"--quick-generate-key", "Test <test@example.invalid>", "ed25519", "sign", validity});
  if (kind == KeyKind::expired) {
    // Signatures come later than the key, however slow the machine was.
    m_state->as_of = {"--faked-system-time", "20200101T060000"};
  }
  const std::string listing = m_state->gpg({"--with-colons", "--list-keys"});
  const auto line = listing.find("\nfpr:");
  if (line == std::string::npos) {
    throw std::runtime_error("deb_repository: no fingerprint in: " + listing);
  }
  m_state->fingerprint = listing.substr(listing.find_first_not_of(':', line + 4), 40);
  const auto file = m_state->home.path() / "public.asc";
  m_state->gpg({"--armor", "--output", file.string(), "--export"});
  m_state->public_key = value_of(read_file(Stage::repos, file, 1U << 20U));
  if (kind == KeyKind::revoked) {
    m_state->public_key = m_state->revoked_form();
  }
}

SigningKey::~SigningKey() {
  ProcessRequest request;
  request.argv = {"gpgconf", "--homedir", m_state->home.path().string(), "--kill", "all"};
  PosixProcessRunner runner;
  const auto ended = runner.run(request);
  if (!ended) {
    std::fprintf(stderr, "deb_repository: %s\n", ended.error().message.c_str());
  }
}

const std::string& SigningKey::fingerprint() const {
  return m_state->fingerprint;
}

const std::string& SigningKey::public_key() const {
  return m_state->public_key;
}

std::string SigningKey::clearsign(std::string_view text, std::string_view digest) const {
  return m_state->sign(text, {"--digest-algo", std::string(digest), "--allow-weak-digest-algos", "--clearsign"});
}

std::string SigningKey::detached_signature(std::string_view text) const {
  return m_state->sign(text, {"--armor", "--detach-sign"});
}

}  // namespace rocm_offline::test
