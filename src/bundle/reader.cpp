#include "rocm_offline/bundle/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "image_plan.hpp"
#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "stub_constants.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t manifest_cap = std::uint64_t{64} << 20U;
constexpr std::size_t piece_size = std::size_t{1} << 20U;
constexpr std::string_view copy_again =
    "copy the file again, and compare it with the .sha256 file that was made with it";

Error damaged(std::string message, std::string reason, const fs::path& path) {
  return {.code = ErrorCode::bundle_damaged,
          .stage = Stage::bundle,
          .message = std::move(message),
          .reason = std::move(reason),
          .details = {{"path", path.string()}},
          .help = std::string(copy_again)};
}

Error no_bundle(std::string reason, const fs::path& path) {
  Error error = damaged("this is no bundle: " + path.string(), std::move(reason), path);
  error.help = "name a file that 'create' has made, or the folder where it is mounted";
  return error;
}

Result<Done> pread_exactly(int fd, std::uint64_t offset, std::span<char> into, const fs::path& path) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      Error error = got == 0 ? damaged("the bundle is incomplete", "it ends early", path)
                             : system_error(Stage::bundle, "cannot read the bundle", path, errno);
      // A medium that cannot be read is damage, whatever the drive calls it.
      error.code = ErrorCode::bundle_damaged;
      error.details["offset"] = std::to_string(offset + done);
      error.help = copy_again;
      return fail(std::move(error));
    }
    done += static_cast<std::size_t>(got);
  }
  return Done{};
}

struct OpenFile {
  FileDescriptor fd{};
  std::uint64_t size = 0;
  bool is_block_device = false;
};

Result<OpenFile> open_for_reading(const fs::path& path) {
  // O_NONBLOCK: a pipe of that name must not make us wait.
  OpenFile file{.fd = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (!file.fd.valid()) {
    return fail(system_error(Stage::bundle, "cannot open the bundle", path, errno));
  }
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) {
    return fail(system_error(Stage::bundle, "cannot open the bundle", path, errno));
  }
  file.is_block_device = S_ISBLK(status.st_mode);
  if (!S_ISREG(status.st_mode) && !file.is_block_device) {
    return fail(no_bundle("it is neither a file nor a block device", path));
  }
  const off_t end = ::lseek(file.fd.get(), 0, SEEK_END);
  if (end < 0) {
    return fail(system_error(Stage::bundle, "cannot read the bundle", path, errno));
  }
  file.size = static_cast<std::uint64_t>(end);
  return file;
}

}  // namespace

struct BundleReader::Impl {
  fs::path path{};
  bool is_tree = false;
  OpenFile file{};
  std::string system_area{};
  StubConstants constants{};
  std::uint64_t data_offset = 0;
  Manifest manifest{};
  std::string manifest_json{};
  std::string signature{};
  std::uint64_t signature_offset = 0;
  std::string bundle_id{};
  struct Entry {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Sha256Digest sha256{};
  };
  std::map<std::string, Entry> entries{};

  Result<Done> read_stub();
  Result<Done> read_manifest();
  Result<Done> read_signature();
  Result<Done> list_entries();
  Result<Done> stream(int fd, std::uint64_t offset, const ImageFile& wanted,
                      const std::function<Result<Done>(std::string_view)>& on_piece) const;
};

Result<Done> BundleReader::Impl::read_stub() {
  if (is_tree) {
    auto script = read_file(Stage::bundle, path / "install.sh", stub_size);
    if (!script) {
      return fail(no_bundle("it is a folder without install.sh", path));
    }
    system_area = std::move(*script);
  } else {
    auto opened = open_for_reading(path);
    if (!opened) {
      return fail(std::move(opened).error());
    }
    file = std::move(*opened);
    if (file.size < stub_size) {
      return fail(no_bundle("it has only " + std::to_string(file.size) + " bytes", path));
    }
    system_area.resize(stub_size);
    if (auto done = pread_exactly(file.fd.get(), 0, system_area, path); !done) {
      return done;
    }
  }
  auto found = read_stub_constants(stub_script(system_area));
  if (!found) {
    Error error = std::move(found).error();
    error.details["path"] = path.string();
    return fail(std::move(error));
  }
  constants = *found;
  return Done{};
}

