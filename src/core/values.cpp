#include "rocm_offline/core/values.hpp"

#include <array>

namespace rocm_offline {

std::string_view family_name(PackageFamily family) {
  return family == PackageFamily::deb ? "deb" : "rpm";
}

std::string_view reason_kind_name(ReasonKind kind) {
  static constexpr std::array<std::string_view, 4> names = {"requested", "dependency", "essential", "baseline"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string_view check_status_name(CheckStatus status) {
  static constexpr std::array<std::string_view, 3> names = {"pass", "warn", "fail"};
  return names.at(static_cast<std::size_t>(status));
}

Totals totals_of(const std::vector<PackageRecord>& packages) {
  Totals totals;
  totals.packages = packages.size();
  for (const PackageRecord& package : packages) {
    totals.download_bytes += package.size;
    totals.installed_bytes += package.installed_size.value_or(0);
    totals.installed_unknown += package.installed_size ? 0 : 1;
  }
  return totals;
}

}  // namespace rocm_offline
