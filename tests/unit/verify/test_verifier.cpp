#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/verify/site_signature.hpp"
#include "rocm_offline/verify/verifier.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
using bundle::BundleReader;
namespace fs = std::filesystem;

namespace {

test::FakeBundle two_targets() {
  test::FakeBundle content;
  content.targets.resize(2);
  for (const char* name : {"alpha", "beta", "gamma"}) {
    content.targets[0].packages.push_back({.id = {name, "1.0", "amd64"}, .payload = std::string(9000, *name)});
  }
  content.targets[0].trust = {{"debian/trixie/InRelease", "signed words\n"}};
  content.targets[1].id = "ubuntu-24.04";
  content.targets[1].packages = {content.targets[0].packages[0]};
  content.targets[1].packages.push_back({.id = {"delta", "1.0", "amd64"}, .payload = std::string(7000, 'd')});
  content.runner = std::string(5000, 'r');
  return content;
}

// A key made on the spot; openssl(1) is there wherever the tests are.
SiteSigningKey make_key(const fs::path& folder) {
  const fs::path path = folder / "key.pem";
  PosixProcessRunner processes;
  const auto outcome = processes.run({.argv = {"openssl", "genpkey", "-algorithm", "ed25519", "-out", path.string()}});
  REQUIRE(outcome);
  REQUIRE(outcome->exit_code == 0);
  return SiteSigningKey::read(Stage::verify, path).value();
}

struct Built {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "verify-test").value();
  fs::path path = directory.path() / "a.run";
  std::string bytes{};

  explicit Built(const SiteSigningKey* key = nullptr) {
    test::FakeBundle content = two_targets();
    content.signing_key = key;
    const auto finished = test::build_bundle(content, path, directory.path());
    REQUIRE(finished);
    bytes = read_file(Stage::verify, path, std::uint64_t{1} << 30U).value();
  }
  void write(const std::string& changed) const { std::ofstream(path, std::ios::binary | std::ios::trunc) << changed; }
};

Result<verify::VerifyReport> check(const fs::path& path, const verify::VerifyOptions& options = {}) {
  const auto reader = BundleReader::open(path);
  if (!reader) {
    return fail(reader.error());
  }
  NullEventSink events;
  return verify::verify_bundle(*reader, options, events, CancelToken());
}

// What was found with one byte changed: a report, or the error that it cannot even be opened.
void require_found(const Built& built, std::size_t at) {
  std::string changed = built.bytes;
  changed[at] = static_cast<char>(changed[at] ^ 0x01);
  built.write(changed);
  const auto report = check(built.path);
  INFO("byte " << at);
  if (!report) {
    CHECK(report.error().code == ErrorCode::bundle_damaged);
    return;
  }
  REQUIRE(report->findings.size() == 1);
  CHECK(report->findings[0].offset <= at);
  CHECK(verify::damage_error(*report).code == ErrorCode::bundle_damaged);
}

}  // namespace

TEST_CASE("a bundle as it was written has no findings") {
  const Built built;
  const auto report = check(built.path);
  REQUIRE(report);
  CHECK(report->findings.empty());
  CHECK(report->bytes_checked == built.bytes.size());
  // README, key, 2 x (Packages, Release), trust, 5 package names, install.sh, manifest, runner
  CHECK(report->files_checked == 15);
}

TEST_CASE("one changed byte is found wherever it is") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const bundle::Manifest& manifest = reader->manifest();
  // One of each region, then some at random: stub, its padding, descriptors, records, data, the last byte.
  std::vector<std::size_t> places = {0,
                                     30,
                                     400,
                                     20000,
                                     32767,
                                     32768,
                                     32769,
                                     32768 + 2048,
                                     40000,
                                     built.bytes.size() - 1,
                                     reader->data_offset(),
                                     reader->data_offset() - 1};
  for (const bundle::ManifestPackage& package : manifest.targets[0].packages) {
    places.push_back(reader->data_offset() + package.offset);
    places.push_back(reader->data_offset() + package.offset + package.size - 1);
    places.push_back(reader->data_offset() + package.offset + package.size);
  }
  std::mt19937 random(20261201);
  for (int i = 0; i < 60; ++i) {
    places.push_back(random() % built.bytes.size());
  }
  for (const std::size_t place : places) {
    require_found(built, place);
  }
}

