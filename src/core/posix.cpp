#include "rocm_offline/core/posix.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline {

namespace fs = std::filesystem;

UnixTime SystemClock::now() const {
  return static_cast<UnixTime>(std::time(nullptr));
}

FileDescriptor::~FileDescriptor() {
  reset();
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    m_fd = std::exchange(other.m_fd, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (m_fd >= 0) {
    ::close(m_fd);
    m_fd = -1;
  }
}

Error system_error(Stage stage, std::string message, const fs::path& path, int errno_value) {
  Error error;
  error.stage = stage;
  error.message = std::move(message);
  error.reason = std::generic_category().message(errno_value);
  error.details["path"] = path.string();
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      error.code = ErrorCode::no_space;
      error.help = "free space there, or choose another place";
      break;
    case ENOENT:
    case ENOTDIR:
      error.code = ErrorCode::file_missing;
      error.help = "check the path";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      error.code = ErrorCode::io_error;
      error.help = "choose a place where this user may read and write";
      break;
    default:
      error.code = ErrorCode::io_error;
      error.help = "check the file system and the disk";
  }
  return error;
}

namespace {

// An index of 57 MB takes 14,000 page faults otherwise, as long as reading it. Only a hint (madvise(2)).
void prefer_huge_pages(char* begin, std::size_t size) {
  constexpr std::uintptr_t huge_page = std::uintptr_t{2} << 20U;
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + huge_page - 1) & ~(huge_page - 1);
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + size) & ~(huge_page - 1);
  if (last > first) {
    (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
}

}  // namespace

Result<std::string> read_file(Stage stage, const fs::path& path, std::uint64_t max_bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) {
    return fail(system_error(stage, "cannot open " + path.string(), path, errno));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return fail(system_error(stage, "cannot read " + path.string(), path, EISDIR));
  }
  std::string content;
  constexpr std::size_t step = 1U << 16U;
  // One allocation for regular files, the loop's last step included; the size is only a hint, the loop decides.
  if (S_ISREG(info.st_mode) && info.st_size > 0 && static_cast<std::uint64_t>(info.st_size) <= max_bytes) {
    content.reserve(static_cast<std::size_t>(info.st_size) + step);
    prefer_huge_pages(content.data(), content.capacity());
  }
  for (;;) {
    const std::size_t used = content.size();
    content.resize(used + step);
    const ssize_t got = ::read(fd.get(), content.data() + used, step);
    if (got < 0 && errno == EINTR) {
      content.resize(used);
      continue;
    }
    if (got < 0) {
      return fail(system_error(stage, "cannot read " + path.string(), path, errno));
    }
    content.resize(used + static_cast<std::size_t>(got));
    if (content.size() > max_bytes) {
      return fail({.code = ErrorCode::io_error,
                   .stage = stage,
                   .message = path.string() + " is too large",
                   .reason = "it is larger than " + format_size(max_bytes) + ", the most that is read of such a file",
                   .details = {{"path", path.string()}, {"limit", std::to_string(max_bytes)}},
                   .help = "check that this is the file you meant"});
    }
    if (got == 0) {
      return content;
    }
  }
}

Result<Done> write_at(Stage stage, int fd, std::uint64_t offset, std::string_view data, const fs::path& path) {
  while (!data.empty()) {
    const ssize_t put = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return fail(system_error(stage, "cannot write " + path.string(), path, errno));
    }
    offset += static_cast<std::uint64_t>(put);
    data.remove_prefix(static_cast<std::size_t>(put));
  }
  return Done{};
}

Result<std::string> read_at(Stage stage, int fd, std::uint64_t offset, std::uint64_t size, const fs::path& path) {
  std::string content(size, '\0');
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, content.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail(system_error(stage, "cannot read " + path.string(), path, errno));
    }
    if (got == 0) {
      return fail({.code = ErrorCode::io_error,
                   .stage = stage,
                   .message = "cannot read " + path.string(),
                   .reason = "the file ends early",
                   .details = {{"path", path.string()},
                               {"offset", std::to_string(offset)},
                               {"expected", std::to_string(size)},
                               {"actual", std::to_string(done)}},
                   .help = "get a complete copy of the file"});
    }
    done += static_cast<std::uint64_t>(got);
  }
  return content;
}

Result<Done> write_file_atomically(Stage stage, const fs::path& path, std::string_view content, unsigned mode) {
  std::string name = path.string() + ".XXXXXX";
  const FileDescriptor fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return fail(system_error(stage, "cannot create a file beside " + path.string(), path, errno));
  }
  const auto discard = [&](Error error) {
    ::unlink(name.c_str());
    return fail(std::move(error));
  };
  if (auto written = write_at(stage, fd.get(), 0, content, path); !written) {
    return discard(std::move(written).error());
  }
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0 || ::fsync(fd.get()) != 0 ||
      ::rename(name.c_str(), path.c_str()) != 0) {
    return discard(system_error(stage, "cannot write " + path.string(), path, errno));
  }
  // The rename is durable only when the folder is.
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const FileDescriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) {
    ::fsync(folder.get());
  }
  return Done{};
}

Result<Done> make_directories(Stage stage, const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return fail(system_error(stage, "cannot create the folder " + path.string(), path, error.value()));
  }
  return Done{};
}

Result<TemporaryDirectory> TemporaryDirectory::create(Stage stage, const fs::path& parent, std::string_view prefix) {
  std::string name = (parent / (std::string(prefix) + ".XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(system_error(stage, "cannot create a private folder in " + parent.string(), parent, errno));
  }
  return TemporaryDirectory(fs::path(name));
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!m_path.empty()) {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
  }
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : m_path(std::exchange(other.m_path, fs::path())) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(m_path, other.m_path);
  return *this;
}

std::optional<fs::path> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    return ::access(std::string(name).c_str(), X_OK) == 0 ? std::optional(fs::path(name)) : std::nullopt;
  }
  const char* search = std::getenv("PATH");
  for (const std::string& folder : split(search != nullptr ? search : "/usr/sbin:/usr/bin:/sbin:/bin", ':')) {
    if (folder.empty()) {
      continue;
    }
    fs::path candidate = fs::path(folder) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

}  // namespace rocm_offline
