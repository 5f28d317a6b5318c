// An image of 15 GiB, with members around the limits of 2 and 4 GiB, for programs that we did not write. All but a few
// hundred kB of it are holes. What a kernel makes of it: tests/vm.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <regex>

#include "rocm_offline/core/posix.hpp"
#include "support/sparse_bundle/sparse_bundle.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

// True when the program is there; else says why the test checks nothing.
bool have(const std::string& program) {
  if (find_program(program)) {
    return true;
  }
  std::cerr << "skipped: " << program << " is not installed\n";
  return false;
}

ProcessOutcome run(std::vector<std::string> argv) {
  PosixProcessRunner runner;
  const auto outcome = runner.run({.argv = std::move(argv), .environment = {{"LC_ALL", "C"}}});
  REQUIRE(outcome);
  return *outcome;
}

struct Image {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::bundle, fs::temp_directory_path(), "large-test").value();
  fs::path path = directory.path() / "large.run";
  test::SparseBundle sparse = test::write_sparse_bundle(path).value();

  [[nodiscard]] const test::SparseMember& member(const std::string& name) const { return sparse.member(name); }

  // Every byte that `command` prints is that of the member, and there is none more.
  void require_member(const std::string& name, const std::string& command) const {
    const fs::path wanted = directory.path() / "member";
    REQUIRE(test::write_sparse_member(member(name), wanted));
    const auto outcome = run({"sh", "-c", command + " | cmp - " + wanted.string()});
    INFO(command << ": " << outcome.output);
    CHECK(outcome.exit_code == 0);
  }
};

bool is_large(const test::SparseMember& member) {
  return member.size > test::largest_extent;
}

std::string bytes_at(const fs::path& file, std::uint64_t offset, std::size_t size) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

