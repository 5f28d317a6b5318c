// Options -> plan::Selection: reads the files that options name, asks this host's package manager configuration.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rocm_offline/plan/planner.hpp"
#include "rocm_offline/repos/catalog.hpp"

namespace rocm_offline::app {

struct Catalogs {
  distros::Catalog distros;
  repos::Catalog repos;
};

// Compiled in, then /etc/rocm-offline/catalog.d, then each --catalog folder.
[[nodiscard]] Result<Catalogs> load_catalogs(const std::vector<std::filesystem::path>& folders);

// NAME=VALUE of an option; a usage error naming the option otherwise.
[[nodiscard]] Result<std::pair<std::string, std::string>> name_and_value(std::string_view option,
                                                                         const std::string& text);

[[nodiscard]] Result<plan::Selection> make_selection(const SelectionOptions& options, const Catalogs& catalogs,
                                                     EventSink& events);

}  // namespace rocm_offline::app
