#include "member_source.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "image_plan.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;

// Calls fn for each piece; false when the range cannot be read to its end, or fn says stop.
bool read_pieces(int fd, std::uint64_t offset, std::uint64_t size, const std::function<bool(std::string_view)>& fn) {
  std::string piece;
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    piece.resize(std::min(piece_size, size - at));
    std::size_t got = 0;
    while (got < piece.size()) {
      const ssize_t count = ::pread(fd, piece.data() + got, piece.size() - got, static_cast<off_t>(offset + at + got));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        return false;
      }
      got += static_cast<std::size_t>(count);
    }
    if (!fn(piece)) {
      return false;
    }
  }
  return true;
}

// Shares the whole blocks of a range; the rest, less than a block, is for the caller to copy. False where the file
// system cannot.
bool clone_blocks(int source, const MemberSource& from, std::uint64_t size, const MemberPlace& place) {
  struct file_clone_range range {};
  range.src_fd = source;
  range.src_offset = from.offset;
  range.src_length = size / alignment * alignment;
  range.dest_offset = place.offset;
  return range.src_length != 0 && from.offset % alignment == 0 && ::ioctl(place.fd, FICLONERANGE, &range) == 0;
}

}  // namespace

std::optional<Sha256Digest> hash_range(int fd, std::uint64_t offset, std::uint64_t size) {
  Sha256 hash;
  const bool whole = read_pieces(fd, offset, size, [&](std::string_view piece) {
    hash.update(piece);
    return true;
  });
  return whole ? std::optional(hash.finish()) : std::nullopt;
}

Result<bool> copy_member(const MemberSource& source, const Member& member, const MemberPlace& place) {
  const FileDescriptor fd(::open(source.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  std::uint64_t at = clone_blocks(fd.get(), source, member.size, place) ? member.size / alignment * alignment : 0;
  std::uint64_t seen = 0;
  Sha256 hash;
  Result<Done> written = Done{};
  const bool whole = read_pieces(fd.get(), source.offset, member.size, [&](std::string_view piece) {
    hash.update(piece);
    const std::uint64_t end = seen + piece.size();
    if (end > at) {
      written = write_at(Stage::bundle, place.fd, place.offset + at, piece.substr(at - seen), place.path);
      at = end;
    }
    seen = end;
    return written.has_value();
  });
  if (!written) {
    return fail(std::move(written).error());
  }
  return whole && hash.finish() == member.sha256;
}

Result<Done> ReuseIndex::add(const fs::path& path, EventSink& events) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) {
    return fail({.code = ErrorCode::file_missing,
                 .stage = Stage::bundle,
                 .message = "nothing can be reused from " + path.string(),
                 .reason = "it does not exist",
                 .details = {{"path", path.string()}},
                 .help = "check the path given with --reuse"});
  }
  const bool is_folder = fs::is_directory(status);
  if (is_folder && !fs::exists(path / "manifest.json", code)) {
    add_folder(path);
    return Done{};
  }
  const auto reader = BundleReader::open(path);
  if (!reader) {
    events.event({Level::warning,
                  "bundle.reuse.ignored",
                  "not usable as an older bundle: " + reader.error().message,
                  {{"path", path.string()}, {"reason", reader.error().reason}}});
    if (!is_folder) {
      m_by_size.emplace(fs::file_size(path, code), path);
    }
    return Done{};
  }
  const auto keep = [&](const std::string& name, std::uint64_t offset, const Sha256Digest& digest) {
    m_by_digest.try_emplace(
        digest, reader->is_tree() ? MemberSource{path / name, 0} : MemberSource{path, reader->data_offset() + offset});
  };
  for (const ManifestTarget& target : reader->manifest().targets) {
    for (const ManifestPackage& package : target.packages) {
      keep(package.path, package.offset, package.sha256);
    }
  }
  return Done{};
}

void ReuseIndex::add_folder(const fs::path& path) {
  std::error_code code;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code unreadable;
    const std::uint64_t size = entry->is_regular_file(unreadable) ? entry->file_size(unreadable) : 0;
    if (!unreadable && size != 0) {
      m_by_size.emplace(size, entry->path());
    }
  }
}

std::vector<MemberSource> ReuseIndex::candidates(const Member& member) const {
  std::vector<MemberSource> found;
  if (const auto known = m_by_digest.find(member.sha256); known != m_by_digest.end()) {
    found.push_back(known->second);
  }
  const auto [first, last] = m_by_size.equal_range(member.size);
  for (auto entry = first; entry != last; ++entry) {
    found.push_back({entry->second, 0});
  }
  return found;
}

}  // namespace rocm_offline::bundle
