#include <catch2/catch.hpp>
#include <fstream>

#include "command_line.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;
using namespace rocm_offline::app;

namespace {

// A configuration file in a private folder, gone with the object.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : m_folder(TemporaryDirectory::create(Stage::ui, std::filesystem::temp_directory_path(), "rocm-offline-config")) {
    REQUIRE(m_folder.has_value());
    std::ofstream(path()) << text;
  }
  [[nodiscard]] std::string path() const { return (m_folder->path() / "site.toml").string(); }

 private:
  Result<TemporaryDirectory> m_folder;
};

Invocation parsed(const std::vector<std::string>& arguments) {
  auto invocation = parse_command_line(arguments);
  if (!invocation) {
    FAIL(invocation.error().message << ": " << invocation.error().reason);
  }
  return *invocation;
}

}  // namespace

TEST_CASE("global options are accepted before and after the command") {
  for (const auto& arguments : {std::vector<std::string>{"--json", "plan", "--release", "distro"},
                                std::vector<std::string>{"plan", "--release", "distro", "--json"}}) {
    const Invocation invocation = parsed(arguments);
    CHECK(invocation.command == Command::plan);
    CHECK(invocation.global.json);
    CHECK(invocation.selection.release == "distro");
  }
}

TEST_CASE("use cases are split at commas and united with repeated options") {
  const Invocation invocation = parsed({"plan", "--usecase", "hip,opencl", "--usecase", "rocm"});
  CHECK(invocation.selection.usecases == std::vector<std::string>{"hip", "opencl", "rocm"});
}

TEST_CASE("a repeatable option does not swallow the word that follows") {
  const Invocation invocation = parsed({"inspect", "--catalog", "site", "file.run"});
  CHECK(invocation.global.catalogs == std::vector<std::filesystem::path>{"site"});
  CHECK(invocation.file.file == "file.run");
}

TEST_CASE("the configuration file gives what the command line leaves out") {
  const ConfigFile file(
      "release = \"distro\"\ntarget = [\"debian-13\"]\nusecase = [\"hip\"]\nretries = 2\nrecommends = true\n");
  const Invocation invocation = parsed({"plan", "--config", file.path(), "--usecase", "opencl"});
  CHECK(invocation.selection.release == "distro");
  CHECK(invocation.selection.targets == std::vector<std::string>{"debian-13"});
  CHECK(invocation.selection.retries == 2);
  CHECK(invocation.selection.recommends);
  // Options win over the file.
  CHECK(invocation.selection.usecases == std::vector<std::string>{"opencl"});
}

TEST_CASE("a configuration file that is no TOML names line and column") {
  const ConfigFile file("release = \"distro\"\ntarget = [\n");
  const auto invocation = parse_command_line({"plan", "--config", file.path()});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().code == ErrorCode::config_invalid);
  CHECK(invocation.error().details.at("line") == "2");
  CHECK(invocation.error().details.at("path") == file.path());
}

TEST_CASE("an unknown key of the configuration file is refused, not ignored") {
  const ConfigFile file("relaese = \"distro\"\n");
  const auto invocation = parse_command_line({"plan", "--config", file.path()});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().code == ErrorCode::config_invalid);
  CHECK(invocation.error().reason.find("relaese") != std::string::npos);
}

TEST_CASE("a table in the configuration file is refused") {
  const ConfigFile file("[mirror]\ndebian = \"http://mirror.example\"\n");
  const auto invocation = parse_command_line({"plan", "--config", file.path()});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().code == ErrorCode::config_invalid);
}

TEST_CASE("a flag is true or false, and nothing else is: no value is taken from the next key") {
  for (const char* text : {"release = true\ntarget = \"debian-13\"\n", "recommends = \"yes\"\n", "recommends = []\n",
                           "help = true\n", "config = \"other.toml\"\n"}) {
    const ConfigFile file(text);
    const auto invocation = parse_command_line({"plan", "--config", file.path()});
    INFO(text);
    REQUIRE_FALSE(invocation.has_value());
    CHECK(invocation.error().code == ErrorCode::config_invalid);
    CHECK(invocation.error().details.at("line") == "1");
    CHECK(invocation.error().details.at("path") == file.path());
  }
}

TEST_CASE("one configuration file serves plan and create") {
  const ConfigFile file("release = \"distro\"\noutput = \"/srv/rocm.run\"\njobs = 4\n");
  CHECK(parsed({"plan", "--config", file.path()}).selection.release == "distro");
  const Invocation create = parsed({"create", "--config", file.path()});
  CHECK(create.create.output == "/srv/rocm.run");
  CHECK(create.create.jobs == 4);
}

