#include "rocm_offline/bundle/writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <set>

#include "file_hasher.hpp"
#include "image_plan.hpp"
#include "journal.hpp"
#include "member_source.hpp"
#include "part_file.hpp"
#include "rocm_offline/core/parallel.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

constexpr unsigned copy_threads = 2;

Error internal(std::string message, const std::string& what) {
  return {.code = ErrorCode::internal, .stage = Stage::bundle, .message = std::move(message), .reason = what};
}

Error cancelled() {
  return {.code = ErrorCode::cancelled,
          .stage = Stage::bundle,
          .message = "interrupted while writing the bundle",
          .reason = "a signal asked to stop",
          .help = "the same command again continues where this one stopped"};
}

// Lets a transfer write into its member's range of the file, and nowhere else.
class MemberSink final : public ByteSink {
 public:
  MemberSink(int fd, const Member& member, const fs::path& path)
      : m_fd(fd), m_offset(member.offset), m_size(member.size), m_path(path) {}

  Result<Done> begin(std::uint64_t offset) override {
    if (m_closed || offset > m_next) {
      return fail(internal("a transfer begins where nothing precedes it", m_path.string()));
    }
    m_next = offset;
    return Done{};
  }
  Result<Done> write(std::uint64_t offset, std::string_view data) override {
    if (m_closed || offset != m_next || data.size() > m_size - m_next) {
      return fail(internal("a transfer writes outside of its member", m_path.string()));
    }
    auto done = write_at(Stage::bundle, m_fd, m_offset + offset, data, m_path);
    if (done) {
      m_next += data.size();
    }
    return done;
  }
  [[nodiscard]] bool is_whole() const { return m_next == m_size; }
  void close() { m_closed = true; }

 private:
  int m_fd;
  std::uint64_t m_offset;
  std::uint64_t m_size;
  std::uint64_t m_next = 0;
  bool m_closed = false;
  const fs::path& m_path;
};

Result<Done> check_output(const fs::path& output, const OutputPaths& paths) {
  std::error_code code;
  const fs::file_status status = fs::status(paths.output, code);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::bundle,
                 .message = "cannot write the bundle to " + output.string(),
                 .reason = "it is a folder or a device, not a file",
                 .details = {{"path", output.string()}},
                 .help = "name a file with -o"});
  }
  if (!fs::is_directory(paths.output.parent_path(), code)) {
    return fail({.code = ErrorCode::file_missing,
                 .stage = Stage::bundle,
                 .message = "cannot write the bundle to " + output.string(),
                 .reason = "the folder " + paths.output.parent_path().string() + " does not exist",
                 .details = {{"path", output.string()}},
                 .help = "make the folder, or name another file with -o"});
  }
  return Done{};
}

// GNU's form (coreutils, "cksum output modes"): a line break in a name would begin another line.
std::string checksum_line(const Sha256Digest& digest, const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    escaped += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return (escaped == name ? "" : "\\") + digest.hex() + "  " + escaped + "\n";
}

}  // namespace

struct BundleWriter::Impl {
  Impl(const WriterOptions& wanted, const BundleLayout& laid_out, EventSink& sink, CancelToken token)
      : options(wanted), layout(laid_out), events(sink), cancel(token), paths(output_paths(wanted.output)) {}

  WriterOptions options;
  const BundleLayout& layout;
  EventSink& events;
  CancelToken cancel;
  OutputPaths paths;
  FileDescriptor fd{};
  std::optional<Journal> journal{};
  std::vector<JournalClaim> claims{};
  std::vector<MemberSink> sinks{};
  std::vector<std::size_t> missing{};
  std::mutex mutex{};  // complete, hasher's limit
  std::vector<bool> complete{};
  std::size_t first_incomplete = 0;
  std::atomic<std::uint64_t> bytes_settled = 0;
  std::unique_ptr<FileHasher> hasher{};

  Result<Done> take_part();
  Result<Done> write_fixed_parts();
  Result<Done> zero_gaps();
  Result<Done> begin_journal();
  Result<Done> check_claims();
  Result<Done> copy_local_files();
  Result<Done> copy_reusable();
  Result<Done> prepare();
  Result<Done> complete_member(std::size_t member);
  void report_progress(const char* activity, std::uint64_t added, std::uint64_t total);
  [[nodiscard]] std::uint64_t final_before(std::size_t member) const;
  [[nodiscard]] MemberPlace place_of(const Member& member) const { return {fd.get(), member.offset, paths.part}; }
  Result<Done> publish_file(Sha256Digest digest);
};

