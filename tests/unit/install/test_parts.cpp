#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <filesystem>

#include "comparison.hpp"
#include "package_lock.hpp"
#include "places.hpp"
#include "preflight.hpp"
#include "receipt.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::install {
namespace {

namespace fs = std::filesystem;

TemporaryDirectory folder() {
  return *TemporaryDirectory::create(Stage::install, fs::temp_directory_path(), "parts");
}

distros::DpkgPackage installed(std::string name, std::string depends = "", std::string version = "1.0") {
  return {.id = {.name = std::move(name), .version = std::move(version), .arch = "amd64"},
          .status = "ii",
          .essential = false,
          .depends = std::move(depends),
          .provides = ""};
}

bundle::ManifestPackage planned(std::string name, std::string version, ReasonKind kind = ReasonKind::dependency,
                                std::string repository = "debian/trixie") {
  bundle::ManifestPackage package;
  package.id = {.name = std::move(name), .version = std::move(version), .arch = "amd64"};
  package.repository = std::move(repository);
  package.reason.kind = kind;
  return package;
}

Receipt receipt() {
  return {.bundle_id = "0123456789abcdef",
          .program_version = "1",
          .target = "debian-13",
          .release = "distro",
          .state = ReceiptState::installing,
          .created = 5,
          .updated = 6,
          .packages = {{.id = {.name = "hipcc", .version = "1", .arch = "amd64"},
                        .before_version = "",
                        .config_files_before = true}},
          .automatic_before = {"libc6"},
          .needs = {"hipcc", "libc6"},
          .post_install = {{.kind = "group_member", .group = "video", .user = "ann", .path = "", .sha256 = ""}}};
}

}  // namespace

TEST_CASE("a receipt survives its JSON form", "[install]") {
  const auto again = receipt_from_json(receipt_to_json(receipt()));
  REQUIRE(again);
  CHECK(*again == receipt());
}

TEST_CASE("a damaged receipt is refused, so that it removes nothing", "[install]") {
  const std::string good = receipt_to_json(receipt());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {std::string("{}"), std::string("[]"), std::string("not json"), good.substr(0, good.size() / 2),
        changed("\"name\": \"hipcc\"", "\"name\": \"--purge\""), changed("\"name\": \"hipcc\"", "\"name\": 7"),
        changed("\"schema\": 1", "\"schema\": 2"), changed("\"installing\"", "\"flying\""),
        changed("\"libc6\"", "\"-o=Dir::Etc\"")}) {
    INFO(text);
    const auto read = receipt_from_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::check_failed);
  }
}

TEST_CASE("a package installed in a newer version stays and is told", "[install]") {
  bundle::ManifestTarget target;
  target.packages = {planned("hipcc", "1.0", ReasonKind::requested), planned("libx", "1.0")};
  const auto request = choose_request(target, {installed("hipcc", "", "1.1")}, false);
  REQUIRE(request);
  CHECK(request->packages.empty());
  REQUIRE(request->notes.size() == 1);
  const auto forced = choose_request(target, {installed("hipcc", "", "1.1")}, true);
  REQUIRE(forced);
  CHECK(forced->packages.size() == 1);
}

TEST_CASE("another origin's newer package is not mixed with AMD's", "[install]") {
  bundle::ManifestTarget target;
  target.packages = {planned("hip-runtime", "1.0", ReasonKind::requested, "rocm/noble"),
                     planned("rocminfo", "1.0.0.60200-66", ReasonKind::dependency, "rocm/noble")};
  const auto request = choose_request(target, {installed("rocminfo", "", "5.7.1-3")}, false);
  REQUIRE_FALSE(request);
  CHECK(request.error().code == ErrorCode::plan_differs);
  REQUIRE(request.error().problems.size() == 1);
  CHECK(request.error().problems[0].summary.find("rocminfo") != std::string::npos);
  const auto replaced = choose_request(target, {installed("rocminfo", "", "5.7.1-3")}, true);
  REQUIRE(replaced);
  CHECK(replaced->packages.size() == 2);
}

TEST_CASE("a simulation that differs from the plan is refused with each difference", "[install]") {
  bundle::ManifestTarget target;
  target.packages = {planned("hipcc", "2.0", ReasonKind::requested)};
  distros::Simulation simulation;
  simulation.installs = {{.id = {.name = "hipcc", .version = "2.0", .arch = "amd64"}, .before = "3.0"},
                         {.id = {.name = "hipcc", .version = "1.9", .arch = "amd64"}, .before = ""},
                         {.id = {.name = "surprise", .version = "1", .arch = "amd64"}, .before = ""}};
  simulation.removals = {{.id = {.name = "victim", .version = "1", .arch = "amd64"}, .before = "1"}};
  const auto compared = compare_with_plan(simulation, target, {});
  REQUIRE_FALSE(compared);
  CHECK(compared.error().code == ErrorCode::plan_differs);
  CHECK(compared.error().problems.size() == 4);
  simulation.installs.resize(1);
  CHECK(compare_with_plan(simulation, target, {.removals = true, .downgrades = true}));
  CHECK_FALSE(compare_with_plan(simulation, target, {.removals = false, .downgrades = true}));
  CHECK_FALSE(compare_with_plan(simulation, target, {.removals = true, .downgrades = false}));
}

