#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "printable.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::ui {

namespace {

constexpr std::string_view bold_red = "\x1b[1;31m";
constexpr std::string_view bold_green = "\x1b[1;32m";
constexpr std::string_view bold_yellow = "\x1b[1;33m";
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view plain = "\x1b[0m";

std::string painted(std::string_view text, std::string_view paint, bool color) {
  return color ? std::string(paint) + std::string(text) + std::string(plain) : std::string(text);
}

void add_line(std::string& text, std::string_view label, std::string_view value, std::string_view paint, bool color) {
  if (!value.empty()) {
    text += painted(label, paint, color) + " " + printable(value) + "\n";
  }
}

// Outermost frame first, as one reads a way in: "creating bundle > loading repositories".
std::string way(const std::vector<std::string>& context) {
  std::string text;
  for (auto frame = context.rbegin(); frame != context.rend(); ++frame) {
    text += (text.empty() ? "" : " > ") + *frame;
  }
  return text;
}

// A list of possible values that the help gives too; what is short may stand inside another word.
bool already_said(const Error& error, const std::string& value) {
  return value.find(", ") != std::string::npos && error.help.find(value) != std::string::npos;
}

// Nothing is said twice: a problem that is the error's own reason gives its chain only, and no help that stands below.
std::string problem_text(const Problem& problem, const Error& error, bool color) {
  std::string text;
  const bool told = problem.summary == error.reason;
  if (!told) {
    add_line(text, "  -", problem.summary, bold, color);
  }
  for (const std::string& link : problem.chain) {
    if (link != problem.summary) {
      text += (told ? "  " : "      ") + printable(link) + "\n";
    }
  }
  if (problem.help != error.help) {
    add_line(text, "    help:", problem.help, bold, color);
  }
  return text;
}

std::string_view paint_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::pass:
      return bold_green;
    case CheckStatus::warn:
      return bold_yellow;
    case CheckStatus::fail:
      break;
  }
  return bold_red;
}

}  // namespace

std::string printable(std::string_view text, bool lines) {
  std::string clean;
  clean.reserve(text.size());
  bool after_c2 = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // U+0080 to U+009F (0xc2 and then 0x80 to 0x9f in UTF-8) are control characters, too.
    if (after_c2 && byte >= 0x80 && byte < 0xa0) {
      clean.back() = '?';
      after_c2 = false;
      continue;
    }
    after_c2 = byte == 0xc2;
    if (c == '\t' || (c == '\n' && !lines)) {
      clean.push_back(' ');
    } else if ((byte < 0x20 && c != '\n') || byte == 0x7f) {
      clean.push_back('?');
    } else {
      clean.push_back(c);
    }
  }
  return clean;
}

std::string render_error(const Error& error, bool color) {
  std::string text;
  add_line(text, "error:", error.message, bold_red, color);
  add_line(text, "reason:", error.reason, bold, color);
  add_line(text, "while:", way(error.context), bold, color);
  for (const auto& [name, value] : error.details) {
    if (!already_said(error, value)) {
      add_line(text, "  " + name + ":", value, plain, false);
    }
  }
  for (const Problem& problem : error.problems) {
    text += problem_text(problem, error, color);
  }
  add_line(text, "help:", error.help, bold, color);
  return text;
}

std::string render_checks(const std::vector<Check>& checks, bool color) {
  std::size_t width = 0;
  for (const Check& check : checks) {
    width = std::max(width, check.code.size());
  }
  std::string text;
  for (const Check& check : checks) {
    text += painted(check_status_name(check.status), paint_of(check.status), color) + "  " + printable(check.code) +
            std::string(width - check.code.size() + 2, ' ') + printable(check.message) + "\n";
    if (check.status != CheckStatus::pass && !check.help.empty()) {
      text += std::string(width + 8, ' ') + "help: " + printable(check.help) + "\n";
    }
  }
  return text;
}

std::string render_verdict(const std::vector<Check>& checks, const std::string& fits, const std::string& fits_not) {
  const auto count = [&checks](CheckStatus status) {
    return static_cast<std::size_t>(
        std::count_if(checks.begin(), checks.end(), [status](const Check& check) { return check.status == status; }));
  };
  if (const std::size_t failed = count(CheckStatus::fail); failed != 0) {
    return printable(fits_not) + " (" + counted(failed, "check") + " failed)\n";
  }
  const std::size_t warned = count(CheckStatus::warn);
  return printable(fits) + (warned == 0 ? "" : " (" + counted(warned, "warning") + ")") + "\n";
}

bool wants_color(Color color, int file_descriptor) {
  if (color != Color::automatic) {
    return color == Color::always;
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return (no_color == nullptr || *no_color == '\0') && !dumb && ::isatty(file_descriptor) == 1;
}

std::string usage_problem(std::string_view parser_message) {
  const auto colon = parser_message.find(": 1 required ");
  if (colon != std::string_view::npos && parser_message.ends_with(" missing")) {
    return std::string(parser_message.substr(0, colon)) + " needs a value";
  }
  return std::string(parser_message);
}

}  // namespace rocm_offline::ui
