// Writes NAME.run.part in place and publishes it as NAME.run. One at a time per output: flock(2) on the .part, refused
// with output_busy naming the holder; no lock outlives its process. A journal beside it records finished members; on
// resume what it claims is hashed again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::bundle {

struct WriterOptions {
  std::filesystem::path output{};              // NAME.run
  std::vector<std::filesystem::path> reuse{};  // older bundles or folders of packages: members by digest
};

struct FinishedBundle {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;
  Sha256Digest sha256{};  // of the whole file
};

// The output belongs to this process from here on, before it is known what will be written there. Let go without a
// writer, nothing is left behind, but an unfinished bundle of an earlier run stays.
class OutputClaim {
 public:
  // usage or file_missing where no file can be written, output_busy at once where another create is at work.
  [[nodiscard]] static Result<OutputClaim> take(const std::filesystem::path& output);
  OutputClaim(OutputClaim&&) noexcept = default;
  OutputClaim& operator=(OutputClaim&&) noexcept = delete;
  ~OutputClaim();

 private:
  friend class BundleWriter;
  OutputClaim(std::filesystem::path part, FileDescriptor fd) : m_part(std::move(part)), m_fd(std::move(fd)) {}
  std::filesystem::path m_part;
  FileDescriptor m_fd;
};

class BundleWriter {
 public:
  // `layout` and `events` must outlive the writer. Takes the lock, checks space (fallocate(2); statvfs where
  // unsupported: no_space before anything is downloaded), writes the fixed parts, copies local files and reusable
  // members, believes no journal entry without hashing.
  [[nodiscard]] static Result<BundleWriter> open(const WriterOptions& options, const BundleLayout& layout,
                                                 EventSink& events, CancelToken cancel);
  // The same for an output that was claimed before.
  [[nodiscard]] static Result<BundleWriter> open(OutputClaim claim, const WriterOptions& options,
                                                 const BundleLayout& layout, EventSink& events, CancelToken cancel);
  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  ~BundleWriter();  // without publish(): the .part and its journal stay, resumable; the lock is released

  // Indexes into layout.members that still have to be received.
  [[nodiscard]] const std::vector<std::size_t>& missing() const;
  // Writes a member's bytes to their final place. Valid while the writer lives.
  [[nodiscard]] ByteSink& sink(std::size_t member);
  // The member arrived whole and its digest was checked by the transfer: into the journal.
  [[nodiscard]] Result<Done> mark_complete(std::size_t member);
  // Every member complete, digest of the whole file, fsync, rename over NAME.run, NAME.run.sha256 written, journal
  // removed.
  [[nodiscard]] Result<FinishedBundle> publish();

 private:
  struct Impl;
  explicit BundleWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

}  // namespace rocm_offline::bundle
