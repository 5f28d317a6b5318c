#include "rocm_offline/logs/logger.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <random>

#include "record.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::logs {

namespace fs = std::filesystem;

namespace {

std::string random_run_id() {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::random_device device;
  std::string id;
  for (unsigned value = device(); id.size() < 8; value >>= 4U) {
    id.push_back(digits[value & 0x0fU]);
  }
  return id;
}

// A new file only: two runs must never write into one.
Result<Done> create_file(const fs::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!fd.valid()) {
    return fail(system_error(Stage::logs, "cannot create the log file " + path.string(), path, errno));
  }
  return Done{};
}

std::unique_ptr<spdlog::logger> file_logger(const fs::path& path, std::atomic<bool>& failed) {
  auto writer =
      std::make_unique<spdlog::logger>("", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string()));
  writer->set_pattern("%v");
  writer->set_level(spdlog::level::trace);
  writer->flush_on(spdlog::level::trace);  // the last line before a crash is the one that matters
  // spdlog's own handler would print each failure on standard error.
  writer->set_error_handler([&failed](const std::string&) { failed = true; });
  return writer;
}

}  // namespace

struct Logger::Impl {
  LoggerOptions options;
  const Clock& clock;
  RunIdentity run;
  Redactor redactor;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::vector<Record> buffered;
  std::optional<LogPaths> paths;
  std::unique_ptr<spdlog::logger> text, jsonl;

  void add(Record record) {
    const std::lock_guard lock(mutex);
    if (record.event.level < options.level) {
      return;
    }
    if (!paths) {
      buffered.push_back(std::move(record));
      return;
    }
    write(record);
  }

  void write(const Record& record) {
    text->info("{}", text_lines(record, redactor));
    jsonl->info("{}", json_line(record, run, redactor));
  }
};

Logger::Logger(LoggerOptions options, const Clock& clock)
    : m_impl(new Impl{.options = options,
                      .clock = clock,
                      .run = {.run = random_run_id(), .operation = options.operation, .bundle_id = {}},
                      .redactor = {},
                      .failed = false,
                      .mutex = {},
                      .buffered = {},
                      .paths = {},
                      .text = {},
                      .jsonl = {}}) {}

Logger::~Logger() = default;

Result<LogPaths> Logger::open(const fs::path& directory) {
  if (auto made = make_directories(Stage::logs, directory); !made) {
    return fail(std::move(made).error());
  }
  const std::string name =
      m_impl->options.operation + "-" + format_time_compact(m_impl->clock.now()) + "-" + m_impl->run.run;
  const LogPaths paths{.text = directory / (name + ".log"), .jsonl = directory / (name + ".jsonl")};
  for (const fs::path& path : {paths.text, paths.jsonl}) {
    if (auto created = create_file(path); !created) {
      return fail(std::move(created).error());
    }
  }
  const std::lock_guard lock(m_impl->mutex);
  try {
    m_impl->text = file_logger(paths.text, m_impl->failed);
    m_impl->jsonl = file_logger(paths.jsonl, m_impl->failed);
  } catch (const spdlog::spdlog_ex& problem) {
    Error error = system_error(Stage::logs, "cannot write the log", directory, EIO);
    error.reason = problem.what();
    return fail(std::move(error));
  }
  m_impl->paths = paths;
  for (const Record& record : m_impl->buffered) {
    m_impl->write(record);
  }
  m_impl->buffered.clear();
  return paths;
}

void Logger::add_secret(std::string_view secret) {
  const std::lock_guard lock(m_impl->mutex);
  m_impl->redactor.add_secret(secret);
}

void Logger::set_bundle_id(std::string bundle_id) {
  const std::lock_guard lock(m_impl->mutex);
  m_impl->run.bundle_id = std::move(bundle_id);
}

void Logger::event(const Event& event) noexcept try {
  m_impl->add({.time = std::chrono::system_clock::now(), .event = event, .error = {}});
} catch (...) {
  m_impl->failed = true;  // logging never ends a run
}

void Logger::error(const Error& error) noexcept try {
  m_impl->add({.time = std::chrono::system_clock::now(),
               .event = {.level = Level::error,
                         .name = "logs.run.failed",
                         .message = error.message,
                         .fields = {{"exit_status", std::to_string(exit_status(error.code))}}},
               .error = error});
} catch (...) {
  m_impl->failed = true;
}

bool Logger::failed() const noexcept {
  return m_impl->failed;
}

const std::string& Logger::run_id() const {
  return m_impl->run.run;
}

std::optional<LogPaths> Logger::paths() const {
  const std::lock_guard lock(m_impl->mutex);
  return m_impl->paths;
}

fs::path default_log_directory(const fs::path& root) {
  if (::geteuid() == 0) {
    return (root.empty() ? fs::path("/") : root) / "var/log/rocm-offline";
  }
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return fs::path(state) / "rocm-offline";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : "/") / ".local/state/rocm-offline";
}

}  // namespace rocm_offline::logs
