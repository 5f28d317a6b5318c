#include "readme.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::bundle {

namespace {

std::string target_text(const ManifestTarget& target) {
  const std::string& id = target.target.id;
  std::vector<std::string> requested;
  for (const PackageRequest& request : target.requests) {
    requested.push_back(request.name + (request.version ? "=" + *request.version : ""));
  }
  return "\n" + id + "\n" + std::string(id.size(), '-') +
         "\n"
         "Release " +
         target.release + ", " + counted(target.packages.size(), "package") + ", " +
         format_size(target.totals.download_bytes) +
         ".\n\n"
         "From the mounted image, in /etc/apt/sources.list.d/rocm-offline.list:\n\n"
         "    deb [trusted=yes check-date=no check-valid-until=no] file:/MOUNT/repos/" +
         id +
         " ./\n\n"
         "From a web server that serves the image's tree:\n\n"
         "    deb [trusted=yes check-date=no check-valid-until=no] http://SERVER/PATH/repos/" +
         id +
         " ./\n\n"
         "Then:\n\n"
         "    apt-get update\n"
         "    apt-get install" +
         (target.policy.recommends ? "" : " --no-install-recommends") + " " + join(requested, " ") + "\n";
}

}  // namespace

std::string readme_text(const std::vector<ManifestTarget>& targets) {
  std::string text =
      "ROCm offline installer\n"
      "======================\n\n"
      "This tree is the inside of a bundle: one file that is a shell script, an ISO 9660 image and a package\n"
      "repository for each target. The usual way to install is to run the file, or /install.sh of the mounted "
      "image:\n\n"
      "    sh FILE.run                        as root: checks the machine, installs, writes a log\n"
      "    sh FILE.run dryrun                 only says what it would do\n"
      "    sh FILE.run verify                 compares every byte with what was written; needs no root\n"
      "    sh FILE.run help                   the rest\n\n"
      "By hand\n"
      "-------\n"
      "Mount the file, or burn it, or attach it to a machine as a CD-ROM:\n\n"
      "    mount -o loop,ro FILE.run /MOUNT\n\n"
      "or unpack it with xorriso, bsdtar or 7z, or with \"sh FILE.run extract DIR\", which verifies each file. In "
      "what\n"
      "follows, /MOUNT is where the tree is; write a space in it as %20. \"trusted=yes\" is there because the index\n"
      "carries no signature of its own: the packages' upstream signatures are in /trust, the keys in /keys, and\n"
      "\"sh FILE.run verify --chain\" follows them. The two other options keep apt from refusing the index on a "
      "machine\n"
      "whose clock is wrong.\n\n"
      "/manifest.json lists every package with its origin, its digest and the reason why it is here.\n";
  for (const ManifestTarget& target : targets) {
    text += target_text(target);
  }
  return text;
}

}  // namespace rocm_offline::bundle
