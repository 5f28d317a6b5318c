#include <catch2/catch.hpp>

#include "command_line.hpp"

namespace rocm_offline::runner {

namespace {

CommandLine parsed(const std::vector<std::string>& arguments) {
  auto line = parse_command_line(arguments);
  if (!line) {
    FAIL(line.error().message << ": " << line.error().reason);
  }
  return *line;
}

}  // namespace

TEST_CASE("without a word the bundle installs and never asks", "[runner]") {
  const CommandLine line = parsed({"--bundle", "/a b/x.run"});
  CHECK(line.word == Word::install);
  CHECK_FALSE(line.dryrun);
  CHECK_FALSE(line.prompt);
  CHECK(line.root == "/");
  CHECK(line.bundle == "/a b/x.run");
}

TEST_CASE("words may be written as options, and dryrun and prompt go with others", "[runner]") {
  CHECK(parsed({"--verify"}).word == Word::verify);
  CHECK(parsed({"--dry-run"}).dryrun);
  CHECK(parsed({"--dryrun"}).word == Word::install);
  CHECK(parsed({"uninstall", "dryrun"}).word == Word::uninstall);
  CHECK(parsed({"uninstall", "dryrun"}).dryrun);
  CHECK(parsed({"prompt", "uninstall"}).prompt);
  CHECK(parsed({"--prompt"}).prompt);
  CHECK(parsed({"install", "--help"}).word == Word::help);
  CHECK(parsed({"-h"}).word == Word::help);
  CHECK(parsed({"--extract", "/x"}).extract_to == "/x");
  CHECK(parsed({"--extract=/x"}).word == Word::extract);
}

TEST_CASE("the value of an option is no word", "[runner]") {
  const CommandLine line = parsed({"--work-dir", "verify", "--log-dir", "list", "--gpu-access", "status"});
  CHECK(line.word == Word::install);
  CHECK(line.work_dir == "verify");
  CHECK(line.gpu_access == "status");
}

TEST_CASE("an option of uninstall without its word does not install", "[runner]") {
  const auto line = parse_command_line({"--bundle", "/x.run", "--purge"});
  REQUIRE_FALSE(line);
  CHECK(line.error().code == ErrorCode::usage);
  CHECK(line.error().message == "--purge goes with uninstall only");
}

TEST_CASE("the request is told as it was typed", "[runner]") {
  CHECK(parsed({"--bundle", "/x.run", "dryrun", "-v"}).arguments == std::vector<std::string>{"dryrun", "-v"});
}

TEST_CASE("every option of the manual is taken", "[runner]") {
  const CommandLine line = parsed({"uninstall",
                                   "--json",
                                   "--yes",
                                   "--no-mount",
                                   "--treat-as",
                                   "debian-13",
                                   "--allow-mismatch",
                                   "kernel,version",
                                   "--allow-removals",
                                   "--allow-downgrades",
                                   "--purge",
                                   "--no-post-install",
                                   "-v",
                                   "-q",
                                   "--color",
                                   "never",
                                   "--log-level",
                                   "info",
                                   "--sha256",
                                   std::string(64, 'a')});
  CHECK(line.json);
  CHECK(line.no_mount);
  CHECK(line.treat_as == "debian-13");
  CHECK(line.allow_kernel_mismatch);
  CHECK(line.allow_version_mismatch);
  CHECK(line.allow_removals);
  CHECK(line.allow_downgrades);
  CHECK(line.purge);
  CHECK(line.no_post_install);
  CHECK(line.color == ui::Color::never);
  CHECK(line.log_level == Level::info);
  CHECK(line.sha256.has_value());
  const std::string help(help_text());
  for (const char* option :
       {"--prompt", "--yes", "--root", "--json", "--log-dir", "--work-dir", "--no-mount", "--sha256", "--treat-as",
        "--allow-mismatch", "--allow-removals", "--allow-downgrades", "--gpu-access", "--no-post-install", "--purge"}) {
    INFO(option);
    CHECK(help.find(option) != std::string::npos);
  }
}

TEST_CASE("what is not understood is a usage error with help", "[runner]") {
  const auto arguments =
      GENERATE(std::vector<std::string>{"instal"}, std::vector<std::string>{"verify", "list"},
               std::vector<std::string>{"--chain"}, std::vector<std::string>{"--with-site-hooks"},
               std::vector<std::string>{"--root"}, std::vector<std::string>{"--allow-mismatch", "moon"},
               std::vector<std::string>{"--sha256", "abc"}, std::vector<std::string>{"extract"},
               std::vector<std::string>{"dryrun", "list"}, std::vector<std::string>{"--color", "red"});
  const auto line = parse_command_line(arguments);
  REQUIRE_FALSE(line);
  CHECK(line.error().code == ErrorCode::usage);
  CHECK_FALSE(line.error().help.empty());
}

TEST_CASE("a key goes with any word, the chain with verify only", "[runner]") {
  for (const char* word : {"install", "dryrun", "check", "verify", "list", "uninstall"}) {
    INFO(word);
    CHECK(parsed({word, "--verify-key", "site.pub"}).verify_key == "site.pub");
  }
  CHECK(parsed({"verify", "--chain"}).chain);
  CHECK(parsed({"--chain", "--verify"}).chain);
  CHECK(parse_command_line({"install", "--chain"}).error().code == ErrorCode::usage);
  CHECK(parse_command_line({"--chain"}).error().code == ErrorCode::usage);
  CHECK(parse_command_line({"verify", "--verify-key"}).error().code == ErrorCode::usage);
  CHECK(help_text().find("--chain") != std::string::npos);
  CHECK(help_text().find("--verify-key") != std::string::npos);
}

TEST_CASE("an empty value is a usage error for every option", "[runner]") {
  for (const char* option :
       {"--root", "--log-dir", "--work-dir", "--treat-as", "--sha256", "--gpu-access", "--bundle"}) {
    INFO(option);
    const auto line = parse_command_line({"install", option, ""});
    REQUIRE_FALSE(line.has_value());
    CHECK(line.error().code == ErrorCode::usage);
  }
}

TEST_CASE("what cannot be a user's name gets no access to the GPUs", "[runner]") {
  for (const char* name : {"-rf", "a b", "a,b", "a:b", "a;b", "a\nb"}) {
    CHECK_FALSE(parse_command_line({"install", std::string("--gpu-access=") + name}).has_value());
  }
  CHECK(parse_command_line({"install", "--gpu-access", "all"}).has_value());
}

}  // namespace rocm_offline::runner
