// One file as --catalog gives it (a distribution, a repository group, a release) and as --repo does.
#include <filesystem>
#include <fstream>

#include "fuzz_target.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/distros/distro.hpp"
#include "rocm_offline/repos/catalog.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryDirectory folder = TemporaryDirectory::create(Stage::plan, "/tmp", "rocm-fuzz-").value();
  const auto file = folder.path() / "x.json";
  std::ofstream(file, std::ios::binary | std::ios::trunc) << fuzz::text_of(data, size);
  const auto distros = distros::Catalog::load({folder.path()});
  fuzz::require(distros || !distros.error().reason.empty());
  const auto repos = repos::Catalog::load({folder.path()});
  fuzz::require(repos || !repos.error().reason.empty());
  const auto site = repos::read_site_repository(file);
  fuzz::require(site || !site.error().reason.empty());
  return 0;
}
