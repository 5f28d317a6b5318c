// Keys that the catalogue pins by address and fingerprint: fetched, judged by the fingerprint alone, carried in the
// file.
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/creator_run/checks.hpp"

using namespace rocm_offline;
using test::check_failed;
using test::contains;
using test::CreatorRun;
using test::FaultKind;
using test::KeyKind;
using test::SigningKey;

namespace {

// Group debian as it is compiled in, but with one key at an address below its base.
struct Scene : CreatorRun {
  Scene() {
    keyring.clear();
    write_catalog(
        {{"fingerprint", vendor_key().fingerprint()}, {"url", "http://debian.example/debian/keys/vendor.key"}});
    publish(vendor_key().public_key());
    build();
  }
  void write_catalog(const nlohmann::json& key) const {
    const std::filesystem::path compiled_in =
        std::filesystem::path(ROCM_OFFLINE_SOURCE_DIR) / "repos/catalog/groups/debian.json";
    auto group = nlohmann::json::parse(read_file(Stage::repos, compiled_in, 1U << 20U).value());
    group["base_url"] = "http://debian.example/debian";
    group["keys"] = {key};
    std::filesystem::create_directories(folder.path() / "catalog");
    std::ofstream(folder.path() / "catalog/debian.json", std::ios::trunc) << group.dump();
  }
  void publish(const std::string& bytes) const {
    std::filesystem::create_directories(root / "debian/keys");
    std::ofstream(root / "debian/keys/vendor.key", std::ios::binary | std::ios::trunc) << bytes;
  }
  test::CreatorResult create_with_catalog(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--catalog", (folder.path() / "catalog").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return create(arguments);
  }
  [[nodiscard]] std::size_t asked() const { return server.count("/debian/keys/vendor.key"); }
  // The bytes of /keys/<fingerprint>.<ending> in the file.
  std::string carried_key(const std::string& ending) {
    const std::filesystem::path to = folder.path() / "extracted";
    std::filesystem::remove_all(to);
    const auto extracted = run({"extract", output.string(), to.string()});
    INFO(extracted.err);
    REQUIRE(extracted.exit_code == 0);
    return read_file(Stage::repos, to / "keys" / (vendor_key().fingerprint() + ending), 1U << 20U).value_or("");
  }
};

}  // namespace

TEST_CASE_METHOD(Scene, "create: a key pinned by address is fetched from the mirror, once, and carried in the file",
                 "[create]") {
  const auto result = create_with_catalog();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(asked() == 1);
  CHECK(contains(logs("jsonl"), "repos.key.fetched"));
  CHECK(contains(logs("jsonl"), vendor_key().fingerprint()));
  CHECK(carried_key(".asc") == vendor_key().public_key());
  CHECK(run({"verify", "--chain", output.string()}).exit_code == 0);
}

TEST_CASE_METHOD(Scene, "create: of several published keys only the pinned one is taken", "[create]") {
  publish(other_key().public_key() + vendor_key().public_key());
  const auto result = create_with_catalog();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string carried = carried_key(".asc");
  CHECK(contains(carried, "-----BEGIN PGP PUBLIC KEY BLOCK-----"));
  CHECK(carried.size() < vendor_key().public_key().size() + 64);
  CHECK(run({"verify", "--chain", output.string()}).exit_code == 0);
  // What the other key signs is refused, though it came from the owner's address.
  std::filesystem::remove(output);
  std::filesystem::remove(output.string() + ".sha256");
  build(&other_key());
  const auto refused = create_with_catalog();
  check_failed(*this, refused, 9, "key_unknown", host());
}

TEST_CASE_METHOD(Scene, "create: another key than the pinned one under its address", "[create]") {
  publish(other_key().public_key());
  const auto result = create_with_catalog();
  check_failed(*this, result, 9, "key_unknown", server.url("debian/keys/vendor.key"));
  const auto error = result.error();
  CHECK(error["details"]["expected"] == vendor_key().fingerprint());
  CHECK(error["details"]["actual"] == other_key().fingerprint());
  CHECK(contains(result.error_text(), vendor_key().fingerprint()));
  CHECK(contains(result.error_text(), other_key().fingerprint()));
  CHECK(contains(result.error_text(), "--keyring debian=FILE"));
  CHECK(server.count("/debian/dists/trixie/InRelease") == 0);
}

TEST_CASE_METHOD(Scene, "create: a pinned key's address that serves no key", "[create]") {
  const std::string address = server.url("debian/keys/vendor.key");
  publish("no key at all\n");
  check_failed(*this, create_with_catalog(), 9, "key_unknown", address);
  publish(std::string(2U << 20U, 'x'));
  check_failed(*this, create_with_catalog(), 9, "size_mismatch", address);
  server.set_fault("/debian/keys/vendor.key", {.kind = FaultKind::web_page});
  check_failed(*this, create_with_catalog(), 9, "web_page", address);
  server.set_fault("/debian/keys/vendor.key", {.kind = FaultKind::status, .status = 404});
  const auto missing = create_with_catalog();
  check_failed(*this, missing, 5, "http_status", address);
  CHECK(contains(missing.error_text(), "--keyring debian=FILE"));
  server.set_fault("/debian/keys/vendor.key", {.kind = FaultKind::close});
  check_failed(*this, create_with_catalog(), 5, "transfer_failed", address);
  // The way out that each of them names.
  keyring = folder.path() / "vendor.asc";
  const auto given = create_with_catalog();
  INFO(given.err);
  CHECK(given.exit_code == 0);
}

TEST_CASE_METHOD(Scene, "create: a renewed key is taken the next time, and a lock keeps the one it had", "[create]") {
  const std::string lock = (folder.path() / "x.lock").string();
  REQUIRE(create_with_catalog({"--lock", lock}).exit_code == 0);
  const std::string first = read_file(Stage::repos, output, 64U << 20U).value();
  std::filesystem::remove(output);
  // Renewed: other bytes under the same fingerprint.
  const std::string renewed = "Comment before the armor\n" + vendor_key().public_key();
  publish(renewed);
  const auto locked = create_with_catalog({"--lock", lock, "--locked"});
  INFO(locked.err);
  REQUIRE(locked.exit_code == 0);
  CHECK(asked() == 1);
  CHECK(read_file(Stage::repos, output, 64U << 20U).value() == first);
  std::filesystem::remove(output);
  REQUIRE(create_with_catalog().exit_code == 0);
  CHECK(asked() == 2);
  CHECK(carried_key(".asc") == renewed);
}
