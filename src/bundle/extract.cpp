#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

Result<Done> require_empty(const fs::path& directory) {
  std::error_code code;
  const fs::file_status status = fs::status(directory, code);
  if (!fs::exists(status)) {
    return Done{};
  }
  const bool usable = fs::is_directory(status) && fs::is_empty(directory, code) && !code;
  if (!usable) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::bundle,
                 .message = "cannot extract into " + directory.string(),
                 .reason = fs::is_directory(status) ? "the folder is not empty" : "it is no folder",
                 .details = {{"path", directory.string()}},
                 .help = "name a folder that does not exist yet, or an empty one"});
  }
  return Done{};
}

// Times of the tree are those of the image: the bundle's source date.
void set_times(const fs::path& path, UnixTime time) {
  const struct timespec stamp = {static_cast<time_t>(time), 0};
  const struct timespec both[2] = {stamp, stamp};
  // A file system without times still holds the right content.
  (void)::utimensat(AT_FDCWD, path.c_str(), static_cast<const struct timespec*>(both), AT_SYMLINK_NOFOLLOW);
}

Result<Done> extract_file(const BundleReader& reader, const ImageFile& file, const fs::path& path) {
  const bool executable = file.path == "install.sh" || file.path == "rocm-offline-install";
  FileDescriptor fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, executable ? 0755 : 0644));
  if (!fd.valid()) {
    return fail(system_error(Stage::bundle, "cannot create a file", path, errno));
  }
  std::uint64_t offset = 0;
  auto done = reader.read(file, [&](std::string_view piece) -> Result<Done> {
    auto written = write_at(Stage::bundle, fd.get(), offset, piece, path);
    offset += piece.size();
    return written;
  });
  fd.reset();
  if (!done) {
    // What did not match its digest is not left to be used.
    ::unlink(path.c_str());
    return done;
  }
  set_times(path, reader.manifest().source_date);
  return Done{};
}

}  // namespace

Result<Done> extract_tree(const BundleReader& reader, const fs::path& wanted) {
  const fs::path directory = (wanted / "").parent_path();  // "x/" and "x" are one folder
  if (auto done = require_empty(directory); !done) {
    return done;
  }
  if (!reader.signature_fits()) {
    return fail({.code = ErrorCode::bundle_damaged,
                 .stage = Stage::bundle,
                 .message = "the bundle is damaged: " + reader.path().string(),
                 .reason = "the manifest's signature does not fit the manifest",
                 .details = {{"path", reader.path().string()}},
                 .help = "copy the file again, and compare it with the .sha256 file that was made with it"});
  }
  std::set<fs::path> folders = {directory};
  for (const ImageFile& file : reader.files()) {
    const fs::path path = directory / file.path;
    for (fs::path parent = path.parent_path(); folders.insert(parent).second;) {
      parent = parent.parent_path();
    }
  }
  for (const fs::path& folder : folders) {
    if (auto done = make_directories(Stage::bundle, folder); !done) {
      return done;
    }
  }
  for (const ImageFile& file : reader.files()) {
    if (auto done = extract_file(reader, file, directory / file.path); !done) {
      return fail(in_context(std::move(done).error(), "extracting into " + directory.string()));
    }
  }
  // Deepest first: writing into a folder changes its time.
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    set_times(*folder, reader.manifest().source_date);
  }
  return Done{};
}

}  // namespace rocm_offline::bundle