TEST_CASE("what is installed is compared, not believed", "[install]") {
  auto broken = installed("b");
  broken.status = "iF";
  const PackageId absent{.name = "c", .version = "1.0", .arch = "amd64"};
  CHECK(compare_installed({installed("a").id}, {installed("a"), broken}));
  for (const PackageId& id : {broken.id, absent, PackageId{.name = "a", .version = "2", .arch = "amd64"}}) {
    const auto compared = compare_installed({id}, {installed("a"), broken});
    REQUIRE_FALSE(compared);
    CHECK(compared.error().code == ErrorCode::native_tool_failed);
  }
}

TEST_CASE("removal leaves what others need, directly or through others", "[install]") {
  const std::vector<distros::DpkgPackage> machine = {installed("app", "liba"),
                                                     installed("liba", "libb (>= 1)"),
                                                     installed("libb"),
                                                     installed("libc", ""),
                                                     installed("libd"),
                                                     installed("admins", "virtual-c | libx"),
                                                     installed("other", "libd | libe"),
                                                     installed("libe")};
  auto with_virtual = machine;
  with_virtual[3].provides = "virtual-c (= 1)";
  const auto choice = choose_removals({"app", "liba", "libb", "libc", "libd", "not-installed"}, {"liba"}, with_virtual);
  // liba: another bundle; libb: liba; libc: admins, by the virtual name; libd: other has libe instead.
  CHECK(choice.remove == std::vector<std::string>{"app", "libd"});
  CHECK(choice.stay.size() == 3);
}

TEST_CASE("the workspace is private, exclusive and gone afterwards", "[install]") {
  const auto root = folder();
  const Places places{.root = root.path(), .bundle_id = "0123456789abcdef", .work_dir = std::nullopt};
  {
    const auto first = Workspace::open(places);
    REQUIRE(first);
    CHECK((fs::status(places.work()).permissions() & fs::perms::others_all) == fs::perms::none);
    const auto second = Workspace::open(places);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::native_tool_locked);
    CHECK(Workspace::is_held(places));
    CHECK(Workspace::is_held(places));
  }
  CHECK_FALSE(fs::exists(places.state()));
  CHECK_FALSE(Workspace::is_held(places));
  {
    const auto workspace = Workspace::open(places);
    REQUIRE(workspace);
    REQUIRE(write_receipt(places.receipt(), receipt()));
  }
  CHECK(fs::exists(places.receipt()));
  CHECK_FALSE(fs::exists(places.work()));
}

TEST_CASE("the holder of dpkg's lock is named, and waited for only so long", "[install]") {
  const auto root = folder();
  fs::create_directories(root.path() / "var/lib/dpkg");
  const fs::path lock = root.path() / "var/lib/dpkg/lock-frontend";
  CHECK_FALSE(package_lock_holder(root.path()));
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(lock.c_str(), O_RDWR | O_CREAT, 0640);
    struct flock request {};
    request.l_type = F_WRLCK;
    ::fcntl(file, F_SETLK, &request);
    [[maybe_unused]] const ssize_t told = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  const auto holder = package_lock_holder(root.path());
  NullEventSink events;
  const auto waited = wait_for_package_lock(root.path(), std::chrono::seconds(0), events, CancelToken());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(holder);
  CHECK(holder->pid == child);
  CHECK_FALSE(holder->program.empty());
  REQUIRE_FALSE(waited);
  CHECK(waited.error().code == ErrorCode::native_tool_locked);
  CHECK(waited.error().reason.find(std::to_string(child)) != std::string::npos);
  CHECK(wait_for_package_lock(root.path(), std::chrono::seconds(0), events, CancelToken()));
}

TEST_CASE("room is asked of each file system", "[install]") {
  const auto root = folder();
  CHECK(check_space({{.folder = root.path() / "not/yet/there", .bytes = 1}}));
  const auto refused = check_space({{.folder = root.path(), .bytes = 1ULL << 60U}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::no_space);
  CHECK(refused.error().reason.find("needs") != std::string::npos);
}

}  // namespace rocm_offline::install
