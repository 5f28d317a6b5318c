// Verified files by digest: <cache>/indexes/<sha256>.<ending>. Written under partial/, renamed when verified, hashed
// again before use: what a crash or a hand did to a cached file is found, and the file dropped.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "release_file.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::index {

class IndexCache {
 public:
  // Makes the folders; the private work folder under partial/ is removed with the object.
  [[nodiscard]] static Result<IndexCache> open(const std::filesystem::path& cache_dir);

  // Where the file of that digest is, or would be; `ending` is "xz", "packages", "InRelease", ...
  [[nodiscard]] std::filesystem::path path_of(const Sha256Digest& sha256, std::string_view ending) const;
  // The file's content when it is there and has the right size and digest.
  [[nodiscard]] std::optional<std::string> read(const ListedFile& file, std::string_view ending) const;
  // Puts verified bytes in place.
  [[nodiscard]] Result<std::filesystem::path> store(std::string_view content, const Sha256Digest& sha256,
                                                    std::string_view ending) const;
  // Moves a finished download from the work folder into place.
  [[nodiscard]] Result<std::filesystem::path> adopt(const std::filesystem::path& partial, const Sha256Digest& sha256,
                                                    std::string_view ending) const;
  [[nodiscard]] const std::filesystem::path& work_folder() const { return m_work.path(); }

 private:
  IndexCache(std::filesystem::path folder, TemporaryDirectory work)
      : m_folder(std::move(folder)), m_work(std::move(work)) {}
  std::filesystem::path m_folder;
  TemporaryDirectory m_work;
};

// A sink that writes to a file, from byte 0.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::filesystem::path path) : m_path(std::move(path)) {}
  [[nodiscard]] Result<Done> begin(std::uint64_t offset) override;
  [[nodiscard]] Result<Done> write(std::uint64_t offset, std::string_view data) override;
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  FileDescriptor m_file;
};

}  // namespace rocm_offline::index
