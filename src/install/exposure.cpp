#include "exposure.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t max_index_bytes = 256U << 20U;

std::string repository_folder(const bundle::ManifestTarget& target) {
  return "repos/" + target.target.id;
}

bool is_package_path(const bundle::ManifestTarget& target, const std::string& path) {
  return std::any_of(target.packages.begin(), target.packages.end(),
                     [&](const bundle::ManifestPackage& package) { return package.path == path; });
}

std::string errno_text(const char* step) {
  return std::string(step) + ": " + std::generic_category().message(errno);
}

// A read-only loop device for the file that goes away with its last user.
Result<std::pair<FileDescriptor, std::string>> attach_loop_device(const fs::path& file) {
  const auto failed = [&](const char* step) {
    return fail(system_error(Stage::install, "cannot attach a loop device", errno_text(step), errno));
  };
  const FileDescriptor backing(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!backing.valid()) {
    return failed("opening the bundle");
  }
  const FileDescriptor control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control.valid()) {
    return failed("/dev/loop-control");
  }
  // Another process may take the free device first: asked again a few times.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) {
      return failed("LOOP_CTL_GET_FREE");
    }
    std::string device = "/dev/loop" + std::to_string(number);
    FileDescriptor loop(::open(device.c_str(), O_RDONLY | O_CLOEXEC));
    if (!loop.valid()) {
      return failed("opening the loop device");
    }
    if (::ioctl(loop.get(), LOOP_SET_FD, backing.get()) != 0) {
      if (errno == EBUSY) {
        continue;
      }
      return failed("LOOP_SET_FD");
    }
    struct loop_info64 info {};
    info.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR;
    if (::ioctl(loop.get(), LOOP_SET_STATUS64, &info) != 0) {
      const int reason = errno;
      ::ioctl(loop.get(), LOOP_CLR_FD, 0);
      errno = reason;
      return failed("LOOP_SET_STATUS64");
    }
    return std::pair{std::move(loop), std::move(device)};
  }
  errno = EBUSY;
  return failed("LOOP_SET_FD");
}

Result<Done> mount_image(const bundle::BundleReader& bundle, const fs::path& point) {
  const auto failed = [&](const char* step) {
    return fail(system_error(Stage::install, "cannot mount the bundle", errno_text(step), errno));
  };
  // Without a namespace of its own a kill would leave the mount behind.
  if (::unshare(CLONE_NEWNS) != 0) {
    return failed("unshare");
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return failed("making mounts private");
  }
  std::string device = bundle.path().string();
  FileDescriptor loop;
  if (!bundle.is_block_device()) {
    auto attached = attach_loop_device(bundle.path());
    if (!attached) {
      return fail(std::move(attached).error());
    }
    std::tie(loop, device) = std::move(*attached);
  }
  if (auto made = make_directories(Stage::install, point); !made) {
    return made;
  }
  if (::mount(device.c_str(), point.c_str(), "iso9660", MS_RDONLY | MS_NODEV | MS_NOSUID | MS_NOEXEC, nullptr) != 0) {
    return failed("iso9660");
  }
  return Done{};
}

// The kernel reads our directory records its own way: the index seen through the mount must be the manifest's.
bool shows_index(const fs::path& image, const bundle::Manifest& manifest, const std::string& folder) {
  for (const bundle::ManifestFile& file : manifest.files) {
    if (!file.path.starts_with(folder + "/")) {
      continue;
    }
    const auto text = read_file(Stage::install, image / file.path, max_index_bytes);
    if (!text || sha256_of(*text) != file.sha256) {
      return false;
    }
  }
  return true;
}

// Shares the extents of `source` (4096-aligned, padded) with the new file; false where the file system cannot.
bool reflink(int source, std::uint64_t offset, std::uint64_t size, int destination) {
  struct file_clone_range range {};
  range.src_fd = source;
  range.src_offset = offset;
  // A length that is no multiple of the block size is refused (measured.md §6): clone the padding, then cut it off.
  range.src_length = (size + bundle::alignment - 1) / bundle::alignment * bundle::alignment;
  return ::ioctl(destination, FICLONERANGE, &range) == 0 && ::ftruncate(destination, static_cast<off_t>(size)) == 0;
}

}  // namespace

Exposure::Exposure(Exposure&& other) noexcept
    : m_bundle(other.m_bundle),
      m_kind(other.m_kind),
      m_repository(std::move(other.m_repository)),
      m_copies(std::move(other.m_copies)),
      m_mount_point(std::exchange(other.m_mount_point, fs::path())) {}

Exposure::~Exposure() {
  if (!m_mount_point.empty()) {
    ::umount2(m_mount_point.c_str(), MNT_DETACH);
  }
}

