// The chain of a bundle whose evidence is a real signed repository, by the real gpgv and sqv.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/verify/chain.hpp"
#include "support/bundle_builder/bundle_builder.hpp"
#include "support/deb_repository/deb_repository.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

constexpr UnixTime day = 24 * 3600;

std::string content(const fs::path& path) {
  return read_file(Stage::verify, path, 64U << 20U).value();
}

// Programs that this process can find: exactly these.
class OnlyPrograms {
 public:
  explicit OnlyPrograms(const std::vector<std::string>& names) : m_before(std::getenv("PATH")) {
    for (const std::string& name : names) {
      const auto program = find_program(name);
      INFO(name << " is needed by this test: packaging/install-deps.sh --tests");
      REQUIRE(program);
      fs::create_symlink(*program, m_folder.path() / name);
    }
    ::setenv("PATH", m_folder.path().c_str(), 1);
  }
  ~OnlyPrograms() { ::setenv("PATH", m_before.c_str(), 1); }
  OnlyPrograms(const OnlyPrograms&) = delete;
  OnlyPrograms& operator=(const OnlyPrograms&) = delete;

 private:
  std::string m_before;
  TemporaryDirectory m_folder =
      TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "programs").value();
};

// A repository of two packages and the bundle that create would make of it.
struct Scene {
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "chain").value();
  UnixTime now = std::time(nullptr);
  test::DebRepositorySpec spec{};
  test::FakeBundle bundle{};

  explicit Scene(const test::SigningKey& key, const test::DebRepositorySpec& wanted = {}) : spec(wanted) {
    spec.packages = {{.name = "hipcc", .version = "5.7.1-3"}, {.name = "libc6", .version = "2:2.41-12"}};
    spec.date = spec.date ? spec.date : now - 3600;
    const auto built = test::build_deb_repository(folder.path() / "mirror", spec, &key);
    test::FakeTarget& target = bundle.targets.emplace_back();
    target.date = *spec.date;
    target.keyrings = {{.name = "test.asc", .data = key.public_key()}};
    for (const test::DebSpec& package : spec.packages) {
      target.packages.push_back({.id = {package.name, package.version, "amd64"}, .payload = test::build_deb(package)});
    }
    const bool detached = spec.form == test::ReleaseForm::detached;
    for (const char* name : detached ? std::vector{"Release", "Release.gpg"} : std::vector{"InRelease"}) {
      target.trust[std::string("debian/trixie/") + name] = content(built.dist / name);
    }
    target.trust["debian/trixie/main/binary-amd64/Packages.xz"] = content(built.dist / "main/binary-amd64/Packages.xz");
    bundle.source_date = *spec.date;
  }

  test::FakeTarget& target() { return bundle.targets.front(); }
  std::string& in_release() { return target().trust["debian/trixie/InRelease"]; }

  Result<verify::ChainReport> check(std::optional<UnixTime> clock = {}) {
    const fs::path path = folder.path() / "x.run";
    std::error_code ignored;
    fs::remove(path, ignored);
    const auto built = test::build_bundle(bundle, path, folder.path());
    REQUIRE(built);
    const auto reader = bundle::BundleReader::open(path);
    REQUIRE(reader);
    PosixProcessRunner processes;
    NullEventSink events;
    const auto signatures = verify::make_native_signatures(processes, folder.path());
    return verify::verify_chain(*reader, *signatures, clock.value_or(now), events, CancelToken());
  }
};

Error broken(const Result<verify::ChainReport>& report) {
  REQUIRE_FALSE(report);
  CHECK(exit_status(report.error().code) == 9);
  CHECK_FALSE(report.error().help.empty());
  return report.error();
}

}  // namespace

TEST_CASE("every package is linked to upstream's signature, by gpgv and by sqv") {
  const test::SigningKey key;
  for (const std::string program : {"gpgv", "sqv"}) {
    for (const auto form : {test::ReleaseForm::in_release, test::ReleaseForm::detached}) {
      INFO(program << ", detached: " << (form == test::ReleaseForm::detached));
      test::DebRepositorySpec spec;
      spec.form = form;
      Scene scene(key, spec);
      const OnlyPrograms only({program});
      const auto report = scene.check();
      REQUIRE(report);
      CHECK(report->program == program);
      CHECK(report->packages == 2);
      CHECK(report->warnings.empty());
      REQUIRE(report->links.size() == 1);
      CHECK(report->links[0].signed_by == std::vector{key.fingerprint()});
      CHECK(report->links[0].date == *scene.spec.date);
      CHECK(verify::chain_text(*report).find(key.fingerprint()) != std::string::npos);
      CHECK(verify::to_json(*report)["repositories"][0]["packages"] == 2);
    }
  }
}

TEST_CASE("a package that no signed index lists with these bytes breaks the chain, and is named") {
  const test::SigningKey key;
  Scene scene(key);
  scene.target().packages[0].payload += "x";
  const Error error = broken(scene.check());
  CHECK(error.code == ErrorCode::digest_mismatch);
  CHECK(error.reason.find("hipcc 5.7.1-3") != std::string::npos);
  CHECK(error.reason.find("libc6") == std::string::npos);
}

