// Choices + catalogues -> ReleasePlans. Pure: no files, no network, no clock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rocm_offline/repos/catalog.hpp"

namespace rocm_offline::plan {

// SELECTION of cli.md, after command line and --config were united.
struct Selection {
  std::vector<std::string> targets{};
  std::string release{};
  std::vector<std::string> usecases{};
  std::vector<std::string> packages{};                 // NAME or NAME=VERSION
  bool driver = false;
  std::vector<std::string> kernels{};
  std::optional<std::string> treat_as{};
  bool recommends = false;
  bool minimum = false;
  std::map<std::string, std::vector<std::string>> mirrors{};   // group or repository name -> base URLs
  std::map<std::string, std::vector<Keyring>> keyrings{};      // group or repository name -> keys ("" = --repo files)
  std::vector<repos::SiteRepository> site_repositories{};      // --repo
  std::vector<std::string> allow_unsigned{}, allow_expired{}, allow_rollback{};
  PostInstall post_install{};
};

// What every release of the catalogue says of one target: the rows that distros::check_machine wants.
[[nodiscard]] std::vector<distros::SupportRow> support_rows(const repos::Catalog& repos, std::string_view target_id);

// "hipcc" or "hipcc=5.7.1-3" -> request; usage error for anything that is no package name or version.
[[nodiscard]] Result<PackageRequest> parse_package(std::string_view text);

// One plan per target, in the order given. Missing parts of the selection are one `usage` error naming the possible
// values; unknown names are unknown_* with near names; a target that the release does not support is
// target_unsupported naming the nearest releases and targets that are. A repository without a key is key_unknown, unless
// it may be unsigned.
[[nodiscard]] Result<std::vector<ReleasePlan>> make_release_plans(const Selection& selection,
                                                                  const distros::Catalog& distros,
                                                                  const repos::Catalog& repos);

}  // namespace rocm_offline::plan
