#include "rocm_offline/ui/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "printable.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::ui {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto redraw_every = std::chrono::milliseconds(200);
constexpr auto line_every = std::chrono::seconds(5);

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Cuts to `width` columns without splitting a UTF-8 sequence (RFC 3629: continuation bytes are 10xxxxxx).
std::string cut(std::string text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U;
    if (starts_character && ++columns > width) {
      text.resize(i);
      break;
    }
  }
  return text;
}

}  // namespace

struct Terminal::Impl {
  explicit Impl(TerminalOptions chosen) : options(chosen) {}

  // One activity: rate and time left are of it alone.
  void follow(const Progress& progress) {
    if (progress.activity != activity || progress.done < first_done) {
      activity = progress.activity;
      began = SteadyClock::now();
      first_done = progress.done;
      shown = {};
    }
  }

  [[nodiscard]] std::string text(const Progress& progress) const {
    const auto amount = [&](std::uint64_t value) {
      return progress.in_bytes ? format_size(value) : std::to_string(value);
    };
    std::string line = printable(progress.activity) + ": " + amount(progress.done);
    if (progress.total > 0) {
      line += " of " + amount(progress.total);
    }
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - began).count();
    const double rate = seconds > 0.5 ? static_cast<double>(progress.done - first_done) / seconds : 0.0;
    if (rate > 0 && progress.in_bytes) {
      line += ", " + format_size(static_cast<std::uint64_t>(rate)) + "/s";
    }
    if (rate > 0 && progress.total > progress.done) {
      line += ", " +
              format_duration(static_cast<std::uint64_t>(static_cast<double>(progress.total - progress.done) / rate)) +
              " left";
    }
    if (!progress.waiting_for.empty()) {
      line += "; waiting for " + printable(progress.waiting_for);
    }
    return line;
  }

  void erase() {
    if (drawn) {
      std::fputs("\r\x1b[K", stderr);
      drawn = false;
    }
  }

  TerminalOptions options;
  std::mutex mutex;
  std::string activity;
  SteadyClock::time_point began;
  SteadyClock::time_point shown;
  std::uint64_t first_done = 0;
  bool drawn = false;
};

Terminal::Terminal(TerminalOptions options) : m_impl(std::make_unique<Impl>(options)) {}

Terminal::~Terminal() {
  clear_progress();
}

void Terminal::event(const Event& event) noexcept try {
  const Level least = m_impl->options.quiet ? Level::warning : m_impl->options.verbose > 0 ? Level::debug : Level::info;
  // Errors end up in the one error of the run, which is rendered at its end: here they would stand twice.
  if (event.level < least || event.level == Level::error) {
    return;
  }
  std::string line;
  if (event.level == Level::warning) {
    line = m_impl->options.color ? "\x1b[1;33mwarning:\x1b[0m " : "warning: ";
  }
  line += printable(event.message) + "\n";
  const std::lock_guard lock(m_impl->mutex);
  m_impl->erase();
  std::fputs(line.c_str(), stderr);
} catch (...) {  // NOLINT(bugprone-empty-catch): a message that cannot be printed must not end the run
}

void Terminal::progress(const Progress& progress) noexcept try {
  if (m_impl->options.quiet) {
    return;
  }
  const std::lock_guard lock(m_impl->mutex);
  m_impl->follow(progress);
  const auto now = SteadyClock::now();
  const bool first = m_impl->shown == SteadyClock::time_point{};
  // Without a terminal the first line comes after the same wait as the others: short work says nothing.
  if (first && !m_impl->options.is_terminal) {
    m_impl->shown = now;
    return;
  }
  if (!first && now - m_impl->shown < (m_impl->options.is_terminal ? SteadyClock::duration(redraw_every)
                                                                   : SteadyClock::duration(line_every))) {
    return;
  }
  m_impl->shown = now;
  if (m_impl->options.is_terminal) {
    std::fputs(("\r\x1b[K" + cut(m_impl->text(progress), terminal_width() - 1)).c_str(), stderr);
    std::fflush(stderr);
    m_impl->drawn = true;
  } else {
    std::fputs((m_impl->text(progress) + "\n").c_str(), stderr);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): as above
}

void Terminal::clear_progress() noexcept {
  const std::lock_guard lock(m_impl->mutex);
  m_impl->erase();
}

}  // namespace rocm_offline::ui
