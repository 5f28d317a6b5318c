#include <catch2/catch.hpp>
#include <cstdlib>

#include "printed.hpp"
#include "rocm_offline/ui/terminal.hpp"

using namespace rocm_offline;
using tests::printed;

TEST_CASE("an error is rendered as what, why, where and what to do", "[ui]") {
  const Error error{.code = ErrorCode::key_unknown,
                    .stage = Stage::repos,
                    .message = "index of repository 'rocm' is not trusted",
                    .reason = "InRelease is signed by unknown key 1A2B",
                    .context = {"loading repositories", "creating bundle for ubuntu-24.04"},
                    .details = {{"url", "https://repo.example/"}},
                    .help = "pass the vendor key with --keyring, or check the address",
                    .problems = {{.summary = "nothing provides a", .chain = {"a", "b"}, .help = "add it"}}};
  CHECK(ui::render_error(error, false) ==
        "error: index of repository 'rocm' is not trusted\n"
        "reason: InRelease is signed by unknown key 1A2B\n"
        "while: creating bundle for ubuntu-24.04 > loading repositories\n"
        "  url: https://repo.example/\n"
        "  - nothing provides a\n      a\n      b\n    help: add it\n"
        "help: pass the vendor key with --keyring, or check the address\n");
}

TEST_CASE("a list that the help gives is not given before it too", "[ui]") {
  CHECK(ui::render_error({.message = "unknown target 'x'",
                          .details = {{"possible", "a, b"}, {"target", "x"}},
                          .help = "the targets are: a, b"},
                         false) == "error: unknown target 'x'\n  target: x\nhelp: the targets are: a, b\n");
}

TEST_CASE("parts that an error does not have make no line", "[ui]") {
  CHECK(ui::render_error({.message = "it broke"}, false) == "error: it broke\n");
}

TEST_CASE("a wrong command line is told without the words of the parser", "[ui]") {
  CHECK(ui::usage_problem("--gpu-access: 1 required TEXT missing") == "--gpu-access needs a value");
  CHECK(ui::usage_problem("--jobs: Value 0 not in range 1 to 64") == "--jobs: Value 0 not in range 1 to 64");
}

TEST_CASE("text from outside cannot drive the terminal", "[ui]") {
  const std::string text =
      ui::render_error({.message = "a\x1b]0;title\x07\nforged: b\xc2\x9b", .details = {{"url", "c\x1b[2J"}}}, false);
  CHECK(text == "error: a?]0;title? forged: b?\n  url: c?[2J\n");
  CHECK(printed(STDERR_FILENO, [] {
          ui::Terminal terminal({});
          terminal.event({.message = "x\x1b[2Jy"});
        }) == "x?[2Jy\n");
}

TEST_CASE("checks stand in columns, and help follows what does not pass", "[ui]") {
  CHECK(ui::render_checks({{.code = "distribution", .status = CheckStatus::pass, .message = "Debian 13", .help = "no"},
                           {.code = "kernel", .status = CheckStatus::fail, .message = "6.1", .help = "boot another"}},
                          false) ==
        "pass  distribution  Debian 13\n"
        "fail  kernel        6.1\n"
        "                    help: boot another\n");
}

TEST_CASE("the verdict counts what failed, else what warns", "[ui]") {
  const Check pass{.code = "a", .status = CheckStatus::pass, .message = "", .help = ""};
  const Check warn{.code = "b", .status = CheckStatus::warn, .message = "", .help = ""};
  const Check bad{.code = "c", .status = CheckStatus::fail, .message = "", .help = ""};
  CHECK(ui::render_verdict({pass}, "fits", "does not") == "fits\n");
  CHECK(ui::render_verdict({pass, warn}, "fits", "does not") == "fits (1 warning)\n");
  CHECK(ui::render_verdict({bad, warn, bad}, "fits", "does not") == "does not (2 checks failed)\n");
}

TEST_CASE("colour follows the option, then NO_COLOR, TERM and the stream", "[ui]") {
  CHECK(ui::wants_color(ui::Color::always, -1));
  CHECK_FALSE(ui::wants_color(ui::Color::never, STDERR_FILENO));
  const FileDescriptor null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  CHECK_FALSE(ui::wants_color(ui::Color::automatic, null.get()));
  const FileDescriptor terminal(::posix_openpt(O_RDWR | O_NOCTTY));
  if (!terminal.valid()) {
    WARN("no pseudo terminal here: the rest is left out");
    return;
  }
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "xterm", 1);
  CHECK(ui::wants_color(ui::Color::automatic, terminal.get()));
  ::setenv("TERM", "dumb", 1);
  CHECK_FALSE(ui::wants_color(ui::Color::automatic, terminal.get()));
  ::setenv("TERM", "xterm", 1);
  ::setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(ui::wants_color(ui::Color::automatic, terminal.get()));
  ::unsetenv("NO_COLOR");
}

TEST_CASE("quiet leaves warnings, verbose adds debug events, errors wait for the end of the run", "[ui]") {
  const auto all = [](ui::TerminalOptions options) {
    return printed(STDERR_FILENO, [&] {
      ui::Terminal terminal(options);
      terminal.event({.level = Level::debug, .message = "d"});
      terminal.event({.level = Level::info, .message = "i"});
      terminal.event({.level = Level::warning, .message = "w"});
      terminal.event({.level = Level::error, .message = "e"});
    });
  };
  CHECK(all({.quiet = true}) == "warning: w\n");
  CHECK(all({}) == "i\nwarning: w\n");
  CHECK(all({.verbose = 1}) == "d\ni\nwarning: w\n");
}

TEST_CASE("on a terminal the progress line is erased before a message", "[ui]") {
  const std::string text = printed(STDERR_FILENO, [] {
    ui::Terminal terminal({.is_terminal = true});
    terminal.progress({.activity = "downloading", .done = 1000, .total = 2000, .waiting_for = "repo.example"});
    terminal.event({.message = "done"});
  });
  CHECK(text == "\r\x1b[Kdownloading: 1.0 kB of 2.0 kB; waiting for repo.example\r\x1b[Kdone\n");
}

TEST_CASE("a long progress line is cut between characters", "[ui]") {
  std::string activity;
  for (int i = 0; i < 200; ++i) {
    activity += "\u00e9";
  }
  const std::string text = printed(STDERR_FILENO, [&] {
    ui::Terminal terminal({.is_terminal = true});
    terminal.progress({.activity = activity});
    terminal.clear_progress();
  });
  std::string expected = "\r\x1b[K";
  for (int i = 0; i < 79; ++i) {
    expected += "\u00e9";
  }
  CHECK(text == expected + "\r\x1b[K");
}

TEST_CASE("without a terminal short work draws no progress", "[ui]") {
  CHECK(printed(STDERR_FILENO, [] {
          ui::Terminal terminal({});
          for (std::uint64_t i = 0; i < 1000; ++i) {
            terminal.progress({.activity = "downloading", .done = i, .total = 1000});
          }
        }).empty());
}

TEST_CASE("a problem that is the reason is told once", "[ui]") {
  const Error error{.code = ErrorCode::unsolvable,
                    .message = "the request cannot be installed",
                    .reason = "nothing provides liba",
                    .help = "add a repository",
                    .problems = {{.summary = "nothing provides liba",
                                  .chain = {"nothing provides liba", "b needs liba"},
                                  .help = "add a repository"}}};
  CHECK(ui::render_error(error, false) ==
        "error: the request cannot be installed\n"
        "reason: nothing provides liba\n"
        "  b needs liba\n"
        "help: add a repository\n");
}
