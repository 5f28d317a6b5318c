#include <catch2/catch.hpp>
#include <fstream>
#include <mutex>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/index/repository_set.hpp"
#include "support/deb_repository/deb_repository.hpp"
#include "support/http_server/http_server.hpp"

using namespace rocm_offline;
using namespace std::chrono_literals;
using index::RepositorySet;
using test::DebRepositorySpec;
using test::FaultKind;
using test::ReleaseForm;
using test::SigningKey;

namespace {

constexpr UnixTime kDay = 86400;
const char* const kIndexPath = "/dists/trixie/main/binary-amd64/Packages.xz";

// Made once: each costs a start of gpg-agent.
const SigningKey& vendor_key() {
  static const SigningKey key;
  return key;
}
const SigningKey& other_key() {
  static const SigningKey key;
  return key;
}
const SigningKey& expired_key() {
  static const SigningKey key(test::KeyKind::expired);
  return key;
}

class FixedClock final : public Clock {
 public:
  [[nodiscard]] UnixTime now() const override { return time; }
  UnixTime time = SystemClock().now();
};

class RecordingEvents final : public EventSink {
 public:
  void event(const Event& event) noexcept override {
    const std::lock_guard lock(m_mutex);
    names.push_back(event.name);
    unknown_names += is_event_name(event.name) ? 0 : 1;
    for (const auto& [name, value] : event.fields) {
      fields += event.name + "." + name + "=" + value + "\n";
    }
  }
  void progress(const Progress&) noexcept override {}
  [[nodiscard]] bool has(const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  std::vector<std::string> names;
  std::string fields;
  int unknown_names = 0;

 private:
  std::mutex m_mutex;
};

Keyring keyring_of(const SigningKey& key, bool pinned = true) {
  Keyring keyring;
  keyring.name = "test.asc";
  keyring.data = key.public_key();
  if (pinned) {
    keyring.fingerprints = {key.fingerprint()};
  }
  return keyring;
}

struct Fixture {
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-index-").value();
  std::filesystem::path root = folder.path() / "mirror";
  test::HttpServer server{root};
  FixedClock clock;
  RecordingEvents events;
  DebRepositorySpec spec;
  RepositoryDefinition definition;

  Fixture() {
    spec.packages = {{.name = "hipcc", .version = "5.7.1-3"},
                     {.name = "rocminfo", .version = "6.1.2-1", .arch = "all"}};
    definition.name = "debian/trixie";
    definition.group = "debian";
    definition.base_urls = {server.url()};
    definition.catalog_url = "http://deb.example/debian";
    definition.suite = "trixie";
    definition.components = {"main"};
    definition.keyrings = {keyring_of(vendor_key())};
  }

  test::BuiltDebRepository build(const SigningKey* key = &vendor_key()) {
    return test::build_deb_repository(root, spec, key);
  }

  Result<RepositorySet> load(const std::vector<RepositoryDefinition>& definitions) {
    fetch::TransferOptions options;
    options.proxy = "";
    options.retries = 1;
    options.backoff = 5ms;
    const auto downloader = fetch::make_curl_downloader(options, events, CancelToken());
    index::MetadataVerifier verifier(*downloader, clock, events, {folder.path() / "cache", folder.path() / "state"},
                                     CancelToken());
    return verifier.load(definitions);
  }
  Result<RepositorySet> load() { return load({definition}); }

