#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/plan/planner.hpp"

using namespace rocm_offline;
using namespace rocm_offline::plan;
namespace fs = std::filesystem;

namespace {

const distros::Catalog& distributions() {
  static const distros::Catalog loaded = *distros::Catalog::load({});
  return loaded;
}

const repos::Catalog& releases() {
  static const repos::Catalog loaded = *repos::Catalog::load({});
  return loaded;
}

// A catalogue with a classic release whose group pins a key that is not at hand, a driver and kernels.
const repos::Catalog& with_classic_release() {
  static const repos::Catalog loaded = [] {
    const TemporaryDirectory folder = *TemporaryDirectory::create(Stage::plan, fs::temp_directory_path(), "catalog");
    std::ofstream(folder.path() / "group.json")
        << R"({"schema":1,"kind":"repository-group","name":"rocm","base_url":"https://repo.example/rocm","type":"deb",)"
           R"("layouts":[{"targets":["debian-*"],"path":"apt/{dir}","suites":["{amd_suite}"],"components":["main"],)"
           R"("codename":"{suite}","priority":600}],)"
           R"("keys":[{"fingerprint":"CA8BB4727A47B4D09B4EE8969386B48A1A693C5C"}]})";
    std::ofstream(folder.path() / "release.json")
        << R"({"schema":1,"kind":"release","id":"6.2.0","values":{"dir":"6.2"},)"
           R"("targets":[{"target":"debian-12","groups":["rocm"],"values":{"amd_suite":"jammy"},"certain":false,)"
           R"("kernels":[{"prefix":"6.1","status":"validated","track":"GA"}]}],)"
           R"("usecases":[{"id":"hip","packages":{"debian-12":["rocm-hip-runtime"]}},)"
           R"({"id":"opencl","packages":{}}],"driver_packages":{"debian-12":["amdgpu-dkms"]}})";
    return *repos::Catalog::load({folder.path()});
  }();
  return loaded;
}

Selection hip_for_trixie() {
  Selection selection;
  selection.targets = {"debian-13"};
  selection.release = "distro";
  selection.usecases = {"hip"};
  return selection;
}

Selection classic() {
  Selection selection;
  selection.targets = {"debian-12"};
  selection.release = "6.2";
  selection.usecases = {"hip"};
  selection.keyrings["rocm"] = {Keyring{.name = "rocm.asc", .data = "KEY", .fingerprints = {}}};
  return selection;
}

std::vector<ReleasePlan> planned(const Selection& selection, const repos::Catalog& catalog = releases()) {
  Result<std::vector<ReleasePlan>> plans = make_release_plans(selection, distributions(), catalog);
  if (!plans) {
    FAIL(plans.error().message << ": " << plans.error().reason);
  }
  return *plans;
}

Error refused(const Selection& selection, const repos::Catalog& catalog = releases()) {
  const Result<std::vector<ReleasePlan>> plans = make_release_plans(selection, distributions(), catalog);
  REQUIRE_FALSE(plans.has_value());
  const Error& error = plans.error();
  INFO(error.message);
  CHECK_FALSE(error.message.empty());
  CHECK_FALSE(error.reason.empty());
  CHECK_FALSE(error.help.empty());
  return error;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const RepositoryDefinition& repository(const ReleasePlan& plan, std::string_view name) {
  const auto found = std::find_if(plan.repositories.begin(), plan.repositories.end(),
                                  [&](const RepositoryDefinition& one) { return one.name == name; });
  REQUIRE(found != plan.repositories.end());
  return *found;
}

std::vector<std::string> names_of(const std::vector<PackageRequest>& requests) {
  std::vector<std::string> names;
  for (const PackageRequest& request : requests) {
    names.push_back(request.name);
  }
  return names;
}

repos::SiteRepository site() {
  repos::SiteRepository repository;
  repository.name = "site";
  repository.base_url = "https://site.example/deb";
  repository.suite = "stable";
  repository.components = {"main"};
  repository.keyring = Keyring{.name = "site.asc", .data = "SITE", .fingerprints = {}};
  repository.targets = {"debian-*"};
  return repository;
}

}  // namespace

TEST_CASE("hip on Debian 13 becomes a plan of base, updates and security") {
  const std::vector<ReleasePlan> plans = planned(hip_for_trixie());
  REQUIRE(plans.size() == 1);
  const ReleasePlan& plan = plans.front();
  CHECK(plan.release == "distro");
  CHECK(plan.target.id == "debian-13");
  CHECK(plan.usecases == std::vector<std::string>{"hip"});
  const std::vector<std::string> names = names_of(plan.requests);
  CHECK(std::count(names.begin(), names.end(), "hipcc") == 1);
  CHECK(std::count(names.begin(), names.end(), "rocminfo") == 1);
  CHECK(plan.requests.front().because == "usecase hip");
  REQUIRE(plan.repositories.size() == 3);
  CHECK(plan.repositories[0].name == "debian/trixie");
  CHECK(plan.repositories[1].name == "debian/trixie-updates");
  CHECK(plan.repositories[2].name == "debian-security/trixie-security");
  const RepositoryDefinition& updates = repository(plan, "debian/trixie-updates");
  CHECK(updates.group == "debian");
  CHECK(updates.base_urls == std::vector<std::string>{"http://ftp.debian.org/debian"});
  CHECK(updates.catalog_url == "http://ftp.debian.org/debian");
  CHECK(updates.suite == "trixie-updates");
  CHECK(updates.codename == "trixie-updates");
  CHECK(updates.components == std::vector<std::string>{"main"});
  CHECK(updates.arch == "amd64");
  CHECK(updates.keyrings.size() == 4);
  CHECK(repository(plan, "debian-security/trixie-security").keyrings.size() == 2);
  CHECK(updates.allowances == Allowances{});
  CHECK(plan.warnings.empty());
}

TEST_CASE("the same choices give the same plans") {
  CHECK(planned(hip_for_trixie()) == planned(hip_for_trixie()));
}

TEST_CASE("several targets give a plan each, in their order, without repeats") {
  Selection selection = hip_for_trixie();
  selection.targets = {"debian-13", "debian-12", "debian-13"};
  const std::vector<ReleasePlan> plans = planned(selection);
  REQUIRE(plans.size() == 2);
  CHECK(plans[0].target.id == "debian-13");
  CHECK(plans[1].target.id == "debian-12");
  CHECK(plans[1].repositories[0].suite == "bookworm");
}

TEST_CASE("everything that is missing is named at once with the possible values") {
  const Error error = refused({});
  CHECK(error.code == ErrorCode::usage);
  for (const char* part :
       {"--target (debian-12, debian-13)", "--release (distro)", "--usecase (lrt, hip, ", "--package NAME"}) {
    INFO(part);
    CHECK(has(error.help, part));
  }
  Selection selection;
  selection.targets = {"debian-13"};
  selection.packages = {"hipcc"};
  const Error one = refused(selection);
  CHECK_FALSE(has(one.help, "--target"));
  CHECK(has(one.help, "--release (distro)"));
  CHECK_FALSE(has(one.help, "--usecase"));
  selection = {};
  selection.release = "6.2";
  selection.packages = {"rocm"};
  CHECK(has(refused(selection, with_classic_release()).help, "--target (debian-12)"));
}

TEST_CASE("apt's short form of a file address is a mirror, too") {
  Selection selection = hip_for_trixie();
  selection.mirrors["debian"] = {"file:/srv/debian/"};
  CHECK(repository(planned(selection).front(), "debian/trixie").base_urls ==
        std::vector<std::string>{"file:///srv/debian"});
}

TEST_CASE("unknown target, release and use case each have their code and near names") {
  Selection selection = hip_for_trixie();
  selection.targets = {"debian-31"};
  CHECK(refused(selection).code == ErrorCode::unknown_target);
  selection = hip_for_trixie();
  selection.release = "dist";
  CHECK(refused(selection).code == ErrorCode::unknown_release);
  selection = hip_for_trixie();
  selection.usecases = {"hiplibsd"};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::unknown_usecase);
  CHECK(has(error.help, "did you mean hiplibsdk?"));
  CHECK(has(error.help, "lrt"));
}

