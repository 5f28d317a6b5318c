#include <catch2/catch.hpp>

#include <filesystem>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/distros/apt.hpp"
#include "support/fake_process/fake_process.hpp"

namespace rocm_offline::distros {
namespace {

ProcessOutcome said(std::string text, int exit_code = 0) {
  return {.exit_code = exit_code, .output = std::move(text), .truncated = false};
}

// An AptTool whose programs all answer the same, with its private folder below a temporary root.
struct Fixture {
  explicit Fixture(ProcessOutcome outcome)
      : root(*TemporaryDirectory::create(Stage::install, std::filesystem::temp_directory_path(), "apt")),
        processes([outcome](const ProcessRequest&) -> Result<ProcessOutcome> { return outcome; }),
        tool(processes, root.path(), nullptr) {
    REQUIRE(tool.isolate({.folder = "/private/apt", .repository = "/private/repository"}));
  }
  TemporaryDirectory root;
  test::FakeProcessRunner processes;
  AptTool tool;
};

const AptInstallRequest one_package{.packages = {{.name = "hipcc", .version = "5.7.1-3", .arch = "amd64"}}};

}  // namespace

TEST_CASE("simulation lines of apt 2.6 and 3.0 are understood", "[distros::apt]") {
  const auto simulation = parse_simulation(
      "Reading package lists... Done\n"
      "Inst libc6 [2.41-12] (2.41-12+deb13u1 Debian:13.2/stable, Debian-Security:13/stable-security [amd64]) "
      "[libc-bin:amd64 ]\n"
      "Inst libgcc-s1:i386 (14.2.0-19 Debian:13/stable [i386])\n"
      "Inst hipcc (5.7.1-3 localhost [amd64]) []\n"
      "Inst rocm-cmake (6.1.2-1  [all])\n"
      "Conf hipcc (5.7.1-3 localhost [amd64])\n"
      "Remv old-package [1.0]\n"
      "Purg older-package:i386 [0.1-1]\n",
      "amd64");
  REQUIRE(simulation);
  REQUIRE(simulation->installs.size() == 4);
  CHECK(simulation->installs[0] ==
        SimulatedChange{.id = {.name = "libc6", .version = "2.41-12+deb13u1", .arch = "amd64"}, .before = "2.41-12"});
  CHECK(simulation->installs[1].id == PackageId{.name = "libgcc-s1", .version = "14.2.0-19", .arch = "i386"});
  CHECK(simulation->installs[2].before.empty());
  CHECK(simulation->installs[3].id.arch == "all");
  REQUIRE(simulation->removals.size() == 2);
  CHECK(simulation->removals[0].id == PackageId{.name = "old-package", .version = "1.0", .arch = "amd64"});
  CHECK(simulation->removals[1].id.arch == "i386");
}

TEST_CASE("files that are not as their package brought them", "[distros::apt]") {
  // dpkg(1), --verify-format rpm. Conffiles, documentation that was left out, and what a user may not see do not count.
  const auto files = parse_dpkg_verify(
      "missing     /usr/bin/hipcc\n"
      "??5??????   /usr/lib/x86_64-linux-gnu/libamdhip64.so.5\n"
      "??5?????? c /etc/ld.so.conf.d/hip.conf\n"
      "missing   c /etc/gone.conf\n"
      "missing     /usr/share/doc/hipcc/copyright\n"
      "missing     /root/x (Permission denied)\n"
      "dpkg: something else\n");
  CHECK(files == std::vector<ChangedFile>{{.path = "/usr/bin/hipcc", .missing = true},
                                          {.path = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", .missing = false}});
}

TEST_CASE("a simulation line of unknown form is an error, not skipped", "[distros::apt]") {
  for (const char* line : {"Inst hipcc\n", "Inst hipcc (5.7.1-3 localhost\n", "Inst  (1 x [amd64])\n", "Remv x\n"}) {
    INFO(line);
    const auto simulation = parse_simulation(line, "amd64");
    REQUIRE_FALSE(simulation);
    CHECK(simulation.error().code == ErrorCode::native_tool_failed);
  }
}

TEST_CASE("states of dpkg are told apart", "[distros::apt]") {
  const auto packages = parse_dpkg_query(
      "libc6\t2.41-12\tamd64\tii \tno\t\tlibgcc-s1, libcrypt1 | libcrypt2 (>= 4)\tlibc-dev:any (= 1)\n"
      "dash\t0.5\tamd64\tii \tyes\tlibc6 (>= 2.38)\tdebianutils\t\n"
      "gone\t1\tall\trc \tno\t\t\t\n"
      "held\t1\tamd64\thi \tno\t\t\t\n"
      "half\t1\tamd64\tiF \tno\t\t\t\n"
      "again\t1\tamd64\tiHR\tno\t\t\t\n");
  REQUIRE(packages);
  REQUIRE(packages->size() == 6);
  CHECK((*packages)[0].installed());
  CHECK((*packages)[1].essential);
  CHECK((*packages)[1].depends == "libc6 (>= 2.38), debianutils");
  CHECK((*packages)[2].config_files_only());
  CHECK_FALSE((*packages)[2].installed());
  CHECK((*packages)[3].held());
  CHECK((*packages)[3].installed());
  CHECK((*packages)[4].half_done());
  CHECK((*packages)[5].half_done());
  CHECK_FALSE((*packages)[0].half_done());
  CHECK_FALSE(parse_dpkg_query("libc6\t2.41\n"));
  const auto groups = parse_relation_names((*packages)[0].depends);
  CHECK(groups == std::vector<OrGroup>{{"libgcc-s1"}, {"libcrypt1", "libcrypt2"}});
  CHECK(parse_relation_names((*packages)[0].provides) == std::vector<OrGroup>{{"libc-dev"}});
}

TEST_CASE("hooks and settings of the site are found, credentials are not shown", "[distros::apt]") {
  const auto site = parse_apt_config_dump(
      "APT \"\";\nDPkg::Pre-Install-Pkgs:: \"/usr/sbin/dpkg-preconfigure --apt || true\";\n"
      "DPkg::Post-Invoke:: \"touch /x\";\nAPT::Update::Post-Invoke-Success:: \"y\";\n"
      "APT::Default-Release \"trixie\";\nAcquire::http::Proxy \"http://user:secret@proxy.example:3128\";\n"
      "APT::Install-Recommends \"1\";\n");
  CHECK(site.hooks == std::vector<std::string>{"DPkg::Post-Invoke: touch /x", "APT::Update::Post-Invoke-Success: y"});
  REQUIRE(site.settings.size() == 2);
  CHECK(site.settings[0] == "APT::Default-Release \"trixie\"");
  CHECK(site.settings[1].find("secret") == std::string::npos);
}

TEST_CASE("pins are read by stanza", "[distros::apt]") {
  const auto pins = parse_apt_preferences(
      "# a comment\nPackage: hipcc rocm*\nPin: release a=stable\nPin-Priority: -1\n\nPackage: *\nPin: origin x\n\n"
      "Package: *\r\nPin: origin y\r\nPin-Priority: 900\r\n");
  REQUIRE(pins.size() == 2);  // the second has no priority: apt ignores it
  CHECK(pins[0] == AptPin{.packages = "hipcc rocm*", .pin = "release a=stable", .priority = -1});
  CHECK(pins[1].priority == 900);
}

TEST_CASE("the private configuration closes every door of measured.md and leaves the database alone",
          "[distros::apt]") {
  const auto text = apt_configuration({.folder = "/var/lib/rocm-offline/x/work/apt", .repository = "/x"});
  REQUIRE(text);
  for (const char* name : {"Dir::Etc::Main", "Dir::Etc::Parts", "Dir::Etc::SourceParts", "Dir::Etc::Preferences",
                           "Dir::Etc::PreferencesParts", "Dir::Etc::Trusted", "Dir::Etc::TrustedParts",
                           "Dir::Etc::netrc", "Dir::Etc::netrcparts"}) {
    CHECK(text->find(std::string(name) + " \"/dev/null\";") != std::string::npos);
  }
  CHECK(text->find("Dir::State \"") == std::string::npos);
  CHECK(text->find("Dir::Log \"") == std::string::npos);
  CHECK(text->find("--force-confdef") != std::string::npos);
  CHECK(text->find("--force-confold") != std::string::npos);
  for (const char* folder : {"/a\"b", "/a;b", "/a\nb", "/a{b", "/a\\b"}) {
    const auto refused = apt_configuration({.folder = folder, .repository = std::nullopt});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::usage);
  }
  CHECK(apt_source_line("/mnt/a b#[c]") ==
        "deb [trusted=yes check-date=no check-valid-until=no] file:/mnt/a%20b%23%5bc%5d ./\n");
}

TEST_CASE("programs run with the private configuration and a clean environment", "[distros::apt]") {
  Fixture fixture(said(""));
  REQUIRE(fixture.tool.update());
  const ProcessRequest& request = fixture.processes.requests().back();
  CHECK(request.clear_environment);
  CHECK(request.environment.at("APT_CONFIG") == "/private/apt/apt.conf");
  CHECK(request.environment.at("DEBIAN_FRONTEND") == "noninteractive");
  CHECK(request.chroot == fixture.root.path());
  CHECK(std::filesystem::exists(fixture.root.path() / "private/apt/lists/partial"));
  CHECK(std::filesystem::exists(fixture.root.path() / "private/apt/cache/archives/partial"));
  REQUIRE(fixture.tool.install(one_package, nullptr));
  CHECK(fixture.processes.commands().back() ==
        "apt-get install -y --no-install-recommends --no-remove hipcc:amd64=5.7.1-3");
}

TEST_CASE("apt never runs before its private configuration is written", "[distros::apt]") {
  test::FakeProcessRunner processes([](const ProcessRequest&) -> Result<ProcessOutcome> { return said(""); });
  AptTool tool(processes, "/", nullptr);
  const auto updated = tool.update();
  REQUIRE_FALSE(updated);
  CHECK(updated.error().code == ErrorCode::internal);
  CHECK(processes.requests().empty());
}

TEST_CASE("an index that only warns is a failed update", "[distros::apt]") {
  Fixture fixture(said("W: Failed to fetch file:/x/Packages  File not found\n"));
  REQUIRE_FALSE(fixture.tool.update());
}

TEST_CASE("apt's refusals become errors with their own code", "[distros::apt]") {
  struct Row {
    const char* words;
    ErrorCode code;
  };
  // Words of apt 2.6 and 3.0.
  const auto row = GENERATE(
      Row{"The following packages have unmet dependencies:\n libc6-dev : Depends: libc6 (= 2.41-12) but 2.41-13 is to "
          "be "
          "installed\nE: Unable to correct problems, you have held broken packages.\n",
          ErrorCode::unsolvable},
      Row{"E: Packages need to be removed but remove is disabled.\n", ErrorCode::plan_differs},
      Row{"E: Packages were downgraded and -y was used without --allow-downgrades.\n", ErrorCode::plan_differs},
      Row{"E: Held packages were changed and -y was used without --allow-change-held-packages.\n",
          ErrorCode::plan_differs},
      Row{"E: Version '5.7.1-3' for 'hipcc' was not found\n", ErrorCode::unsolvable},
      Row{"E: Something else entirely\n", ErrorCode::native_tool_failed});
  INFO(row.words);
  Fixture fixture(said(row.words, 100));
  const auto simulation = fixture.tool.simulate_install(one_package);
  REQUIRE_FALSE(simulation);
  CHECK(simulation.error().code == row.code);
  CHECK_FALSE(simulation.error().help.empty());
  CHECK(simulation.error().reason.find("E: ") != std::string::npos);
}

TEST_CASE("a full disk and a lock during the installation have their own codes", "[distros::apt]") {
  Fixture full(said("dpkg: error: cannot copy: failed to write (No space left on device)\n", 100));
  CHECK(full.tool.install(one_package, nullptr).error().code == ErrorCode::no_space);
  Fixture locked(said("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7\n", 100));
  CHECK(locked.tool.install(one_package, nullptr).error().code == ErrorCode::native_tool_locked);
  Fixture failed(said("E: Sub-process /usr/bin/dpkg returned an error code (1)\n", 100));
  CHECK(failed.tool.install(one_package, nullptr).error().code == ErrorCode::native_tool_failed);
}

}  // namespace rocm_offline::distros
