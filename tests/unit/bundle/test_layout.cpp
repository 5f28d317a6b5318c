#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

struct Scratch {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::bundle, fs::temp_directory_path(), "layout-test").value();
};

test::FakeBundle shared_bundle() {
  test::FakeBundle content;
  content.targets.resize(2);
  content.targets[0].packages.push_back({.id = {"shared", "1:2.0", "amd64"}, .payload = std::string(5000, 's')});
  content.targets[0].packages.push_back({.id = {"alone", "1.0", "amd64"}, .payload = std::string(100, 'a')});
  content.targets[1].id = "ubuntu-24.04";
  content.targets[1].packages = {content.targets[0].packages[0]};
  return content;
}

std::string file_bytes(const bundle::BundleLayout& layout, const std::string& path) {
  const auto& files = layout.manifest.files;
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& entry) { return entry.path == path; });
  REQUIRE(file != files.end());
  for (const bundle::FixedPart& part : layout.fixed_parts) {
    if (part.bytes.size() == file->size && sha256_of(part.bytes) == file->sha256) {
      return part.bytes;
    }
  }
  FAIL("no fixed part holds " << path);
  return "";
}

}  // namespace

TEST_CASE("extents are aligned, ascending, and inside of a file of whole blocks") {
  const Scratch scratch;
  const auto layout = test::lay_out(shared_bundle(), scratch.directory.path());
  REQUIRE(layout);
  CHECK(layout->file_size % bundle::alignment == 0);
  std::uint64_t end = 0;
  for (const bundle::FixedPart& part : layout->fixed_parts) {
    CHECK(part.offset % bundle::alignment == 0);
    CHECK(part.offset >= end);
    end = part.offset + part.bytes.size();
  }
  for (const bundle::Member& member : layout->members) {
    CHECK(member.offset % bundle::alignment == 0);
    CHECK(member.offset >= end);
    end = member.offset + member.size;
  }
  CHECK(layout->file_size - end < bundle::alignment);
}

TEST_CASE("a payload that two targets use is one member with two paths") {
  const Scratch scratch;
  const auto layout = test::lay_out(shared_bundle(), scratch.directory.path());
  REQUIRE(layout);
  CHECK(layout->members.size() == 2);
  const auto& targets = layout->manifest.targets;
  REQUIRE(targets.size() == 2);
  CHECK(targets[0].packages[1].path == "repos/debian-13/pool/shared_1%3a2.0_amd64.deb");
  CHECK(targets[1].packages[0].path == "repos/ubuntu-24.04/pool/shared_1%3a2.0_amd64.deb");
  CHECK(targets[0].packages[1].offset == targets[1].packages[0].offset);
}

TEST_CASE("the layout does not depend on the order of targets and packages") {
  const Scratch scratch;
  test::FakeBundle content = shared_bundle();
  const auto first = test::lay_out(content, scratch.directory.path());
  content.targets[0].requests = {{.name = "shared", .because = "--package"}, {.name = "alone", .because = "--package"}};
  const auto with_requests = test::lay_out(content, scratch.directory.path());
  std::reverse(content.targets[0].packages.begin(), content.targets[0].packages.end());
  std::reverse(content.targets.begin(), content.targets.end());
  const auto turned = test::lay_out(content, scratch.directory.path());
  REQUIRE(first);
  REQUIRE(with_requests);
  REQUIRE(turned);
  CHECK(turned->manifest_json == with_requests->manifest_json);
  CHECK(turned->bundle_id == with_requests->bundle_id);
}

TEST_CASE("the id is the start of the manifest's digest") {
  const Scratch scratch;
  const auto layout = test::lay_out(shared_bundle(), scratch.directory.path());
  REQUIRE(layout);
  CHECK(layout->bundle_id == sha256_of(layout->manifest_json).hex().substr(0, 16));
}

TEST_CASE("the same fixed parts come out of the manifest again") {
  const Scratch scratch;
  const auto layout = test::lay_out(shared_bundle(), scratch.directory.path());
  REQUIRE(layout);
  const auto own_template = bundle::template_of_stub(layout->fixed_parts[0].bytes);
  REQUIRE(own_template);
  CHECK(*own_template == test::tiny_stub());
  const auto image = bundle::regenerate(layout->manifest, layout->manifest_json, "", *own_template);
  REQUIRE(image);
  CHECK(image->file_size == layout->file_size);
  for (const bundle::FixedPart& part : image->fixed_parts) {
    const auto same = std::find_if(layout->fixed_parts.begin(), layout->fixed_parts.end(),
                                   [&](const auto& other) { return other.offset == part.offset; });
    REQUIRE(same != layout->fixed_parts.end());
    CHECK(same->bytes == part.bytes);
  }
}