TEST_CASE("a signed bundle is covered to the last bit of its signature") {
  const auto folder = TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "verify-key").value();
  const SiteSigningKey key = make_key(folder.path());
  const SiteSigningKey other = make_key(folder.path());
  const Built built(&key);
  const auto report = check(built.path);
  REQUIRE(report);
  CHECK(report->findings.empty());
  CHECK(report->bytes_checked == built.bytes.size());
  CHECK(report->files_checked == 16);
  std::size_t at = 0;
  {
    const auto reader = BundleReader::open(built.path).value();
    at = built.bytes.find(reader.signature());
    REQUIRE(at == reader.data_offset() - bundle::alignment);
    CHECK(reader.manifest().signing_key == key.public_key());
    CHECK(reader.bundle_id() == bundle::bundle_id_of(reader.manifest_json()));
    CHECK(verify::check_site_signature(reader, key.public_key()));
    CHECK(verify::check_site_signature(reader, other.public_key()).error().code == ErrorCode::key_unknown);
  }
  for (const std::size_t offset : {0, 1, 31, 32, 63, 64, 4095}) {
    require_found(built, at + offset);
  }
  std::string changed = built.bytes;
  changed[at + 63] = static_cast<char>(changed[at + 63] ^ 0x01);
  built.write(changed);
  const auto reader = BundleReader::open(built.path).value();
  CHECK(verify::check_site_signature(reader, key.public_key()).error().code == ErrorCode::signature_invalid);
  const Built unsigned_one;
  CHECK(verify::check_site_signature(BundleReader::open(unsigned_one.path).value(), key.public_key()).error().code ==
        ErrorCode::signature_invalid);
}

TEST_CASE("a tree without its signature is damaged") {
  const auto folder = TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "verify-key").value();
  const SiteSigningKey key = make_key(folder.path());
  const Built built(&key);
  const fs::path tree = folder.path() / "tree";
  REQUIRE(bundle::extract_tree(BundleReader::open(built.path).value(), tree));
  const auto report = check(tree);
  REQUIRE(report);
  CHECK(report->findings.empty());
  const fs::path signature = tree / "manifest.json.sig";
  REQUIRE(fs::file_size(signature) == site_signature_size);
  std::ofstream(signature, std::ios::binary | std::ios::trunc) << std::string(site_signature_size, 'x');
  const auto wrong = check(tree);
  REQUIRE(wrong);
  CHECK_FALSE(wrong->findings.empty());
  fs::resize_file(signature, 10);
  CHECK(check(tree).error().code == ErrorCode::bundle_damaged);
  fs::remove(signature);
  CHECK(check(tree).error().code == ErrorCode::bundle_damaged);
}

TEST_CASE("each constant of the stub is compared") {
  const Built built;
  for (const char* name : {"rocm_runner_offset", "rocm_runner_size", "rocm_runner_sha256", "rocm_manifest_offset",
                           "rocm_manifest_size", "rocm_manifest_sha256", "rocm_file_size"}) {
    const std::size_t value = built.bytes.find(std::string("\n") + name + "=") + std::string(name).size() + 2;
    REQUIRE(value < bundle::stub_size);
    require_found(built, value + 19);
  }
}

TEST_CASE("findings name the file and the place") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const bundle::ManifestPackage& beta = reader->manifest().targets[0].packages[1];
  std::string changed = built.bytes;
  changed[reader->data_offset() + beta.offset + 17] = '!';
  built.write(changed);
  const auto report = check(built.path);
  REQUIRE(report);
  CHECK(report->findings ==
        std::vector<verify::Finding>{{"package beta: digest differs", "repos/debian-13/pool/beta_1.0_amd64.deb",
                                      reader->data_offset() + beta.offset}});
}

TEST_CASE("a truncated bundle is refused, wherever it ends") {
  const Built built;
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{32767}, std::size_t{32768},
                                 std::size_t{50000}, built.bytes.size() - 4096, built.bytes.size() - 1}) {
    built.write(built.bytes.substr(0, size));
    const auto report = check(built.path);
    INFO("size " << size);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::bundle_damaged);
    CHECK(exit_status(report.error().code) == 6);
  }
}

