// Programs that we did not write read what we wrote.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "readers_fixture.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;
using bundle::BundleReader;
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

ProcessOutcome run(std::vector<std::string> argv, std::map<std::string, std::string> environment = {}) {
  PosixProcessRunner runner;
  environment.insert({"LC_ALL", "C"});
  const auto outcome = runner.run({.argv = std::move(argv), .environment = std::move(environment)});
  REQUIRE(outcome);
  return *outcome;
}

struct Image {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::bundle, fs::temp_directory_path(), "readers-test").value();
  fs::path path = directory.path() / "bundle.run";
  fs::path tree = directory.path() / "ours";

  Image() {
    REQUIRE(test::build_bundle(test::hard_bundle(), path, directory.path()));
    const auto reader = BundleReader::open(path);
    REQUIRE(reader);
    REQUIRE(extract_tree(*reader, tree));
  }
  ~Image() {
    // Trees unpacked by others have folders of mode 0555.
    std::error_code code;
    for (fs::recursive_directory_iterator entry(directory.path(), code), end; !code && entry != end;
         entry.increment(code)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) {
        fs::permissions(entry->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
      }
    }
  }
};

void require_same_tree(const fs::path& ours, const fs::path& theirs) {
  const ProcessOutcome outcome = run({"diff", "-r", ours.string(), theirs.string()});
  INFO(outcome.output);
  CHECK(outcome.exit_code == 0);
}

}  // namespace

TEST_CASE("bsdtar unpacks the same tree") {
  if (!have("bsdtar")) {
    return;
  }
  const Image image;
  const fs::path into = image.directory.path() / "bsdtar";
  fs::create_directory(into);
  const auto outcome = run({"bsdtar", "-xf", image.path.string(), "-C", into.string()});
  INFO(outcome.output);
  REQUIRE(outcome.exit_code == 0);
  require_same_tree(image.tree, into);
}

TEST_CASE("bsdtar unpacks the second target alone, whose payload is shared") {
  if (!have("bsdtar")) {
    return;
  }
  const Image image;
  const fs::path into = image.directory.path() / "bsdtar";
  fs::create_directory(into);
  const auto outcome = run({"bsdtar", "-xf", image.path.string(), "-C", into.string(), "repos/ubuntu-24.04"});
  INFO(outcome.output);
  REQUIRE(outcome.exit_code == 0);
  require_same_tree(image.tree / "repos/ubuntu-24.04", into / "repos/ubuntu-24.04");
}

TEST_CASE("xorriso unpacks the same tree and sees modes and owners") {
  if (!have("xorriso")) {
    return;
  }
  const Image image;
  const fs::path into = image.directory.path() / "xorriso";
  const auto outcome =
      run({"xorriso", "-osirrox", "on", "-indev", image.path.string(), "-extract", "/", into.string()});
  INFO(outcome.output);
  REQUIRE(outcome.exit_code == 0);
  require_same_tree(image.tree, into);
  const auto listing = run({"xorriso", "-indev", image.path.string(), "-lsl", "/"});
  CHECK(listing.output.find("'ROCM_OFFLINE'") != std::string::npos);
  CHECK(listing.output.find("-rwxr-xr-x    1 0        0") != std::string::npos);
  CHECK(listing.output.find("-rw-r--r--    1 0        0") != std::string::npos);
  CHECK(listing.output.find("dr-xr-xr-x    1 0        0") != std::string::npos);
  CHECK(listing.output.find("Nov 30  2025 'install.sh'") != std::string::npos);
}

TEST_CASE("7-Zip unpacks the same tree and finds no fault") {
  const std::string program = find_program("7zz") ? "7zz" : "7z";
  if (!have(program)) {
    return;
  }
  const Image image;
  const fs::path into = image.directory.path() / "7z";
  const auto outcome = run({program, "x", "-y", "-o" + into.string(), image.path.string()});
  INFO(outcome.output);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.output.find("Everything is Ok") != std::string::npos);
  CHECK(outcome.output.find("WARNING") == std::string::npos);
  require_same_tree(image.tree, into);
}

TEST_CASE("isoinfo lists the real names and reads a file") {
  if (!have("isoinfo")) {
    return;
  }
  const Image image;
  const auto listing = run({"isoinfo", "-R", "-f", "-i", image.path.string()});
  REQUIRE(listing.exit_code == 0);
  const auto reader = BundleReader::open(image.path);
  REQUIRE(reader);
  for (const bundle::ImageFile& file : reader->files()) {
    INFO(file.path);
    CHECK(listing.output.find("/" + file.path + "\n") != std::string::npos);
  }
  const auto manifest = run({"isoinfo", "-R", "-x", "/manifest.json", "-i", image.path.string()});
  CHECK(manifest.output == reader->manifest_json());
}

