#include "fuzz_target.hpp"
#include "packages_reader.hpp"
#include "rocm_offline/core/text.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  index::PackagesReader reader("amd64");
  const auto added = reader.add(text, "Packages");
  if (!added) {
    fuzz::require(!added.error().reason.empty());
    return 0;
  }
  for (const index::DebPackage& package : reader.take_packages()) {
    fuzz::require(is_safe_relative_path(package.filename) && package.size > 0 && !package.name.empty());
    fuzz::require(package.stanza.data() >= text.data() &&
                  package.stanza.data() + package.stanza.size() <= text.data() + text.size());
  }
  return 0;
}
