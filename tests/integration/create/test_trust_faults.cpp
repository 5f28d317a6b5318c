// Metadata that is not to be trusted: `create` refuses it with status 9, and an allowance is recorded where it counts.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "rocm_offline/core/digest.hpp"
#include "support/creator_run/checks.hpp"
#include "support/deb_repository/compress.hpp"

using namespace rocm_offline;
using test::check_failed;
using test::contains;
using test::CreatorRun;
using test::FaultKind;
using test::KeyKind;
using test::occurrences;
using test::ReleaseForm;
using test::SigningKey;

namespace {

constexpr UnixTime kDay = 86400;
constexpr UnixTime kYear = 365 * kDay;

UnixTime now() {
  return SystemClock().now();
}

struct Scene : CreatorRun {
  [[nodiscard]] std::string address() const { return server.url("debian"); }
  void use_key(const SigningKey& key) const { std::ofstream(keyring, std::ios::trunc) << key.public_key(); }
  void set_clock(UnixTime shift) {
    environment["LD_PRELOAD"] = ROCM_OFFLINE_SHIFTED_CLOCK;
    environment["ROCM_TEST_CLOCK_SHIFT"] = std::to_string(shift);
    environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";
  }
  // The allowance is in the bundle's manifest and in both logs.
  void check_allowed(const std::string& option, const std::string& check) {
    const auto result = create({option, "debian"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(contains(result.err, "(allowed)"));
    const auto manifest = run({"inspect", "--json", output.string()});
    INFO(manifest.out);
    REQUIRE(manifest.exit_code == 0);
    CHECK(contains(manifest.out, "\"" + check + "\""));
    CHECK(contains(logs("log"), "repos.check.allowed"));
    CHECK(contains(logs("log"), "(allowed)"));
    CHECK(contains(logs("jsonl"), "repos.check.allowed"));
    CHECK(contains(logs("jsonl"), "\"" + check + "\""));
    std::filesystem::remove(output);
    std::filesystem::remove(output.string() + ".sha256");
  }
  // An allowance for one group says nothing about another.
  void check_allowance_is_for_one(const std::string& option, const std::string& code) {
    check_failed(*this, create({option, "debian-security"}), 9, code, address());
  }
};

std::string stanza(const std::string& changes) {
  std::string text =
      "Package: evil\nVersion: 1\nArchitecture: amd64\nFilename: pool/main/e/evil/evil_1_amd64.deb\nSize: 1\nSHA256: " +
      std::string(64, 'a') + "\n";
  const std::string name = changes.substr(0, changes.find(':') + 1);
  if (const auto at = text.find(name); at != std::string::npos) {
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  return text + changes + "\n";
}

}  // namespace

TEST_CASE_METHOD(Scene, "create: an expired Release", "[create]") {
  spec.date = now() - 30 * kDay;
  spec.valid_until = now() - kDay;
  build();
  check_failed(*this, create(), 9, "metadata_expired", address());
  check_allowance_is_for_one("--allow-expired", "metadata_expired");
  check_allowed("--allow-expired", "expired");
}

TEST_CASE_METHOD(Scene, "create: a Release from the future", "[create]") {
  spec.date = now() + 3 * kDay;
  build();
  const auto result = create();
  check_failed(*this, result, 9, "metadata_invalid", address());
  CHECK(contains(result.error_text(), "clock"));
}

TEST_CASE_METHOD(Scene, "create: a Release older than the one seen before", "[create]") {
  spec.date = now() - kDay;
  build();
  REQUIRE(create().exit_code == 0);
  std::filesystem::remove(output);
  std::filesystem::remove(output.string() + ".sha256");
  spec.date = now() - 2 * kDay;
  build();
  check_failed(*this, create(), 9, "metadata_rollback", address());
  check_allowance_is_for_one("--allow-rollback", "metadata_rollback");
  check_allowed("--allow-rollback", "rollback");
}

TEST_CASE_METHOD(Scene, "create: an unsigned Release", "[create]") {
  spec.form = ReleaseForm::unsigned_release;
  build(nullptr);
  check_failed(*this, create(), 9, "signature_invalid", address());
  check_allowance_is_for_one("--allow-unsigned", "signature_invalid");
  check_allowed("--allow-unsigned", "unsigned");
}

TEST_CASE_METHOD(Scene, "create: a Release signed by another key", "[create]") {
  build(&other_key());
  const auto result = create();
  check_failed(*this, result, 9, "key_unknown", address());
  CHECK(contains(result.error_text(), "--keyring debian="));
  check_allowed("--allow-unsigned", "unsigned");
}

TEST_CASE_METHOD(Scene, "create: a Release signed by an expired or a revoked key", "[create]") {
  for (const KeyKind kind : {KeyKind::expired, KeyKind::revoked}) {
    const SigningKey key(kind);
    use_key(key);
    build(&key);
    const auto result = create();
    check_failed(*this, result, 9, "key_expired", address());
    CHECK(contains(result.error_text(), kind == KeyKind::expired ? "expired key" : "revoked key"));
    CHECK(create({"--allow-unsigned", "debian"}).exit_code == 9);
  }
}

TEST_CASE_METHOD(Scene, "create: a Release that was changed after it was signed", "[create]") {
  spec.form = ReleaseForm::detached;
  build();
  write("Release", "Origin: Evil\n" + std::string("Suite: stable\n"));
  check_failed(*this, create(), 9, "signature_invalid", address());
  CHECK(create({"--allow-unsigned", "debian"}).exit_code == 9);
}

TEST_CASE_METHOD(Scene, "create: a Release whose lines end with CR LF", "[create]") {
  build();
  std::ifstream in(root / "debian/dists/trixie/Release");
  std::string text;
  for (std::string line; std::getline(in, line);) {
    text += line + "\r\n";
  }
  // Signed so, it is right: the end of a line is no part of what a clear signature covers, and none of what is read.
  write("InRelease", vendor_key().clearsign(text));
  REQUIRE(create().exit_code == 0);
  CHECK(run({"verify", output.string()}).exit_code == 0);
  std::filesystem::remove(output);
  std::filesystem::remove(output.string() + ".sha256");
  // A detached signature covers every byte.
  std::filesystem::remove(root / "debian/dists/trixie/InRelease");
  write("Release", text);
  check_failed(*this, create(), 9, "signature_invalid", address());
}

TEST_CASE_METHOD(Scene, "create: an empty or a web page's InRelease", "[create]") {
  build();
  server.set_fault("/debian/dists/trixie/InRelease", {.kind = FaultKind::undersize, .after_bytes = 0});
  check_failed(*this, create(), 9, "signature_invalid", address());
  for (const FaultKind kind : {FaultKind::web_page, FaultKind::web_page_as_binary}) {
    server.set_fault("/debian/dists/trixie/InRelease", {.kind = kind});
    check_failed(*this, create(), 9, "web_page", address());
  }
}

TEST_CASE_METHOD(Scene, "create: a server of metadata that is out of order", "[create]") {
  build();
  server.set_fault("/debian/dists/trixie/InRelease", {.kind = FaultKind::status, .status = 503});
  check_failed(*this, create(), 5, "http_status", address());
  server.set_fault("/debian/dists/trixie/InRelease", {.kind = FaultKind::stall, .after_bytes = 100});
  check_failed(*this, create(), 5, "transfer_stalled", address());
  server.set_fault("/debian/dists/trixie/InRelease", {.kind = FaultKind::oversize_chunked, .extra_bytes = 1U << 30U});
  check_failed(*this, create(), 9, "size_mismatch", address());
}

TEST_CASE_METHOD(Scene, "create: an index that does not fit its Release", "[create]") {
  build();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "debian/dists/trixie/main")) {
    if (entry.is_regular_file()) {
      std::ofstream(entry.path(), std::ios::app) << "x";
    }
  }
  const auto result = create();
  check_failed(*this, result, 9, "size_mismatch", address());
  CHECK(contains(result.error_text(), "the Release is of"));
}

TEST_CASE_METHOD(Scene, "create: a bomb of a compressed index", "[create]") {
  spec.compressions = {"gz"};
  spec.list_uncompressed = GENERATE(true, false);
  build();
  // Parts one after the other are one gzip file (RFC 1952, 2.2).
  const std::string part = test::compress(std::string(20U << 20U, 'x'), "gz");
  std::string bomb;
  for (int i = 0; i < 35; ++i) {
    bomb += part;
  }
  std::ifstream in(root / "debian/dists/trixie/Release");
  std::ostringstream read;
  read << in.rdbuf();
  std::string release = read.str();
  const std::string path = "main/binary-amd64/Packages.gz";
  const auto at = release.find(path);
  REQUIRE(at != std::string::npos);
  const auto line = release.rfind('\n', at) + 1;
  release.replace(line, release.find('\n', at) - line,
                  " " + sha256_of(bomb).hex() + " " + std::to_string(bomb.size()) + " " + path);
  write("InRelease", vendor_key().clearsign(release));
  write(path, bomb);
  write("main/binary-amd64/by-hash/SHA256/" + sha256_of(bomb).hex(), bomb);
  const auto result = create();
  check_failed(*this, result, 9, "metadata_invalid", address());
  CHECK(contains(result.error_text(), "too large"));
}

TEST_CASE_METHOD(Scene, "create: hostile stanzas in a signed index", "[create]") {
  const std::string huge(65536, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {"Filename", stanza("Filename: ../../../etc/passwd")},
      {"Filename", stanza("Filename: pool/../../evil.deb")},
      {"Filename", stanza("Filename: /etc/passwd")},
      {"Filename", stanza("Filename: pool/evil\\evil.deb")},
      {"(any)", stanza(std::string("Filename: pool/evil\x1b[2Jevil.deb"))},
      {"(any)", stanza(std::string("Description: bell \x07"))},
      {"(any)", stanza("Description: one\r")},
      {"(any)", stanza(std::string("Description: nul") + '\0')},
      {"Package", stanza("Package: ../evil")},
      {"Package", stanza("Package: " + huge)},
      {"Version", stanza("Version: " + huge)},
      {"Version", stanza("Version: 1/../../2")},
      {"Architecture", stanza("Architecture: " + huge)},
      {"Filename", stanza("Filename: pool/" + huge + ".deb")},
      {"Size", stanza("Size: 99999999999999999999999")},
      {"Size", stanza("Size: -1")},
      {"SHA256", stanza("SHA256: " + huge)},
      {"Size", stanza("Size: 1") + "Size: 2\n"},
  };
  for (const auto& [field, text] : cases) {
    spec.raw_stanzas = text;
    build();
    const auto result = create();
    CAPTURE(field);
    CAPTURE(text.substr(0, 300));
    check_failed(*this, result, 9, "metadata_invalid", address());
    CHECK(contains(result.error_text(), "field " + field));
    for (const char c : result.err) {
      REQUIRE((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    }
    CHECK(result.err.size() < 8192);
  }
}

TEST_CASE_METHOD(Scene, "create: a package without a strong digest", "[create]") {
  spec.raw_stanzas = stanza("SHA256:");
  build();
  check_failed(*this, create(), 9, "digest_missing", address());
}

TEST_CASE_METHOD(Scene, "create: huge fields that are not hostile, and duplicate stanzas", "[create]") {
  std::string relations;
  while (relations.size() < 65536) {
    relations += "rocm-core (>= 0.1) | libhip, ";
  }
  spec.packages[1].fields = {{"Recommends", relations + "hipcc"}};
  // The same package again with another digest: the first counts, and it is said.
  spec.raw_stanzas =
      "Package: libhip\nVersion: 1.0\nArchitecture: amd64\nFilename: pool/main/libh/libhip/libhip_1.0_amd64.deb\nSize: "
      "9\nSHA256: " +
      std::string(64, 'b') + "\nDescription: " + std::string(65536, 'd') + "\n";
  build();
  const auto result = create();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.err, "two different packages libhip"));
  CHECK(run({"verify", output.string()}).exit_code == 0);
}

TEST_CASE_METHOD(Scene, "create: a clock that is wrong by years", "[create]") {
  spec.valid_until = now() + 7 * kDay;
  build();
  for (const UnixTime shift : {-20 * kYear, -3 * kYear, 3 * kYear}) {
    set_clock(shift);
    const auto result = create();
    CAPTURE(shift);
    check_failed(*this, result, 9, shift < 0 ? "metadata_invalid" : "metadata_expired", address());
    CHECK(contains(result.error_text(), "clock"));
  }
}

TEST_CASE_METHOD(Scene, "create: the failures of several repositories, each with its address", "[create]") {
  build(&other_key());
  std::filesystem::remove_all(root / "security");
  const auto result = create();
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 9);
  CHECK(usable_leftovers().empty());
  CHECK(contains(result.error_text(), address()));
  CHECK(contains(result.error_text(), server.url("security")));
  CHECK(occurrences(result.error_text(), "'debian/trixie' is not trusted") == 1);
  CHECK(occurrences(result.error_text(), "'debian-security/trixie-security' is not there") == 1);
}