TEST_CASE("a use case that a target does not have names those that it has") {
  Selection selection = hip_for_trixie();
  selection.targets = {"debian-12"};
  selection.usecases = {"opencl"};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::unknown_usecase);
  CHECK(has(error.message, "debian-12"));
  CHECK(has(error.help, "its use cases are: lrt, hip, hiplibsdk, rocm"));
}

TEST_CASE("a target that the release does not support is refused with those that it does") {
  Selection selection = hip_for_trixie();
  selection.targets = {"ubuntu-24.04"};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::target_unsupported);
  CHECK(has(error.reason, "debian-12, debian-13"));
  selection.targets = {"debian-13"};
  selection.release = "6.2.0";
  const Error other = refused(selection, with_classic_release());
  CHECK(other.code == ErrorCode::target_unsupported);
  CHECK(has(other.help, "releases for debian-13: distro"));
}

TEST_CASE("packages unite with use cases, and a version sticks to its name") {
  Selection selection = hip_for_trixie();
  selection.packages = {"rocminfo=6.1.2-2", "rocm-smi", "rocm-smi"};
  const std::vector<PackageRequest> requests = planned(selection).front().requests;
  const std::vector<std::string> names = names_of(requests);
  CHECK(std::count(names.begin(), names.end(), "rocminfo") == 1);
  CHECK(std::count(names.begin(), names.end(), "rocm-smi") == 1);
  const auto rocminfo =
      std::find_if(requests.begin(), requests.end(), [](const PackageRequest& one) { return one.name == "rocminfo"; });
  CHECK(rocminfo->version == "6.1.2-2");
  CHECK(requests.back().name == "rocm-smi");
  CHECK(requests.back().because == "--package");
}

