#include "rocm_offline/verify/verifier.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>

#include "coverage.hpp"
#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/parallel.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::verify {

namespace fs = std::filesystem;
using bundle::BundleReader;

namespace {

constexpr std::uint64_t piece_size = std::uint64_t{1} << 20U;
// After the end of a block device's bundle, install looks no further; verify looks at all of it.
constexpr std::uint64_t short_tail = std::uint64_t{1} << 20U;
constexpr std::size_t findings_in_error = 20;

Error cancelled() {
  return {.code = ErrorCode::cancelled,
          .stage = Stage::verify,
          .message = "interrupted while verifying the bundle",
          .reason = "a signal asked to stop",
          .help = "run the command again; nothing was changed"};
}

class Verification {
 public:
  Verification(const BundleReader& reader, const VerifyOptions& options, EventSink& events, CancelToken cancel)
      : m_reader(reader), m_options(options), m_events(events), m_cancel(cancel) {}

  Result<VerifyReport> run() {
    m_report.bundle_id = m_reader.bundle_id();
    check_signature();
    const auto done = m_reader.is_tree() ? check_tree() : check_file();
    if (!done) {
      return fail(done.error());
    }
    std::sort(m_report.findings.begin(), m_report.findings.end(), [](const Finding& a, const Finding& b) {
      return std::tie(a.offset, a.path, a.what) < std::tie(b.offset, b.path, b.what);
    });
    m_report.bytes_checked = m_bytes;
    for (const Finding& finding : m_report.findings) {
      m_events.event({Level::error,
                      "verify.bundle.damaged",
                      finding.what,
                      {{"what", finding.what}, {"path", finding.path}, {"offset", std::to_string(finding.offset)}}});
    }
    // Damage is the error that the run ends with: said there.
    m_events.event(
        {m_report.findings.empty() ? Level::info : Level::debug,
         "verify.bundle.checked",
         m_report.findings.empty() ? "every byte of the bundle is as it was written" : "the bundle is damaged",
         {{"bundle_id", m_report.bundle_id},
          {"bytes", std::to_string(m_report.bytes_checked)},
          {"files", std::to_string(m_report.files_checked)},
          {"findings", std::to_string(m_report.findings.size())}}});
    return std::move(m_report);
  }

 private:
  void find(std::string what, std::string path, std::uint64_t offset) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_report.findings.push_back({std::move(what), std::move(path), offset});
  }

  void count(std::uint64_t bytes) {
    const std::uint64_t done = m_bytes += bytes;
    m_events.progress({.stage = Stage::verify, .activity = "verifying the bundle", .done = done, .total = m_total});
  }

  // The one part that cannot be regenerated: it has to fit the key that the manifest names.
  void check_signature() {
    if (!m_reader.signature_fits()) {
      find("the manifest's signature: does not fit the manifest", std::string(bundle::signature_path),
           signature_offset());
    }
  }

  // 0 for trees.
  [[nodiscard]] std::uint64_t signature_offset() const {
    return m_reader.is_tree() ? 0 : m_reader.data_offset() - bundle::alignment;
  }

  // The template of the stub, from the file's start or from its copy, whichever the manifest vouches for.
  Result<bundle::RegeneratedImage> regenerate_image() {
    const bundle::Manifest& manifest = m_reader.manifest();
    const std::string own = bundle::template_of_stub(m_reader.system_area()).value_or("");
    auto image = bundle::regenerate(manifest, m_reader.manifest_json(), m_reader.signature(), own);
    if (!image || sha256_of(own) == manifest.stub_sha256) {
      return image;
    }
    if (!m_reader.is_tree()) {
      const std::uint64_t offset = image->fixed_parts.at(2).offset;
      const std::uint64_t there = m_reader.medium_size() - std::min(m_reader.medium_size(), offset);
      std::string copy(std::min(bundle::stub_size, there), '\0');
      const std::string other =
          m_reader.read_raw(offset, copy) ? bundle::template_of_stub(copy).value_or("") : std::string();
      if (sha256_of(other) == manifest.stub_sha256) {
        return bundle::regenerate(manifest, m_reader.manifest_json(), m_reader.signature(), other);
      }
    }
    find("the stub is not the one that the manifest names", m_reader.is_tree() ? "install.sh" : "", 0);
    return image;
  }

