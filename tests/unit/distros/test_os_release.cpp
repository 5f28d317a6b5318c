#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rooted_file.hpp"

using namespace rocm_offline;
using namespace rocm_offline::distros;
namespace fs = std::filesystem;

namespace {

OsRelease parsed(std::string_view text) {
  const Result<OsRelease> result = parse_os_release(text);
  REQUIRE(result.has_value());
  return *result;
}

// A folder that stands for an image's root.
class Image {
 public:
  Image() : m_folder(*TemporaryDirectory::create(Stage::check, fs::temp_directory_path(), "image")) {}
  [[nodiscard]] const fs::path& root() const { return m_folder.path(); }

  void file(const std::string& path, std::string_view text) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories((root() / path).parent_path());
    fs::create_symlink(target, root() / path);
  }

 private:
  TemporaryDirectory m_folder;
};

}  // namespace

TEST_CASE("the os-release of Debian 13 is read") {
  const OsRelease os = parsed(
      "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"13\"\n"
      "VERSION=\"13 (trixie)\"\nVERSION_CODENAME=trixie\nDEBIAN_VERSION_FULL=13.8\nID=debian\n");
  CHECK(os.id == "debian");
  CHECK(os.version_id == "13");
  CHECK(os.version_codename == "trixie");
  CHECK(os.pretty_name == "Debian GNU/Linux 13 (trixie)");
  CHECK(os.id_like.empty());
}

TEST_CASE("quotes, escapes, comments, CRLF and blank lines are read as a shell reads them") {
  const OsRelease os = parsed(
      "# a comment\r\n\r\n  ID='ubuntu'  # another\r\nVERSION_ID=\"22.04\"\r\n"
      "PRETTY_NAME=\"a \\\"b\\\" \\$c \\\\ \\` \\n\"\r\nVARIANT_ID=se\\ rv'er'\"!\"\r\nID_LIKE=\"debian  other\"\r\n");
  CHECK(os.id == "ubuntu");
  CHECK(os.version_id == "22.04");
  CHECK(os.pretty_name == "a \"b\" $c \\ ` \\n");
  CHECK(os.variant_id == "se rver!");
  CHECK(os.id_like == std::vector<std::string>{"debian", "other"});
}

TEST_CASE("of duplicates the last wins, and an empty one clears") {
  const OsRelease os = parsed("ID=fedora\nVERSION_ID=1\nID=debian\nVERSION_ID=\n");
  CHECK(os.id == "debian");
  CHECK(os.version_id.empty());
}

TEST_CASE("a line that is no assignment is skipped") {
  const std::string broken =
      GENERATE("ID", "ID debian", "=debian", "1D=debian", "ID=debian extra", "ID=\"debian", "ID='debian", "ID=debian\\",
               "ID =debian", "ID=de\x1b[31mbian", "export ID=debian");
  INFO(broken);
  const Result<OsRelease> os = parse_os_release("VERSION_ID=13\n" + broken + "\n");
  REQUIRE_FALSE(os.has_value());
  CHECK(os.error().code == ErrorCode::check_failed);
  CHECK(os.error().reason == "it has no ID");
}

TEST_CASE("an ID that no ID may be is refused") {
  const Result<OsRelease> os = parse_os_release("ID=\"../debian\"\n");
  REQUIRE_FALSE(os.has_value());
  CHECK(os.error().reason.find("../debian") != std::string::npos);
}

TEST_CASE("a VERSION_ID with odd characters counts as missing") {
  CHECK(parsed("ID=debian\nVERSION_ID=\"13; rm\"\n").version_id.empty());
}

TEST_CASE("os-release text without a last newline is read whole, and empty text is refused") {
  CHECK(parsed("ID=debian").id == "debian");
  CHECK_FALSE(parse_os_release("").has_value());
}

TEST_CASE("os-release text over 64 KiB is refused") {
  const Result<OsRelease> os = parse_os_release("ID=debian\n#" + std::string(65 << 10, 'x'));
  REQUIRE_FALSE(os.has_value());
  CHECK(os.error().reason == "it is larger than 64 KiB");
}

TEST_CASE("the codename of a derivative's base is read") {
  CHECK(parsed("ID=linuxmint\nUBUNTU_CODENAME=noble\n").base_codename == "noble");
  CHECK(parsed("ID=linuxmint\nDEBIAN_CODENAME=bookworm\n").base_codename == "bookworm");
}

