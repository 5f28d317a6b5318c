#include "index_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

namespace rocm_offline::index {

namespace fs = std::filesystem;

namespace {

// What runs that were killed have left behind. A day old, none can still be at work in it.
void remove_stale(const fs::path& partial) {
  std::error_code ignored;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const auto& entry : fs::directory_iterator(partial, ignored)) {
    if (entry.last_write_time(ignored) < limit) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

Result<IndexCache> IndexCache::open(const fs::path& cache_dir) {
  const fs::path folder = cache_dir / "indexes";
  const fs::path partial = cache_dir / "partial";
  for (const fs::path& path : {folder, partial}) {
    if (auto made = make_directories(Stage::repos, path); !made) {
      return tl::unexpected(std::move(made).error());
    }
  }
  remove_stale(partial);
  auto work = TemporaryDirectory::create(Stage::repos, partial, "run-");
  if (!work) {
    return tl::unexpected(std::move(work).error());
  }
  return IndexCache(folder, std::move(*work));
}

fs::path IndexCache::path_of(const Sha256Digest& sha256, std::string_view ending) const {
  return m_folder / (sha256.hex() + "." + std::string(ending));
}

std::optional<std::string> IndexCache::read(const ListedFile& file, std::string_view ending) const {
  const fs::path path = path_of(file.sha256, ending);
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  if (ignored) {
    return std::nullopt;
  }
  if (size == file.size) {
    auto content = read_file(Stage::repos, path, file.size);
    if (content && content->size() == file.size && sha256_of(*content) == file.sha256) {
      return std::move(*content);
    }
  }
  fs::remove(path, ignored);
  return std::nullopt;
}

Result<fs::path> IndexCache::store(std::string_view content, const Sha256Digest& sha256,
                                   std::string_view ending) const {
  const fs::path partial = m_work.path() / (sha256.hex() + "." + std::string(ending));
  FileSink sink(partial);
  auto written = sink.begin(0);
  if (written) {
    written = sink.write(0, content);
  }
  if (!written) {
    return tl::unexpected(std::move(written).error());
  }
  return adopt(partial, sha256, ending);
}

Result<fs::path> IndexCache::adopt(const fs::path& partial, const Sha256Digest& sha256, std::string_view ending) const {
  const fs::path path = path_of(sha256, ending);
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    return fail(system_error(Stage::repos, "cannot put an index into the cache", path, errno));
  }
  return path;
}

Result<Done> FileSink::begin(std::uint64_t offset) {
  if (!m_file.valid()) {
    m_file = FileDescriptor(::open(m_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  }
  if (!m_file.valid() || ::ftruncate(m_file.get(), static_cast<off_t>(offset)) != 0) {
    return fail(system_error(Stage::repos, "cannot write an index", m_path, errno));
  }
  return Done{};
}

Result<Done> FileSink::write(std::uint64_t offset, std::string_view data) {
  return write_at(Stage::repos, m_file.get(), offset, data, m_path);
}

}  // namespace rocm_offline::index