  Result<Done> check_file() {
    auto image = regenerate_image();
    if (!image) {
      return fail(std::move(image).error());
    }
    if (m_reader.medium_size() < image->file_size) {
      find(std::to_string(image->file_size - m_reader.medium_size()) + " bytes are missing at the end", "",
           m_reader.medium_size());
    }
    std::vector<Stretch> stretches = cover(m_reader.manifest(), *image, m_options.only_target);
    stretches.erase(std::remove_if(stretches.begin(), stretches.end(), [](const Stretch& s) { return !s.is_wanted; }),
                    stretches.end());
    const std::uint64_t whole = m_options.expected_file_digest ? whole_size(image->file_size) : 0;
    m_total = whole + tail_size(image->file_size);
    for (const Stretch& stretch : stretches) {
      m_total += stretch.size;
    }
    // Rounds: every stretch, the tail, the digest of the whole file.
    auto done = for_each_in_parallel(stretches.size() + 2, m_options.threads, [&](std::size_t i) -> Result<Done> {
      if (i < stretches.size()) {
        return check_stretch(stretches[i]);
      }
      return i == stretches.size() ? check_tail(image->file_size) : check_whole(whole);
    });
    count_files();
    return done;
  }

  void count_files() {
    for (const bundle::ImageFile& file : m_reader.files()) {
      m_report.files_checked += is_wanted(file.path) ? 1 : 0;
    }
  }

  // Calls on_piece(offset, bytes) for a range; what cannot be read becomes a finding.
  template <class Function>
  Result<Done> read_range(const Stretch& stretch, const Function& on_piece) {
    std::string piece;
    for (std::uint64_t at = 0; at < stretch.size; at += piece.size()) {
      if (m_cancel.cancelled()) {
        return fail(cancelled());
      }
      piece.resize(std::min(piece_size, stretch.size - at));
      if (const auto read = m_reader.read_raw(stretch.offset + at, piece); !read) {
        find(stretch.what + ": cannot be read (" + read.error().reason + ")", stretch.path, stretch.offset + at);
        return Done{};
      }
      count(piece.size());
      if (!on_piece(at, std::string_view(piece))) {
        return Done{};
      }
    }
    return Done{};
  }

  Result<Done> check_stretch(const Stretch& stretch) {
    if (stretch.sha256) {
      Sha256 hash;
      std::uint64_t hashed = 0;
      auto done = read_range(stretch, [&](std::uint64_t, std::string_view piece) {
        hash.update(piece);
        hashed += piece.size();
        return true;
      });
      // A range that ended early has its finding already.
      if (done && hashed == stretch.size && hash.finish() != *stretch.sha256) {
        find(stretch.what + ": digest differs", stretch.path, stretch.offset);
      }
      return done;
    }
    return read_range(stretch, [&](std::uint64_t at, std::string_view piece) {
      const std::size_t same = matching_bytes(stretch, at, piece);
      if (same != piece.size()) {
        find(stretch.what + (stretch.bytes != nullptr ? ": differs from what was written" : ": is not zero"),
             stretch.path, stretch.offset + at + same);
      }
      return same == piece.size();
    });
  }

  static std::size_t matching_bytes(const Stretch& stretch, std::uint64_t at, std::string_view piece) {
    if (stretch.bytes == nullptr) {
      return std::min(piece.find_first_not_of('\0'), piece.size());
    }
    const std::string_view wanted = std::string_view(*stretch.bytes).substr(at, piece.size());
    return static_cast<std::size_t>(std::mismatch(piece.begin(), piece.end(), wanted.begin()).first - piece.begin());
  }

  [[nodiscard]] std::uint64_t tail_size(std::uint64_t end) const {
    const std::uint64_t size = m_reader.medium_size() > end ? m_reader.medium_size() - end : 0;
    if (!m_reader.is_block_device()) {
      return 0;
    }
    return m_options.only_target ? std::min(size, short_tail) : size;
  }

  Result<Done> check_tail(std::uint64_t end) {
    if (!m_reader.is_block_device() && m_reader.medium_size() > end) {
      const std::uint64_t extra = m_reader.medium_size() - end;
      find(std::to_string(extra) + (extra == 1 ? " byte" : " bytes") + " after the end", "", end);
      return Done{};
    }
    return check_stretch({.offset = end, .size = tail_size(end), .what = "what follows the bundle on the device"});
  }

  // sha256sum of a file reads what is there; of a device that has more, the bundle.
  [[nodiscard]] std::uint64_t whole_size(std::uint64_t end) const {
    return m_reader.is_block_device() ? end : m_reader.medium_size();
  }