TEST_CASE("use cases that share packages ask for each once") {
  Selection selection = hip_for_trixie();
  selection.usecases = {"hip", "rocm", "hip"};
  const ReleasePlan plan = planned(selection).front();
  CHECK(plan.usecases == std::vector<std::string>{"hip", "rocm"});
  std::vector<std::string> names = names_of(plan.requests);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("what is no package or version is refused") {
  const std::string text =
      GENERATE("", "=1", "a=", "-y", "a b", "a;b", "../a", "a=1 2", "a=-1", "a/trixie", "a\x1b[31m", "a=1\n2", "a==1");
  INFO(text);
  const Result<PackageRequest> request = parse_package(text);
  REQUIRE_FALSE(request.has_value());
  CHECK(request.error().code == ErrorCode::usage);
  CHECK(std::none_of(request.error().message.begin(), request.error().message.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
}

TEST_CASE("names and versions of both families are packages") {
  CHECK(parse_package("libstdc++-12-dev")->name == "libstdc++-12-dev");
  CHECK(parse_package("libc6:i386")->name == "libc6:i386");
  CHECK(parse_package("hipcc=5.7.1-6+deb13u1")->version == "5.7.1-6+deb13u1");
  CHECK(parse_package("x=1:2.3~rc1-4^git")->version == "1:2.3~rc1-4^git");
}

TEST_CASE("two versions of one package contradict each other") {
  Selection selection = hip_for_trixie();
  selection.packages = {"rocm-smi=1", "rocm-smi=2"};
  CHECK(refused(selection).code == ErrorCode::usage);
}

TEST_CASE("the driver of a release without driver packages is a usage error") {
  Selection selection = hip_for_trixie();
  selection.driver = true;
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::usage);
  CHECK(has(error.help, "leave --driver out"));
  selection = classic();
  selection.driver = true;
  CHECK(names_of(planned(selection, with_classic_release()).front().requests).back() == "amdgpu-dkms");
}

TEST_CASE("minimum needs a profile and says how to get one") {
  Selection selection = hip_for_trixie();
  selection.minimum = true;
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::usage);
  CHECK(has(error.help, "probe-script"));
}

TEST_CASE("a mirror replaces the base of a group, and of one repository before its group") {
  Selection selection = hip_for_trixie();
  selection.mirrors["debian"] = {"https://m.example/debian/", "file:///srv/debian"};
  selection.mirrors["debian/trixie-updates"] = {"http://u.example/debian"};
  const ReleasePlan plan = planned(selection).front();
  const RepositoryDefinition& base = repository(plan, "debian/trixie");
  CHECK(base.base_urls == std::vector<std::string>{"https://m.example/debian", "file:///srv/debian"});
  CHECK(base.catalog_url == "http://ftp.debian.org/debian");
  CHECK(base.keyrings.size() == 4);
  CHECK(repository(plan, "debian/trixie-updates").base_urls == std::vector<std::string>{"http://u.example/debian"});
  CHECK(repository(plan, "debian-security/trixie-security").base_urls ==
        std::vector<std::string>{"http://security.debian.org/debian-security"});
}

TEST_CASE("a mirror of a group with a path keeps the path") {
  Selection selection = classic();
  selection.mirrors["rocm"] = {"https://m.example/amd"};
  const ReleasePlan plan = planned(selection, with_classic_release()).front();
  const RepositoryDefinition& rocm = repository(plan, "rocm/jammy");
  CHECK(rocm.base_urls == std::vector<std::string>{"https://m.example/amd/apt/6.2"});
  CHECK(rocm.catalog_url == "https://repo.example/rocm/apt/6.2");
  CHECK(rocm.priority == 600);
  CHECK(rocm.codename == "jammy");
  CHECK(plan.repositories.back().name == "rocm/jammy");
}

TEST_CASE("a mirror that is no address is refused without its secrets") {
  Selection selection = hip_for_trixie();
  selection.mirrors["debian"] = {"ftp://user:secret@m.example/debian"};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::usage);
  CHECK_FALSE(has(error.reason, "secret"));
}