// The .part, locked and as long as the bundle; claims of an earlier run for the same bundle.
Result<Done> BundleWriter::Impl::take_part() {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return fail(system_error(Stage::bundle, "cannot read the unfinished bundle", paths.part, errno));
  }
  const bool is_new = status.st_size == 0;
  auto content = read_journal(paths.journal);
  const bool resumes = !is_new && content && content->bundle_id == layout.bundle_id &&
                       content->file_size == layout.file_size &&
                       static_cast<std::uint64_t>(status.st_size) == layout.file_size;
  if (resumes) {
    claims = std::move(content->claims);
  } else if (!is_new) {
    events.event({Level::warning,
                  "bundle.part.discarded",
                  "the unfinished file belongs to another selection, or has no journal: starting over",
                  {{"path", paths.part.string()}, {"bundle_id", content ? content->bundle_id : ""}}});
    if (::ftruncate(fd.get(), 0) != 0) {
      return fail(system_error(Stage::bundle, "cannot empty the unfinished bundle", paths.part, errno));
    }
  }
  if (auto done = reserve_space(fd.get(), layout.file_size, paths.part); !done) {
    if (!resumes) {
      ::unlink(paths.part.c_str());
    }
    return done;
  }
  events.event({Level::debug,
                "bundle.part.reserved",
                "space for the bundle is reserved",
                {{"path", paths.part.string()}, {"bytes", std::to_string(layout.file_size)}}});
  return resumes ? zero_gaps() : Result<Done>(Done{});
}

// What pads the members: whoever left the file may have written there.
Result<Done> BundleWriter::Impl::zero_gaps() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;
  for (const FixedPart& part : layout.fixed_parts) {
    extents.emplace_back(part.offset, part.bytes.size());
  }
  for (const Member& member : layout.members) {
    extents.emplace_back(member.offset, member.size);
  }
  std::sort(extents.begin(), extents.end());
  extents.emplace_back(layout.file_size, 0);
  std::uint64_t end = 0;
  for (const auto& [offset, size] : extents) {
    if (offset > end) {
      if (auto done = write_at(Stage::bundle, fd.get(), end, std::string(offset - end, '\0'), paths.part); !done) {
        return done;
      }
    }
    end = std::max(end, offset + size);
  }
  return Done{};
}

Result<Done> BundleWriter::Impl::write_fixed_parts() {
  for (const FixedPart& part : layout.fixed_parts) {
    if (auto done = write_at(Stage::bundle, fd.get(), part.offset, part.bytes, paths.part); !done) {
      return done;
    }
  }
  return Done{};
}

Result<Done> BundleWriter::Impl::begin_journal() {
  auto begun = Journal::begin(paths.journal, {layout.bundle_id, layout.file_size, claims});
  if (!begun) {
    return fail(std::move(begun).error());
  }
  journal = std::move(*begun);
  return Done{};
}

void BundleWriter::Impl::report_progress(const char* activity, std::uint64_t added, std::uint64_t total) {
  events.progress({.stage = Stage::bundle, .activity = activity, .done = bytes_settled += added, .total = total});
}

Result<Done> BundleWriter::Impl::check_claims() {
  std::vector<std::size_t> claimed;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    const Member& member = layout.members[i];
    const JournalClaim wanted{member.sha256, member.offset, member.size};
    if (std::find(claims.begin(), claims.end(), wanted) != claims.end()) {
      claimed.push_back(i);
      total += member.size;
    }
  }
  bytes_settled = 0;
  std::atomic<std::uint64_t> believed = 0;
  auto done = for_each_in_parallel(claimed.size(), copy_threads, [&](std::size_t i) -> Result<Done> {
    if (cancel.cancelled()) {
      return fail(cancelled());
    }
    const Member& member = layout.members[claimed[i]];
    const auto digest = hash_range(fd.get(), member.offset, member.size);
    report_progress("checking what is there already", member.size, total);
    if (digest == member.sha256) {
      ++believed;
      const std::lock_guard<std::mutex> lock(mutex);
      complete[claimed[i]] = true;
      return Done{};
    }
    events.event({Level::warning,
                  "bundle.member.claim_rejected",
                  "not what the journal says, fetched again: " + member.what,
                  {{"what", member.what}, {"offset", std::to_string(member.offset)}}});
    return Done{};
  });
  if (done && believed != 0) {
    events.event({Level::info,
                  "bundle.part.resumed",
                  "continuing an unfinished bundle: " + std::to_string(believed) + " of " +
                      std::to_string(layout.members.size()) + " members are there",
                  {{"path", paths.part.string()}, {"members", std::to_string(believed)}}});
  }
  return done;
}

