#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/repos/catalog.hpp"

using namespace rocm_offline;
using namespace rocm_offline::repos;
namespace fs = std::filesystem;

namespace {

using Mirrors = std::map<std::string, std::vector<std::string>>;

class Host {
 public:
  Host() : m_folder(*TemporaryDirectory::create(Stage::repos, fs::temp_directory_path(), "host")) {
    fs::create_directories(m_folder.path() / "etc/apt/sources.list.d");
  }
  void file(const std::string& name, std::string_view text) const {
    fs::create_directories((m_folder.path() / name).parent_path());
    std::ofstream(m_folder.path() / name) << text;
  }
  [[nodiscard]] std::vector<HostSource> sources() const { return read_host_sources(m_folder.path()); }
  [[nodiscard]] Mirrors mirrors() const { return mirrors_from_host(sources(), *Catalog::load({})); }
  [[nodiscard]] const fs::path& path() const { return m_folder.path(); }

 private:
  TemporaryDirectory m_folder;
};

std::vector<std::string> urls(const std::vector<HostSource>& sources) {
  std::vector<std::string> list;
  for (const HostSource& source : sources) {
    list.push_back(source.url);
  }
  return list;
}

}  // namespace

TEST_CASE("one-line sources with options and comments are read") {
  const Host host;
  host.file(
      "etc/apt/sources.list",
      "# deb http://comment/debian bookworm main\n"
      "deb [ arch=amd64,i386 signed-by=/usr/share/keyrings/x.gpg ] http://a.example/debian/ bookworm main contrib # x\n"
      "deb-src http://source.example/debian bookworm main\n"
      "deb [arch=arm64] http://arm.example/debian bookworm main\n"
      "deb cdrom:[Debian 13]/ trixie main\n"
      "deb http://short.example/debian\n"
      "deb [broken http://b.example/debian bookworm main\n"
      "\tdeb\tfile:/srv/debian\ttrixie main\r\n");
  const std::vector<HostSource> sources = host.sources();
  REQUIRE(urls(sources) == std::vector<std::string>{"http://a.example/debian", "file:///srv/debian"});
  CHECK(sources[0].suites == std::vector<std::string>{"bookworm"});
  CHECK(sources[0].components == std::vector<std::string>{"main", "contrib"});
  CHECK(sources[0].signed_by == "/usr/share/keyrings/x.gpg");
  CHECK(sources[0].stock_file);
}

TEST_CASE("deb822 sources with several addresses and suites are read") {
  const Host host;
  host.file(
      "etc/apt/sources.list.d/debian.sources",
      "# comment\nTypes: deb deb-src\nURIs: http://a.example/debian/\n http://b.example/debian\n"
      "Suites: trixie trixie-updates\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
      "\nTypes: deb\nuris: http://off.example/debian\nSuites: trixie\nComponents: main\nEnabled: no\n"
      "\nTypes: deb-src\nURIs: http://src.example/debian\nSuites: trixie\nComponents: main\n"
      "\nTypes: deb\nURIs: http://arm.example/debian\nSuites: trixie\nComponents: main\nArchitectures: arm64\n"
      "\nEnabled: yes\nTypes: deb\nURIs: http://sec.example/debian-security\nSuites: trixie-security\nComponents: "
      "main");
  const std::vector<HostSource> sources = host.sources();
  REQUIRE(urls(sources) == std::vector<std::string>{"http://a.example/debian", "http://b.example/debian",
                                                    "http://sec.example/debian-security"});
  CHECK(sources[1].suites == std::vector<std::string>{"trixie", "trixie-updates"});
  CHECK(host.mirrors() == Mirrors{{"debian", {"http://a.example/debian", "http://b.example/debian"}},
                                  {"debian-security", {"http://sec.example/debian-security"}}});
}

TEST_CASE("a mirror list of a cloud image is read") {
  const Host host;
  host.file("etc/apt/mirrors/debian.list", "https://deb.example/debian\tpriority:1\n# x\nhttps://two.example/debian\n");
  host.file("etc/apt/sources.list.d/debian.sources",
            "Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nSuites: bookworm bookworm-updates\n"
            "Components: main\n");
  CHECK(urls(host.sources()) == std::vector<std::string>{"https://deb.example/debian", "https://two.example/debian"});
}

TEST_CASE("files of other names and other methods are left out") {
  const Host host;
  host.file("etc/apt/sources.list.d/old.list.save", "deb http://a.example/debian bookworm main\n");
  host.file("etc/apt/sources.list.d/tor.list", "deb tor+http://a.example/debian bookworm main\n");
  CHECK(host.sources().empty());
  CHECK(host.mirrors().empty());
}

TEST_CASE("a host of another suite tells its mirror all the same") {
  const Host host;
  host.file("etc/apt/sources.list",
            "deb http://m.example/debian bookworm main\n"
            "deb http://m.example/debian bookworm-updates main\n"
            "deb http://m.example/debian-security bookworm-security main\n");
  CHECK(host.mirrors() ==
        Mirrors{{"debian", {"http://m.example/debian"}}, {"debian-security", {"http://m.example/debian-security"}}});
}

TEST_CASE("another vendor's repository with a suite of the same name is not taken") {
  const Host host;
  host.file("etc/apt/sources.list.d/vendors.list",
            "deb https://docker.example/linux/debian bookworm stable\n"
            "deb https://vendor.example/apt bookworm main\n"
            "deb https://sdk.example/apt cloud-sdk-bookworm main\n");
  CHECK(host.mirrors().empty());
  host.file("etc/apt/sources.list", "deb http://m.example/debian bookworm main\n");
  CHECK(host.mirrors() == Mirrors{{"debian", {"http://m.example/debian"}}});
}

TEST_CASE("an Ubuntu host's mirror serves both groups") {
  const Host host;
  host.file("etc/apt/sources.list.d/ubuntu.sources",
            "Types: deb\nURIs: http://u:p@mirror.example/ubuntu/\nSuites: noble noble-updates noble-security\n"
            "Components: main universe\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n");
  CHECK(host.mirrors() == Mirrors{{"ubuntu", {"http://u:p@mirror.example/ubuntu"}},
                                  {"ubuntu-security", {"http://u:p@mirror.example/ubuntu"}}});
}

TEST_CASE("a group with a path is told by it, and what stands before is the base") {
  const Host host;
  host.file("etc/apt/sources.list.d/rocm.list",
            "deb https://m.example/amd/rocm/apt/6.2.1 jammy main\n"
            "deb https://m.example/other/apt/6.2.1 jammy main\n");
  host.file(
      "catalog/rocm.json",
      R"({"schema":1,"kind":"repository-group","name":"rocm","base_url":"https://repo.example/rocm","type":"deb",)"
      R"("layouts":[{"targets":["debian-12"],"path":"apt/{dir}","suites":["{amd_suite}"],"components":["main"]}]})");
  const Mirrors mirrors = mirrors_from_host(host.sources(), *Catalog::load({host.path() / "catalog"}));
  CHECK(mirrors == Mirrors{{"rocm", {"https://m.example/amd/rocm"}}});
}

TEST_CASE("a host without apt has no sources") {
  CHECK(read_host_sources("/nonexistent").empty());
}