TEST_CASE("names for --mirror, --keyring and --allow-* must exist") {
  Selection selection = hip_for_trixie();
  const int which = GENERATE(0, 1, 2, 3, 4);
  if (which == 0) {
    selection.mirrors["debian-securty"] = {"https://x"};
  } else if (which == 1) {
    selection.keyrings["debian-securty"] = {};
  } else {
    (which == 2   ? selection.allow_unsigned
     : which == 3 ? selection.allow_expired
                  : selection.allow_rollback) = {"debian-securty"};
  }
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::unknown_repository);
  CHECK(has(error.help, "did you mean debian-security"));
  CHECK(has(error.help, "debian/trixie-updates"));
}

TEST_CASE("a group of the catalogue that the target does not use is a known name") {
  Selection selection = hip_for_trixie();
  selection.mirrors["ubuntu"] = {"https://m.example/ubuntu"};
  selection.allow_expired = {"ubuntu-security"};
  CHECK(planned(selection).size() == 1);
}

TEST_CASE("an allowance holds for the repository or group that it names and no other") {
  Selection selection = hip_for_trixie();
  selection.allow_expired = {"debian"};
  selection.allow_unsigned = {"debian-security/trixie-security"};
  selection.allow_rollback = {"debian/trixie"};
  const ReleasePlan plan = planned(selection).front();
  CHECK(repository(plan, "debian/trixie").allowances == Allowances{false, true, true});
  CHECK(repository(plan, "debian/trixie-updates").allowances == Allowances{false, true, false});
  CHECK(repository(plan, "debian-security/trixie-security").allowances == Allowances{true, false, false});
}

TEST_CASE("a keyring given for a group replaces its pinned keys, and of it alone") {
  Selection selection = hip_for_trixie();
  const Keyring own{.name = "own.asc", .data = "OWN", .fingerprints = {}};
  selection.keyrings["debian"] = {own};
  const ReleasePlan plan = planned(selection).front();
  CHECK(repository(plan, "debian/trixie").keyrings == std::vector<Keyring>{own});
  CHECK(repository(plan, "debian-security/trixie-security").keyrings.size() == 2);
}

TEST_CASE("a repository without a key is refused, unless it may be unsigned") {
  Selection selection = classic();
  CHECK(repository(planned(selection, with_classic_release()).front(), "rocm/jammy").keyrings.size() == 1);
  selection.keyrings.clear();
  const Error error = refused(selection, with_classic_release());
  CHECK(error.code == ErrorCode::key_unknown);
  CHECK(has(error.help, "--keyring rocm=FILE"));
  selection.allow_unsigned = {"rocm"};
  CHECK(repository(planned(selection, with_classic_release()).front(), "rocm/jammy").allowances.unsigned_metadata);
}