Result<Done> BundleWriter::Impl::copy_local_files() {
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    const Member& member = layout.members[i];
    if (!member.source || complete[i]) {
      continue;
    }
    if (cancel.cancelled()) {
      return fail(cancelled());
    }
    const auto copied = copy_member({*member.source, 0}, member, place_of(member));
    if (!copied) {
      return fail(copied.error());
    }
    if (!*copied) {
      return fail({.code = ErrorCode::digest_mismatch,
                   .stage = Stage::bundle,
                   .message = "a verified file is not what it was: " + member.source->string(),
                   .reason = "it cannot be read, or has changed since it was verified",
                   .details = {{"path", member.source->string()}, {"expected", member.sha256.hex()}},
                   .help = "run the command again; if it comes back, remove the cache folder"});
    }
    if (auto done = complete_member(i); !done) {
      return done;
    }
  }
  return Done{};
}

Result<Done> BundleWriter::Impl::copy_reusable() {
  ReuseIndex index;
  std::error_code code;
  if (fs::exists(paths.output, code)) {
    if (auto done = index.add(paths.output, events); !done) {
      return done;
    }
  }
  for (const fs::path& path : options.reuse) {
    if (auto done = index.add(path, events); !done) {
      return done;
    }
  }
  std::vector<std::pair<std::size_t, std::vector<MemberSource>>> wanted;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    auto candidates = complete[i] ? std::vector<MemberSource>{} : index.candidates(layout.members[i]);
    if (!candidates.empty()) {
      wanted.emplace_back(i, std::move(candidates));
      total += layout.members[i].size;
    }
  }
  bytes_settled = 0;
  std::atomic<std::uint64_t> reused = 0;
  std::atomic<std::uint64_t> reused_bytes = 0;
  auto outcome = for_each_in_parallel(wanted.size(), copy_threads, [&](std::size_t w) -> Result<Done> {
    const auto& [i, candidates] = wanted[w];
    const Member& member = layout.members[i];
    for (const MemberSource& candidate : candidates) {
      if (cancel.cancelled()) {
        return fail(cancelled());
      }
      const auto copied = copy_member(candidate, member, place_of(member));
      if (!copied) {
        return fail(copied.error());
      }
      if (*copied) {
        ++reused;
        reused_bytes += member.size;
        report_progress("taking over packages", member.size, total);
        return complete_member(i);
      }
    }
    report_progress("taking over packages", member.size, total);
    return Done{};
  });
  if (outcome && reused != 0) {
    events.event({Level::info,
                  "bundle.members.reused",
                  "taken from a file that is here: " + counted(reused, "package") + ", " + format_size(reused_bytes),
                  {{"members", std::to_string(reused)}, {"bytes", std::to_string(reused_bytes)}}});
  }
  return outcome;
}

Result<Done> BundleWriter::Impl::prepare() {
  complete.assign(layout.members.size(), false);
  for (const auto step : {&Impl::take_part, &Impl::begin_journal, &Impl::write_fixed_parts, &Impl::check_claims,
                          &Impl::copy_local_files, &Impl::copy_reusable}) {
    if (auto done = (this->*step)(); !done) {
      return fail(in_context(std::move(done).error(), "writing " + options.output.string()));
    }
  }
  sinks.reserve(layout.members.size());
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    sinks.emplace_back(fd.get(), layout.members[i], paths.part);
    if (!complete[i]) {
      missing.push_back(i);
    } else {
      sinks[i].close();
    }
  }
  hasher = std::make_unique<FileHasher>(fd.get());
  first_incomplete = missing.empty() ? layout.members.size() : missing.front();
  hasher->advance(final_before(first_incomplete));
  return Done{};
}

// Everything before the first incomplete member is final: fixed parts and padding are written from the start.
std::uint64_t BundleWriter::Impl::final_before(std::size_t member) const {
  return member == layout.members.size() ? layout.file_size : layout.members[member].offset;
}

