#include <catch2/catch.hpp>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/bundle/manifest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
using nlohmann::json;

namespace {

bundle::Manifest full_manifest() {
  const auto scratch =
      TemporaryDirectory::create(Stage::bundle, std::filesystem::temp_directory_path(), "manifest-test").value();
  test::FakeBundle content;
  content.targets.resize(1);
  content.targets[0].packages.push_back({.id = {"p", "1:1~rc+1", "amd64"}, .payload = "payload"});
  content.targets[0].requests = {{.name = "p", .version = "1:1~rc+1", .because = "--package"}};
  content.targets[0].post_install.gpu_access = "all";
  content.targets[0].trust = {{"debian/InRelease", "signed"}};
  bundle::Manifest manifest = test::lay_out(content, scratch.path()).value().manifest;
  manifest.targets[0].policy.recommends = true;
  manifest.targets[0].target.kernels = {"6.12.0-1-amd64"};
  manifest.targets[0].target.treated_as_from = "mint-22";
  manifest.targets[0].packages[0].installed_size.reset();
  manifest.signing_key = SitePublicKey::from_hex(std::string(64, 'a'));
  return manifest;
}

ErrorCode refusal(const json& document) {
  const auto manifest = bundle::manifest_from_json(document.dump());
  REQUIRE_FALSE(manifest);
  return manifest.error().code;
}

}  // namespace

TEST_CASE("the signing key is 64 hex digits, null, or absent as in older manifests") {
  json document = json::parse(bundle::manifest_to_json(full_manifest()));
  document["signing_key"] = nullptr;
  CHECK_FALSE(bundle::manifest_from_json(document.dump()).value().signing_key);
  document.erase("signing_key");
  CHECK_FALSE(bundle::manifest_from_json(document.dump()).value().signing_key);
  for (const json& wrong : {json("abc"), json(std::string(64, 'A')), json(7)}) {
    document["signing_key"] = wrong;
    CHECK(refusal(document) == ErrorCode::bundle_damaged);
  }
  document["signing_key"] = nullptr;
  document["files"][0]["path"] = "manifest.json.sig";
  CHECK(refusal(document) == ErrorCode::bundle_damaged);
}

TEST_CASE("a manifest survives writing and reading") {
  const bundle::Manifest manifest = full_manifest();
  const auto back = bundle::manifest_from_json(bundle::manifest_to_json(manifest));
  REQUIRE(back);
  CHECK(*back == manifest);
}

TEST_CASE("a manifest that does not fit its format is damage") {
  const json good = json::parse(bundle::manifest_to_json(full_manifest()));
  REQUIRE(bundle::manifest_from_json(good.dump()));
  json bad = good;
  json& package = bad["targets"][0]["packages"][0];
  json& file = bad["files"][0];
  SECTION("another schema") {
    bad["schema"] = 2;
  }
  SECTION("no object") {
    bad = json::array();
  }
  SECTION("path that climbs out") {
    package["path"] = "repos/debian-13/../../etc/passwd";
  }
  SECTION("absolute path") {
    file["path"] = "/etc/passwd";
  }
  SECTION("path of another target") {
    package["path"] = "repos/other/x.deb";
  }
  SECTION("a name that no record holds") {
    file["path"] = std::string(161, 'x');
  }
  SECTION("path of the program") {
    file["path"] = "rocm-offline-install";
  }
  SECTION("the same path twice") {
    bad["files"][1] = file;
  }
  SECTION("the same target twice") {
    bad["targets"].push_back(bad["targets"][0]);
  }
  SECTION("target id with a slash") {
    bad["targets"][0]["target"]["id"] = "a/b";
  }
  SECTION("offset beside a block") {
    package["offset"] = 5;
  }
  SECTION("offset that overflows") {
    package["offset"] = std::uint64_t{1} << 63U;
  }
  SECTION("negative size") {
    package["size"] = -1;
  }
  SECTION("size zero") {
    package["size"] = 0;
  }
  SECTION("short digest") {
    package["sha256"] = "abc";
  }
  SECTION("digest in capitals") {
    package["sha256"] = std::string(64, 'A');
  }
  SECTION("unknown reason") {
    package["reason"]["kind"] = "whim";
  }
  SECTION("no time") {
    bad["source_date"] = "yesterday";
  }
  SECTION("usecases no array") {
    bad["targets"][0]["usecases"] = "hip";
  }
  SECTION("missing runner") {
    bad.erase("runner");
  }
  SECTION("unknown family") {
    bad["targets"][0]["target"]["family"] = "apk";
  }
  CHECK(refusal(bad) == ErrorCode::bundle_damaged);
}

TEST_CASE("text that is no JSON is damage") {
  for (const std::string& text : {std::string("{"), std::string(), std::string(100000, '['), std::string("nul")}) {
    const auto manifest = bundle::manifest_from_json(text);
    REQUIRE_FALSE(manifest);
    CHECK(manifest.error().code == ErrorCode::bundle_damaged);
  }
}