TEST_CASE("a package under another version than the index gives it breaks the chain") {
  const test::SigningKey key;
  Scene scene(key);
  scene.target().packages[0].id.version = "5.7.1-4";
  CHECK(broken(scene.check()).reason.find("hipcc 5.7.1-4") != std::string::npos);
}

TEST_CASE("a Release that was changed after it was signed breaks the chain") {
  const test::SigningKey key;
  for (const std::string program : {"gpgv", "sqv"}) {
    INFO(program);
    Scene scene(key);
    const OnlyPrograms only({program});
    const auto at = scene.in_release().find("Suite: ");
    REQUIRE(at != std::string::npos);
    scene.in_release()[at + 7] = 'X';
    CHECK(broken(scene.check()).code == ErrorCode::signature_invalid);
  }
}

TEST_CASE("text around a clear-signed message is refused, not ignored") {
  const test::SigningKey key;
  Scene before(key);
  before.in_release().insert(0, "SHA256:\n");
  CHECK(broken(before.check()).code == ErrorCode::signature_invalid);
  Scene after(key);
  after.in_release() += "SHA256:\n";
  CHECK(broken(after.check()).code == ErrorCode::signature_invalid);
  Scene twice(key);
  twice.in_release() += twice.in_release();
  CHECK(broken(twice.check()).code == ErrorCode::signature_invalid);
}

TEST_CASE("a Release signed by a key that the file does not carry breaks the chain") {
  const test::SigningKey key;
  const test::SigningKey other;
  for (const std::string program : {"gpgv", "sqv"}) {
    INFO(program);
    Scene scene(key);
    const OnlyPrograms only({program});
    scene.target().keyrings = {{.name = "other.asc", .data = other.public_key()}};
    broken(scene.check());
  }
}

TEST_CASE("an index that the Release does not list breaks the chain") {
  const test::SigningKey key;
  Scene scene(key);
  scene.target().trust["debian/trixie/main/binary-amd64/Packages.xz"] = "Package: hipcc\n";
  const Error error = broken(scene.check());
  CHECK(error.code == ErrorCode::digest_mismatch);
  CHECK(error.reason.find("main/binary-amd64/Packages.xz") != std::string::npos);
}

TEST_CASE("without evidence there is nothing to check, and that is no success") {
  const test::SigningKey key;
  Scene scene(key);
  scene.target().trust.clear();
  const Error error = broken(scene.check());
  CHECK(error.message == "there is no chain to check");
  // Whether a program could check is not asked then.
  const OnlyPrograms none({});
  CHECK(broken(scene.check()).message == "there is no chain to check");
}

TEST_CASE("evidence of another repository does not stand for this one") {
  const test::SigningKey key;
  Scene scene(key);
  scene.target().packages[1].repository = "site/stable";
  CHECK(broken(scene.check()).problems.front().summary.find("site/stable") != std::string::npos);
  Scene unsigned_one(key);
  unsigned_one.target().allowed = {"unsigned"};
  CHECK(broken(unsigned_one.check()).reason.find("--allow-unsigned") != std::string::npos);
}

TEST_CASE("a machine with neither gpgv nor sqv says so and refuses") {
  const test::SigningKey key;
  Scene scene(key);
  const OnlyPrograms none({});
  const auto report = scene.check();
  REQUIRE_FALSE(report);
  CHECK(exit_status(report.error().code) == 3);
  CHECK(report.error().reason.find("gpgv") != std::string::npos);
  CHECK(report.error().reason.find("sqv") != std::string::npos);
}

TEST_CASE("an expired Release and a clock that is behind are warnings") {
  const test::SigningKey key;
  test::DebRepositorySpec spec;
  spec.valid_until = std::time(nullptr) + day;
  Scene scene(key, spec);
  const auto expired = scene.check(scene.now + 400 * day);
  REQUIRE(expired);
  REQUIRE(expired->warnings.size() == 1);
  CHECK(expired->warnings[0].find("was valid until") != std::string::npos);
  const auto behind = scene.check(scene.now - 3000 * day);
  REQUIRE(behind);
  REQUIRE(behind->warnings.size() == 1);
  CHECK(behind->warnings[0].find("clock") != std::string::npos);
}

TEST_CASE("a key that expired after the file was made is a warning, one that had expired before breaks the chain") {
  const test::SigningKey key(test::KeyKind::expired);
  test::DebRepositorySpec spec;
  spec.date = 1577840400;  // 2020-01-01, while the key was valid
  Scene scene(key, spec);
  const OnlyPrograms only({"gpgv"});
  const auto report = scene.check();
  if (!report) {
    FAIL(report.error().reason);
  }
  REQUIRE(report->warnings.size() == 1);
  CHECK(report->warnings[0].find("expired since the file was made") != std::string::npos);
  scene.bundle.source_date = scene.now;
  CHECK(broken(scene.check()).code == ErrorCode::key_expired);
}
