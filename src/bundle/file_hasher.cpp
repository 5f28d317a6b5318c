#include "file_hasher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace rocm_offline::bundle {

namespace {

constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;
// Write-out is asked for in larger steps: few requests, and the disk is busy while the network still brings more.
constexpr std::uint64_t write_out_size = std::uint64_t{16} << 20U;

}  // namespace

FileHasher::~FileHasher() {
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_stopped = true;
  }
  m_changed.notify_all();
  if (m_thread.joinable()) {
    m_thread.join();
  }
}

void FileHasher::set_limit(std::uint64_t offset, bool last) {
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_limit = std::max(m_limit, offset);
    m_last = m_last || last;
  }
  m_changed.notify_all();
}

void FileHasher::advance(std::uint64_t offset) {
  set_limit(offset, false);
  if (!m_thread.joinable()) {
    try {
      m_thread = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return;  // no thread to be had: finish() does all of it
    }
  }
}

std::optional<Sha256Digest> FileHasher::finish(std::uint64_t size) {
  set_limit(size, true);
  if (m_thread.joinable()) {
    m_thread.join();
  } else {
    run();
  }
  return m_readable && m_done == size ? std::optional(m_hash.finish()) : std::nullopt;
}

void FileHasher::run() {
  std::string piece;
  std::uint64_t written_out = 0;
  while (true) {
    std::uint64_t limit = 0;
    {
      std::unique_lock<std::mutex> lock(m_mutex);
      m_changed.wait(lock, [this] { return m_stopped || m_last || m_limit > m_done; });
      if (m_stopped || m_limit == m_done) {
        return;
      }
      limit = m_limit;
    }
    piece.resize(std::min(piece_size, limit - m_done));
    const ssize_t got = ::pread(m_fd, piece.data(), piece.size(), static_cast<off_t>(m_done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      m_readable = false;
      return;
    }
    m_hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    m_done += static_cast<std::uint64_t>(got);
    if (m_done - written_out >= write_out_size) {
      // Only a hint: what it does not start, fsync(2) does.
      (void)::sync_file_range(m_fd, static_cast<off_t>(written_out), static_cast<off_t>(m_done - written_out),
                              SYNC_FILE_RANGE_WRITE);
      written_out = m_done;
    }
  }
}

}  // namespace rocm_offline::bundle
