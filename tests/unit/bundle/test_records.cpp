#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;

namespace {

std::uint32_t little(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = value << 8U | static_cast<unsigned char>(bytes.at(at + static_cast<std::size_t>(i)));
  }
  return value;
}

}  // namespace

// bsdtar takes records that share a serial for hard links of one file, and unpacks only the first.
TEST_CASE("each record of a file has a serial of its own, payloads of several targets included") {
  test::FakeBundle content;
  content.targets.resize(3);
  const test::FakePackage shared = {.id = {"shared", "1.0", "amd64"}, .payload = std::string(5000, 's')};
  const char* const ids[] = {"debian-12", "debian-13", "ubuntu-24.04"};
  for (std::size_t i = 0; i < 3; ++i) {
    content.targets[i].id = ids[i];
    content.targets[i].packages = {shared, {.id = {"empty-doc", "1.0", "all"}, .payload = std::string(1, 'e')}};
  }
  const auto scratch =
      TemporaryDirectory::create(Stage::bundle, std::filesystem::temp_directory_path(), "records-test").value();
  const auto layout = test::lay_out(content, scratch.path());
  REQUIRE(layout);
  CHECK(layout->members.size() == 2);
  // RRIP 4.1.1: "PX", 44, 1, then mode, links, owner, group and serial in both byte orders.
  const std::string& records = layout->fixed_parts.at(1).bytes;
  const std::string head = {'P', 'X', 44, 1};
  std::size_t files = 0;
  std::set<std::uint32_t> serials;
  for (std::size_t at = records.find(head); at != std::string::npos; at = records.find(head, at + 44)) {
    if ((little(records, at + 4) & 0170000U) == 0100000U) {
      ++files;
      serials.insert(little(records, at + 36));
    }
  }
  // install.sh, the program, the manifest; README, key, two files of each repository; two packages of each target.
  CHECK(files == layout->manifest.files.size() + 3 + 6);
  CHECK(serials.size() == files);
}