// As a part of a regular expression.
std::string literal(const std::string& text) {
  return std::regex_replace(text, std::regex("[.+*?^$|(){}\\[\\]\\\\]"), "\\$&");
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

TEST_CASE("the image is far beyond 4 GiB and takes little room") {
  const Image image;
  CHECK(image.sparse.file_size > std::uint64_t{15} << 30U);
  CHECK(fs::file_size(image.path) == image.sparse.file_size);
  CHECK(image.sparse.members.back().offset > std::uint64_t{15} << 30U);
  CHECK(image.sparse.members.back().paths.size() == 2);
  const auto used = run({"du", "-k", image.path.string()});
  CHECK(std::stoul(used.output) < 4096);
}

TEST_CASE("xorriso reads all sizes, and a large member as two extents in a row") {
  if (!have("xorriso")) {
    return;
  }
  const Image image;
  const auto report =
      run({"xorriso", "-indev", image.path.string(), "-find", "/repos", "-type", "f", "-exec", "report_lba", "--"});
  INFO(report.output);
  REQUIRE(report.exit_code == 0);
  for (const test::SparseMember& member : image.sparse.members) {
    for (const std::string& path : member.paths) {
      for (std::uint64_t at = 0; at < member.size; at += test::largest_extent) {
        // "File data lba:  1 ,  7864367 ,   524296 , 5368721465 , '/repos/…'"
        const std::uint64_t blocks = (std::min(member.size - at, test::largest_extent) + 2047) / 2048;
        const std::regex line("File data lba: *" + std::to_string(at / test::largest_extent) + " , *" +
                              std::to_string((member.offset + at) / 2048) + " , *" + std::to_string(blocks) + " , *" +
                              std::to_string(member.size) + " , '/" + literal(path) + "'");
        INFO(path << " from " << at);
        CHECK(std::regex_search(report.output, line));
      }
    }
  }
  const fs::path out = image.directory.path() / "last";
  const test::SparseMember& last = image.member("f-small-last");
  CHECK(run({"xorriso", "-osirrox", "on", "-indev", image.path.string(), "-extract", "/" + last.paths[1], out.string()})
            .exit_code == 0);
  CHECK(bytes_at(out, 0, 6000) == last.marks[0].text);
  // Both sides of the seam between two extents.
  const test::SparseMember& large = image.member("e-large");
  const fs::path cut = image.directory.path() / "cut";
  const std::string from = std::to_string(test::largest_extent - 16);
  CHECK(run({"xorriso", "-osirrox", "on", "-indev", image.path.string(), "-extract_cut", "/" + large.paths[0], from,
             "32", cut.string()})
            .exit_code == 0);
  CHECK(bytes_at(cut, 0, 100) == bytes_at(image.path, large.offset + test::largest_extent - 16, 32));
}

TEST_CASE("bsdtar reads every byte of large members") {
  if (!have("bsdtar")) {
    return;
  }
  const Image image;
  const std::string file = image.path.string();
  const auto listing = run({"bsdtar", "-tvf", file});
  INFO(listing.output);
  CHECK(listing.output.find(" link to ") == std::string::npos);
  for (const test::SparseMember& member : image.sparse.members) {
    for (const std::string& path : member.paths) {
      CHECK(std::regex_search(listing.output,
                              std::regex(" " + std::to_string(member.size) + " [^\n]* " + literal(path))));
    }
  }
  for (const std::string name : {"f-small-last", "e-large"}) {
    image.require_member(name, "bsdtar -xOf " + file + " " + image.member(name).paths.back());
  }
}

TEST_CASE("7-Zip reads every byte of a large member") {
  const std::string program = find_program("7zz") ? "7zz" : "7z";
  if (!have(program)) {
    return;
  }
  const Image image;
  const std::string file = image.path.string();
  const auto listing = run({program, "l", "-slt", file});
  for (const test::SparseMember& member : image.sparse.members) {
    for (const std::string& path : member.paths) {
      const std::string entry = "Path = " + path + "\nFolder = -\nSize = " + std::to_string(member.size) + "\n";
      INFO(entry << "in\n" << listing.output);
      CHECK(listing.output.find(entry) != std::string::npos);
    }
  }
  CHECK(listing.output.find("WARNING") == std::string::npos);
  for (const std::string name : {"f-small-last", "e-large"}) {
    image.require_member(name, program + " x -so " + file + " " + image.member(name).paths.back());
  }
}

// isoinfo and fuseiso know no files of several extents: they show such a file as two (docs/manual.md says so).
TEST_CASE("isoinfo finds what lies beyond 4 GiB") {
  if (!have("isoinfo")) {
    return;
  }
  const Image image;
  const auto listing = run({"isoinfo", "-R", "-l", "-i", image.path.string()});
  for (const test::SparseMember& member : image.sparse.members) {
    const std::string size = std::to_string(std::min(member.size, test::largest_extent));
    INFO(member.name << " in\n" << listing.output);
    CHECK(std::regex_search(listing.output,
                            std::regex(" " + size + " [^\n]*\\[ *" + std::to_string(member.offset / 2048) + " [^\n]* " +
                                       literal(file_name(member.paths[0])))));
  }
  for (const std::string& path : image.member("f-small-last").paths) {
    image.require_member("f-small-last", "isoinfo -R -x /" + path + " -i " + image.path.string());
  }
}

TEST_CASE("fuseiso shows what lies beyond 4 GiB") {
  if (!have("fuseiso")) {
    return;
  }
  const Image image;
  const fs::path mount = image.directory.path() / "mount";
  fs::create_directory(mount);
  const auto outcome = run({"fuseiso", image.path.string(), mount.string()});
  if (outcome.exit_code != 0) {
    std::cerr << "skipped: fuseiso cannot mount here: " << outcome.output;
    return;
  }
  for (const test::SparseMember& member : image.sparse.members) {
    for (const std::string& path : member.paths) {
      INFO(path);
      std::error_code code;
      const bool as_it_is =
          is_large(member) ? fs::exists(mount / path, code) : fs::file_size(mount / path, code) == member.size;
      CHECK(as_it_is);
      for (const test::Mark& mark : member.marks) {
        if (mark.offset + mark.text.size() <= test::largest_extent) {
          INFO(mark.offset);
          CHECK(bytes_at(mount / path, mark.offset, mark.text.size()) == mark.text);
        }
      }
    }
  }
  CHECK(run({"fusermount", "-u", mount.string()}).exit_code == 0);
}
