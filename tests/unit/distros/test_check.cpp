#include <algorithm>
#include <catch2/catch.hpp>

#include "rocm_offline/distros/distro.hpp"

using namespace rocm_offline;
using namespace rocm_offline::distros;

namespace {

const Catalog& catalog() {
  static const Catalog loaded = *Catalog::load({});
  return loaded;
}

MachineFacts machine(std::string_view os_release) {
  MachineFacts facts;
  facts.os_release = *parse_os_release(os_release);
  facts.machine = "x86_64";
  facts.kernel = "6.12.41+deb13-amd64";
  return facts;
}

MachineFacts trixie() {
  return machine("ID=debian\nVERSION_ID=13\n");
}

CheckQuestion question(MachineFacts facts) {
  CheckQuestion asked;
  asked.facts = std::move(facts);
  asked.support = {{.release = "distro", .supported = true, .certain = true, .kernels = {}},
                   {.release = "6.2.0", .supported = false, .certain = true, .kernels = {}}};
  return asked;
}

Check check_of(const CheckReport& report, std::string_view code) {
  const auto found =
      std::find_if(report.checks.begin(), report.checks.end(), [&](const Check& check) { return check.code == code; });
  REQUIRE(found != report.checks.end());
  return *found;
}

CheckStatus status_of(const CheckReport& report, std::string_view code) {
  return check_of(report, code).status;
}

std::vector<std::string> codes_of(const CheckReport& report) {
  std::vector<std::string> codes;
  for (const Check& check : report.checks) {
    codes.push_back(check.code);
  }
  return codes;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Debian 13 passes every check") {
  const CheckReport report = check_machine(question(trixie()), catalog());
  CHECK(report.target == "debian-13");
  CHECK(report.supported);
  CHECK(report.releases == std::vector<std::string>{"distro"});
  CHECK(std::all_of(report.checks.begin(), report.checks.end(),
                    [](const Check& check) { return check.status == CheckStatus::pass; }));
}

TEST_CASE("every check has its stable code and all run, whatever fails") {
  const std::vector<std::string> codes = {"os-release", "distribution", "version",   "architecture",
                                          "release",    "kernel",       "container", "lifecycle"};
  CHECK(codes_of(check_machine(question(trixie()), catalog())) == codes);
  CHECK(codes_of(check_machine(question({}), catalog())) == codes);
  CheckQuestion worst = question(machine("ID=linuxmint\nID_LIKE=ubuntu\nVERSION_ID=22\n"));
  worst.facts.machine = "aarch64";
  worst.treat_as = "debian-99";
  worst.release = "9.9.9";
  CHECK(codes_of(check_machine(worst, catalog())) == codes);
}

TEST_CASE("a machine without os-release is refused") {
  MachineFacts facts = trixie();
  facts.os_release.reset();
  facts.os_release_error = "there is no os-release file";
  const CheckReport report = check_machine(question(facts), catalog());
  CHECK_FALSE(report.supported);
  CHECK(report.target.empty());
  CHECK(status_of(report, "os-release") == CheckStatus::fail);
  const Result<Target> target = identify_target(facts, catalog(), std::nullopt);
  REQUIRE_FALSE(target.has_value());
  CHECK(target.error().code == ErrorCode::check_failed);
}

TEST_CASE("a derivative is refused by name, with the nearest target named") {
  struct Case {
    std::string os_release, nearest;
  };
  const Case one = GENERATE(values<Case>(
      {{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=22\nUBUNTU_CODENAME=noble\n", "ubuntu-24.04"},
       {"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=21.3\nUBUNTU_CODENAME=jammy\n", "ubuntu-22.04"},
       {"ID=linuxmint\nID_LIKE=debian\nVERSION_ID=6\nDEBIAN_CODENAME=bookworm\n", "debian-12"},
       {"ID=devuan\nID_LIKE=debian\nVERSION_ID=6\n", "debian-13"},
       {"ID=pop\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"22.04\"\n", "ubuntu-22.04"}}));
  INFO(one.os_release);
  const MachineFacts facts = machine(one.os_release);
  const CheckReport report = check_machine(question(facts), catalog());
  CHECK_FALSE(report.supported);
  CHECK(report.target.empty());
  CHECK(status_of(report, "distribution") == CheckStatus::fail);
  CHECK(has(check_of(report, "distribution").help, "--treat-as " + one.nearest));
  const Result<Target> target = identify_target(facts, catalog(), std::nullopt);
  REQUIRE_FALSE(target.has_value());
  CHECK(target.error().code == ErrorCode::wrong_target);
  CHECK(has(target.error().reason, facts.os_release->id));
  CHECK(has(target.error().help, one.nearest));
}

TEST_CASE("a distribution that is like none of ours is refused with the list") {
  const CheckReport report = check_machine(question(machine("ID=arch\n")), catalog());
  CHECK(has(check_of(report, "distribution").help, "debian-13"));
}

TEST_CASE("Debian testing and unstable have no VERSION_ID and are told so") {
  const MachineFacts facts = machine("PRETTY_NAME=\"Debian GNU/Linux forky/sid\"\nID=debian\nVERSION_CODENAME=forky\n");
  const Check version = check_of(check_machine(question(facts), catalog()), "version");
  CHECK(version.status == CheckStatus::fail);
  CHECK(has(version.message, "forky/sid"));
  CHECK(has(version.message, "testing"));
  CHECK(has(version.help, "debian-13"));
}

TEST_CASE("VERSION_ID must be equal, not merely alike") {
  const std::string version = GENERATE("1", "13.1", "130", "14", "013");
  INFO(version);
  const CheckReport report = check_machine(question(machine("ID=debian\nVERSION_ID=" + version + "\n")), catalog());
  CHECK(status_of(report, "version") == CheckStatus::fail);
  CHECK_FALSE(report.supported);
}

TEST_CASE("option --treat-as takes a derivative for a target and says so") {
  const MachineFacts facts = machine("ID=linuxmint\nID_LIKE=ubuntu\nVERSION_ID=22\n");
  CheckQuestion asked = question(facts);
  asked.treat_as = "ubuntu-24.04";
  asked.support = {{.release = "distro", .supported = true, .certain = true, .kernels = {}}};
  const CheckReport report = check_machine(asked, catalog());
  CHECK(report.target == "ubuntu-24.04");
  CHECK(report.supported);
  CHECK(status_of(report, "distribution") == CheckStatus::warn);
  CHECK(identify_target(facts, catalog(), "ubuntu-24.04")->treated_as_from == "linuxmint-22");
}

TEST_CASE("option --treat-as the machine's own target changes nothing") {
  const Result<Target> target = identify_target(trixie(), catalog(), "debian-13");
  REQUIRE(target.has_value());
  CHECK_FALSE(target->treated_as_from.has_value());
}

TEST_CASE("option --treat-as with an unknown target is refused") {
  const Result<Target> target = identify_target(trixie(), catalog(), "debian-99");
  REQUIRE_FALSE(target.has_value());
  CHECK(target.error().code == ErrorCode::unknown_target);
}

TEST_CASE("only x86_64 machines pass") {
  CheckQuestion asked = question(trixie());
  asked.facts.machine = GENERATE("aarch64", "i686", "x32", "amd64");
  CHECK(status_of(check_machine(asked, catalog()), "architecture") == CheckStatus::fail);
}

TEST_CASE("the release is checked: supported, uncertain, not supported, unknown") {
  CheckQuestion asked = question(trixie());
  asked.release = "distro";
  CHECK(status_of(check_machine(asked, catalog()), "release") == CheckStatus::pass);
  asked.support[0].certain = false;
  CHECK(status_of(check_machine(asked, catalog()), "release") == CheckStatus::warn);
  asked.release = "6.2.0";
  const Check refused = check_of(check_machine(asked, catalog()), "release");
  CHECK(refused.status == CheckStatus::fail);
  CHECK(has(refused.help, "distro"));
  asked.release = "9.9.9";
  CHECK(status_of(check_machine(asked, catalog()), "release") == CheckStatus::fail);
}

TEST_CASE("a target that no release supports fails without a release named") {
  CheckQuestion asked = question(trixie());
  asked.support[0].supported = false;
  CHECK(status_of(check_machine(asked, catalog()), "release") == CheckStatus::fail);
}

TEST_CASE("a kernel prefix matches whole numbers") {
  struct Case {
    std::string prefix, kernel;
    CheckStatus status;
  };
  const Case one = GENERATE(values<Case>({{"6.8", "6.8.0-45-generic", CheckStatus::pass},
                                          {"6.8", "6.80.1", CheckStatus::fail},
                                          {"6.8", "6.8", CheckStatus::pass},
                                          {"4.18.0-553", "4.18.0-553.el8_10.x86_64", CheckStatus::pass},
                                          {"4.18.0-553", "4.18.0-5530.el8", CheckStatus::fail},
                                          {"6.8", "5.6.8", CheckStatus::fail}}));
  INFO(one.kernel);
  CheckQuestion asked = question(trixie());
  asked.release = "distro";
  asked.with_driver = true;
  asked.facts.kernel = one.kernel;
  asked.support[0].kernels = {{one.prefix, "validated", "GA"}};
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == one.status);
}

TEST_CASE("a kernel refuses only with a driver and only where validated rows speak against it") {
  CheckQuestion asked = question(trixie());
  asked.release = "distro";
  asked.facts.kernel = "7.1.0-custom";
  asked.support[0].kernels = {{"6.12", "validated", "GA"}};
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
  asked.with_driver = true;
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::fail);
  asked.support[0].kernels = {{"6.12", "as-printed", "GA"}};
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
  asked.support[0].kernels = {{"7.1", "preview", "HWE"}};
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
  asked.support[0].kernels.clear();
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
}