  Result<Done> check_whole(std::uint64_t size) {
    if (!m_options.expected_file_digest) {
      return Done{};
    }
    return check_stretch({.size = size, .what = "the whole file", .sha256 = m_options.expected_file_digest});
  }

  Result<Done> check_tree() {
    if (m_options.expected_file_digest) {
      return fail({.code = ErrorCode::usage,
                   .stage = Stage::verify,
                   .message = "the digest of the file cannot be compared in a mounted or extracted tree",
                   .reason = m_reader.path().string() + " is a folder",
                   .details = {{"path", m_reader.path().string()}},
                   .help = "verify the file or the device itself"});
    }
    auto image = regenerate_image();
    if (!image) {
      return fail(std::move(image).error());
    }
    if (image->fixed_parts.at(2).bytes != m_reader.system_area() && m_report.findings.empty()) {
      find("install.sh: differs from what was written", "install.sh", 0);
    }
    std::vector<bundle::ImageFile> files = m_reader.files();
    find_extra_files(files);
    files.erase(std::remove_if(files.begin(), files.end(), [&](const auto& file) { return !is_wanted(file.path); }),
                files.end());
    for (const bundle::ImageFile& file : files) {
      m_total += file.size;
    }
    m_report.files_checked = files.size();
    return for_each_in_parallel(files.size(), m_options.threads,
                                [&](std::size_t i) { return check_tree_file(files[i]); });
  }

  [[nodiscard]] bool is_wanted(const std::string& path) const {
    if (!m_options.only_target || path.compare(0, 6, "repos/") != 0) {
      return !is_trust_of_others(path, m_options.only_target);
    }
    const std::string below = "repos/" + *m_options.only_target + "/";
    return path.compare(0, below.size(), below) == 0;
  }

  Result<Done> check_tree_file(const bundle::ImageFile& file) {
    const auto read = m_reader.read(file, [&](std::string_view piece) -> Result<Done> {
      if (m_cancel.cancelled()) {
        return fail(cancelled());
      }
      count(piece.size());
      return Done{};
    });
    if (!read && read.error().code == ErrorCode::cancelled) {
      return read;
    }
    if (!read) {
      find(file.path + ": " + read.error().reason, file.path, 0);
    }
    return Done{};
  }

  void find_extra_files(const std::vector<bundle::ImageFile>& files) {
    std::set<std::string> known;
    for (const bundle::ImageFile& file : files) {
      known.insert(file.path);
    }
    std::error_code code;
    fs::recursive_directory_iterator entry(m_reader.path(), code);
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
      std::error_code ignored;
      const bool is_folder = entry->is_directory(ignored) && !entry->is_symlink(ignored);
      const std::string path = entry->path().lexically_relative(m_reader.path()).generic_string();
      if (!is_folder && known.count(path) == 0) {
        find(path + ": is no part of the bundle", path, 0);
      }
    }
    if (code) {
      find("the tree cannot be read (" + code.message() + ")", "", 0);
    }
  }

  const BundleReader& m_reader;
  const VerifyOptions& m_options;
  EventSink& m_events;
  CancelToken m_cancel;
  std::mutex m_mutex{};
  VerifyReport m_report{};
  std::atomic<std::uint64_t> m_bytes = 0;
  std::uint64_t m_total = 0;
};

}  // namespace

Result<VerifyReport> verify_bundle(const BundleReader& reader, const VerifyOptions& options, EventSink& events,
                                   CancelToken cancel) {
  return Verification(reader, options, events, cancel).run();
}

Error damage_error(const VerifyReport& report) {
  Error error = {.code = ErrorCode::bundle_damaged,
                 .stage = Stage::verify,
                 .message = "the bundle is damaged",
                 .help = "copy the file again, and compare it with the .sha256 file that was made with it"};
  std::vector<std::string> first;
  for (const Finding& finding : report.findings) {
    if (first.size() == findings_in_error) {
      first.push_back("and " + std::to_string(report.findings.size() - findings_in_error) + " more");
      break;
    }
    first.push_back(finding.what + " at byte " + std::to_string(finding.offset));
  }
  error.reason = join(first, "; ");
  error.details["bundle_id"] = report.bundle_id;
  error.details["findings"] = std::to_string(report.findings.size());
  if (!report.findings.empty()) {
    error.details["path"] = report.findings.front().path;
    error.details["offset"] = std::to_string(report.findings.front().offset);
  }
  return error;
}

}  // namespace rocm_offline::verify
