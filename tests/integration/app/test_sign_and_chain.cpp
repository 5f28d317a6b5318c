// create --sign-key, verify --verify-key and verify --chain: by the creator, and by the file's own program.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "support/creator_run/creator_run.hpp"

using namespace rocm_offline;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Program {
  int exit_code = -1;
  std::string output{};
};

Program run_program(std::vector<std::string> argv, std::map<std::string, std::string> environment = {}) {
  PosixProcessRunner processes;
  environment.try_emplace("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  const auto outcome =
      processes.run({.argv = std::move(argv), .environment = std::move(environment), .clear_environment = true});
  REQUIRE(outcome);
  return {outcome->exit_code, outcome->output};
}

struct Keys {
  fs::path secret, open;
};

Keys make_keys(const test::CreatorRun& scene, const std::string& name) {
  const Keys keys{scene.folder.path() / (name + ".pem"), scene.folder.path() / (name + ".pub")};
  REQUIRE(run_program({"openssl", "genpkey", "-algorithm", "ed25519", "-out", keys.secret.string()}).exit_code == 0);
  REQUIRE(
      run_program({"openssl", "pkey", "-in", keys.secret.string(), "-pubout", "-out", keys.open.string()}).exit_code ==
      0);
  REQUIRE(::chmod(keys.secret.c_str(), 0600) == 0);
  return keys;
}

// The file's own program, as an ordinary user would start it.
Program run_bundle(const test::CreatorRun& scene, std::vector<std::string> words,
                   const std::map<std::string, std::string>& environment = {}) {
  words.insert(words.begin(), {"sh", scene.output.string()});
  words.insert(words.end(), {"--work-dir", scene.folder.path().string()});
  return run_program(std::move(words), environment);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of(const fs::path& path) {
  return read_file(Stage::bundle, path, 1U << 30U).value();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a signed file is the same every time, and its signature is checked by both programs and by OpenSSL") {
  test::CreatorRun scene;
  scene.build();
  const Keys keys = make_keys(scene, "site");
  const auto planned =
      scene.run({"plan", "--json", "--target", "debian-13", "--release", "distro", "--package", "hipcc", "--mirror",
                 "debian=" + scene.server.url("debian"), "--mirror", "debian-security=" + scene.server.url("security"),
                 "--keyring", "debian=" + scene.keyring.string(), "--keyring",
                 "debian-security=" + scene.keyring.string(), "--sign-key", keys.secret.string()});
  INFO(planned.err);
  REQUIRE(planned.exit_code == 0);
  const auto created = scene.create({"--sign-key", keys.secret.string()});
  INFO(created.err);
  REQUIRE(created.exit_code == 0);
  CHECK_FALSE(contains(created.err, "signing key"));
  const json first = json::parse(created.out);
  CHECK(json::parse(planned.out)["totals"]["bundle_bytes"] == first["bytes"]);
  const std::string bytes = bytes_of(scene.output);
  fs::remove(scene.output);
  REQUIRE(scene.create({"--sign-key", keys.secret.string()}).exit_code == 0);
  CHECK(bytes_of(scene.output) == bytes);

  const auto verified = scene.run({"verify", "--json", "--verify-key", keys.open.string(), scene.output.string()});
  INFO(verified.err);
  REQUIRE(verified.exit_code == 0);
  CHECK(json::parse(verified.out)["signing_key"].get<std::string>().size() == 64);
  for (const char* word : {"verify", "list", "version"}) {
    const Program own = run_bundle(scene, {word, "--verify-key", keys.open.string()});
    INFO(word << ": " << own.output);
    CHECK(own.exit_code == 0);
  }
  const fs::path tree = scene.folder.path() / "tree";
  REQUIRE(scene.run({"extract", scene.output.string(), tree.string()}).exit_code == 0);
  const Program openssl =
      run_program({"openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", keys.open.string(), "-in",
                   (tree / "manifest.json").string(), "-sigfile", (tree / "manifest.json.sig").string()});
  INFO(openssl.output);
  CHECK(openssl.exit_code == 0);
  const auto of_tree = scene.run({"verify", "--verify-key", keys.open.string(), tree.string()});
  INFO(of_tree.err);
  CHECK(of_tree.exit_code == 0);
  // Nothing of the private key is inside.
  const std::string pem = bytes_of(keys.secret);
  CHECK_FALSE(contains(bytes, pem.substr(pem.find('\n') + 1, 40)));
}

TEST_CASE("an unsigned file, another key and a wrong signature are each 9, before anything else is looked at") {
  test::CreatorRun scene;
  scene.build();
  const Keys keys = make_keys(scene, "site");
  const Keys others = make_keys(scene, "other");
  const auto refused = [&](const Keys& by, const std::string& words) {
    const auto creator = scene.run({"verify", "--json", "--verify-key", by.open.string(), scene.output.string()});
    INFO(creator.err);
    CHECK(creator.exit_code == 9);
    CHECK(contains(creator.error()["reason"].get<std::string>(), words));
    for (const char* word : {"install", "dryrun", "check", "verify"}) {
      const Program own = run_bundle(scene, {word, "--verify-key", by.open.string(), "--log-dir",
                                             (scene.folder.path() / "install-logs").string()});
      INFO(word << ": " << own.output);
      CHECK(own.exit_code == 9);
      CHECK(contains(own.output, words));
      // Not one check of the machine was made.
      CHECK_FALSE(contains(own.output, "distribution"));
    }
  };
  REQUIRE(scene.create().exit_code == 0);
  refused(keys, "carries no signature");

  REQUIRE(scene.create({"--sign-key", others.secret.string()}).exit_code == 0);
  refused(keys, "another key");

  // One byte of the signature: distrust with the key, damage without it.
  REQUIRE(scene.create({"--sign-key", keys.secret.string()}).exit_code == 0);
  const fs::path tree = scene.folder.path() / "tree";
  REQUIRE(scene.run({"extract", scene.output.string(), tree.string()}).exit_code == 0);
  const std::string signature = bytes_of(tree / "manifest.json.sig");
  std::string bytes = bytes_of(scene.output);
  const auto at = bytes.find(signature);
  REQUIRE(at != std::string::npos);
  bytes[at + 20] = static_cast<char>(bytes[at + 20] ^ 1);
  write_bytes(scene.output, bytes);
  refused(keys, "does not fit its manifest");
  CHECK(scene.run({"verify", scene.output.string()}).exit_code == 6);
  CHECK(run_bundle(scene, {"verify"}).exit_code == 6);
  CHECK(scene.run({"extract", scene.output.string(), (scene.folder.path() / "again").string()}).exit_code == 6);
}

TEST_CASE("a key that cannot sign ends the run before anything is fetched") {
  test::CreatorRun scene;
  scene.build();
  const Keys keys = make_keys(scene, "site");
  const auto missing = scene.create({"--sign-key", (scene.folder.path() / "none.pem").string()});
  CHECK(missing.exit_code == 2);
  CHECK(missing.error()["code"] == "file_missing");
  CHECK(scene.create({"--sign-key", keys.open.string()}).exit_code == 2);
  CHECK(scene.server.requests().empty());
  CHECK(scene.usable_leftovers().empty());
  REQUIRE(::chmod(keys.secret.c_str(), 0644) == 0);
  const auto exposed = scene.create({"--sign-key", keys.secret.string()});
  CHECK(exposed.exit_code == 0);
  CHECK(contains(exposed.err, "others can read the signing key"));
  CHECK(scene.run({"verify", "--verify-key", (scene.folder.path() / "none.pub").string(), scene.output.string()})
            .exit_code == 2);
  CHECK(run_bundle(scene, {"verify", "--verify-key", (scene.folder.path() / "none.pub").string()}).exit_code == 2);
}

TEST_CASE("the chain of a created file holds, by gpg and by its own program") {
  test::CreatorRun scene;
  for (const auto form : {test::ReleaseForm::in_release, test::ReleaseForm::detached}) {
    for (const char* compression : {"xz", "gz", "zst", "bz2"}) {
      if (form == test::ReleaseForm::detached && std::string_view(compression) != "xz") {
        continue;  // the form of the signature says nothing of the index
      }
      INFO(compression << ", detached: " << (form == test::ReleaseForm::detached));
      scene.spec.form = form;
      scene.spec.compressions = {compression};
      fs::remove_all(scene.root);
      scene.build();
      REQUIRE(scene.create().exit_code == 0);
      const auto creator = scene.run({"verify", "--chain", "--json", scene.output.string()});
      INFO(creator.err);
      REQUIRE(creator.exit_code == 0);
      const json chain = json::parse(creator.out)["chain"];
      CHECK(chain["program"] == "gpg");
      CHECK(chain["packages"] == 3);
      CHECK(chain["repositories"][0]["signed_by"][0] == test::CreatorRun::vendor_key().fingerprint());
      const Program own = run_bundle(scene, {"verify", "--chain"});
      INFO(own.output);
      CHECK(own.exit_code == 0);
      CHECK(contains(own.output, "by gpgv: 3 packages"));
      CHECK(contains(own.output, test::CreatorRun::vendor_key().fingerprint()));
    }
  }
}

TEST_CASE("a file without trust data, and words that the chain does not go with") {
  test::CreatorRun scene;
  scene.build();
  REQUIRE(scene.create({"--trust", "none"}).exit_code == 0);
  CHECK(scene.run({"verify", scene.output.string()}).exit_code == 0);
  const auto creator = scene.run({"verify", "--chain", scene.output.string()});
  CHECK(creator.exit_code == 9);
  CHECK(contains(creator.err, "--trust none"));
  CHECK(run_bundle(scene, {"verify", "--chain"}).exit_code == 9);
  CHECK(run_bundle(scene, {"install", "--chain"}).exit_code == 2);
}

TEST_CASE("damage is told as damage before the chain is looked at") {
  test::CreatorRun scene;
  scene.build();
  REQUIRE(scene.create().exit_code == 0);
  std::string bytes = bytes_of(scene.output);
  bytes[bytes.size() - 5000] = static_cast<char>(bytes[bytes.size() - 5000] ^ 1);
  write_bytes(scene.output, bytes);
  CHECK(scene.run({"verify", "--chain", scene.output.string()}).exit_code == 6);
  CHECK(run_bundle(scene, {"verify", "--chain"}).exit_code == 6);
}
