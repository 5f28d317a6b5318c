#include "package_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

std::string LockHolder::text() const {
  if (pid <= 0) {
    return "a process of another container";
  }
  return (program.empty() ? "a process" : program) + " (process " + std::to_string(pid) + ")";
}

std::optional<LockHolder> package_lock_holder(const fs::path& root) {
  for (const char* name : {"var/lib/dpkg/lock-frontend", "var/lib/dpkg/lock"}) {
    const FileDescriptor file(::open((root / name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) {
      continue;
    }
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
      continue;
    }
    LockHolder holder{.pid = lock.l_pid, .program = ""};
    if (holder.pid > 0) {
      auto name_text = read_file(Stage::install, "/proc/" + std::to_string(holder.pid) + "/comm", 256);
      holder.program = name_text ? std::string(trim(*name_text)) : "";
    }
    return holder;
  }
  return std::nullopt;
}

Result<Done> wait_for_package_lock(const fs::path& root, std::chrono::seconds limit, EventSink& events,
                                   const CancelToken& cancel) {
  const auto begin = std::chrono::steady_clock::now();
  bool told = false;
  for (;;) {
    const auto holder = package_lock_holder(root);
    if (!holder) {
      return Done{};
    }
    if (cancel.cancelled()) {
      return fail(Error{.code = ErrorCode::cancelled,
                        .stage = Stage::install,
                        .message = "stopped while waiting for the package manager",
                        .reason = "a signal asked for it",
                        .help = "run the same command again; nothing was changed"});
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= limit) {
      return fail(Error{.code = ErrorCode::native_tool_locked,
                        .stage = Stage::install,
                        .message = "the package manager is locked",
                        .reason = holder->text() + " holds its lock, for more than " +
                                  format_duration(static_cast<std::uint64_t>(limit.count())),
                        .details = {{"pid", std::to_string(holder->pid)}, {"program", holder->program}},
                        .help = "wait until it has finished, then run the same command again"});
    }
    if (!told) {
      events.event({.level = Level::warning,
                    .name = "install.native.waiting",
                    .message = "waiting for " + holder->text() + ", which holds the package manager's lock",
                    .fields = {{"pid", std::to_string(holder->pid)}, {"program", holder->program}}});
      told = true;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
    events.progress({.stage = Stage::install,
                     .activity = "waiting for the package manager, in seconds",
                     .done = static_cast<std::uint64_t>(seconds),
                     .total = static_cast<std::uint64_t>(limit.count()),
                     .in_bytes = false,
                     .waiting_for = holder->text()});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace rocm_offline::install
