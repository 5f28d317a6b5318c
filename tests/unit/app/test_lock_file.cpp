#include <catch2/catch.hpp>
#include <fstream>

#include "lock_file.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;
using namespace rocm_offline::app;
namespace fs = std::filesystem;

namespace {

PackageRecord package(std::string name, std::string version, char byte = 'a') {
  PackageRecord record;
  record.id = {std::move(name), std::move(version), "amd64"};
  record.repository = "debian/trixie";
  record.filename = "pool/main/" + record.id.name + ".deb";
  record.size = 100;
  record.sha256 = sha256_of(std::string(1, byte));
  record.reason = {ReasonKind::dependency, "hipcc", "Depends: " + record.id.name};
  return record;
}

Lock sample() {
  Lock lock{.creator_version = "0.1.0", .time = 1764500000, .source_date = 1764400000, .targets = {}};
  LockedTarget& locked = lock.targets.emplace_back();
  locked.target = {.id = "debian-13", .distro = "debian", .version = "13", .codename = "trixie"};
  locked.release = "distro";
  locked.usecases = {"hip"};
  locked.requests = {{.name = "hipcc", .version = "5.7.1-3", .because = "usecase hip"}};
  locked.repositories.push_back({.name = "debian/trixie",
                                 .url = "http://mirror.example/debian",
                                 .suite = "stable",
                                 .codename = "trixie",
                                 .date = 1764400000,
                                 .valid_until = 1764900000,
                                 .release_sha256 = sha256_of("release").hex(),
                                 .signed_by = {"0123456789ABCDEF0123456789ABCDEF01234567"},
                                 .allowed = {}});
  locked.files = {{.path = "debian/trixie/InRelease", .size = 7, .sha256 = sha256_of("release")}};
  locked.packages = {package("hipcc", "5.7.1-3"), package("libc6", "2.41-12", 'b')};
  locked.packages[0].installed_size = 4096;
  return lock;
}

struct Written {
  TemporaryDirectory directory = TemporaryDirectory::create(Stage::plan, fs::temp_directory_path(), "lock").value();
  fs::path path = directory.path() / "site.lock";
  explicit Written(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
};

Error refusal(const std::string& text) {
  const Written written(text);
  const auto lock = read_lock(written.path);
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == ErrorCode::config_invalid);
  CHECK_FALSE(lock.error().help.empty());
  return lock.error();
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = lock_to_json(sample());
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::vector<ListedPackage> listed(const LockedTarget& locked) {
  std::vector<ListedPackage> all;
  for (const PackageRecord& one : locked.packages) {
    all.push_back({one.id, one.repository, one.size, one.sha256});
  }
  return all;
}

}  // namespace

TEST_CASE("a lock is read as it was written") {
  const Lock lock = sample();
  const Written written(lock_to_json(lock));
  const auto read = read_lock(written.path);
  REQUIRE(read);
  CHECK(*read == lock);
  CHECK(lock_to_json(*read) == lock_to_json(lock));
  CHECK(looks_like_lock(written.path));
  CHECK_FALSE(looks_like_lock(written.directory.path()));
}

TEST_CASE("a lock that does not fit its form is refused, naming the place") {
  CHECK(refusal("no json").reason.find("parse") != std::string::npos);
  CHECK(refusal("[]").reason.find("at the top") != std::string::npos);
  CHECK(refusal("{}").reason.find("schema") != std::string::npos);
  CHECK(refusal(replaced("lock/1", "lock/2")).reason.find("/schema") != std::string::npos);
  CHECK(refusal(replaced("\"size\": 100", "\"size\": -1")).reason.find("/size") != std::string::npos);
  CHECK(refusal(replaced("\"size\": 100", "\"size\": 0")).reason.find("/packages/0") != std::string::npos);
  CHECK(refusal(replaced("pool/main/hipcc.deb", "../hipcc.deb")).reason.find("/filename") != std::string::npos);
  CHECK(refusal(replaced("debian/trixie/InRelease", "/etc/passwd")).reason.find("/files") != std::string::npos);
  CHECK(refusal(replaced("2025-11-30", "2025-13-30")).reason.find("/time") != std::string::npos);
  CHECK(refusal(replaced(sha256_of("a").hex(), "abc")).reason.find("sha256") != std::string::npos);
  CHECK(refusal(replaced("\"dependency\"", "\"whim\"")).reason.find("/reason/kind") != std::string::npos);
  CHECK(read_lock("/nonexistent/site.lock").error().code == ErrorCode::file_missing);
}

TEST_CASE("two entries of one target are refused") {
  Lock lock = sample();
  lock.targets.push_back(lock.targets.front());
  CHECK(refusal(lock_to_json(lock)).reason.find("twice") != std::string::npos);
}

TEST_CASE("another request than the lock's is a deviation") {
  const Lock lock = sample();
  ReleasePlan plan;
  plan.target = lock.targets[0].target;
  plan.release = "distro";
  plan.requests = lock.targets[0].requests;
  CHECK(check_same_request(lock, {plan}));
  const auto deviates = [&](const ReleasePlan& other) {
    const auto same = check_same_request(lock, {other});
    REQUIRE_FALSE(same);
    CHECK(exit_status(same.error().code) == 4);
    CHECK_FALSE(same.error().problems.empty());
  };
  ReleasePlan other = plan;
  other.requests.push_back({.name = "rocminfo"});
  deviates(other);
  other = plan;
  other.release = "6.2.1";
  deviates(other);
  other = plan;
  other.policy.recommends = true;
  deviates(other);
  other = plan;
  other.target.id = "debian-12";
  deviates(other);
  const auto fewer = check_same_request(lock, {});
  REQUIRE_FALSE(fewer);
  CHECK(fewer.error().problems.front().summary == "target debian-13 of the lock is not asked for");
}

TEST_CASE("a package that is gone is 5, one with other bytes 9, and 9 is the graver") {
  const LockedTarget locked = sample().targets[0];
  std::vector<ListedPackage> now = listed(locked);
  CHECK(check_still_listed(locked, now));
  now.push_back({{"hipcc", "6.0", "amd64"}, "debian/trixie", 1, sha256_of("new")});
  CHECK(check_still_listed(locked, now));

  std::vector<ListedPackage> gone = now;
  gone[1].id.version = "2.41-13";
  auto same = check_still_listed(locked, gone);
  REQUIRE_FALSE(same);
  CHECK(exit_status(same.error().code) == 5);
  CHECK(same.error().reason == "libc6 2.41-12 (amd64) is gone from debian/trixie");
  CHECK(same.error().help.find("--reuse") != std::string::npos);

  gone[0].sha256 = sha256_of("other");
  same = check_still_listed(locked, gone);
  REQUIRE_FALSE(same);
  CHECK(exit_status(same.error().code) == 9);
  CHECK(same.error().problems.size() == 2);
}

TEST_CASE("a closure with more, fewer or other packages than the lock's is a deviation") {
  const LockedTarget locked = sample().targets[0];
  PackageClosure closure{.packages = locked.packages};
  CHECK(check_same_closure(locked, closure));
  const auto deviates = [&](const PackageClosure& other) {
    const auto same = check_same_closure(locked, other);
    REQUIRE_FALSE(same);
    CHECK(exit_status(same.error().code) == 4);
    CHECK(same.error().problems.size() == 1);
  };
  PackageClosure other = closure;
  other.packages.push_back(package("zlib1g", "1.3"));
  deviates(other);
  other = closure;
  other.packages.pop_back();
  deviates(other);
  other = closure;
  other.packages[0].repository = "debian/trixie-updates";
  deviates(other);
}