TEST_CASE("bytes after the end of a file are damage, even zeros") {
  const Built built;
  for (const std::string& extra : {std::string("x"), std::string(4096, '\0')}) {
    built.write(built.bytes + extra);
    const auto report = check(built.path);
    REQUIRE(report);
    REQUIRE(report->findings.size() == 1);
    CHECK(report->findings[0].what.find("after the end") != std::string::npos);
    CHECK(report->findings[0].offset == built.bytes.size());
  }
}

TEST_CASE("install reads the trust data of its target too") {
  const Built built;
  const std::size_t place = built.bytes.find("signed words");
  REQUIRE(place != std::string::npos);
  std::string changed = built.bytes;
  changed[place] = '!';
  built.write(changed);
  const auto debian = check(built.path, {.only_target = "debian-13"});
  REQUIRE(debian);
  REQUIRE(debian->findings.size() == 1);
  CHECK(debian->findings[0].path == "trust/debian-13/debian/trixie/InRelease");
  const auto ubuntu = check(built.path, {.only_target = "ubuntu-24.04"});
  REQUIRE(ubuntu);
  CHECK(ubuntu->findings.empty());
}

TEST_CASE("install reads only the members of its target") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const bundle::ManifestPackage& delta = reader->manifest().targets[1].packages[1];
  REQUIRE(delta.id.name == "delta");
  std::string changed = built.bytes;
  changed[reader->data_offset() + delta.offset] = '!';
  built.write(changed);
  const auto debian = check(built.path, {.only_target = "debian-13"});
  REQUIRE(debian);
  CHECK(debian->findings.empty());
  CHECK(debian->bytes_checked < built.bytes.size());
  const auto ubuntu = check(built.path, {.only_target = "ubuntu-24.04"});
  REQUIRE(ubuntu);
  CHECK(ubuntu->findings.size() == 1);
}

TEST_CASE("the digest of the whole file is compared when it is known") {
  const Built built;
  const auto right = check(built.path, {.expected_file_digest = sha256_of(built.bytes)});
  REQUIRE(right);
  CHECK(right->findings.empty());
  const auto wrong = check(built.path, {.expected_file_digest = sha256_of("something else")});
  REQUIRE(wrong);
  REQUIRE(wrong->findings.size() == 1);
  CHECK(wrong->findings[0].what == "the whole file: digest differs");
}

TEST_CASE("an extracted tree is verified by path: changed, missing and extra files are found") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const fs::path tree = built.directory.path() / "tree";
  REQUIRE(extract_tree(*reader, tree));
  const auto sound = check(tree);
  REQUIRE(sound);
  CHECK(sound->findings.empty());
  CHECK(sound->files_checked == reader->files().size());
  std::ofstream(tree / "repos/debian-13/pool/beta_1.0_amd64.deb") << std::string(9000, 'B');
  fs::remove(tree / "repos/debian-13/pool/gamma_1.0_amd64.deb");
  std::ofstream(tree / "extra") << "x";
  const auto damaged = check(tree);
  REQUIRE(damaged);
  std::vector<std::string> paths;
  for (const verify::Finding& finding : damaged->findings) {
    paths.push_back(finding.path);
  }
  CHECK(paths == std::vector<std::string>{"extra", "repos/debian-13/pool/beta_1.0_amd64.deb",
                                          "repos/debian-13/pool/gamma_1.0_amd64.deb"});
}

TEST_CASE("a script that was swapped in the tree is found") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const fs::path tree = built.directory.path() / "tree";
  REQUIRE(extract_tree(*reader, tree));
  std::ofstream(tree / "install.sh", std::ios::app) << "echo more\n";
  const auto report = check(tree);
  REQUIRE(report);
  CHECK_FALSE(report->findings.empty());
}

TEST_CASE("verifying stops when it is cancelled") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const std::atomic<bool> flag = true;
  NullEventSink events;
  const auto report = verify::verify_bundle(*reader, {}, events, CancelToken(&flag));
  REQUIRE_FALSE(report);
  CHECK(report.error().code == ErrorCode::cancelled);
}

TEST_CASE("a long list of damage is cut in the error, and says how long it is") {
  verify::VerifyReport report;
  for (std::uint64_t i = 0; i < 25; ++i) {
    report.findings.push_back({"package p: digest differs", "p", i});
  }
  const Error error = verify::damage_error(report);
  CHECK(error.details.at("findings") == "25");
  CHECK(error.reason.find("and 5 more") != std::string::npos);
}
