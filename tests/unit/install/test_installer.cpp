#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "places.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/install/installer.hpp"
#include "support/bundle_builder/bundle_builder.hpp"
#include "support/fake_process/fake_apt.hpp"
#include "support/fake_process/fake_process.hpp"

namespace rocm_offline::install {
namespace {

namespace fs = std::filesystem;

class RememberingSink final : public EventSink {
 public:
  void event(const Event& event) noexcept override { names.insert(event.name); }
  void progress(const Progress&) noexcept override {}
  std::set<std::string> names;
};

// A machine with a fake apt, and a bundle of app (requested), which needs lib.
struct Machine {
  explicit Machine(const std::string& release = "distro", const std::string& extra = "")
      : folder(*TemporaryDirectory::create(Stage::install, fs::temp_directory_path(), "machine")),
        processes([this](const ProcessRequest& request) { return apt.answer(request); }) {
    fs::create_directories(root() / "var/lib/dpkg");
    fs::create_directories(root() / "etc");
    std::ofstream(root() / "etc/os-release") << "ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\n";
    options.root = root();
    options.lock_wait = std::chrono::seconds(0);
    apt.installed = {{"libc6", {.version = "2.41-12"}}};
    apt.repository = {{"app", {.version = "2.0-1", .depends = {"lib"}}},
                      {"lib", {.version = "1.0-1", .conffiles = true}}};
    bundle = open_bundle(release, {"app", "lib"}, extra);
  }
  fs::path root() const { return folder.path() / "root"; }

  std::optional<bundle::BundleReader> open_bundle(const std::string& release, const std::vector<std::string>& names,
                                                  const std::string& extra) {
    test::FakeTarget target;
    target.release = release;
    for (const std::string& name : names) {
      test::FakePackage package = test::fake_package({.name = name, .version = apt.repository.at(name).version});
      package.reason = name == "lib" ? ReasonKind::dependency : ReasonKind::requested;
      target.packages.push_back(package);
    }
    test::FakeBundle content;
    content.targets = {target};
    content.source_date += static_cast<UnixTime>(extra.size());
    const fs::path scratch = folder.path() / ("scratch" + extra + release);
    fs::create_directories(scratch);
    const fs::path file = folder.path() / ("test" + extra + release + ".run");
    REQUIRE(test::build_bundle(content, file, scratch));
    auto reader = bundle::BundleReader::open(file);
    REQUIRE(reader);
    return std::move(*reader);
  }

  Result<InstallReport> install() {
    Ports ports{processes, clock, events, CancelToken(&stop)};
    auto report = install::install(*bundle, options, ports);
    if (!report) {
      UNSCOPED_INFO(report.error().message << ": " << report.error().reason);
    }
    return report;
  }
  Result<InstallReport> uninstall() {
    Ports ports{processes, clock, events, CancelToken()};
    return install::uninstall(*bundle, options, ports);
  }
  std::string state() {
    Ports ports{processes, clock, events, CancelToken()};
    auto report = install::status(*bundle, options, ports);
    REQUIRE(report);
    return report->state;
  }
  bool ran(const std::string& start) const {
    const auto commands = processes.commands();
    return std::any_of(commands.begin(), commands.end(),
                       [&](const std::string& command) { return command.starts_with(start); });
  }

