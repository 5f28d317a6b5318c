// Reads a bundle: a .run file, a block device that holds one, or the tree of a mounted image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rocm_offline/bundle/manifest.hpp"
#include "rocm_offline/core/error.hpp"

namespace rocm_offline::bundle {

// An entry of the image: payload, file, manifest, runner or install.sh.
struct ImageFile {
  std::string path{};
  std::uint64_t size = 0;
  Sha256Digest sha256{};
};

class BundleReader {
 public:
  // Reads the stub's constants, then the manifest by them, checked against its digest before it is parsed
  // (bundle_damaged; file_missing; "is no bundle" is bundle_damaged too).
  [[nodiscard]] static Result<BundleReader> open(const std::filesystem::path& path);
  BundleReader(BundleReader&&) noexcept;
  BundleReader& operator=(BundleReader&&) noexcept;
  ~BundleReader();

  [[nodiscard]] const Manifest& manifest() const;
  [[nodiscard]] const std::string& manifest_json() const;
  [[nodiscard]] const std::string& signature() const;  // of the manifest, not checked; empty where it is not signed
  // False where the signature is not one of the manifest by the key that the manifest names: damage, or worse.
  [[nodiscard]] bool signature_fits() const;
  [[nodiscard]] const std::string& bundle_id() const;
  [[nodiscard]] const std::filesystem::path& path() const;
  [[nodiscard]] bool is_tree() const;  // a mounted image's folder
  [[nodiscard]] bool is_block_device() const;
  [[nodiscard]] std::uint64_t data_offset() const;       // of the data area; 0 for trees
  [[nodiscard]] std::uint64_t file_size() const;         // what the stub says
  [[nodiscard]] std::uint64_t medium_size() const;       // what is there: more when something was appended; 0 for trees
  [[nodiscard]] const std::string& system_area() const;  // the first 32 KiB; for trees /install.sh
  // Raw bytes at a place of the file, for verify; not for trees. bundle_damaged where the medium cannot be read.
  [[nodiscard]] Result<Done> read_raw(std::uint64_t offset, std::span<char> into) const;
  [[nodiscard]] std::vector<ImageFile> files() const;  // everything in the image, sorted by path
  // Streams a file of the image in pieces of at most 1 MiB; the digest is compared at the end (bundle_damaged).
  [[nodiscard]] Result<Done> read(const ImageFile& file,
                                  const std::function<Result<Done>(std::string_view)>& on_piece) const;

 private:
  struct Impl;
  explicit BundleReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> m_impl;
};

// The image's tree as it is into an absent or empty folder (else usage), every file verified, the signature too.
[[nodiscard]] Result<Done> extract_tree(const BundleReader& reader, const std::filesystem::path& directory);

}  // namespace rocm_offline::bundle
