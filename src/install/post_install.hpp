// Access to the GPUs for ordinary users: group membership of one user, or a udev rule for everybody.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "receipt.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/distros/apt.hpp"

namespace rocm_offline::install {

// What /etc/udev/rules.d/70-amdgpu.rules gets with --gpu-access all.
[[nodiscard]] std::string_view gpu_udev_rules();

struct PostInstallOutcome {
  std::vector<std::string> done;   // one line each
  std::vector<std::string> notes;  // what was left alone, and why
};

// Before anything is installed: the user exists (check_failed otherwise). "all" needs nothing.
[[nodiscard]] Result<Done> check_post_install(const PostInstall& wanted, distros::AptTool& tool);

// Does the steps; each is in `receipt` and saved before it is done. Done twice it does nothing.
[[nodiscard]] Result<PostInstallOutcome> apply_post_install(const PostInstall& wanted,
                                                            const std::filesystem::path& root, distros::AptTool& tool,
                                                            Receipt& receipt,
                                                            const std::function<Result<Done>()>& save);

// Undoes the steps of the receipt, last first. A file that was changed since stays, and is told.
[[nodiscard]] PostInstallOutcome undo_post_install(const Receipt& receipt, const std::filesystem::path& root,
                                                   distros::AptTool& tool);

}  // namespace rocm_offline::install