Result<Done> BundleReader::Impl::read_manifest() {
  if (constants.manifest_size > manifest_cap || constants.manifest_size == 0) {
    return fail(damaged("the bundle is damaged", "its manifest cannot have the size that the stub says", path));
  }
  if (is_tree) {
    auto text = read_file(Stage::bundle, path / "manifest.json", manifest_cap);
    if (!text) {
      return fail(damaged("the bundle's tree is incomplete", "manifest.json cannot be read", path));
    }
    manifest_json = std::move(*text);
  } else {
    if (file.size < constants.file_size) {
      return fail(damaged("the bundle is incomplete: " + path.string(),
                          "it has " + std::to_string(file.size) + " bytes of " + std::to_string(constants.file_size) +
                              ": the copy or download was cut short",
                          path));
    }
    if (constants.manifest_offset > constants.file_size ||
        constants.manifest_size > constants.file_size - constants.manifest_offset) {
      return fail(damaged("the bundle is damaged", "the stub says that the manifest lies outside of the file", path));
    }
    manifest_json.resize(constants.manifest_size);
    if (auto done = pread_exactly(file.fd.get(), constants.manifest_offset, manifest_json, path); !done) {
      return done;
    }
  }
  const Sha256Digest digest = sha256_of(manifest_json);
  if (digest != constants.manifest_sha256) {
    Error error = damaged("the bundle is damaged: " + path.string(), "its manifest is not what was written", path);
    error.details["expected"] = constants.manifest_sha256.hex();
    error.details["actual"] = digest.hex();
    return fail(std::move(error));
  }
  auto parsed = manifest_from_json(manifest_json);
  if (!parsed) {
    return fail(std::move(parsed).error());
  }
  manifest = std::move(*parsed);
  bundle_id = bundle_id_of(manifest_json);
  return Done{};
}

Result<Done> BundleReader::Impl::read_signature() {
  signature.resize(manifest.signing_key ? site_signature_size : 0);
  if (is_tree) {
    if (manifest.signing_key) {
      auto bytes = read_file(Stage::bundle, path / signature_path, site_signature_size);
      if (!bytes || bytes->size() != site_signature_size) {
        return fail(damaged("the bundle's tree is incomplete",
                            std::string(signature_path) + (bytes ? " is cut short" : " cannot be read"), path));
      }
      signature = std::move(*bytes);
    }
    return Done{};
  }
  signature_offset = align_up(constants.manifest_offset + constants.manifest_size, alignment);
  data_offset = align_up(signature_offset + signature.size(), alignment);
  if (data_offset > align_up(constants.file_size, alignment)) {
    return fail(damaged("the bundle is damaged: " + path.string(), "its manifest would end outside of the file", path));
  }
  return pread_exactly(file.fd.get(), signature_offset, signature, path);
}

Result<Done> BundleReader::Impl::list_entries() {
  const std::string_view script = stub_script(system_area);
  entries["install.sh"] = {0, script.size(), sha256_of(script)};
  entries["rocm-offline-install"] = {constants.runner_offset, manifest.runner_size, manifest.runner_sha256};
  entries["manifest.json"] = {constants.manifest_offset, manifest_json.size(), constants.manifest_sha256};
  if (manifest.signing_key) {
    entries[std::string(signature_path)] = {signature_offset, signature.size(), sha256_of(signature)};
  }
  for (const ManifestFile& entry : manifest.files) {
    entries[entry.path] = {data_offset + entry.offset, entry.size, entry.sha256};
  }
  for (const ManifestTarget& target : manifest.targets) {
    for (const ManifestPackage& package : target.packages) {
      entries[package.path] = {data_offset + package.offset, package.size, package.sha256};
    }
  }
  if (is_tree) {
    return Done{};
  }
  for (const auto& [name, entry] : entries) {
    if (entry.offset > constants.file_size || entry.size > constants.file_size - entry.offset) {
      Error error = damaged("the bundle is damaged: " + path.string(), name + " would lie outside of the file", path);
      return fail(std::move(error));
    }
  }
  return Done{};
}