Result<Done> BundleWriter::Impl::complete_member(std::size_t i) {
  const Member& member = layout.members[i];
  if (auto done = journal->append({member.sha256, member.offset, member.size}); !done) {
    return done;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  complete[i] = true;
  if (hasher != nullptr) {
    while (first_incomplete < complete.size() && complete[first_incomplete]) {
      ++first_incomplete;
    }
    hasher->advance(final_before(first_incomplete));
  }
  return Done{};
}

Result<Done> BundleWriter::Impl::publish_file(Sha256Digest digest) {
  if (::fsync(fd.get()) != 0) {
    return fail(system_error(Stage::bundle, "cannot write the bundle to disk", paths.part, errno));
  }
  const mode_t mask = ::umask(022);
  ::umask(mask);
  if (::fchmod(fd.get(), 0755 & ~mask) != 0) {
    return fail(system_error(Stage::bundle, "cannot make the bundle executable", paths.part, errno));
  }
  // Both files are whole before one of them gets its name: no bundle that looks finished on a disk that is full.
  fs::path checksum_part = paths.checksum;
  checksum_part += ".part";
  const std::string line = checksum_line(digest, paths.output.filename().string());
  if (auto done = write_file_atomically(Stage::bundle, checksum_part, line); !done) {
    return done;
  }
  // The old checksum goes first: a kill in between leaves a bundle without one, never one with another's.
  if (::unlink(paths.checksum.c_str()) != 0 && errno != ENOENT) {
    const int problem = errno;
    ::unlink(checksum_part.c_str());
    return fail(system_error(Stage::bundle, "cannot replace the checksum of the bundle", paths.checksum, problem));
  }
  if (::rename(paths.part.c_str(), paths.output.c_str()) != 0) {
    return fail(system_error(Stage::bundle, "cannot give the bundle its name", paths.output, errno));
  }
  ::unlink(paths.journal.c_str());
  if (::rename(checksum_part.c_str(), paths.checksum.c_str()) != 0) {
    return fail(system_error(Stage::bundle, "cannot give the checksum its name", paths.checksum, errno));
  }
  const FileDescriptor folder(::open(paths.output.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || (::fsync(folder.get()) != 0 && errno != EINVAL)) {
    return fail(system_error(Stage::bundle, "cannot write the folder to disk", paths.output.parent_path(), errno));
  }
  return Done{};
}

BundleWriter::BundleWriter(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;
BundleWriter::~BundleWriter() = default;

Result<OutputClaim> OutputClaim::take(const fs::path& output) {
  const OutputPaths paths = output_paths(output);
  const auto refused = [&](Error error) { return fail(in_context(std::move(error), "writing " + output.string())); };
  if (auto done = check_output(output, paths); !done) {
    return refused(std::move(done).error());
  }
  auto locked = lock_part(paths);
  if (!locked) {
    return refused(std::move(locked).error());
  }
  return OutputClaim(paths.part, std::move(*locked));
}

OutputClaim::~OutputClaim() {
  struct stat status {};
  if (m_fd.valid() && ::fstat(m_fd.get(), &status) == 0 && status.st_size == 0) {
    ::unlink(m_part.c_str());
  }
}

Result<BundleWriter> BundleWriter::open(const WriterOptions& options, const BundleLayout& layout, EventSink& events,
                                        CancelToken cancel) {
  auto claim = OutputClaim::take(options.output);
  if (!claim) {
    return fail(std::move(claim).error());
  }
  return open(std::move(*claim), options, layout, events, cancel);
}

Result<BundleWriter> BundleWriter::open(OutputClaim claim, const WriterOptions& options, const BundleLayout& layout,
                                        EventSink& events, CancelToken cancel) {
  events.event({Level::info,
                "bundle.layout.computed",
                "the bundle will have " + format_size(layout.file_size),
                {{"bundle_id", layout.bundle_id},
                 {"bytes", std::to_string(layout.file_size)},
                 {"members", std::to_string(layout.members.size())}}});
  auto impl = std::make_unique<Impl>(options, layout, events, cancel);
  impl->fd = std::move(claim.m_fd);
  if (auto done = impl->prepare(); !done) {
    return fail(std::move(done).error());
  }
  return BundleWriter(std::move(impl));
}

const std::vector<std::size_t>& BundleWriter::missing() const {
  return m_impl->missing;
}

ByteSink& BundleWriter::sink(std::size_t member) {
  return m_impl->sinks.at(member);
}

Result<Done> BundleWriter::mark_complete(std::size_t member) {
  MemberSink& sink = m_impl->sinks.at(member);
  if (!sink.is_whole()) {
    return fail(internal("a member is called complete before it is", m_impl->layout.members[member].what));
  }
  sink.close();
  return m_impl->complete_member(member);
}

Result<FinishedBundle> BundleWriter::publish() {
  for (std::size_t i = 0; i < m_impl->complete.size(); ++i) {
    if (!m_impl->complete[i]) {
      return fail(internal("the bundle cannot be published", m_impl->layout.members[i].what + " is missing"));
    }
  }
  if (m_impl->cancel.cancelled()) {
    return fail(cancelled());
  }
  const auto digest = m_impl->hasher->finish(m_impl->layout.file_size);
  if (!digest) {
    return fail(system_error(Stage::bundle, "cannot read the bundle back", m_impl->paths.part, EIO));
  }
  if (auto done = m_impl->publish_file(*digest); !done) {
    return fail(std::move(done).error());
  }
  const fs::path& path = m_impl->options.output;
  m_impl->events.event({Level::info,
                        "bundle.file.published",
                        "the bundle is complete, its SHA-256 is in " + m_impl->paths.checksum.string(),
                        {{"path", path.string()},
                         {"bytes", std::to_string(m_impl->layout.file_size)},
                         {"sha256", digest->hex()},
                         {"bundle_id", m_impl->layout.bundle_id}}});
  return FinishedBundle{path, m_impl->layout.file_size, *digest};
}

}  // namespace rocm_offline::bundle
