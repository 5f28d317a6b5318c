// Makes the bundle's repository of one target readable for the native package manager.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "places.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"

namespace rocm_offline::install {

enum class ExposureKind { mounted, in_place, copied };

// mounted: the file as a read-only ISO 9660 loop mount in a mount namespace of this process alone, so that no ending
// leaves a mount. in_place: a tree that somebody mounted. copied: the index at once, packages by provide(); a reflink
// where the file system can, else bytes, hashed while copied.
class Exposure {
 public:
  // Mounts where may_mount and the kernel can; falls back to copies for any reason, told as an event.
  [[nodiscard]] static Result<Exposure> open(const bundle::BundleReader& bundle, const bundle::ManifestTarget& target,
                                             const Places& places, bool may_mount, EventSink& events);
  Exposure(Exposure&&) noexcept;
  Exposure& operator=(Exposure&&) = delete;
  ~Exposure();

  [[nodiscard]] ExposureKind kind() const { return m_kind; }
  // The flat repository, as programs inside the root see it.
  [[nodiscard]] const std::filesystem::path& repository() const { return m_repository; }
  // Bytes that provide() will write for these packages.
  [[nodiscard]] std::uint64_t bytes_to_copy(const std::vector<bundle::ManifestPackage>& packages) const;
  // Makes the packages' files readable. no_space, bundle_damaged, cancelled.
  [[nodiscard]] Result<Done> provide(const std::vector<bundle::ManifestPackage>& packages, EventSink& events,
                                     const CancelToken& cancel);

 private:
  Exposure(const bundle::BundleReader& bundle, ExposureKind kind) : m_bundle(&bundle), m_kind(kind) {}
  [[nodiscard]] Result<Done> copy_index(const bundle::ManifestTarget& target);
  [[nodiscard]] Result<Done> copy_file(const bundle::ImageFile& file, std::uint64_t offset);

  const bundle::BundleReader* m_bundle;
  ExposureKind m_kind;
  std::filesystem::path m_repository;
  std::filesystem::path m_copies;       // folder of the copied image, on the host
  std::filesystem::path m_mount_point;  // empty: nothing mounted
};

}  // namespace rocm_offline::install