TEST_CASE("of two rows the longer prefix speaks") {
  CheckQuestion asked = question(trixie());
  asked.release = "distro";
  asked.facts.kernel = "4.18.0-544.el8";
  asked.support[0].kernels = {{"4.18.0", "validated", ""}, {"4.18.0-544", "as-printed", ""}};
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
}

TEST_CASE("an unknown kernel matters to a driver only, and is then said to be unjudged") {
  CheckQuestion asked = question(trixie());
  asked.facts.kernel.clear();
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::pass);
  asked.with_driver = true;
  CHECK(status_of(check_machine(asked, catalog()), "kernel") == CheckStatus::warn);
  CHECK(has(check_of(check_machine(asked, catalog()), "kernel").message, "not judged"));
}

TEST_CASE("a question about a target says nothing of this machine") {
  CheckQuestion asked = question(trixie());
  asked.facts.of_a_target = true;
  CHECK(has(check_of(check_machine(asked, catalog()), "os-release").message, "not about this machine"));
}

TEST_CASE("a container or chroot warns and does not refuse") {
  CheckQuestion asked = question(trixie());
  asked.facts.container_or_chroot = true;
  const CheckReport report = check_machine(asked, catalog());
  CHECK(status_of(report, "container") == CheckStatus::warn);
  CHECK(report.supported);
}

TEST_CASE("an ended lifecycle warns") {
  CheckQuestion asked = question(trixie());
  asked.today = "2026-12-01";
  CHECK(status_of(check_machine(asked, catalog()), "lifecycle") == CheckStatus::pass);
  asked.today = "2031-01-01";
  const CheckReport report = check_machine(asked, catalog());
  CHECK(status_of(report, "lifecycle") == CheckStatus::warn);
  CHECK(report.supported);
}

TEST_CASE("every refusal says what to do next") {
  CheckQuestion worst = question(machine("ID=linuxmint\nID_LIKE=ubuntu\nVERSION_ID=22\n"));
  worst.facts.machine = "aarch64";
  for (const Check& check : check_machine(worst, catalog()).checks) {
    INFO(check.code);
    CHECK_FALSE(check.message.empty());
    CHECK((check.status != CheckStatus::fail || !check.help.empty()));
  }
}
