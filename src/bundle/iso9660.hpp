// Directory records and descriptors of an ISO 9660 image (ECMA-119, 4th edition) with Rock Ridge names (SUSP 1.12 and
// RRIP 1.12). Only ISO 9660 and Rock Ridge: no Joliet, no boot record. Pure: the bytes are a function of paths, sizes,
// offsets and one time.
//
// Each file is one contiguous extent; above 4 GiB it is described by several records (ECMA-119 9.1.6, multi-extent).
// Rock Ridge: PX of 44 bytes, a serial of its own for each directory entry (bsdtar takes entries that share one as hard
// links), NM; no TF, so that names of 160 bytes fit a record without a continuation, which 7z cannot read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::bundle {

inline constexpr std::uint64_t sector_size = 2048;
inline constexpr std::size_t longest_name = 160;  // bytes of a Rock Ridge name that fit one record

struct IsoFile {
  std::string path{};        // "repos/debian-13/Packages"
  std::uint64_t offset = 0;  // in the image, a multiple of 2048
  std::uint64_t size = 0;
  bool executable = false;  // mode 0755 instead of 0644
};

class Iso9660Tree {
 public:
  // The tree of folders for these paths; offsets may still be 0. bundle_damaged when paths clash, a name is longer
  // than longest_name, or there are more folders than a path table can number.
  [[nodiscard]] static Result<Iso9660Tree> build(std::vector<IsoFile> files);

  // Where descriptors, path tables and records end: a multiple of 2048, independent of the files' offsets.
  [[nodiscard]] std::uint64_t end_offset() const { return m_end_offset; }
  // Sets the offset of a file, by its index in build()'s argument.
  void place(std::size_t file, std::uint64_t offset) { m_files[file].offset = offset; }
  // Bytes 32768 to end_offset() of the image.
  [[nodiscard]] std::string render(std::uint64_t volume_size, UnixTime time) const;

 private:
  struct Entry {
    std::string id{};    // ECMA-119 file or directory identifier
    std::string name{};  // Rock Ridge name
    bool is_directory = false;
    std::size_t index = 0;  // into m_files or m_directories
    std::uint32_t serial = 0;
  };
  struct Directory {
    std::string id{};
    std::size_t parent = 0;
    std::vector<Entry> entries{};  // sorted by id
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // whole sectors
    std::uint32_t links = 2;
    std::uint32_t serial = 1;
  };

  Iso9660Tree() = default;
  void lay_out();
  [[nodiscard]] std::string render_directory(const Directory& directory, const std::string& time) const;
  [[nodiscard]] std::string render_path_table(bool big_endian) const;
  [[nodiscard]] std::string render_descriptors(std::uint64_t volume_size, UnixTime time) const;

  std::vector<IsoFile> m_files{};
  std::vector<Directory> m_directories{};  // in path table order, the root first
  std::uint64_t m_path_table_size = 0;     // bytes
  std::uint64_t m_path_table_l = 0;        // offsets in the image
  std::uint64_t m_path_table_m = 0;
  std::uint64_t m_end_offset = 0;
};

}  // namespace rocm_offline::bundle