  TemporaryDirectory folder;
  test::FakeApt apt;
  test::FakeProcessRunner processes;
  test::FixedClock clock;
  RememberingSink events;
  std::atomic<bool> stop{false};
  InstallOptions options;
  std::optional<bundle::BundleReader> bundle;
};

}  // namespace

TEST_CASE("install, second run, status, uninstall", "[install]") {
  Machine machine;
  const auto before = machine.apt.installed.size();
  CHECK(machine.state() == "not-installed");
  const auto report = machine.install();
  REQUIRE(report);
  CHECK(report->added.size() == 2);
  CHECK_FALSE(report->nothing_to_do);
  CHECK(machine.apt.installed.contains("app"));
  CHECK(machine.apt.automatic == std::set<std::string>{"lib"});
  CHECK(machine.state() == "installed");
  const auto again = machine.install();
  REQUIRE(again);
  CHECK(again->nothing_to_do);
  machine.apt.installed["lib"].version = "1.1";
  CHECK(machine.state() == "changed");
  machine.apt.installed["lib"].version = "1.0-1";
  machine.options.purge = true;
  REQUIRE(machine.uninstall());
  CHECK(machine.apt.installed.size() == before);
  CHECK(machine.state() == "not-installed");
  CHECK_FALSE(fs::exists(machine.root() / "var/lib/rocm-offline"));
}

TEST_CASE("every event that an installation emits is in the table", "[install]") {
  Machine machine;
  machine.options.post_install.gpu_access = "ann";
  REQUIRE(machine.install());
  REQUIRE(machine.uninstall());
  CHECK(machine.events.names.size() > 8);
  for (const std::string& name : machine.events.names) {
    INFO(name);
    CHECK(is_event_name(name));
  }
}

TEST_CASE("a dry run changes nothing and leaves nothing", "[install]") {
  Machine machine;
  machine.options.dryrun = true;
  const auto report = machine.install();
  REQUIRE(report);
  CHECK(report->added.size() == 2);
  CHECK_FALSE(machine.apt.installed.contains("app"));
  CHECK_FALSE(machine.ran("apt-get install"));
  CHECK_FALSE(fs::exists(machine.root() / "var/lib/rocm-offline"));
}

TEST_CASE("a wrong machine is refused before apt is asked anything", "[install]") {
  Machine machine;
  std::ofstream(machine.root() / "etc/os-release") << "ID=debian\nVERSION_ID=\"12\"\n";
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::wrong_target);
  CHECK_FALSE(machine.ran("apt-get"));
  machine.options.allow_version_mismatch = true;
  CHECK(machine.install());
}

TEST_CASE("all refusals are told at once", "[install]") {
  Machine machine;
  std::ofstream(machine.root() / "etc/os-release") << "ID=debian\nVERSION_ID=\"12\"\n";
  machine.apt.installed["broken"] = {.version = "1", .status = "iF"};
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().details.contains("also broken-packages"));
}

TEST_CASE("half-installed packages of others refuse with the repair command", "[install]") {
  Machine machine;
  machine.apt.installed["broken"] = {.version = "1", .status = "iF"};
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::native_tool_broken);
  CHECK(refused.error().help.find("dpkg --configure -a") != std::string::npos);
  CHECK_FALSE(machine.apt.configured);
}

TEST_CASE("a damaged bundle stops the run before any native tool is started", "[install]") {
  Machine machine;
  machine.options.verify_members = [](const std::string& target) -> Result<Done> {
    CHECK(target == "debian-13");
    return fail(Error{.code = ErrorCode::bundle_damaged});
  };
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::bundle_damaged);
  CHECK(machine.processes.commands().empty());
}

TEST_CASE("an interrupted installation continues and remembers the first state", "[install]") {
  Machine machine;
  machine.apt.stop_after_unpacking = 1;
  const auto failed = machine.install();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::native_tool_failed);
  CHECK(machine.state() == "partial");
  machine.apt.stop_after_unpacking = -1;
  const auto resumed = machine.install();
  REQUIRE(resumed);
  CHECK(resumed->resumed);
  CHECK(machine.apt.configured);
  CHECK(machine.state() == "installed");
  machine.options.purge = true;
  REQUIRE(machine.uninstall());
  CHECK_FALSE(machine.apt.installed.contains("lib"));
}

TEST_CASE("a package manager that says yes and did not is found out", "[install]") {
  Machine machine;
  machine.apt.lose_a_package = true;
  const auto failed = machine.install();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::native_tool_failed);
  CHECK(failed.error().reason.find("app is absent") != std::string::npos);
  CHECK(machine.state() == "partial");
}

