#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
using bundle::BundleReader;
namespace fs = std::filesystem;

namespace {

struct Built {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::bundle, fs::temp_directory_path(), "reader-test").value();
  fs::path path = directory.path() / "with space.run";
  test::FakeBundle content{};

  Built() {
    content.targets.resize(1);
    content.targets[0].packages.push_back({.id = {"p", "1", "amd64"}, .payload = std::string(3000000, 'p')});
    REQUIRE(test::build_bundle(content, path, directory.path()));
  }
};

std::string read_whole(const BundleReader& reader, const std::string& path) {
  std::string bytes;
  for (const bundle::ImageFile& file : reader.files()) {
    if (file.path == path) {
      REQUIRE(reader.read(file, [&](std::string_view piece) -> Result<Done> {
        CHECK(piece.size() <= std::size_t{1} << 20U);
        bytes += piece;
        return Done{};
      }));
    }
  }
  return bytes;
}

std::string with_constant(std::string bytes, const std::string& name, const std::string& value) {
  const std::size_t at = bytes.find("\n" + name + "=");
  REQUIRE(at != std::string::npos);
  return bytes.replace(at + name.size() + 2, value.size(), value);
}

}  // namespace

TEST_CASE("everything in the image can be read from the file and from its extracted tree") {
  const Built built;
  const auto file = BundleReader::open(built.path);
  REQUIRE(file);
  const fs::path tree_path = built.directory.path() / "tree";
  REQUIRE(extract_tree(*file, tree_path));
  const auto tree = BundleReader::open(tree_path);
  REQUIRE(tree);
  CHECK(tree->is_tree());
  CHECK(tree->bundle_id() == file->bundle_id());
  CHECK(tree->manifest() == file->manifest());
  CHECK(read_whole(*file, "repos/debian-13/pool/p_1_amd64.deb") == built.content.targets[0].packages[0].payload);
  CHECK(read_whole(*tree, "repos/debian-13/pool/p_1_amd64.deb") == built.content.targets[0].packages[0].payload);
  CHECK(read_whole(*file, "rocm-offline-install") == built.content.runner);
  CHECK(read_whole(*file, "manifest.json") == file->manifest_json());
  CHECK(read_whole(*file, "install.sh").find("rocm_file_size=") != std::string::npos);
  CHECK(read_whole(*file, "install.sh") == read_whole(*tree, "install.sh"));
  struct stat status {};
  REQUIRE(::stat((tree_path / "rocm-offline-install").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0755U);
  CHECK(status.st_mtime == built.content.source_date);
}

TEST_CASE("extract refuses a folder that holds something, and leaves nothing that is damaged") {
  const Built built;
  const auto reader = BundleReader::open(built.path);
  REQUIRE(reader);
  const fs::path full = built.directory.path() / "full";
  fs::create_directories(full / "x");
  const auto refused = extract_tree(*reader, full);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::usage);
  {
    std::fstream file(built.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(reader->data_offset() + reader->manifest().targets[0].packages[0].offset));
    file.put('!');
  }
  const fs::path into = built.directory.path() / "into/";
  const auto damaged = extract_tree(*reader, into);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == ErrorCode::bundle_damaged);
  CHECK_FALSE(fs::exists(into / "repos/debian-13/pool/p_1_amd64.deb"));
}

TEST_CASE("what is no bundle is named as such") {
  const Built built;
  const fs::path folder = built.directory.path() / "folder";
  fs::create_directory(folder);
  const fs::path text = built.directory.path() / "text";
  std::ofstream(text) << std::string(100000, 'x');
  for (const fs::path& path : {folder, text, fs::path("/dev/null")}) {
    const auto reader = BundleReader::open(path);
    REQUIRE_FALSE(reader);
    CHECK(reader.error().code == ErrorCode::bundle_damaged);
  }
  const auto missing = BundleReader::open(built.directory.path() / "none.run");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::file_missing);
}

TEST_CASE("hostile constants of the stub are refused before anything is read by them") {
  const Built built;
  const std::string bytes = read_file(Stage::bundle, built.path, std::uint64_t{1} << 30U).value();
  const std::pair<const char*, const char*> constants[] = {
      {"rocm_manifest_size", "99999999999999999999"},   {"rocm_manifest_size", "00000000000099999999"},
      {"rocm_manifest_size", "00000000000000000000"},   {"rocm_manifest_offset", "18446744073709551615"},
      {"rocm_manifest_offset", "18446744073709551000"}, {"rocm_file_size", "18446744073709551615"},
      {"rocm_runner_offset", "18446744073709551615"},   {"rocm_runner_offset", "0000000000000000000x"},
  };
  for (const auto& [name, value] : constants) {
    std::ofstream(built.path, std::ios::binary | std::ios::trunc) << with_constant(bytes, name, value);
    const auto reader = BundleReader::open(built.path);
    INFO(name << "=" << value);
    REQUIRE_FALSE(reader);
    CHECK(reader.error().code == ErrorCode::bundle_damaged);
  }
}

TEST_CASE("a stub with a constant twice is refused") {
  const Built built;
  test::FakeBundle content = built.content;
  content.stub_template = std::string(test::tiny_stub()) + "rocm_file_size=00000000000000000000\n";
  CHECK_FALSE(test::build_bundle(content, built.directory.path() / "b.run", built.directory.path()));
}
