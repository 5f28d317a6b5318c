#include "rocm_offline/logs/logger.hpp"

#include <fcntl.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <random>

#include "record.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"

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

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// One of the two files. spdlog's own file sink would open the path a second time and keep no errno.
class FileSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  FileSink(FileDescriptor fd, std::atomic<int>& first_errno) : m_fd(std::move(fd)), m_first_errno(first_errno) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string_view rest(message.payload.data(), message.payload.size());
    while (!rest.empty()) {
      const ssize_t put = ::write(m_fd.get(), rest.data(), rest.size());
      if (put < 0 && errno != EINTR) {
        int none = 0;
        m_first_errno.compare_exchange_strong(none, errno);
        return;
      }
      rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
    }
  }
  void flush_() override {}  // nothing is kept back: the last line before a crash is the one that matters

 private:
  FileDescriptor m_fd;
  std::atomic<int>& m_first_errno;
};

// A new file only: two runs must never write into one.
Result<std::unique_ptr<spdlog::logger>> file_logger(const fs::path& path, std::atomic<int>& first_errno) {
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!fd.valid()) {
    return fail(system_error(Stage::logs, "cannot create the log file " + path.string(), path, errno));
  }
  auto writer = std::make_unique<spdlog::logger>("", std::make_shared<FileSink>(std::move(fd), first_errno));
  writer->set_level(spdlog::level::trace);
  return writer;
}

}  // namespace

struct Logger::Impl {
  LoggerOptions options;
  const Clock& clock;
  RunIdentity run;
  Redactor redactor;
  std::atomic<int> first_errno = 0;
  std::mutex mutex;
  bool discards = false;
  std::vector<Record> buffered;
  std::optional<LogPaths> paths;
  std::unique_ptr<spdlog::logger> text, jsonl;

  void add(Record record) {
    const std::lock_guard lock(mutex);
    if (discards || record.event.level < options.level) {
      return;
    }
    if (!paths) {
      buffered.push_back(std::move(record));
      return;
    }
    write(record);
  }

  void write(const Record& record) {
    text->info(text_lines(record, redactor) + "\n");
    jsonl->info(json_line(record, run, redactor) + "\n");
  }

  void close(const LogPaths& files) {
    text.reset();
    jsonl.reset();
    for (const fs::path& path : {files.text, files.jsonl}) {
      ::unlink(path.c_str());
    }
  }

  // A thread that cannot even allocate must be able to say so.
  void lost() noexcept {
    int none = 0;
    first_errno.compare_exchange_strong(none, EIO);
  }
};

Logger::Logger(LoggerOptions options, const Clock& clock)
    : m_impl(new Impl{.options = options,
                      .clock = clock,
                      .run = {.run = random_run_id(), .operation = options.operation, .bundle_id = {}},
                      .redactor = {},
                      .first_errno = 0,
                      .mutex = {},
                      .discards = false,
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
  const std::lock_guard lock(m_impl->mutex);
  m_impl->first_errno = 0;
  auto text = file_logger(paths.text, m_impl->first_errno);
  if (!text) {
    return fail(std::move(text).error());
  }
  auto jsonl = file_logger(paths.jsonl, m_impl->first_errno);
  if (!jsonl) {
    ::unlink(paths.text.c_str());
    return fail(std::move(jsonl).error());
  }
  m_impl->text = std::move(*text);
  m_impl->jsonl = std::move(*jsonl);
  for (const Record& record : m_impl->buffered) {
    m_impl->write(record);
  }
  if (const int problem = m_impl->first_errno; problem != 0) {
    m_impl->close(paths);
    return fail(system_error(Stage::logs, "cannot write the log in " + directory.string(), directory, problem));
  }
  m_impl->paths = paths;
  m_impl->buffered.clear();
  return paths;
}

void Logger::discard() {
  const std::lock_guard lock(m_impl->mutex);
  m_impl->discards = true;
  m_impl->buffered.clear();
}

void Logger::run_started(std::string_view program, const std::vector<std::string>& arguments) noexcept try {
  const std::string request = join(arguments, " ");
  const std::string version(program_version());
  Event first{.level = Level::info,
              .name = "logs.run.started",
              .message = std::string(program) + " " + version + " " + request,
              .fields = {{"version", version}, {"request", request}}};
  if (!m_impl->run.bundle_id.empty()) {
    first.fields.emplace_back("bundle_id", m_impl->run.bundle_id);
  }
  first.fields.emplace_back("host", host_name());
  first.fields.emplace_back("user", std::to_string(::geteuid()));
  event(first);
} catch (...) {
  m_impl->lost();
}

void Logger::run_finished(int exit_status) noexcept try {
  event({.level = Level::info,
         .name = "logs.run.finished",
         .message = "exit status " + std::to_string(exit_status),
         .fields = {{"exit_status", std::to_string(exit_status)}}});
} catch (...) {
  m_impl->lost();
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
  m_impl->lost();  // logging never ends a run
}

void Logger::error(const Error& error) noexcept try {
  m_impl->add({.time = std::chrono::system_clock::now(),
               .event = {.level = Level::error,
                         .name = "logs.run.failed",
                         .message = error.message,
                         .fields = {{"exit_status", std::to_string(exit_status(error.code))}}},
               .error = error});
} catch (...) {
  m_impl->lost();
}

std::optional<Error> Logger::failure() const {
  const int problem = m_impl->first_errno;
  if (problem == 0) {
    return std::nullopt;
  }
  const auto files = paths();
  Error error =
      system_error(Stage::logs, "the log is incomplete", files ? files->text.parent_path() : fs::path(), problem);
  error.help = "free space there, or choose another folder with --log-dir";
  return error;
}

const std::string& Logger::run_id() const {
  return m_impl->run.run;
}

std::vector<fs::path> Logger::files() const {
  const auto written = paths();
  return written ? std::vector<fs::path>{written->text, written->jsonl} : std::vector<fs::path>{};
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
