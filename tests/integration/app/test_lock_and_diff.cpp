// --lock, --locked and diff, with the whole program against a mirror that changes.
#include <catch2/catch.hpp>
#include <ctime>
#include <fstream>

#include "support/creator_run/creator_run.hpp"

using namespace rocm_offline;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& path) {
  return read_file(Stage::bundle, path, 1U << 30U).value();
}

struct Scene : test::CreatorRun {
  fs::path lock = folder.path() / "site.lock";

  Scene() { build(); }
  void rebuild() {
    fs::remove_all(root);
    build();
  }
  void forget_cache() const { fs::remove_all(folder.path() / "cache"); }
  test::CreatorResult write_lock() { return create({"--lock", lock.string()}); }
  test::CreatorResult create_locked(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--lock", lock.string(), "--locked"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return create(arguments);
  }
  json diff(const fs::path& before, const fs::path& after) {
    const auto result = run({"diff", "--json", before.string(), after.string()});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  }
  // A locked run that must fail leaves the lock as it was and no file.
  void must_deviate(const test::CreatorResult& result, int status, const std::string& words) {
    INFO(result.err);
    CHECK(result.exit_code == status);
    CHECK(result.err.find(words) != std::string::npos);
    CHECK(usable_leftovers().empty());
  }
};

}  // namespace

TEST_CASE("the same lock gives the same bytes, with an empty cache too") {
  Scene scene;
  const auto first = scene.write_lock();
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  const std::string bytes = bytes_of(scene.output);
  const std::string locked = bytes_of(scene.lock);
  fs::remove(scene.output);
  scene.forget_cache();
  const auto again = scene.create_locked();
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(bytes_of(scene.output) == bytes);
  CHECK(bytes_of(scene.lock) == locked);
  CHECK(scene.diff(scene.lock, scene.output)["equal"] == true);
  CHECK(scene.diff(scene.output, scene.lock)["totals"]["unchanged"] == 3);
}

TEST_CASE("plan writes a lock and reads one") {
  Scene scene;
  const auto plan = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"plan",      "--json",
                                          "--target",  "debian-13",
                                          "--release", "distro",
                                          "--package", "hipcc",
                                          "--mirror",  "debian=" + scene.server.url("debian"),
                                          "--mirror",  "debian-security=" + scene.server.url("security"),
                                          "--keyring", "debian=" + scene.keyring.string(),
                                          "--keyring", "debian-security=" + scene.keyring.string(),
                                          "--lock",    scene.lock.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return scene.run(arguments);
  };
  const auto first = plan({});
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  const auto second = plan({"--locked"});
  INFO(second.err);
  REQUIRE(second.exit_code == 0);
  CHECK(first.out == second.out);
  CHECK(json::parse(bytes_of(scene.lock))["schema"] == "rocm-offline/lock/1");
  const auto other = plan({"--locked", "--package", "libhip"});
  CHECK(other.exit_code == 4);
  CHECK(other.error()["problems"].size() == 1);
}

TEST_CASE("a newer version beside the locked one is not taken") {
  Scene scene;
  REQUIRE(scene.write_lock().exit_code == 0);
  fs::remove(scene.output);
  scene.forget_cache();
  scene.spec.packages.push_back({.name = "libhip", .version = "2.0"});
  scene.rebuild();
  const auto locked = scene.create_locked();
  INFO(locked.err);
  REQUIRE(locked.exit_code == 0);
  CHECK(locked.err.find("the packages stay the locked ones") != std::string::npos);
  CHECK(scene.diff(scene.lock, scene.output)["equal"] == true);
  const fs::path old = scene.folder.path() / "old.run";
  fs::rename(scene.output, old);
  REQUIRE(scene.create().exit_code == 0);
  const json diff = scene.diff(old, scene.output);
  CHECK(diff["equal"] == false);
  REQUIRE(diff["upgraded"].size() == 1);
  CHECK(diff["upgraded"][0]["name"] == "libhip");
  CHECK(diff["upgraded"][0]["before"]["version"] == "1.0");
  CHECK(scene.diff(scene.output, old)["downgraded"].size() == 1);
}