TEST_CASE("a machine newer than the bundle is unsolvable, with apt's words", "[install]") {
  Machine machine;
  machine.apt.simulation_failure =
      "The following packages have unmet dependencies:\n lib : Depends: libc6 (= 1) but 2 is to be installed\n"
      "E: Unable to correct problems, you have held broken packages.\n";
  const auto failed = machine.install();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::unsolvable);
  CHECK(failed.error().help.find("probe-script") != std::string::npos);
  CHECK(failed.error().problems.at(0).summary.find("libc6 (= 1)") != std::string::npos);
  CHECK_FALSE(fs::exists(machine.root() / "var/lib/rocm-offline"));
}

TEST_CASE("a signal before apt starts leaves no receipt", "[install]") {
  Machine machine;
  machine.stop = true;
  const auto stopped = machine.install();
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::cancelled);
  CHECK(machine.state() == "not-installed");
}

TEST_CASE("uninstall without --purge leaves configuration; rc stays rc with it", "[install]") {
  Machine machine;
  SECTION("nothing was there before") {
    REQUIRE(machine.install());
    const auto report = machine.uninstall();
    REQUIRE(report);
    CHECK(machine.apt.installed.at("lib").status == "rc");
    REQUIRE(report->notes.size() == 1);
    CHECK(report->notes[0] ==
          "the configuration of 1 removed package stays (uninstall --purge takes it too); to remove it now: "
          "dpkg --purge lib");
  }
  SECTION("configuration was there before") {
    machine.apt.installed["lib"] = {.version = "0.9", .status = "rc", .conffiles = true};
    machine.options.purge = true;
    REQUIRE(machine.install());
    REQUIRE(machine.uninstall());
    CHECK(machine.apt.installed.at("lib").status == "rc");
  }
}

TEST_CASE("an upgraded package stays upgraded and is told, a mark comes back", "[install]") {
  Machine machine;
  machine.apt.installed["app"] = {.version = "1.0-1"};
  machine.apt.automatic.insert("app");
  const auto report = machine.install();
  REQUIRE(report);
  CHECK(report->upgraded.size() == 1);
  CHECK_FALSE(machine.apt.automatic.contains("app"));
  const auto removed = machine.uninstall();
  REQUIRE(removed);
  CHECK(machine.apt.installed.at("app").version == "2.0-1");
  CHECK(machine.apt.installed.at("lib").status == "ii");  // app needs it
  CHECK(machine.apt.automatic.contains("app"));
  CHECK(std::any_of(removed->notes.begin(), removed->notes.end(),
                    [](const std::string& note) { return note == "app stays upgraded: 1.0-1 -> 2.0-1"; }));
}

TEST_CASE("a package that two bundles need goes with the last of them", "[install]") {
  Machine machine;
  machine.apt.repository["second"] = {.version = "3.0", .depends = {"lib"}};
  auto first = std::move(machine.bundle);
  auto second = machine.open_bundle("distro", {"second", "lib"}, "2");
  machine.options.purge = true;
  machine.bundle = std::move(first);
  REQUIRE(machine.install());
  first = std::move(machine.bundle);
  machine.bundle = std::move(second);
  REQUIRE(machine.install());
  second = std::move(machine.bundle);
  machine.bundle = std::move(first);
  REQUIRE(machine.uninstall());
  CHECK_FALSE(machine.apt.installed.contains("app"));
  CHECK(machine.apt.installed.contains("lib"));
  machine.bundle = std::move(second);
  REQUIRE(machine.uninstall());
  CHECK_FALSE(machine.apt.installed.contains("lib"));
}

TEST_CASE("another release of ours refuses", "[install]") {
  Machine machine;
  REQUIRE(machine.install());
  machine.bundle = machine.open_bundle("6.2.0", {"app", "lib"}, "");
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::other_release_present);
}

