// Ports: what the stages need of the world. Each has a handful of functions and a fake in tests/support.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline {

// Seconds since 1970-01-01T00:00:00Z.
using UnixTime = std::int64_t;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual UnixTime now() const = 0;
};

// Set by a signal handler; every long loop asks it. Copies share the flag.
class CancelToken {
 public:
  explicit CancelToken(const std::atomic<bool>* flag = nullptr) : m_flag(flag) {}
  [[nodiscard]] bool cancelled() const { return m_flag != nullptr && m_flag->load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>* m_flag;
};

// A program to start. Never a shell line: argv goes to execve as it is.
struct ProcessRequest {
  std::vector<std::string> argv{};                      // argv[0] is looked up in PATH of this process
  std::map<std::string, std::string> environment{};     // added to, or replacing, the inherited one
  bool clear_environment = false;                     // start from an empty one (plus `environment`)
  std::optional<std::filesystem::path> chroot{};        // run inside this root
  std::optional<std::filesystem::path> directory{};
  std::function<void(std::string_view line)> on_line{}; // each line of stdout and stderr, as it comes
  bool separate_errors = false;                         // for output that is parsed: stderr goes to `errors`
  std::size_t capture_limit = 16U << 20U;             // bytes of `output` kept; the rest is dropped and said
};

struct ProcessOutcome {
  int exit_code = 0;         // 128 + signal when killed
  std::string output{};        // stdout and stderr, in order; stdout alone when the errors are separate
  std::string errors{};        // stderr, when separate
  bool truncated = false;
};

class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // Standard input is /dev/null. Error only when the program could not be started (native_tool_failed).
  [[nodiscard]] virtual Result<ProcessOutcome> run(const ProcessRequest& request) = 0;
};

// Where received bytes go. Called from one thread at a time per member, offsets ascending without holes; begin() is
// called with the offset that the bytes start at, again with 0 when a transfer starts over.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  [[nodiscard]] virtual Result<Done> begin(std::uint64_t offset) = 0;
  [[nodiscard]] virtual Result<Done> write(std::uint64_t offset, std::string_view data) = 0;
};

}  // namespace rocm_offline