TEST_CASE("a configuration of AMD's tool is named as what it is") {
  const ConfigFile file("# comment\n\nROCM_VERSION=6.2.1\n");
  const auto invocation = parse_command_line({"plan", "--config", file.path()});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().code == ErrorCode::config_invalid);
  CHECK(invocation.error().reason.find("AMD") != std::string::npos);
}

TEST_CASE("an empty value is a usage error for every option but --proxy, where it means none") {
  const auto no_proxy = parse_command_line({"create", "--proxy", ""});
  REQUIRE(no_proxy.has_value());
  CHECK(no_proxy->selection.proxy == "");
  for (const char* option : {"--target", "--release", "--package", "--mirror", "--keyring", "--gpu-access",
                             "--cache-dir", "--log-dir", "--catalog", "--output", "--reuse", "--config"}) {
    INFO(option);
    const auto invocation = parse_command_line({"create", option, ""});
    REQUIRE_FALSE(invocation.has_value());
    CHECK(invocation.error().code == ErrorCode::usage);
    CHECK(invocation.error().reason.find("empty") != std::string::npos);
  }
}

TEST_CASE("a mistyped command is answered with the near one") {
  const auto invocation = parse_command_line({"creat"});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().code == ErrorCode::usage);
  CHECK(invocation.error().help.find("create") != std::string::npos);
}

TEST_CASE("a mistyped option is answered with the near one, and --version is known") {
  const auto invocation = parse_command_line({"create", "--usecases", "hip"});
  REQUIRE_FALSE(invocation.has_value());
  CHECK(invocation.error().help.find("did you mean --usecase?") != std::string::npos);
  CHECK(parse_command_line({"--version"}).value().command == Command::version);
}

TEST_CASE("numbers out of range are usage errors") {
  CHECK_FALSE(parse_command_line({"create", "--jobs", "0"}).has_value());
  CHECK_FALSE(parse_command_line({"create", "--jobs", "many"}).has_value());
  CHECK(parse_command_line({"create", "--jobs", "16"}).has_value());
}

TEST_CASE("every command has help, and completion knows every command") {
  const auto script = completion_script("bash");
  REQUIRE(script.has_value());
  for (const char* command : {"check", "targets", "releases", "usecases", "plan", "create", "inspect", "verify",
                              "extract", "diff", "completion", "help", "version"}) {
    const auto help = help_text(command);
    REQUIRE(help.has_value());
    CHECK(help->find("Usage: rocm-offline-creator") != std::string::npos);
    CHECK(script->find(command) != std::string::npos);
  }
  CHECK_FALSE(help_text("no-such-command").has_value());
}

TEST_CASE("JSON is wanted also where the rest does not parse") {
  CHECK(wants_json({"plan", "--no-such-option", "--json"}));
  CHECK_FALSE(wants_json({"plan"}));
}

TEST_CASE("keys, chain, locks and diff are understood where they belong") {
  const auto create = parse_command_line({"create", "--sign-key", "site.pem", "--lock", "site.lock", "--locked"});
  REQUIRE(create.has_value());
  CHECK(create->selection.sign_key == "site.pem");
  CHECK(create->selection.lock == "site.lock");
  CHECK(create->selection.locked);
  CHECK(parse_command_line({"plan", "--lock", "site.lock"}).has_value());
  const auto verify = parse_command_line({"verify", "--chain", "--verify-key", "site.pub", "x.run"});
  REQUIRE(verify.has_value());
  CHECK(verify->file.chain);
  CHECK(verify->file.verify_key == "site.pub");
  CHECK(verify->file.file == "x.run");
  CHECK_FALSE(parse_command_line({"inspect", "--chain", "x.run"}).has_value());
  CHECK_FALSE(parse_command_line({"diff", "only.run"}).has_value());
  const auto diff = parse_command_line({"diff", "old.run", "new.lock"});
  REQUIRE(diff.has_value());
  CHECK(diff->command == Command::diff);
  CHECK(diff->diff.before == "old.run");
  CHECK(diff->diff.after == "new.lock");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell);
    REQUIRE(script.has_value());
    for (const char* word : {"sign-key", "verify-key", "chain", "lock", "locked", "diff"}) {
      INFO(shell << ": " << word);
      CHECK(script->find(word) != std::string::npos);
    }
  }
}