TEST_CASE("GPU access is given and taken back; a missing user is found before anything is installed", "[install]") {
  Machine machine;
  SECTION("a user, with a group that does not exist yet") {
    machine.apt.groups.erase("render");
    machine.options.post_install.gpu_access = "ann";
    REQUIRE(machine.install());
    CHECK(machine.apt.groups.at("video").contains("ann"));
    REQUIRE(machine.uninstall());
    CHECK_FALSE(machine.apt.groups.at("video").contains("ann"));
  }
  SECTION("nobody by that name") {
    machine.options.post_install.gpu_access = "bob";
    const auto refused = machine.install();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::check_failed);
    CHECK_FALSE(machine.apt.installed.contains("app"));
  }
  SECTION("everybody, unless another rule is there") {
    const fs::path rules = machine.root() / "etc/udev/rules.d/70-amdgpu.rules";
    machine.options.post_install.gpu_access = "all";
    REQUIRE(machine.install());
    CHECK(fs::exists(rules));
    REQUIRE(machine.uninstall());
    CHECK_FALSE(fs::exists(rules.parent_path()));
    fs::create_directories(rules.parent_path());
    std::ofstream(rules) << "# of the admin\n";
    const auto report = machine.install();
    REQUIRE(report);
    CHECK(report->post_install.empty());
    REQUIRE(machine.uninstall());
    CHECK(*read_file(Stage::install, rules, 100) == "# of the admin\n");
  }
  SECTION("not at all") {
    machine.options.post_install.gpu_access = "bob";
    machine.options.no_post_install = true;
    CHECK(machine.install());
  }
}

TEST_CASE("uninstall of a bundle that is not installed is refused", "[install]") {
  Machine machine;
  const auto refused = machine.uninstall();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::not_installed);
}

TEST_CASE("while one run is at work, nothing is said of what it has half done", "[install]") {
  Machine machine;
  REQUIRE(machine.install());
  machine.apt.installed.at("lib").status = "iU";
  const auto running =
      Workspace::open({.root = machine.root(), .bundle_id = machine.bundle->bundle_id(), .work_dir = std::nullopt});
  REQUIRE(running);
  const auto second = machine.install();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::native_tool_locked);
  const auto removal = machine.uninstall();
  REQUIRE_FALSE(removal);
  CHECK(removal.error().code == ErrorCode::native_tool_locked);
  Ports ports{machine.processes, machine.clock, machine.events, CancelToken()};
  const auto asked = status(*machine.bundle, machine.options, ports);
  REQUIRE(asked);
  CHECK(asked->state == "partial");
  CHECK(asked->differences.at(0).find("at work") != std::string::npos);
  const auto checked = preflight(*machine.bundle, machine.options, ports);
  REQUIRE(checked);
  const auto named = [&](const std::string& code) {
    return std::find_if(checked->checks.begin(), checked->checks.end(),
                        [&](const Check& check) { return check.code == code; });
  };
  CHECK(named("broken-packages") == checked->checks.end());
  REQUIRE(named("lock") != checked->checks.end());
  CHECK(named("lock")->status == CheckStatus::warn);
}

TEST_CASE("check says what the receipt says", "[install]") {
  Machine machine;
  Ports ports{machine.processes, machine.clock, machine.events, CancelToken()};
  const auto receipt_check = [&] {
    const auto checked = preflight(*machine.bundle, machine.options, ports).value();
    return std::find_if(checked.checks.begin(), checked.checks.end(),
                        [](const Check& check) { return check.code == "receipt"; })
        ->message;
  };
  CHECK(receipt_check() == "this bundle is not installed yet");
  REQUIRE(machine.install());
  CHECK(receipt_check() == "this bundle is installed already");
}

TEST_CASE("a question answered with no changes nothing", "[install]") {
  Machine machine;
  machine.options.ask = [](const std::string&) { return false; };
  const auto refused = machine.install();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::cancelled);
  CHECK_FALSE(machine.apt.installed.contains("app"));
}

}  // namespace rocm_offline::install