TEST_CASE("a key that is published by address moves with the mirror of the group below whose base it is") {
  const TemporaryDirectory folder = *TemporaryDirectory::create(Stage::plan, fs::temp_directory_path(), "catalog");
  const auto write_group = [&folder](const std::string& name) {
    std::ofstream(folder.path() / (name + ".json"))
        << R"({"schema":1,"kind":"repository-group","name":")" << name << R"(","base_url":"https://repo.example/)"
        << name << R"(","type":"deb","layouts":[{"targets":["debian-*"],"suites":["stable"],"components":["main"]}],)"
        << R"("keys":[{"fingerprint":"CA8BB4727A47B4D09B4EE8969386B48A1A693C5C",)"
        << R"("url":"https://repo.example/vendor/key.asc"}]})";
  };
  write_group("vendor");
  write_group("vendor-graphics");
  std::ofstream(folder.path() / "release.json")
      << R"({"schema":1,"kind":"release","id":"6.2.0","targets":[{"target":"debian-12",)"
         R"("groups":["vendor","vendor-graphics"]}],"usecases":[{"id":"hip","packages":{"debian-12":["hip"]}}]})";
  const repos::Catalog catalog = *repos::Catalog::load({folder.path()});
  Selection selection = classic();
  selection.keyrings.clear();
  const auto urls_of = [&](const char* group) {
    const ReleasePlan plan = planned(selection, catalog).front();
    const std::vector<Keyring>& keyrings = repository(plan, std::string(group) + "/stable").keyrings;
    REQUIRE(keyrings.size() == 1);
    CHECK(keyrings[0].data.empty());
    CHECK(keyrings[0].fingerprints == std::vector<std::string>{"CA8BB4727A47B4D09B4EE8969386B48A1A693C5C"});
    return keyrings[0].urls;
  };
  const std::vector<std::string> own_address = {"https://repo.example/vendor/key.asc"};
  CHECK(urls_of("vendor") == own_address);
  CHECK(urls_of("vendor-graphics") == own_address);
  selection.mirrors["vendor-graphics"] = {"http://lab.example/graphics"};
  CHECK(urls_of("vendor-graphics") == own_address);
  selection.mirrors["vendor"] = {"http://lab.example/a/", "file:/srv/b"};
  const std::vector<std::string> mirrors = {"http://lab.example/a/key.asc", "file:///srv/b/key.asc"};
  CHECK(urls_of("vendor") == mirrors);
  CHECK(urls_of("vendor-graphics") == mirrors);
  selection.keyrings["vendor"] = {Keyring{.name = "own.asc", .data = "OWN", .fingerprints = {}}};
  CHECK(repository(planned(selection, catalog).front(), "vendor/stable").keyrings[0].name == "own.asc");
}

TEST_CASE("a site repository comes last, with its own keys and those of --keyring without a name") {
  Selection selection = hip_for_trixie();
  selection.site_repositories = {site()};
  selection.keyrings[""] = {Keyring{.name = "more.asc", .data = "MORE", .fingerprints = {}}};
  const ReleasePlan plan = planned(selection).front();
  REQUIRE(plan.repositories.size() == 4);
  const RepositoryDefinition& last = plan.repositories.back();
  CHECK(last.name == "site");
  CHECK(last.base_urls == std::vector<std::string>{"https://site.example/deb"});
  CHECK(last.suite == "stable");
  CHECK(last.keyrings.size() == 2);
  CHECK(repository(plan, "debian/trixie").keyrings.size() == 4);
}

TEST_CASE("a site repository without any key is refused") {
  Selection selection = hip_for_trixie();
  selection.site_repositories = {site()};
  selection.site_repositories[0].keyring.reset();
  CHECK(refused(selection).code == ErrorCode::key_unknown);
  selection.allow_unsigned = {"site"};
  CHECK(planned(selection).front().repositories.size() == 4);
}

TEST_CASE("a site repository for other targets is left out with a warning") {
  Selection selection = hip_for_trixie();
  selection.site_repositories = {site()};
  selection.site_repositories[0].targets = {"ubuntu-24.04"};
  const ReleasePlan plan = planned(selection).front();
  CHECK(plan.repositories.size() == 3);
  REQUIRE(plan.warnings.size() == 1);
  CHECK(has(plan.warnings.front(), "'site'"));
}

TEST_CASE("a site repository may not take a name that is in use") {
  Selection selection = hip_for_trixie();
  selection.site_repositories = {site(), site()};
  CHECK(refused(selection).code == ErrorCode::usage);
  selection.site_repositories = {site()};
  selection.site_repositories[0].name = "debian";
  CHECK(refused(selection).code == ErrorCode::usage);
}