TEST_CASE("fuseiso shows the same tree") {
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
  const ProcessOutcome same = run({"diff", "-r", image.tree.string(), mount.string()});
  const auto reader = BundleReader::open(mount);
  CHECK(run({"fusermount", "-u", mount.string()}).exit_code == 0);
  INFO(same.output);
  CHECK(same.exit_code == 0);
  REQUIRE(reader);
  CHECK(reader->is_tree());
}

TEST_CASE("the kernel mounts the same tree") {
  const Image image;
  const fs::path mount = image.directory.path() / "mount";
  fs::create_directory(mount);
  const auto outcome = run({"mount", "-o", "loop,ro", image.path.string(), mount.string()});
  if (outcome.exit_code != 0) {
    std::cerr << "skipped: no loop mount of ISO 9660 here: " << outcome.output;
    return;
  }
  const ProcessOutcome same = run({"diff", "-r", image.tree.string(), mount.string()});
  CHECK(run({"umount", mount.string()}).exit_code == 0);
  INFO(same.output);
  CHECK(same.exit_code == 0);
}

TEST_CASE("shells run the file as a script") {
  const Image image;
  for (const std::string shell : {"sh", "dash", "bash", "busybox"}) {
    if (!have(shell)) {
      continue;
    }
    std::vector<std::string> argv = {shell, image.path.string()};
    if (shell == "busybox") {
      argv.insert(argv.begin() + 1, "sh");
    }
    const auto outcome = run(argv);
    INFO(shell);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.output.find("runner at 0000000000000") == 0);
  }
  CHECK(run({image.path.string()}).output.find("runner at ") == 0);
}

TEST_CASE("apt reads the tree as a repository and would install from it") {
  if (!have("apt-get")) {
    return;
  }
  const Image image;
  const fs::path private_root = image.directory.path() / "apt";
  for (const char* folder : {"lists/partial", "cache/archives/partial"}) {
    fs::create_directories(private_root / folder);
  }
  const std::string p = private_root.string();
  std::ofstream(private_root / "status");
  std::ofstream(private_root / "sources.list")
      << "deb [trusted=yes check-date=no check-valid-until=no] file:" << image.tree.string() << "/repos/debian-13 ./\n";
  std::ofstream(private_root / "apt.conf")
      << "Dir::Etc::Main \"/dev/null\"; Dir::Etc::Parts \"/dev/null\";\n"
      << "Dir::Etc::SourceList \"" << p << "/sources.list\"; Dir::Etc::SourceParts \"/dev/null\";\n"
      << "Dir::Etc::Preferences \"/dev/null\"; Dir::Etc::PreferencesParts \"/dev/null\";\n"
      << "Dir::Etc::Trusted \"/dev/null\"; Dir::Etc::TrustedParts \"/dev/null\";\n"
      << "Dir::State::Lists \"" << p << "/lists\"; Dir::State::status \"" << p << "/status\";\n"
      << "Dir::State::extended_states \"" << p << "/extended_states\";\n"
      << "Dir::Cache \"" << p << "/cache\"; Dir::Cache::archives \"" << p << "/cache/archives\";\n"
      << "Dir::Log \"" << p << "\"; Dir::Log::Planner \"" << p << "/eipp.log\";\n"
      << "APT::Sandbox::User \"root\"; Acquire::Languages \"none\"; APT::Architecture \"amd64\";\n";
  const std::map<std::string, std::string> environment = {{"APT_CONFIG", p + "/apt.conf"}};
  const auto update = run({"apt-get", "update"}, environment);
  INFO(update.output);
  REQUIRE(update.exit_code == 0);
  CHECK(update.output.find("W:") == std::string::npos);
  const auto simulated = run({"apt-get", "-s", "install", "plain", "libstdc++-dev", "long", "odd"}, environment);
  INFO(simulated.output);
  CHECK(simulated.exit_code == 0);
  CHECK(simulated.output.find("Inst libstdc++-dev (1:2.0+dfsg~rc1-1 ROCm offline:") != std::string::npos);
  CHECK(simulated.output.find("Inst odd (1:1 ") != std::string::npos);
  // apt finds, reads and hashes each file under its name in the pool.
  const auto fetched = run({"apt-get", "-y", "-d", "install", "plain", "libstdc++-dev", "long", "odd"}, environment);
  INFO(fetched.output);
  CHECK(fetched.exit_code == 0);
}