Result<Done> BundleReader::Impl::stream(int fd, std::uint64_t offset, const ImageFile& wanted,
                                        const std::function<Result<Done>(std::string_view)>& on_piece) const {
  Sha256 hash;
  std::string piece;
  for (std::uint64_t at = 0; at < wanted.size; at += piece.size()) {
    piece.resize(std::min<std::uint64_t>(piece_size, wanted.size - at));
    if (auto done = pread_exactly(fd, offset + at, piece, path); !done) {
      return fail(in_context(std::move(done).error(), "reading " + wanted.path));
    }
    hash.update(piece);
    if (auto done = on_piece(piece); !done) {
      return done;
    }
  }
  const Sha256Digest digest = hash.finish();
  if (digest != wanted.sha256) {
    Error error = damaged("the bundle is damaged: " + path.string(), wanted.path + " is not what was written", path);
    error.details["expected"] = wanted.sha256.hex();
    error.details["actual"] = digest.hex();
    error.details["offset"] = std::to_string(offset);
    return fail(std::move(error));
  }
  return Done{};
}

BundleReader::BundleReader(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
BundleReader::BundleReader(BundleReader&&) noexcept = default;
BundleReader& BundleReader::operator=(BundleReader&&) noexcept = default;
BundleReader::~BundleReader() = default;

Result<BundleReader> BundleReader::open(const fs::path& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  std::error_code ignored;
  impl->is_tree = fs::is_directory(path, ignored);
  for (const auto step : {&Impl::read_stub, &Impl::read_manifest, &Impl::read_signature, &Impl::list_entries}) {
    if (auto done = (impl.get()->*step)(); !done) {
      return fail(std::move(done).error());
    }
  }
  return BundleReader(std::move(impl));
}

const Manifest& BundleReader::manifest() const {
  return m_impl->manifest;
}

const std::string& BundleReader::manifest_json() const {
  return m_impl->manifest_json;
}

const std::string& BundleReader::signature() const {
  return m_impl->signature;
}

bool BundleReader::signature_fits() const {
  const auto& key = m_impl->manifest.signing_key;
  return !key || site_signature_fits(*key, m_impl->manifest_json, m_impl->signature);
}

const std::string& BundleReader::bundle_id() const {
  return m_impl->bundle_id;
}

const fs::path& BundleReader::path() const {
  return m_impl->path;
}

bool BundleReader::is_tree() const {
  return m_impl->is_tree;
}

bool BundleReader::is_block_device() const {
  return m_impl->file.is_block_device;
}

std::uint64_t BundleReader::data_offset() const {
  return m_impl->data_offset;
}

std::uint64_t BundleReader::file_size() const {
  return m_impl->constants.file_size;
}

std::uint64_t BundleReader::medium_size() const {
  return m_impl->file.size;
}

const std::string& BundleReader::system_area() const {
  return m_impl->system_area;
}

std::vector<ImageFile> BundleReader::files() const {
  std::vector<ImageFile> files;
  for (const auto& [path, entry] : m_impl->entries) {
    files.push_back({path, entry.size, entry.sha256});
  }
  return files;
}

Result<Done> BundleReader::read_raw(std::uint64_t offset, std::span<char> into) const {
  return pread_exactly(m_impl->file.fd.get(), offset, into, m_impl->path);
}

Result<Done> BundleReader::read(const ImageFile& file,
                                const std::function<Result<Done>(std::string_view)>& on_piece) const {
  const auto entry = m_impl->entries.find(file.path);
  if (entry == m_impl->entries.end()) {
    return fail({.code = ErrorCode::file_missing,
                 .stage = Stage::bundle,
                 .message = "the bundle holds no " + file.path,
                 .reason = "its manifest does not list it",
                 .details = {{"path", m_impl->path.string()}},
                 .help = "'list' shows what it holds"});
  }
  const ImageFile wanted{file.path, entry->second.size, entry->second.sha256};
  if (!m_impl->is_tree) {
    return m_impl->stream(m_impl->file.fd.get(), entry->second.offset, wanted, on_piece);
  }
  const auto opened = open_for_reading(m_impl->path / file.path);
  if (!opened || opened->size != wanted.size) {
    return fail(damaged("the bundle's tree is damaged: " + m_impl->path.string(),
                        file.path + (opened ? " has another size" : " cannot be read"), m_impl->path));
  }
  return m_impl->stream(opened->fd.get(), 0, wanted, on_piece);
}

}  // namespace rocm_offline::bundle