  [[nodiscard]] std::vector<std::string> files_below(const std::string& name) const {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / name, ignored)) {
      files.push_back(entry.path().filename().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  // What a failed trust check must not leave: a usable index, partial files, a remembered date.
  void check_nothing_usable(bool release_was_good = false) const {
    for (const std::string& file : files_below("cache/indexes")) {
      CAPTURE(file);
      CHECK(release_was_good);
      CHECK(file.find("Release") != std::string::npos);
    }
    CHECK(files_below("cache/partial").empty());
    CHECK_FALSE(std::filesystem::exists(folder.path() / "state" / "releases-seen.json"));
  }
  void check_refused(const Result<RepositorySet>& set, ErrorCode code, bool release_was_good = false) const {
    REQUIRE_FALSE(set);
    const Error& error = set.error();
    CAPTURE(error.message, error.reason);
    CHECK(error_code_name(error.code) == error_code_name(code));
    CHECK(error.message.find("debian/trixie") != std::string::npos);
    CHECK_FALSE(error.reason.empty());
    CHECK_FALSE(error.help.empty());
    CHECK(error.context.back() == "loading repositories");
    check_nothing_usable(release_was_good);
    CHECK_FALSE(events.has("repos.index.loaded"));
  }

  void rewrite(const std::filesystem::path& file, const std::string& from, const std::string& to) const {
    std::string text = read_file(Stage::repos, file, 1U << 20U).value();
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a signed repository is verified and read", "[index]") {
  spec.valid_until = clock.now() + 7 * kDay;
  const auto built = build();
  const auto set = load();
  REQUIRE(set);
  REQUIRE(set->repositories.size() == 1);
  const auto& repository = set->repositories[0];
  REQUIRE(repository.packages().size() == 2);
  const auto& hipcc = repository.packages()[0];
  CHECK(hipcc.name == "hipcc");
  CHECK(repository.urls_of(hipcc) == std::vector<std::string>{server.url("pool/main/h/hipcc/hipcc_5.7.1-3_amd64.deb")});
  const std::string deb = read_file(Stage::repos, root / hipcc.filename, 1U << 20U).value();
  CHECK(deb.size() == hipcc.size);
  CHECK(sha256_of(deb) == hipcc.sha256);
  const RepositoryEvidence& evidence = repository.evidence();
  CHECK(evidence.url == "http://deb.example/debian");
  CHECK(evidence.suite == "stable");
  CHECK(evidence.codename == "trixie");
  CHECK(evidence.valid_until == spec.valid_until);
  CHECK(evidence.signed_by == std::vector<std::string>{vendor_key().fingerprint()});
  CHECK(evidence.allowed.empty());
  REQUIRE(repository.trust_files().size() == 2);
  CHECK(repository.trust_files()[0].path == "debian/trixie/InRelease");
  CHECK(repository.trust_files()[1].path == "debian/trixie/main/binary-amd64/Packages.xz");
  for (const auto& file : repository.trust_files()) {
    const std::string content = read_file(Stage::repos, file.source, 1U << 20U).value();
    CHECK(content.size() == file.size);
    CHECK(sha256_of(content) == file.sha256);
  }
  CHECK(evidence.release_sha256 == repository.trust_files()[0].sha256.hex());
  CHECK(events.unknown_names == 0);
  CHECK(files_below("cache/partial").empty());
  CHECK(server.count(kIndexPath) == 0);  // by-hash is preferred
}

TEST_CASE_METHOD(Fixture, "with the index in the cache only the Release is fetched", "[index]") {
  build();
  REQUIRE(load());
  server.forget_requests();
  const auto again = load();
  REQUIRE(again);
  CHECK(again->repositories[0].packages().size() == 2);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests()[0].path == "/dists/trixie/InRelease");
  CHECK(server.requests()[0].cache_control == "no-cache");
}

TEST_CASE_METHOD(Fixture, "what a killed run left is swept away after a day, not before", "[index]") {
  build();
  const auto partial = folder.path() / "cache" / "partial";
  for (const char* name : {"run-old", "run-new"}) {
    std::filesystem::create_directories(partial / name);
    std::ofstream(partial / name / "index") << "half";
  }
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(partial / "run-old", now - std::chrono::hours(25));
  REQUIRE(load());
  CHECK_FALSE(std::filesystem::exists(partial / "run-old"));
  CHECK(std::filesystem::exists(partial / "run-new"));
}

TEST_CASE_METHOD(Fixture, "a cached file that was changed is dropped and fetched again", "[index]") {
  build();
  REQUIRE(load());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "cache" / "indexes")) {
    std::string text = read_file(Stage::repos, entry.path(), 1U << 20U).value();
    text[text.size() / 2] ^= 1;
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << text;
  }
  server.forget_requests();
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].packages()[0].name == "hipcc");
  CHECK(server.requests().size() == 2);
}