TEST_CASE("a package that is gone is 5, and the words say what helps") {
  Scene scene;
  REQUIRE(scene.write_lock().exit_code == 0);
  const fs::path old = scene.folder.path() / "old.run";
  fs::rename(scene.output, old);
  fs::remove(scene.output.string() + ".sha256");
  const fs::path cache = scene.folder.path() / "cache";
  fs::rename(cache, scene.folder.path() / "cache-of-then");
  scene.spec.packages[1].version = "1.1";
  scene.rebuild();
  scene.must_deviate(scene.create_locked(), 5, "libhip 1.0 (amd64) is gone");

  // With the indexes of then and the old file everything is there.
  fs::remove_all(cache);
  fs::rename(scene.folder.path() / "cache-of-then", cache);
  scene.must_deviate(scene.create_locked(), 5, "--reuse");
  fs::remove(scene.output.string() + ".part");
  fs::remove(scene.output.string() + ".part.journal");
  const auto reused = scene.create_locked({"--reuse", old.string()});
  INFO(reused.err);
  REQUIRE(reused.exit_code == 0);
  CHECK(bytes_of(scene.output) == bytes_of(old));
}

TEST_CASE("the same version with other bytes is 9") {
  Scene scene;
  REQUIRE(scene.write_lock().exit_code == 0);
  fs::remove(scene.output);
  fs::remove(scene.output.string() + ".sha256");
  scene.forget_cache();
  scene.spec.packages[1].padding = 160000;
  scene.rebuild();
  scene.must_deviate(scene.create_locked(), 9, "libhip 1.0 (amd64)");
}

TEST_CASE("another request is 4") {
  Scene scene;
  REQUIRE(scene.write_lock().exit_code == 0);
  fs::remove(scene.output);
  fs::remove(scene.output.string() + ".sha256");
  scene.must_deviate(scene.create_locked({"--package", "libhip"}), 4, "the request is");
  scene.must_deviate(scene.create_locked({"--recommends"}), 4, "--recommends");
}

TEST_CASE("dates are judged as of the lock's time") {
  Scene scene;
  scene.spec.valid_until = std::time(nullptr) + 24 * 3600;
  scene.rebuild();
  REQUIRE(scene.write_lock().exit_code == 0);
  const std::string bytes = bytes_of(scene.output);
  // A month later, the same mirror.
  scene.environment["LD_PRELOAD"] = ROCM_OFFLINE_SHIFTED_CLOCK;
  scene.environment["ROCM_TEST_CLOCK_SHIFT"] = std::to_string(30 * 24 * 3600);
  scene.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";
  fs::remove(scene.output);
  const auto unlocked = scene.create();
  CHECK(unlocked.exit_code == 9);
  CHECK(unlocked.error()["code"] == "metadata_expired");
  for (const bool with_cache : {true, false}) {
    INFO("with cache: " << with_cache);
    if (!with_cache) {
      scene.forget_cache();
    }
    fs::remove(scene.output);
    const auto locked = scene.create_locked();
    INFO(locked.err);
    REQUIRE(locked.exit_code == 0);
    CHECK(bytes_of(scene.output) == bytes);
  }
}

TEST_CASE("locks that cannot be used are 2, and a lock is written whole or not at all") {
  Scene scene;
  CHECK(scene.create({"--locked"}).exit_code == 2);
  CHECK(scene.create_locked().exit_code == 2);
  std::ofstream(scene.lock) << "{\"schema\": \"rocm-offline/lock/2\"}";
  CHECK(scene.create_locked().exit_code == 2);
  CHECK(scene.server.requests().empty());
  CHECK(scene.create({"--lock", "/nonexistent/folder/site.lock"}).exit_code == 2);
  CHECK(scene.usable_leftovers().empty());
  CHECK(scene.run({"diff", scene.lock.string(), scene.lock.string()}).exit_code == 2);
  CHECK(scene.run({"diff", "none.run", "none.lock"}).exit_code == 2);
}