TEST_CASE_METHOD(Scene, "create: a stale first mirror is left for the next of the list", "[create]") {
  build();
  std::filesystem::copy(root / "debian", root / "second", std::filesystem::copy_options::recursive);
  mirrors = {server.url("debian"), server.url("second")};
  const auto check_second_serves = [this](const char* why) {
    const auto result = create();
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(contains(result.err, "warning: "));
    CHECK(contains(result.err, why));
    CHECK(contains(logs("jsonl"), "repos.mirror.refused"));
    std::filesystem::remove(output);
  };
  spec.date = now() - 30 * kDay;
  spec.valid_until = now() - kDay;
  build();
  check_second_serves("expired");
  spec.valid_until.reset();
  build(&other_key());
  check_second_serves("unknown key");
  server.set_fault("/debian/dists/trixie/InRelease", {.kind = FaultKind::undersize, .after_bytes = 0});
  check_second_serves("clear-signed");
}

TEST_CASE_METHOD(Scene, "create: when every mirror of the list is refused, each is named", "[create]") {
  build(&other_key());
  std::filesystem::copy(root / "debian", root / "second", std::filesystem::copy_options::recursive);
  mirrors = {server.url("debian"), server.url("second")};
  const auto result = create();
  check_failed(*this, result, 9, "key_unknown", server.url("debian"));
  CHECK(contains(result.error_text(), server.url("second")));
}
