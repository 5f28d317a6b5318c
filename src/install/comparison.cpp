#include "comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "preflight.hpp"
#include "rocm_offline/core/deb_version.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::install {

namespace {

bool same_package(const PackageId& a, const PackageId& b) {
  return a.name == b.name && a.arch == b.arch;
}

const distros::DpkgPackage* find_installed(const std::vector<distros::DpkgPackage>& installed, const PackageId& id) {
  for (const distros::DpkgPackage& package : installed) {
    if (same_package(package.id, id) && package.installed()) {
      return &package;
    }
  }
  return nullptr;
}

Error differs(std::string message, std::string reason, std::string help) {
  return {.code = ErrorCode::plan_differs,
          .stage = Stage::install,
          .message = std::move(message),
          .reason = std::move(reason),
          .help = std::move(help)};
}

}  // namespace

Result<Request> choose_request(const bundle::ManifestTarget& target, const std::vector<distros::DpkgPackage>& installed,
                               bool allow_downgrades) {
  Request request;
  Error mixed = differs("packages of another origin would be mixed with the bundle's",
                        "they are installed in a version that apt takes for newer, and would stay",
                        "remove them first with apt-get remove, or pass --allow-downgrades to replace them");
  for (const bundle::ManifestPackage& package : target.packages) {
    const distros::DpkgPackage* present = find_installed(installed, package.id);
    const bool newer = present != nullptr && compare_deb_versions(present->id.version, package.id.version) > 0;
    const bool replace = newer && is_vendor_repository(package.repository);
    if (replace && !allow_downgrades) {
      mixed.problems.push_back({.summary = package.id.name + " " + present->id.version +
                                           " is installed, the bundle has " + package.id.version,
                                .chain = {},
                                .help = ""});
      continue;
    }
    if (package.reason.kind != ReasonKind::requested && !replace) {
      continue;
    }
    if (newer && !allow_downgrades) {
      request.notes.push_back(package.id.name + " is installed in a newer version and stays: " + present->id.version +
                              ", the bundle has " + package.id.version);
      continue;
    }
    request.packages.push_back(package.id);
  }
  if (!mixed.problems.empty()) {
    return fail(std::move(mixed));
  }
  return request;
}

Result<std::vector<bundle::ManifestPackage>> compare_with_plan(const distros::Simulation& simulation,
                                                               const bundle::ManifestTarget& target,
                                                               Tolerance tolerance) {
  std::vector<bundle::ManifestPackage> planned;
  Error error = differs("this machine's apt would do something else than the bundle's plan", "",
                        "look at the list; nothing was changed");
  for (const distros::SimulatedChange& change : simulation.installs) {
    const auto found = std::find_if(target.packages.begin(), target.packages.end(),
                                    [&](const bundle::ManifestPackage& package) { return package.id == change.id; });
    if (found == target.packages.end()) {
      error.problems.push_back({.summary = change.id.name + " " + change.id.version + " (" + change.id.arch +
                                           ") would be installed and is not in the plan",
                                .chain = {},
                                .help = ""});
      continue;
    }
    planned.push_back(*found);
    if (!tolerance.downgrades && !change.before.empty() && compare_deb_versions(change.id.version, change.before) < 0) {
      error.problems.push_back(
          {.summary = change.id.name + " would be downgraded from " + change.before + " to " + change.id.version,
           .chain = {},
           .help = "--allow-downgrades"});
    }
  }
  for (const distros::SimulatedChange& change : simulation.removals) {
    if (!tolerance.removals) {
      error.problems.push_back({.summary = change.id.name + " " + change.id.version + " would be removed",
                                .chain = {},
                                .help = "--allow-removals"});
    }
  }
  if (error.problems.empty()) {
    return planned;
  }
  error.reason = std::to_string(error.problems.size()) + " differences";
  return fail(std::move(error));
}

Result<Done> compare_installed(const std::vector<PackageId>& wanted,
                               const std::vector<distros::DpkgPackage>& installed) {
  std::vector<std::string> wrong;
  for (const PackageId& id : wanted) {
    const auto found = std::find_if(installed.begin(), installed.end(),
                                    [&](const distros::DpkgPackage& package) { return same_package(package.id, id); });
    if (found == installed.end()) {
      wrong.push_back(id.name + " is absent");
    } else if (!found->installed()) {
      wrong.push_back(id.name + " is in state " + found->status);
    } else if (found->id.version != id.version) {
      wrong.push_back(id.name + " is installed as " + found->id.version + " instead of " + id.version);
    }
  }
  if (wrong.empty()) {
    return Done{};
  }
  return fail(
      Error{.code = ErrorCode::native_tool_failed,
            .stage = Stage::install,
            .message = "not everything that was to be installed is installed",
            .reason = join(wrong, "; "),
            .help = "read what the package manager said in the log, then run the same command again: it continues"});
}

std::vector<std::string> file_differences(const std::vector<distros::ChangedFile>& files) {
  constexpr std::size_t most = 20;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < files.size() && i < most; ++i) {
    lines.push_back(files[i].path + (files[i].missing ? " is missing" : " is not what its package brought"));
  }
  if (files.size() > most) {
    lines.push_back("and " + counted(files.size() - most, "more file"));
  }
  return lines;
}

RemovalChoice choose_removals(const std::vector<std::string>& added, const std::vector<std::string>& kept_for,
                              const std::vector<distros::DpkgPackage>& installed) {
  std::set<std::string> removing;
  for (const distros::DpkgPackage& package : installed) {
    if (package.installed() && std::find(added.begin(), added.end(), package.id.name) != added.end()) {
      removing.insert(package.id.name);
    }
  }
  std::map<std::string, std::string> needed_by;
  for (const std::string& name : kept_for) {
    if (removing.erase(name) > 0) {
      needed_by[name] = "another bundle";
    }
  }
  // Who provides a name, so that a dependency on a virtual package finds its provider.
  std::map<std::string, std::set<std::string>> providers;
  for (const distros::DpkgPackage& package : installed) {
    if (!package.installed()) {
      continue;
    }
    providers[package.id.name].insert(package.id.name);
    for (const distros::OrGroup& group : distros::parse_relation_names(package.provides)) {
      for (const std::string& name : group) {
        providers[name].insert(package.id.name);
      }
    }
  }
  const auto keep_what_is_needed = [&](const distros::DpkgPackage& package) {
    bool changed = false;
    for (const distros::OrGroup& group : distros::parse_relation_names(package.depends)) {
      std::set<std::string> candidates;
      for (const std::string& name : group) {
        candidates.insert(providers[name].begin(), providers[name].end());
      }
      const bool satisfied = std::any_of(candidates.begin(), candidates.end(),
                                         [&](const std::string& name) { return !removing.contains(name); });
      if (satisfied) {
        continue;
      }
      for (const std::string& name : candidates) {
        removing.erase(name);
        needed_by[name] = package.id.name;
        changed = true;
      }
    }
    return changed;
  };
  // Each package that stays may keep others: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (const distros::DpkgPackage& package : installed) {
      if (package.installed() && !removing.contains(package.id.name)) {
        changed = keep_what_is_needed(package) || changed;
      }
    }
  }
  RemovalChoice choice;
  choice.remove.assign(removing.begin(), removing.end());
  for (const auto& [name, by] : needed_by) {
    choice.stay.push_back(name + " stays: " + by + " needs it");
  }
  return choice;
}

}  // namespace rocm_offline::install
