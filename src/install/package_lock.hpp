// Who holds the locks of dpkg and apt (fcntl(2) locks on files below var/lib/dpkg).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::install {

struct LockHolder {
  pid_t pid = 0;                           // 0: a process of another container
  std::string program;                     // /proc/PID/comm, or empty
  [[nodiscard]] std::string text() const;  // "apt-get (process 1234)"
};

// nullopt when nobody does, or when the lock files may not be read.
[[nodiscard]] std::optional<LockHolder> package_lock_holder(const std::filesystem::path& root);

// Waits up to `limit`, saying who is waited for; then native_tool_locked. cancelled when asked to stop.
[[nodiscard]] Result<Done> wait_for_package_lock(const std::filesystem::path& root, std::chrono::seconds limit,
                                                 EventSink& events, const CancelToken& cancel);

}  // namespace rocm_offline::install
