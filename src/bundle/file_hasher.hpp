// Digest of the whole .part, computed behind the writers so that little is left to do at the end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "rocm_offline/core/digest.hpp"

namespace rocm_offline::bundle {

class FileHasher {
 public:
  // Reads from a file that outlives it.
  explicit FileHasher(int fd) : m_fd(fd) {}
  ~FileHasher();
  FileHasher(const FileHasher&) = delete;
  FileHasher& operator=(const FileHasher&) = delete;

  // Bytes before `offset` are final. Starts hashing them in the background, and asks the kernel to write them out.
  void advance(std::uint64_t offset);
  // All `size` bytes are final; waits for the digest. nullopt when the file cannot be read.
  [[nodiscard]] std::optional<Sha256Digest> finish(std::uint64_t size);

 private:
  void run();
  void set_limit(std::uint64_t offset, bool last);

  int m_fd;
  std::mutex m_mutex{};
  std::condition_variable m_changed{};
  std::uint64_t m_limit = 0;
  bool m_last = false;     // no further bytes will come
  bool m_stopped = false;  // the digest is not wanted any more
  bool m_readable = true;
  Sha256 m_hash{};  // of the thread alone, until it has been joined
  std::uint64_t m_done = 0;
  std::thread m_thread{};
};

}  // namespace rocm_offline::bundle