TEST_CASE("Packages keeps each stanza but for Filename") {
  const Scratch scratch;
  test::FakeBundle content = shared_bundle();
  content.targets[0].packages[1].control_lines = {"Depends: shared (>= 1:1)", "Recommends: nothing"};
  const auto layout = test::lay_out(content, scratch.directory.path());
  REQUIRE(layout);
  const std::string packages = file_bytes(*layout, "repos/debian-13/Packages");
  CHECK(packages.find(
            "Package: alone\nVersion: 1.0\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.org>\n"
            "Depends: shared (>= 1:1)\nRecommends: nothing\nFilename: pool/alone_1.0_amd64.deb\nSize: 100\n") == 0);
  CHECK(packages.find("\n\nPackage: shared\n") != std::string::npos);
  CHECK(packages.find("pool/main") == std::string::npos);
  const std::string release = file_bytes(*layout, "repos/debian-13/Release");
  CHECK(release.find("Date: Sun, 30 Nov 2025 10:53:20 UTC\n") != std::string::npos);
  CHECK(release.find(" " + sha256_of(packages).hex() + " " + std::to_string(packages.size()) + " Packages\n") !=
        std::string::npos);
  CHECK(release.find("Valid-Until") == std::string::npos);
}

TEST_CASE("equal file names of different packages are told apart") {
  const Scratch scratch;
  test::FakeBundle content;
  content.targets.resize(1);
  content.targets[0].packages.push_back(
      {.id = {"a", "1", "amd64"}, .payload = "one", .filename = "pool/main/x_1_amd64.deb"});
  content.targets[0].packages.push_back(
      {.id = {"b", "1", "amd64"}, .payload = "two", .filename = "pool/universe/x_1_amd64.deb"});
  const auto layout = test::lay_out(content, scratch.directory.path());
  REQUIRE(layout);
  const auto& packages = layout->manifest.targets[0].packages;
  CHECK(packages[0].path == "repos/debian-13/pool/x_1_amd64.deb");
  CHECK(packages[1].path == "repos/debian-13/pool/x_1_amd64~" + sha256_of("two").hex().substr(0, 8) + ".deb");
}

TEST_CASE("names over 160 bytes are shortened, with a digest, and stay apart") {
  const Scratch scratch;
  test::FakeBundle content;
  content.targets.resize(1);
  for (const char* end : {"a", "b"}) {
    content.targets[0].packages.push_back(
        {.id = {end, "1", "amd64"}, .payload = end, .filename = "pool/" + std::string(200, 'n') + end + ".deb"});
  }
  const auto layout = test::lay_out(content, scratch.directory.path());
  REQUIRE(layout);
  std::set<std::string> names;
  for (const auto& package : layout->manifest.targets[0].packages) {
    const std::string name = package.path.substr(package.path.rfind('/') + 1);
    CHECK(name.size() == 160);
    CHECK(name.substr(156) == ".deb");
    names.insert(name);
  }
  CHECK(names.size() == 2);
}

TEST_CASE("what cannot be laid out is refused") {
  const Scratch scratch;
  test::FakeBundle content = shared_bundle();
  SECTION("no target") {
    content.targets.clear();
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::usage);
  }
  SECTION("a target twice") {
    content.targets[1].id = content.targets[0].id;
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::usage);
  }
  SECTION("a package without a size") {
    content.targets[0].packages[1].payload.clear();
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::metadata_invalid);
  }
  SECTION("a file name that leaves the repository") {
    content.targets[0].packages[1].filename = "../../etc/x.deb";
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::metadata_invalid);
  }
  SECTION("a stub that is too large") {
    content.stub_template = std::string(test::tiny_stub()) + std::string(bundle::stub_size, '#');
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
  }
  SECTION("a stub without the constants") {
    content.stub_template = "#!/bin/sh\nexit 0\n";
    const auto layout = test::lay_out(content, scratch.directory.path());
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::internal);
  }
}

TEST_CASE("a blank line in a stanza cannot smuggle in a second package") {
  const Scratch scratch;
  test::FakeBundle content = shared_bundle();
  content.targets[0].packages[1].control_lines = {"Section: misc\n\nPackage: evil\nVersion: 9"};
  const auto layout = test::lay_out(content, scratch.directory.path());
  REQUIRE(layout);
  CHECK(file_bytes(*layout, "repos/debian-13/Packages").find("\n\nPackage: evil") == std::string::npos);
}
