#include "rocm_offline/archive/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <utility>

namespace rocm_offline::archive {
namespace {

struct FreeReader {
  void operator()(::archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<::archive, FreeReader>;

tl::unexpected<Error> invalid(std::string message, std::string reason) {
  Error error;
  error.code = ErrorCode::metadata_invalid;
  error.stage = Stage::repos;
  error.message = std::move(message);
  error.reason = std::move(reason);
  error.help = "try again later or use another mirror: the file is damaged at its source";
  return fail(std::move(error));
}

std::string reason_of(::archive* reader) {
  const char* text = archive_error_string(reader);
  return text == nullptr ? "unknown reason" : text;
}

Result<Reader> open(std::string_view data) {
  Reader reader(archive_read_new());
  if (!reader) {
    return invalid("cannot decompress", "out of memory");
  }
  // Named one by one: archive_read_support_filter_all() would also start external programs for exotic formats.
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_filter_lz4(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open_memory(reader.get(), data.data(), data.size()) != ARCHIVE_OK) {
    return invalid("cannot decompress", reason_of(reader.get()));
  }
  return reader;
}

}  // namespace

Result<std::string> decompress(std::string_view data, std::uint64_t max_bytes) {
  if (data.empty()) {
    return std::string();
  }
  auto reader = open(data);
  if (!reader) {
    return tl::unexpected(std::move(reader).error());
  }
  archive_entry* entry = nullptr;
  const int header = archive_read_next_header(reader->get(), &entry);
  if (header == ARCHIVE_EOF) {
    return std::string();
  }
  if (header != ARCHIVE_OK) {
    return invalid("cannot decompress", reason_of(reader->get()));
  }
  std::string out;
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int status = archive_read_data_block(reader->get(), &block, &size, &offset);
    if (status == ARCHIVE_EOF) {
      return out;
    }
    if (status != ARCHIVE_OK) {
      return invalid("cannot decompress", reason_of(reader->get()));
    }
    if (size > max_bytes - out.size()) {
      return invalid("decompressed data is too large", "more than " + std::to_string(max_bytes) + " bytes");
    }
    out.append(static_cast<const char*>(block), size);
  }
}

}  // namespace rocm_offline::archive