TEST_CASE_METHOD(Fixture, "every form and compression of a signed repository is accepted", "[index]") {
  for (const ReleaseForm form : {ReleaseForm::in_release_only, ReleaseForm::detached}) {
    spec.form = form;
    build();
    const auto set = load();
    REQUIRE(set);
    CHECK(set->repositories[0].evidence().signed_by == std::vector<std::string>{vendor_key().fingerprint()});
    CHECK(set->repositories[0].trust_files().size() == (form == ReleaseForm::detached ? 3 : 2));
  }
  for (const char* ending : {"xz", "gz", "zst", "bz2", "lz4", ""}) {
    const std::string how = ending;
    CAPTURE(how);
    spec.compressions = {how};
    spec.list_uncompressed = how.empty();
    spec.by_hash = how == "gz";
    build();
    const auto set = load();
    REQUIRE(set);
    CHECK(set->repositories[0].packages().size() == 2);
  }
}

TEST_CASE_METHOD(Fixture, "a repository with empty indexes is fine", "[index]") {
  spec.packages.clear();
  build();
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].packages().empty());
}

TEST_CASE_METHOD(Fixture, "a key that is not the pinned one is refused by its fingerprint", "[index]") {
  build(&other_key());
  const auto set = load();
  check_refused(set, ErrorCode::key_unknown);
  CHECK(set.error().reason.find("unknown key") != std::string::npos);
  CHECK(other_key().fingerprint().find(set.error().details.at("keys")) != std::string::npos);
  CHECK(set.error().help.find("--keyring debian=") != std::string::npos);
  // Present in the keyring file, but not pinned.
  definition.keyrings = {keyring_of(other_key())};
  definition.keyrings[0].fingerprints = {vendor_key().fingerprint()};
  check_refused(load(), ErrorCode::key_unknown);
  // --keyring: every key of the file is pinned.
  definition.keyrings = {keyring_of(other_key(), false)};
  CHECK(load().has_value());
}

TEST_CASE_METHOD(Fixture, "one good signature among keyrings is enough", "[index]") {
  build();
  definition.keyrings = {keyring_of(other_key()), keyring_of(vendor_key())};
  CHECK(load().has_value());
}

TEST_CASE_METHOD(Fixture, "a repository without a known key needs a keyring", "[index]") {
  build();
  definition.keyrings.clear();
  const auto set = load();
  check_refused(set, ErrorCode::key_unknown);
  CHECK(set.error().help.find("--keyring debian=") != std::string::npos);
  definition.keyrings = {{.name = "broken.asc", .data = "no key at all", .fingerprints = {}}};
  check_refused(load(), ErrorCode::key_unknown);
}

TEST_CASE_METHOD(Fixture, "an expired key is refused as such", "[index]") {
  build(&expired_key());
  definition.keyrings = {keyring_of(expired_key())};
  check_refused(load(), ErrorCode::key_expired);
}

TEST_CASE_METHOD(Fixture, "changed signed text is refused, allowances or not", "[index]") {
  const auto built = build();
  rewrite(built.dist / "InRelease", "Origin: Test", "Origin: Evil");
  definition.allowances = {true, true, true};
  check_refused(load(), ErrorCode::signature_invalid);
  spec.form = ReleaseForm::detached;
  const auto detached = build();
  rewrite(detached.dist / "Release", "Origin: Test", "Origin: Evil");
  check_refused(load(), ErrorCode::signature_invalid);
}

TEST_CASE_METHOD(Fixture, "text outside the signed part makes the file untrusted", "[index]") {
  const auto built = build();
  const std::string good = read_file(Stage::repos, built.dist / "InRelease", 1U << 20U).value();
  for (const std::string& evil : {"Origin: Evil\n" + good, good + "\nOrigin: Evil\n", good + good, built.release}) {
    std::ofstream(built.dist / "InRelease", std::ios::trunc) << evil;
    check_refused(load(), ErrorCode::signature_invalid);
  }
}

