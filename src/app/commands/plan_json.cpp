#include "plan_json.hpp"

#include <map>

#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::app {

Totals bundle_totals(const Planned& planned) {
  std::map<Sha256Digest, PackageRecord> once;
  for (const bundle::TargetContent& target : planned.targets) {
    for (const PackageRecord& package : target.closure.packages) {
      once.emplace(package.sha256, package);
    }
  }
  std::vector<PackageRecord> packages;
  packages.reserve(once.size());
  for (auto& [digest, package] : once) {
    packages.push_back(std::move(package));
  }
  Totals totals = totals_of(packages);
  totals.bundle_bytes = planned.layout.file_size;
  return totals;
}

nlohmann::json plan_to_json(const Planned& planned) {
  nlohmann::json document = {{"schema", "rocm-offline/plan/1"},
                             {"release", planned.targets.front().plan.release},
                             {"targets", nlohmann::json::array()},
                             {"totals", to_json(bundle_totals(planned))}};
  for (const bundle::TargetContent& target : planned.targets) {
    nlohmann::json packages = nlohmann::json::array();
    for (const PackageRecord& package : target.closure.packages) {
      packages.push_back(to_json(package));
    }
    Totals totals = totals_of(target.closure.packages);
    totals.bundle_bytes = planned.layout.file_size;
    document["targets"].push_back(
        {{"target", target.plan.target.id}, {"packages", std::move(packages)}, {"totals", to_json(totals)}});
  }
  if (planned.targets.size() == 1) {
    document["target"] = document["targets"][0]["target"];
    document["packages"] = document["targets"][0]["packages"];
  }
  return document;
}

}  // namespace rocm_offline::app
