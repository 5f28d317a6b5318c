#include "part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <sstream>

#include "journal.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

// Who holds the lock, as the kernel tells (proc(5), /proc/locks: "1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF"). Not
// there on network file systems, and elsewhere only of processes that this one may see.
std::optional<long> lock_holder(const fs::path& path) {
  struct stat status {};
  const auto locks = read_file(Stage::bundle, "/proc/locks", std::uint64_t{4} << 20U);
  if (!locks || ::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  const std::string inode = ":" + std::to_string(status.st_ino);
  for (const std::string& line : split(*locks, '\n')) {
    std::istringstream words(line);
    std::string number, kind, advice, access, file;
    long pid = 0;
    if (words >> number >> kind >> advice >> access >> pid >> file && kind == "FLOCK" && file.ends_with(inode)) {
      return pid > 0 ? std::optional(pid) : std::nullopt;
    }
  }
  return std::nullopt;
}

Error busy(const OutputPaths& paths) {
  auto holder = lock_holder(paths.part);
  holder = holder ? holder : read_journal_holder(paths.journal);
  Error error = {.code = ErrorCode::output_busy,
                 .stage = Stage::bundle,
                 .message = "another create is writing " + paths.output.string(),
                 .reason = (holder ? "process " + std::to_string(*holder) : std::string("a process")) + " holds " +
                           paths.part.string(),
                 .details = {{"path", paths.part.string()}},
                 .help = "wait until it has ended, or write to another file with -o"};
  if (holder) {
    error.details["pid"] = std::to_string(*holder);
  }
  return error;
}

Error cannot_write(const OutputPaths& paths, int errno_value) {
  Error error = system_error(Stage::bundle, "cannot write " + paths.output.string(), paths.part, errno_value);
  error.help = "choose a folder that exists and that you may write to with -o";
  return error;
}

// Whether the path still leads to the open file: the previous holder may have renamed it meanwhile.
bool is_same_file(int fd, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

Error no_space(std::uint64_t need, std::uint64_t have, const fs::path& path) {
  return {.code = ErrorCode::no_space,
          .stage = Stage::bundle,
          .message = "there is not enough space for the bundle in " + path.parent_path().string(),
          .reason = format_size(need) + " are needed, " + format_size(have) + " are free",
          .details = {{"path", path.string()}, {"need", std::to_string(need)}, {"have", std::to_string(have)}},
          .help = "free space there, or choose another place with -o"};
}

}  // namespace

OutputPaths output_paths(const fs::path& output) {
  // A bare name gets its folder spelled out, so that messages and fsync have one.
  const fs::path full = output.has_parent_path() ? output : fs::path(".") / output;
  const auto with = [&](const char* suffix) {
    fs::path path = full;
    path += suffix;
    return path;
  };
  return {full, with(".part"), with(".part.journal"), with(".sha256")};
}

Result<FileDescriptor> lock_part(const OutputPaths& paths) {
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    FileDescriptor fd(::open(paths.part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) {
      return fail(cannot_write(paths, errno));
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        return fail(busy(paths));
      }
      // Some network file systems have no locks; there nothing but care keeps two creates apart.
      if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS) {
        return fail(cannot_write(paths, errno));
      }
    }
    if (is_same_file(fd.get(), paths.part)) {
      return fd;
    }
  }
  return fail(busy(paths));
}

Result<Done> reserve_space(int fd, std::uint64_t size, const fs::path& path) {
  struct stat before {};
  struct statvfs volume {};
  if (::fstat(fd, &before) != 0 || ::fstatvfs(fd, &volume) != 0) {
    return fail(system_error(Stage::bundle, "cannot write the bundle", path, errno));
  }
  const std::uint64_t allocated = static_cast<std::uint64_t>(before.st_blocks) * 512;
  const std::uint64_t need = size > allocated ? size - allocated : 0;
  const std::uint64_t have = std::uint64_t{volume.f_bavail} * volume.f_frsize;
  int outcome = 0;
  do {
    outcome = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  } while (outcome != 0 && errno == EINTR);
  const int error = errno;
  if (outcome == 0) {
    return Done{};
  }
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    // ext4 keeps what a failed call has allocated.
    (void)::ftruncate(fd, before.st_size);
    Error refused = no_space(need, have, path);
    if (error != ENOSPC) {
      refused.reason = error == EFBIG ? "the file system cannot hold a file of " + format_size(size)
                                      : format_size(need) + " are needed, more than your quota allows";
    }
    return fail(std::move(refused));
  }
  if (error != EOPNOTSUPP && error != ENOSYS) {
    return fail(system_error(Stage::bundle, "cannot write the bundle", path, error));
  }
  if (need > have) {
    return fail(no_space(need, have, path));
  }
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0) {
    return fail(system_error(Stage::bundle, "cannot write the bundle", path, errno));
  }
  return Done{};
}

}  // namespace rocm_offline::bundle