TEST_CASE_METHOD(Fixture, "a signature made with SHA-1 is not enough", "[index]") {
  spec.release_digest = "SHA1";
  spec.form = ReleaseForm::in_release_only;
  build();
  check_refused(load(), ErrorCode::signature_invalid);
}

TEST_CASE_METHOD(Fixture, "an unsigned repository needs its own allowance, which is recorded", "[index]") {
  spec.form = ReleaseForm::unsigned_release;
  build(nullptr);
  const auto refused = load();
  check_refused(refused, ErrorCode::signature_invalid);
  CHECK(refused.error().help.find("--allow-unsigned debian") != std::string::npos);
  definition.allowances.unsigned_metadata = true;
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].evidence().allowed == std::vector<std::string>{"unsigned"});
  CHECK(set->repositories[0].evidence().signed_by.empty());
  CHECK(set->warnings.size() == 1);
  CHECK(events.has("repos.check.allowed"));
}

TEST_CASE_METHOD(Fixture, "an unknown key passes with --allow-unsigned, and only the clear-signed text counts",
                 "[index]") {
  build(&other_key());
  definition.allowances.unsigned_metadata = true;
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].packages().size() == 2);
  CHECK(set->repositories[0].evidence().allowed == std::vector<std::string>{"unsigned"});
}

TEST_CASE_METHOD(Fixture, "an expired Release is refused unless allowed", "[index]") {
  spec.date = clock.now() - 10 * kDay;
  spec.valid_until = clock.now() - kDay;
  build();
  const auto refused = load();
  check_refused(refused, ErrorCode::metadata_expired);
  CHECK(refused.error().reason.find(format_time(*spec.valid_until)) != std::string::npos);
  CHECK(refused.error().help.find("--allow-expired debian") != std::string::npos);
  definition.allowances.expired = true;
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].evidence().allowed == std::vector<std::string>{"expired"});
}

TEST_CASE_METHOD(Fixture, "a Release from the future points at the clock", "[index]") {
  spec.date = clock.now() + 2 * kDay;
  build();
  const auto set = load();
  check_refused(set, ErrorCode::metadata_invalid);
  CHECK(set.error().help.find("clock") != std::string::npos);
  clock.time += kDay + 60;
  CHECK(load().has_value());
}

TEST_CASE_METHOD(Fixture, "an older Release than the one seen before is a rollback, for that mirror and suite only",
                 "[index]") {
  spec.date = clock.now() - kDay;
  build();
  REQUIRE(load());
  spec.date = clock.now() - 2 * kDay;
  build();
  const auto refused = load();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::metadata_rollback);
  CHECK(refused.error().help.find("--allow-rollback debian") != std::string::npos);
  const test::HttpServer other(root);
  RepositoryDefinition elsewhere = definition;
  elsewhere.base_urls = {other.url()};
  CHECK(load({elsewhere}).has_value());
  RepositoryDefinition allowed = definition;
  allowed.allowances.rollback = true;
  const auto set = load({allowed});
  REQUIRE(set);
  CHECK(set->repositories[0].evidence().allowed == std::vector<std::string>{"rollback"});
  CHECK_FALSE(load().has_value());  // an allowed rollback is not forgotten
}

TEST_CASE_METHOD(Fixture, "a damaged memory of dates is not taken for an empty one", "[index]") {
  build();
  std::filesystem::create_directories(folder.path() / "state");
  for (const char* text :
       {"", "{", "[]", R"({"schema":1,"releases":{"x":{"date":"y"}}})", R"({"schema":2,"releases":{}})"}) {
    std::ofstream(folder.path() / "state" / "releases-seen.json", std::ios::trunc) << text;
    const auto set = load();
    REQUIRE_FALSE(set);
    CHECK(set.error().code == ErrorCode::config_invalid);
    CHECK(set.error().help.find("releases-seen.json") != std::string::npos);
  }
}

