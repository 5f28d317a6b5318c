#include "rooted_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <vector>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::distros {
namespace {

constexpr int max_links = 40;

// A descriptor or an errno value.
struct Opened {
  FileDescriptor file;
  int failure = 0;
};

Opened open_by_kernel(int root, const std::string& relative) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
  return {FileDescriptor(static_cast<int>(fd)), fd < 0 ? errno : 0};
}

std::string link_target(int fd, int& failure) {
  std::array<char, 4096> buffer{};
  const ssize_t size = readlinkat(fd, "", buffer.data(), buffer.size());
  failure = size < 0 ? errno : static_cast<std::size_t>(size) == buffer.size() ? ENAMETOOLONG : 0;
  return failure == 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

// Walks the path part by part and never lets the kernel follow a link, so that ".." and absolute targets stay inside.
class Walk {
 public:
  Walk(int root, std::string_view relative) : m_root(root) { push_parts(relative); }

  Opened open() {
    while (!m_parts.empty()) {
      const std::string part = m_parts.front();
      m_parts.pop_front();
      if (part == "..") {
        if (!m_folders.empty()) {
          m_folders.pop_back();
        }
        continue;
      }
      // The file itself: NOFOLLOW again, so that a link put there meanwhile is refused, not followed.
      if (m_parts.empty() && !is_link(part)) {
        const int fd = openat(here(), part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        return {FileDescriptor(fd), fd < 0 ? errno : 0};
      }
      if (const int failure = enter(part); failure != 0) {
        return {FileDescriptor(), failure};
      }
    }
    return {FileDescriptor(), EISDIR};
  }

 private:
  [[nodiscard]] int here() const { return m_folders.empty() ? m_root : m_folders.back().get(); }

  [[nodiscard]] bool is_link(const std::string& part) const {
    struct stat status {};
    return fstatat(here(), part.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  }

  void push_parts(std::string_view path) {
    std::deque<std::string> parts;
    for (const std::string& part : split(path, '/')) {
      if (!part.empty() && part != ".") {
        parts.push_back(part);
      }
    }
    m_parts.insert(m_parts.begin(), parts.begin(), parts.end());
  }

  int enter(const std::string& part) {
    FileDescriptor next(openat(here(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) {
      return errno;
    }
    struct stat status {};
    if (fstat(next.get(), &status) != 0) {
      return errno;
    }
    if (!S_ISLNK(status.st_mode)) {
      m_folders.push_back(std::move(next));
      return 0;
    }
    return follow(next.get());
  }

  int follow(int link) {
    if (++m_links > max_links) {
      return ELOOP;
    }
    int failure = 0;
    const std::string target = link_target(link, failure);
    if (failure == 0) {
      if (target.starts_with('/')) {
        m_folders.clear();
      }
      push_parts(target);
    }
    return failure;
  }

  int m_root;
  int m_links = 0;
  std::deque<std::string> m_parts;
  std::vector<FileDescriptor> m_folders;
};

Error open_error(const std::filesystem::path& root, std::string_view relative, int failure) {
  return system_error(Stage::check, "cannot read '/" + std::string(relative) + "' of the machine", root / relative,
                      failure);
}

Result<std::string> read_at_most(const FileDescriptor& file, const std::filesystem::path& path,
                                 std::uint64_t max_bytes) {
  std::string text;
  std::array<char, 8192> buffer{};
  while (text.size() <= max_bytes) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return fail(system_error(Stage::check, "cannot read a file of the machine", path, errno));
    }
    if (size == 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

Result<FileDescriptor> open_in_root(const std::filesystem::path& root, std::string_view relative, LinkResolution how) {
  const FileDescriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) {
    return fail(system_error(Stage::check, "cannot open the root folder", root, errno));
  }
  Opened opened{FileDescriptor(), ENOSYS};
  if (how == LinkResolution::kernel_first) {
    opened = open_by_kernel(folder.get(), std::string(relative));
  }
  // EPERM is the answer of older seccomp filters to system calls that they do not know.
  if (opened.failure == ENOSYS || opened.failure == EPERM) {
    opened = Walk(folder.get(), relative).open();
  }
  if (opened.failure != 0) {
    return fail(open_error(root, relative, opened.failure));
  }
  struct stat status {};
  if (fstat(opened.file.get(), &status) != 0) {
    return fail(open_error(root, relative, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(open_error(root, relative, S_ISDIR(status.st_mode) ? EISDIR : EINVAL));
  }
  return std::move(opened.file);
}

Result<std::string> read_start_in_root(const std::filesystem::path& root, std::string_view relative,
                                       std::uint64_t max_bytes) {
  const Result<FileDescriptor> file = open_in_root(root, relative);
  if (!file) {
    return fail(file.error());
  }
  Result<std::string> text = read_at_most(*file, root / relative, max_bytes);
  if (text && text->size() > max_bytes) {
    text->resize(max_bytes);
  }
  return text;
}

Result<std::string> read_file_in_root(const std::filesystem::path& root, std::string_view relative,
                                      std::uint64_t max_bytes) {
  Result<std::string> text = read_start_in_root(root, relative, max_bytes + 1);
  if (text && text->size() > max_bytes) {
    return fail({.code = ErrorCode::io_error,
                 .stage = Stage::check,
                 .message = "'/" + std::string(relative) + "' of the machine is larger than any such file",
                 .reason = "more than " + std::to_string(max_bytes) + " bytes",
                 .details = {{"path", (root / relative).string()}},
                 .help = "check that the folder is the root of an installed system"});
  }
  return text;
}

}  // namespace rocm_offline::distros
