#include <cstdio>

#include "../lock_file.hpp"
#include "../package_diff.hpp"
#include "commands.hpp"
#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::app {

namespace {

constexpr const char* schema = "rocm-offline/diff/1";

PackageRecord record_of(const bundle::ManifestPackage& package) {
  PackageRecord record;
  record.id = package.id;
  record.repository = package.repository;
  record.filename = package.filename;
  record.size = package.size;
  record.installed_size = package.installed_size;
  record.sha256 = package.sha256;
  record.reason = package.reason;
  return record;
}

Result<PackagesByTarget> packages_of(const std::filesystem::path& path) {
  PackagesByTarget packages;
  if (looks_like_lock(path)) {
    auto lock = read_lock(path);
    if (!lock) {
      return fail(std::move(lock).error());
    }
    for (LockedTarget& locked : lock->targets) {
      packages[locked.target.id] = std::move(locked.packages);
    }
    return packages;
  }
  auto reader = bundle::BundleReader::open(path);
  if (!reader) {
    return fail(std::move(reader).error());
  }
  for (const bundle::ManifestTarget& target : reader->manifest().targets) {
    auto& list = packages[target.target.id];
    for (const bundle::ManifestPackage& package : target.packages) {
      list.push_back(record_of(package));
    }
  }
  return packages;
}

std::string summary_text(const PackageDiff& diff) {
  if (diff.equal) {
    return "equal: " + counted(diff.unchanged, "package") + "\n";
  }
  return std::to_string(diff.added.size()) + " added, " + std::to_string(diff.removed.size()) + " removed, " +
         std::to_string(diff.upgraded.size()) + " upgraded, " + std::to_string(diff.downgraded.size()) +
         " downgraded, " + std::to_string(diff.moved.size()) + " moved, " + std::to_string(diff.unchanged) +
         " unchanged; " + format_size(diff.bytes_new) + " are new\n";
}

}  // namespace

int run_diff(const Invocation& invocation, Session& session) {
  auto before = packages_of(invocation.diff.before);
  if (!before) {
    return session.console().failed(in_context(std::move(before).error(), "reading OLD"), schema);
  }
  auto after = packages_of(invocation.diff.after);
  if (!after) {
    return session.console().failed(in_context(std::move(after).error(), "reading NEW"), schema);
  }
  const PackageDiff diff = compare_packages(*before, *after);
  if (session.options().json) {
    session.console().print_json(diff_to_json(diff));
  } else {
    session.console().print(diff_text(diff, before->size() > 1 || after->size() > 1));
    if (!session.options().quiet) {
      std::fputs(summary_text(diff).c_str(), stderr);
    }
  }
  return session.console().finished(0);
}

}  // namespace rocm_offline::app