TEST_CASE_METHOD(Fixture, "another suite than the one asked for is refused", "[index]") {
  spec.codename = "sid";
  spec.release_suite = "unstable";
  build();
  const auto set = load();
  check_refused(set, ErrorCode::metadata_invalid);
  CHECK(set.error().reason.find("unstable") != std::string::npos);
  spec.release_suite = "trixie";
  build();
  CHECK(load().has_value());
  definition.codename = "trixie";
  CHECK_FALSE(load().has_value());
}

TEST_CASE_METHOD(Fixture, "digests weaker than SHA-256 are not enough", "[index]") {
  spec.sha256 = false;
  build();
  check_refused(load(), ErrorCode::digest_missing);
}

TEST_CASE_METHOD(Fixture, "components and architectures that the Release has not are named with those it has",
                 "[index]") {
  build();
  definition.components = {"contrib"};
  const auto component = load();
  check_refused(component, ErrorCode::metadata_invalid, true);
  CHECK(component.error().details.at("actual") == "main");
  definition.components = {"main"};
  definition.arch = "arm64";
  check_refused(load(), ErrorCode::metadata_invalid, true);
}

TEST_CASE_METHOD(Fixture, "components with the old security prefix are found", "[index]") {
  spec.release_fields = {{"X", "y"}};
  auto built = build();
  std::string release = built.release;
  release.replace(release.find("Components: main"), 16, "Components: updates/main");
  std::ofstream(built.dist / "InRelease", std::ios::trunc) << vendor_key().clearsign(release);
  for (const char* component : {"main", "updates/main"}) {
    definition.components = {component};
    const auto set = load();
    REQUIRE(set);
    CHECK(set->repositories[0].packages().size() == 2);
  }
}

TEST_CASE_METHOD(Fixture, "a tampered index is refused, and nothing of it stays", "[index]") {
  server.set_fault("*", {});
  const auto built = build();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(built.dist / "main")) {
    if (entry.is_regular_file()) {
      std::string text = read_file(Stage::repos, entry.path(), 1U << 20U).value();
      text[text.size() / 2] ^= 1;
      std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << text;
    }
  }
  const auto set = load();
  check_refused(set, ErrorCode::digest_mismatch, true);
  CHECK(set.error().reason.find("the Release is of") != std::string::npos);
  CHECK(set.error().reason.find("2026-11-21T09:15:44Z") != std::string::npos);  // the test server's Last-Modified
  CHECK(server.count("/dists/trixie/InRelease") == 2);
  CHECK(events.has("repos.release.reread"));
}

TEST_CASE_METHOD(Fixture, "an index of another size is refused with both sizes", "[index]") {
  server.set_fault("*", {});
  const auto built = build();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(built.dist / "main")) {
    if (entry.is_regular_file()) {
      std::ofstream(entry.path(), std::ios::binary | std::ios::app) << "x";
    }
  }
  const auto set = load();
  check_refused(set, ErrorCode::size_mismatch, true);
  CHECK(set.error().details.count("expected") == 1);
  CHECK(set.error().details.count("actual") == 1);
}

TEST_CASE_METHOD(Fixture, "another compression stands in for a damaged one", "[index]") {
  spec.by_hash = false;
  const auto built = build();
  std::ofstream(built.dist / "main/binary-amd64/Packages.xz", std::ios::binary | std::ios::trunc) << "damaged";
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].trust_files()[1].path == "debian/trixie/main/binary-amd64/Packages.gz");
}

TEST_CASE_METHOD(Fixture, "a mirror that finished its sync meanwhile is read again", "[index]") {
  spec.by_hash = false;
  spec.date = clock.now() - kDay;
  auto built = build();
  const std::string old_release = read_file(Stage::repos, built.dist / "InRelease", 1U << 20U).value();
  spec.date = clock.now() - 60;
  spec.packages.push_back({.name = "librccl-dev"});
  built = build();
  std::filesystem::create_directories(root / "old");
  std::ofstream(root / "old" / "InRelease") << old_release;
  server.set_fault("/dists/trixie/InRelease", {.kind = FaultKind::redirect, .times = 1, .location = "/old/InRelease"});
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].packages().size() == 3);
  CHECK(set->repositories[0].evidence().date == *spec.date);
}

