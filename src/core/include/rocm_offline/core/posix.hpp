// The real Clock, ProcessRunner and small file functions. Size caps are the caller's to choose; there is no
// uncapped read. Errors carry path and errno text; ENOSPC and EDQUOT are no_space (exit 8), ENOENT file_missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] UnixTime now() const override;
};

class PosixProcessRunner final : public ProcessRunner {
 public:
  [[nodiscard]] Result<ProcessOutcome> run(const ProcessRequest& request) override;
};

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : m_fd(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] bool valid() const { return m_fd >= 0; }
  void reset();

 private:
  int m_fd = -1;
};

// An error from errno: code by its value, reason "No such file or directory", details path.
[[nodiscard]] Error system_error(Stage stage, std::string message, const std::filesystem::path& path, int errno_value);

// Whole file, refused (io_error, naming the cap) when larger than max_bytes. Regular files and pipes.
[[nodiscard]] Result<std::string> read_file(Stage stage, const std::filesystem::path& path, std::uint64_t max_bytes);
// Writes to a temporary name beside it, fsyncs, renames: readers see the old file or the whole new one.
[[nodiscard]] Result<Done> write_file_atomically(Stage stage, const std::filesystem::path& path, std::string_view content,
                                                 unsigned mode = 0644);
// mkdir -p.
[[nodiscard]] Result<Done> make_directories(Stage stage, const std::filesystem::path& path);
// pwrite(2) until all is written.
[[nodiscard]] Result<Done> write_at(Stage stage, int fd, std::uint64_t offset, std::string_view data,
                                    const std::filesystem::path& path);
// Exactly size bytes from offset; fewer is an io_error ("file ends early").
[[nodiscard]] Result<std::string> read_at(Stage stage, int fd, std::uint64_t offset, std::uint64_t size,
                                          const std::filesystem::path& path);

// A private folder (mkdtemp, 0700) below `parent`, removed with everything in it at destruction.
class TemporaryDirectory {
 public:
  [[nodiscard]] static Result<TemporaryDirectory> create(Stage stage, const std::filesystem::path& parent,
                                                         std::string_view prefix);
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : m_path(std::move(path)) {}
  std::filesystem::path m_path;
};

// An executable in PATH, or nullopt.
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace rocm_offline
