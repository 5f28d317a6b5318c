#include "image_plan.hpp"

#include <algorithm>

#include "rocm_offline/bundle/layout.hpp"

namespace rocm_offline::bundle {

Result<ImagePlan> plan_image(const Manifest& manifest, const ImagePlanInput& sizes) {
  std::vector<IsoFile> files = {
      {.path = "install.sh", .size = sizes.stub_script_size, .executable = true},
      {.path = "rocm-offline-install", .size = manifest.runner_size, .executable = true},
      {.path = "manifest.json", .size = sizes.manifest_size},
  };
  const std::uint64_t signature_size = manifest.signing_key ? site_signature_size : 0;
  if (manifest.signing_key) {
    files.push_back({.path = std::string(signature_path), .size = signature_size});
  }
  const std::size_t first_in_data_area = files.size();
  for (const ManifestFile& file : manifest.files) {
    files.push_back({.path = file.path, .offset = file.offset, .size = file.size});
  }
  for (const ManifestTarget& target : manifest.targets) {
    for (const ManifestPackage& package : target.packages) {
      files.push_back({.path = package.path, .offset = package.offset, .size = package.size});
    }
  }
  std::vector<std::uint64_t> data_offsets;
  std::uint64_t data_size = 0;
  for (std::size_t i = first_in_data_area; i < files.size(); ++i) {
    data_offsets.push_back(files[i].offset);
    data_size = std::max(data_size, align_up(files[i].offset + files[i].size, alignment));
  }
  auto tree = Iso9660Tree::build(std::move(files));
  if (!tree) {
    return fail(std::move(tree).error());
  }
  ImagePlan plan{.tree = std::move(*tree)};
  plan.install_script_offset = align_up(plan.tree.end_offset(), alignment);
  plan.runner_offset = align_up(plan.install_script_offset + sizes.stub_script_size, alignment);
  plan.manifest_offset = align_up(plan.runner_offset + manifest.runner_size, alignment);
  plan.signature_offset = align_up(plan.manifest_offset + sizes.manifest_size, alignment);
  plan.data_offset = align_up(plan.signature_offset + signature_size, alignment);
  plan.file_size = plan.data_offset + data_size;
  plan.tree.place(0, plan.install_script_offset);
  plan.tree.place(1, plan.runner_offset);
  plan.tree.place(2, plan.manifest_offset);
  if (manifest.signing_key) {
    plan.tree.place(3, plan.signature_offset);
  }
  for (std::size_t i = 0; i < data_offsets.size(); ++i) {
    plan.tree.place(first_in_data_area + i, plan.data_offset + data_offsets[i]);
  }
  return plan;
}

}  // namespace rocm_offline::bundle
