#include "coverage.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace rocm_offline::verify {

namespace {

using bundle::Manifest;

void add_fixed_parts(const bundle::RegeneratedImage& image, std::vector<Stretch>& stretches) {
  // In the order that regenerate() gives them.
  static constexpr std::array<std::pair<const char*, const char*>, 5> names = {
      {{"the stub", ""},
       {"the directory records", ""},
       {"install.sh", "install.sh"},
       {"the manifest", "manifest.json"},
       {"the manifest's signature", "manifest.json.sig"}}};
  for (std::size_t i = 0; i < image.fixed_parts.size(); ++i) {
    const bundle::FixedPart& part = image.fixed_parts[i];
    const auto& [what, path] = names.at(std::min(i, names.size() - 1));
    stretches.push_back(
        {.offset = part.offset, .size = part.bytes.size(), .what = what, .path = path, .bytes = &part.bytes});
  }
}

// The runner lies before the manifest, the fourth of the fixed parts.
void add_runner(const Manifest& manifest, const bundle::RegeneratedImage& image, std::vector<Stretch>& stretches) {
  const std::uint64_t blocks = (manifest.runner_size + bundle::alignment - 1) / bundle::alignment;
  stretches.push_back({.offset = image.fixed_parts.at(3).offset - blocks * bundle::alignment,
                       .size = manifest.runner_size,
                       .what = "the installer program",
                       .path = "rocm-offline-install",
                       .sha256 = manifest.runner_sha256});
}

void add_extents(const Manifest& manifest, std::uint64_t data_offset, const std::optional<std::string>& only_target,
                 std::vector<Stretch>& stretches) {
  // A payload that several targets share is one stretch, wanted when one of them wants it.
  std::map<std::tuple<std::uint64_t, std::uint64_t, Sha256Digest>, Stretch> extents;
  const auto add = [&](Stretch stretch) {
    if (stretch.size == 0) {
      return;
    }
    const auto [known, is_new] = extents.try_emplace({stretch.offset, stretch.size, *stretch.sha256}, stretch);
    if (!is_new && stretch.is_wanted && !known->second.is_wanted) {
      known->second = std::move(stretch);
    }
  };
  for (const bundle::ManifestFile& file : manifest.files) {
    add({.offset = data_offset + file.offset,
         .size = file.size,
         .what = file.path,
         .path = file.path,
         .sha256 = file.sha256,
         .is_wanted = !is_trust_of_others(file.path, only_target)});
  }
  for (const bundle::ManifestTarget& target : manifest.targets) {
    for (const bundle::ManifestPackage& package : target.packages) {
      add({.offset = data_offset + package.offset,
           .size = package.size,
           .what = "package " + package.id.name,
           .path = package.path,
           .sha256 = package.sha256,
           .is_wanted = !only_target || *only_target == target.target.id});
    }
  }
  for (auto& [key, stretch] : extents) {
    stretches.push_back(std::move(stretch));
  }
}

}  // namespace

bool is_trust_of_others(const std::string& path, const std::optional<std::string>& only_target) {
  return only_target && path.starts_with("trust/") && !path.starts_with("trust/" + *only_target + "/");
}

std::vector<Stretch> cover(const Manifest& manifest, const bundle::RegeneratedImage& image,
                           const std::optional<std::string>& only_target) {
  std::vector<Stretch> stretches;
  add_fixed_parts(image, stretches);
  add_runner(manifest, image, stretches);
  add_extents(manifest, image.data_offset, only_target, stretches);
  const auto by_offset = [](const Stretch& a, const Stretch& b) { return a.offset < b.offset; };
  std::sort(stretches.begin(), stretches.end(), by_offset);
  std::vector<Stretch> gaps;
  std::uint64_t end = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.offset > end) {
      gaps.push_back({.offset = end, .size = stretch.offset - end, .what = "the padding"});
    }
    end = std::max(end, stretch.offset + stretch.size);
  }
  if (image.file_size > end) {
    gaps.push_back({.offset = end, .size = image.file_size - end, .what = "the padding"});
  }
  stretches.insert(stretches.end(), gaps.begin(), gaps.end());
  std::sort(stretches.begin(), stretches.end(), by_offset);
  return stretches;
}

}  // namespace rocm_offline::verify