TEST_CASE("option --keyring without a name needs a --repo file") {
  Selection selection = hip_for_trixie();
  selection.keyrings[""] = {Keyring{.name = "x", .data = "X", .fingerprints = {}}};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::usage);
  CHECK(has(error.help, "--keyring debian=FILE"));
}

TEST_CASE("a derivative is planned as the target that --treat-as names, and recorded") {
  Selection selection = hip_for_trixie();
  selection.targets = {"devuan-6"};
  CHECK(refused(selection).code == ErrorCode::unknown_target);
  selection.treat_as = "debian-13";
  const ReleasePlan plan = planned(selection).front();
  CHECK(plan.target.id == "debian-13");
  CHECK(plan.target.treated_as_from == "devuan-6");
  REQUIRE(plan.warnings.size() == 1);
  CHECK(has(plan.warnings.front(), "devuan-6"));
  selection.treat_as = "debian-99";
  CHECK(refused(selection).code == ErrorCode::unknown_target);
}

TEST_CASE("option --treat-as the target itself records nothing") {
  Selection selection = hip_for_trixie();
  selection.treat_as = "debian-13";
  CHECK_FALSE(planned(selection).front().target.treated_as_from.has_value());
}

TEST_CASE("kernels are recorded, and one of another distribution warns") {
  Selection selection = hip_for_trixie();
  selection.kernels = {"6.12.41+deb13-amd64"};
  ReleasePlan plan = planned(selection).front();
  CHECK(plan.target.kernels == selection.kernels);
  CHECK(plan.warnings.empty());
  selection.kernels = {"5.15.0-100-generic"};
  plan = planned(selection).front();
  REQUIRE(plan.warnings.size() == 1);
  CHECK(has(plan.warnings.front(), "5.15.0-100-generic"));
}

TEST_CASE("a kernel that the driver was never validated for is refused") {
  Selection selection = classic();
  selection.driver = true;
  selection.kernels = {"6.1.0-40-amd64"};
  CHECK(planned(selection, with_classic_release()).size() == 1);
  selection.kernels = {"7.0.0-1-amd64"};
  const Error error = refused(selection, with_classic_release());
  CHECK(error.code == ErrorCode::check_failed);
  CHECK(exit_status(error.code) == 3);
  selection.driver = false;
  CHECK(planned(selection, with_classic_release()).front().warnings.size() == 2);
}

TEST_CASE("what uname never prints is no kernel") {
  Selection selection = hip_for_trixie();
  selection.kernels = {GENERATE("", "trixie", "6.12 amd64", "6.12;x", "6.12\x1b[0m")};
  const Error error = refused(selection);
  CHECK(error.code == ErrorCode::usage);
  CHECK_FALSE(has(error.reason, "\x1b"));
}

TEST_CASE("a release whose support is uncertain warns") {
  const ReleasePlan plan = planned(classic(), with_classic_release()).front();
  CHECK(plan.release == "6.2.0");
  REQUIRE(plan.warnings.size() == 1);
  CHECK(has(plan.warnings.front(), "inferred or unverified"));
}

TEST_CASE("policy and post-install defaults travel in the plan") {
  Selection selection = hip_for_trixie();
  selection.recommends = true;
  selection.post_install.gpu_access = "all";
  const ReleasePlan plan = planned(selection).front();
  CHECK(plan.policy.recommends);
  CHECK(plan.post_install.gpu_access == "all");
}

TEST_CASE("support rows tell of every release whether it supports a target") {
  const std::vector<distros::SupportRow> rows = support_rows(with_classic_release(), "debian-12");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].release == "6.2.0");
  CHECK(rows[0].supported);
  CHECK_FALSE(rows[0].certain);
  CHECK(rows[0].kernels == std::vector<distros::KernelRow>{{"6.1", "validated", "GA"}});
  CHECK(rows[1].supported);
  CHECK_FALSE(support_rows(with_classic_release(), "ubuntu-24.04")[1].supported);
}

TEST_CASE("every use case of every release can be planned for each target that has it") {
  for (const repos::Release& release : releases().releases()) {
    for (const repos::UseCase& usecase : release.usecases) {
      for (const auto& [target, packages] : usecase.packages) {
        INFO(release.id << " " << usecase.id << " " << target);
        Selection selection;
        selection.targets = {target};
        selection.release = release.id;
        selection.usecases = {usecase.id};
        CHECK(names_of(planned(selection).front().requests) == packages);
      }
    }
  }
}