TEST_CASE_METHOD(Fixture, "hostile stanzas in a signed index are refused", "[index]") {
  spec.raw_stanzas = "Package: evil\nVersion: 1\nArchitecture: amd64\nFilename: ../../etc/passwd\nSize: 1\nSHA256: " +
                     std::string(64, 'a') + "\n";
  build();
  const auto set = load();
  REQUIRE_FALSE(set);
  CHECK(set.error().code == ErrorCode::metadata_invalid);
  CHECK(set.error().details.at("field") == "Filename");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "state" / "releases-seen.json"));
}

TEST_CASE_METHOD(Fixture, "a login page instead of a Release is named as one", "[index]") {
  build();
  for (const FaultKind kind : {FaultKind::web_page, FaultKind::web_page_as_binary}) {
    server.set_fault("*", {.kind = kind});
    const auto set = load();
    REQUIRE_FALSE(set);
    CHECK(set.error().code == ErrorCode::web_page);
    check_nothing_usable();
  }
}

TEST_CASE_METHOD(Fixture, "a missing repository is an error, unless it is optional", "[index]") {
  build();
  RepositoryDefinition absent = definition;
  absent.name = "debian/trixie-backports";
  absent.suite = "trixie-backports";
  const auto refused = load({definition, absent});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::http_status);
  CHECK(exit_status(refused.error().code) == 5);
  absent.optional = true;
  const auto set = load({absent, definition});
  REQUIRE(set);
  CHECK(set->repositories.size() == 1);
  CHECK(set->warnings.size() == 1);
}

TEST_CASE_METHOD(Fixture, "the failures of all repositories are told", "[index]") {
  build(&other_key());
  RepositoryDefinition second = definition;
  second.name = "debian/second";
  const auto set = load({definition, second});
  REQUIRE_FALSE(set);
  REQUIRE(set.error().problems.size() == 1);
  CHECK(set.error().problems[0].summary.find("debian/second") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a list of mirrors fails over, and packages come from the one that served", "[index]") {
  build();
  definition.base_urls = {"http://127.0.0.1:1/debian", server.url()};
  const auto set = load();
  REQUIRE(set);
  const auto urls = set->repositories[0].urls_of(set->repositories[0].packages()[0]);
  REQUIRE(urls.size() == 2);
  CHECK(urls[0].rfind(server.url(), 0) == 0);
}

TEST_CASE_METHOD(Fixture, "a local mirror works like a remote one", "[index]") {
  build();
  definition.base_urls = {"file://" + root.string()};
  const auto set = load();
  REQUIRE(set);
  CHECK(set->repositories[0].packages().size() == 2);
}

TEST_CASE_METHOD(Fixture, "definitions that could lead out of their folders are refused", "[index]") {
  build();
  auto wrong = definition;
  wrong.name = "../evil";
  CHECK(load({wrong}).error().code == ErrorCode::config_invalid);
  wrong = definition;
  wrong.suite = "../../etc";
  CHECK(load({wrong}).error().code == ErrorCode::config_invalid);
  wrong = definition;
  wrong.components = {"../main"};
  CHECK(load({wrong}).error().code == ErrorCode::config_invalid);
  wrong = definition;
  wrong.type = PackageFamily::rpm;
  CHECK(load({wrong}).error().code == ErrorCode::usage);
  CHECK(server.requests().empty());
}

TEST_CASE_METHOD(Fixture, "a state folder that cannot be written warns and does not stop", "[index]") {
  build();
  std::ofstream(folder.path() / "state-is-a-file") << "x";
  fetch::TransferOptions options;
  options.proxy = "";
  const auto downloader = fetch::make_curl_downloader(options, events, CancelToken());
  index::MetadataVerifier verifier(*downloader, clock, events,
                                   {folder.path() / "cache", folder.path() / "state-is-a-file" / "sub"}, CancelToken());
  CHECK(verifier.load({definition}).has_value());
  CHECK(events.has("repos.state.unwritable"));
}