TEST_CASE("the os-release below /etc goes before the one below /usr/lib") {
  const Image image;
  image.file("usr/lib/os-release", "ID=debian\n");
  REQUIRE(read_os_release(image.root()).has_value());
  image.file("etc/os-release", "ID=ubuntu\n");
  CHECK(read_os_release(image.root())->id == "ubuntu");
}

TEST_CASE("links of an image stay inside its root") {
  const Image image;
  image.file("usr/lib/os-release", "ID=debian\n");
  const std::string target = GENERATE("../usr/lib/os-release", "/usr/lib/os-release", "../../../../usr/lib/os-release",
                                      "/../../usr/lib/./os-release");
  INFO(target);
  image.link("etc/os-release", target);
  const Result<OsRelease> os = read_os_release(image.root());
  REQUIRE(os.has_value());
  CHECK(os->id == "debian");
}

TEST_CASE("a link that points out of an image does not reach the host's file") {
  const Image outside;
  outside.file("secret", "ID=outside\n");
  const Image image;
  image.link("etc/os-release", (outside.root() / "secret").string());
  const Result<OsRelease> os = read_os_release(image.root());
  REQUIRE_FALSE(os.has_value());
  CHECK(os.error().code == ErrorCode::check_failed);
  CHECK(os.error().message.find("no os-release file") != std::string::npos);
}

TEST_CASE("the walk by hand agrees with the kernel's resolution") {
  const Image image;
  image.file("usr/lib/os-release", "x");
  image.link("lib", "usr/lib");
  image.link("etc/relative", "../lib/os-release");
  image.link("etc/absolute", "/lib/os-release");
  image.link("etc/above", "../../../lib/../lib/os-release");
  image.link("etc/loop", "loop");
  image.link("etc/dangling", "/nowhere");
  image.link("etc/folder", "/usr");
  const std::string path = GENERATE("usr/lib/os-release", "lib/os-release", "etc/relative", "etc/absolute", "etc/above",
                                    "etc/loop", "etc/dangling", "etc/folder", "etc/missing", "usr/lib/os-release/x");
  INFO(path);
  const auto by_hand = open_in_root(image.root(), path, LinkResolution::by_hand);
  const auto by_kernel = open_in_root(image.root(), path);
  CHECK(by_hand.has_value() == by_kernel.has_value());
  if (!by_hand && !by_kernel) {
    CHECK(by_hand.error() == by_kernel.error());
  }
  CHECK(by_hand.has_value() == (path == "usr/lib/os-release" || path == "lib/os-release" || path == "etc/relative" ||
                                path == "etc/absolute" || path == "etc/above"));
}

TEST_CASE("a pipe in place of a file does not block the reader") {
  const Image image;
  fs::create_directories(image.root() / "etc");
  REQUIRE(mkfifo((image.root() / "etc/os-release").c_str(), 0644) == 0);
  CHECK_FALSE(read_os_release(image.root()).has_value());
}

TEST_CASE("a file of an image larger than the cap is refused") {
  const Image image;
  image.file("etc/os-release", "ID=debian\n" + std::string(70000, '#'));
  const Result<OsRelease> os = read_os_release(image.root());
  REQUIRE_FALSE(os.has_value());
  CHECK(os.error().code == ErrorCode::io_error);
}

TEST_CASE("the architecture of an image is that of its programs") {
  const Image image;
  std::string elf("\177ELF\2\1\1", 7);
  elf.resize(64, '\0');
  elf[18] = '\x3e';
  image.file("etc/os-release", "ID=debian\nVERSION_ID=13\n");
  CHECK(read_machine_facts(image.root()).machine.empty());
  image.file("usr/bin/env", elf);
  CHECK(read_machine_facts(image.root()).machine == "x86_64");
  elf[18] = '\xb7';
  image.file("usr/bin/env", elf);
  const MachineFacts facts = read_machine_facts(image.root());
  CHECK(facts.machine == "aarch64");
  CHECK(facts.kernel.empty());
  CHECK(facts.container_or_chroot);
}

TEST_CASE("this host has a kernel and a machine") {
  const MachineFacts facts = read_machine_facts("/");
  CHECK_FALSE(facts.kernel.empty());
  CHECK_FALSE(facts.machine.empty());
}
