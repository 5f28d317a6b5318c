// Options -> plan::Selection: reads the files that options name, asks this host's package manager configuration.
#pragma once

#include <filesystem>
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

[[nodiscard]] Result<plan::Selection> make_selection(const SelectionOptions& options, const Catalogs& catalogs,
                                                     EventSink& events);

}  // namespace rocm_offline::app