Result<Exposure> Exposure::open(const bundle::BundleReader& bundle, const bundle::ManifestTarget& target,
                                const Places& places, bool may_mount, EventSink& events) {
  const std::string folder = repository_folder(target);
  if (bundle.is_tree() && places.root == "/") {
    Exposure exposure(bundle, ExposureKind::in_place);
    exposure.m_repository = fs::absolute(bundle.path()) / folder;
    events.event({.level = Level::info,
                  .name = "install.repository.used_in_place",
                  .message = "using the packages where the image is mounted",
                  .fields = {{"path", exposure.m_repository.string()}}});
    return exposure;
  }
  std::string reason =
      places.root != "/" ? "the system to install on is below another root" : "mounting is switched off";
  if (may_mount && !bundle.is_tree()) {
    const fs::path point = places.work() / "image";
    auto mounted = mount_image(bundle, point);
    if (mounted) {
      Exposure exposure(bundle, ExposureKind::mounted);
      exposure.m_mount_point = point;
      exposure.m_repository = places.work_inside() / "image" / folder;
      if (shows_index(point, bundle.manifest(), folder)) {
        events.event({.level = Level::info,
                      .name = "install.repository.mounted",
                      .message = "using the packages from the bundle as they are (private loop mount)",
                      .fields = {{"path", point.string()}}});
        return exposure;
      }
      reason = "the mounted image does not show the package index";
    } else {
      reason = mounted.error().details["path"];
    }
  }
  Exposure exposure(bundle, ExposureKind::copied);
  exposure.m_copies = places.work() / "copy";
  exposure.m_repository = places.work_inside() / "copy" / folder;
  events.event({.level = Level::info,
                .name = "install.repository.copied",
                .message = "the image is not mounted here (" + reason +
                           "): the needed packages are copied into a private folder",
                .fields = {{"path", exposure.m_copies.string()}, {"reason", reason}}});
  if (auto copied = exposure.copy_index(target); !copied) {
    return fail(std::move(copied).error());
  }
  return exposure;
}

std::uint64_t Exposure::bytes_to_copy(const std::vector<bundle::ManifestPackage>& packages) const {
  std::uint64_t bytes = 0;
  if (m_kind == ExposureKind::copied) {
    for (const bundle::ManifestPackage& package : packages) {
      bytes += (package.size + bundle::alignment - 1) / bundle::alignment * bundle::alignment;
    }
  }
  return bytes;
}

Result<Done> Exposure::copy_index(const bundle::ManifestTarget& target) {
  const std::string folder = repository_folder(target) + "/";
  for (const bundle::ManifestFile& file : m_bundle->manifest().files) {
    if (!file.path.starts_with(folder) || is_package_path(target, file.path)) {
      continue;
    }
    auto copied = copy_file({.path = file.path, .size = file.size, .sha256 = file.sha256}, file.offset);
    if (!copied) {
      return copied;
    }
  }
  return Done{};
}

Result<Done> Exposure::copy_file(const bundle::ImageFile& file, std::uint64_t offset) {
  const fs::path path = m_copies / file.path;
  if (auto made = make_directories(Stage::install, path.parent_path()); !made) {
    return made;
  }
  const FileDescriptor destination(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!destination.valid()) {
    return fail(system_error(Stage::install, "cannot write a copy", path, errno));
  }
  if (!m_bundle->is_tree() && file.size > 0) {
    const FileDescriptor source(::open(m_bundle->path().c_str(), O_RDONLY | O_CLOEXEC));
    // The members were hashed by verify; apt hashes each again before it unpacks.
    if (source.valid() && reflink(source.get(), m_bundle->data_offset() + offset, file.size, destination.get())) {
      return Done{};
    }
  }
  std::uint64_t at = 0;
  return m_bundle->read(file, [&](std::string_view piece) -> Result<Done> {
    auto written = write_at(Stage::install, destination.get(), at, piece, path);
    at += piece.size();
    return written;
  });
}

Result<Done> Exposure::provide(const std::vector<bundle::ManifestPackage>& packages, EventSink& events,
                               const CancelToken& cancel) {
  if (m_kind != ExposureKind::copied) {
    return Done{};
  }
  Progress progress{.stage = Stage::install, .activity = "copying packages"};
  for (const bundle::ManifestPackage& package : packages) {
    progress.total += package.size;
  }
  for (const bundle::ManifestPackage& package : packages) {
    if (cancel.cancelled()) {
      return fail(Error{.code = ErrorCode::cancelled,
                        .stage = Stage::install,
                        .message = "stopped while copying packages",
                        .reason = "a signal asked for it",
                        .help = "run the same command again; nothing was installed yet"});
    }
    auto copied = copy_file({.path = package.path, .size = package.size, .sha256 = package.sha256}, package.offset);
    if (!copied) {
      return fail(in_context(std::move(copied).error(), "copying package " + package.id.name));
    }
    progress.done += package.size;
    events.progress(progress);
  }
  return Done{};
}

}  // namespace rocm_offline::install
