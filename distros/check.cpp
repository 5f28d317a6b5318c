// The strict check. Every check runs, whatever the others said, so that one run shows everything wrong.
#include <algorithm>
#include <array>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/distros/distro.hpp"

namespace rocm_offline::distros {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "6.8" fits 6.8.0-45-generic and not 6.80.1: whole numbers are compared.
bool prefix_fits(std::string_view prefix, std::string_view kernel) {
  return !prefix.empty() && kernel.starts_with(prefix) &&
         (kernel.size() == prefix.size() || !is_digit(kernel[prefix.size()]) || !is_digit(prefix.back()));
}

// The longest row that fits, so that 4.18.0-553 goes before 4.18.0.
const KernelRow* row_for(const std::vector<KernelRow>& rows, std::string_view kernel) {
  const KernelRow* best = nullptr;
  for (const KernelRow& row : rows) {
    if (prefix_fits(row.prefix, kernel) && (best == nullptr || row.prefix.size() > best->prefix.size())) {
      best = &row;
    }
  }
  return best;
}

std::string kernels_text(const std::vector<KernelRow>& rows) {
  std::vector<std::string> names;
  for (const KernelRow& row : rows) {
    names.push_back(row.prefix + (row.track.empty() ? "" : " (" + row.track + ")"));
  }
  return join(names, ", ");
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// "Linux Mint 22 (linuxmint-22)", or without a version only the id.
std::string machine_name(const OsRelease& os) {
  const std::string id = os.version_id.empty() ? os.id : os.id + "-" + os.version_id;
  return os.pretty_name.empty() || os.pretty_name == id ? id : os.pretty_name + " (" + id + ")";
}

const DistroVersion* version_by_id(const Distro& distro, std::string_view version_id) {
  for (const DistroVersion& version : distro.versions) {
    if (version.version == version_id ||
        std::find(version.equivalent_versions.begin(), version.equivalent_versions.end(), version_id) !=
            version.equivalent_versions.end()) {
      return &version;
    }
  }
  return nullptr;
}

const DistroVersion* version_by_codename(const Distro& distro, std::string_view codename) {
  for (const DistroVersion& version : distro.versions) {
    if (!codename.empty() && version.codename == codename) {
      return &version;
    }
  }
  return nullptr;
}

std::string versions_text(const Distro& distro) {
  std::vector<std::string> ids;
  for (const DistroVersion& version : distro.versions) {
    ids.push_back(distro.id + "-" + version.version);
  }
  return join(ids, ", ");
}

// The distribution of the catalogue that a machine says it is like; nearest first in ID_LIKE.
const Distro* base_distro(const OsRelease& os, const Catalog& catalog) {
  for (const std::string& like : os.id_like) {
    if (const Distro* distro = catalog.distro(like)) {
      return distro;
    }
  }
  return nullptr;
}

// By the base's codename, else by the same VERSION_ID, else the newest version of the base.
std::string nearest_target(const OsRelease& os, const Distro& base) {
  const DistroVersion* version = version_by_codename(base, os.base_codename);
  if (version == nullptr) {
    version = version_by_codename(base, os.version_codename);
  }
  if (version == nullptr) {
    version = version_by_id(base, os.version_id);
  }
  if (version == nullptr) {
    version = &base.versions.back();
  }
  return base.id + "-" + version->version;
}

Check make_check(std::string code, CheckStatus status, std::string message, std::string help = {}) {
  return {.code = std::move(code), .status = status, .message = std::move(message), .help = std::move(help)};
}

// What the first three checks found out.
struct Identity {
  std::vector<Check> checks;
  std::optional<Target> target;
};

Check check_os_release(const MachineFacts& facts) {
  if (facts.os_release) {
    return make_check("os-release", CheckStatus::pass,
                      facts.of_a_target ? "asked about " + machine_name(*facts.os_release) + ", not about this machine"
                                        : "the machine is " + machine_name(*facts.os_release));
  }
  const std::string why = facts.os_release_error.empty() ? "there is no os-release file" : facts.os_release_error;
  return make_check("os-release", CheckStatus::fail, why,
                    "give the root folder of an installed system, or name the target with --treat-as");
}

Check unknown_distribution(const OsRelease& os, const Catalog& catalog) {
  const Distro* base = base_distro(os, catalog);
  if (base == nullptr) {
    return make_check("distribution", CheckStatus::fail, in_quotes(os.id) + " is not a distribution of the catalogue",
                      "supported targets: " + join(catalog.target_ids(), ", "));
  }
  const std::string nearest = nearest_target(os, *base);
  return make_check(
      "distribution", CheckStatus::fail,
      in_quotes(os.id) + " is not " + base->name + " but derived from it, and derivatives are not taken for it",
      "the nearest supported target is " + nearest + ": --treat-as " + nearest +
          " takes the machine for it, at your own risk");
}

Check missing_version(const OsRelease& os, const Distro& distro) {
  // Debian's testing and unstable have no VERSION_ID; /etc/os-release of both says "forky/sid" or the like.
  const std::string what = os.pretty_name.empty() ? distro.name : os.pretty_name;
  const std::string why = distro.id == "debian" ? ", as in testing and unstable (sid), which are no releases" : "";
  return make_check(
      "version", CheckStatus::fail, what + " has no VERSION_ID" + why,
      "supported versions: " + versions_text(distro) + "; --treat-as ID takes the machine for one of them");
}

Check unknown_version(const OsRelease& os, const Distro& distro) {
  return make_check("version", CheckStatus::fail,
                    "version " + in_quotes(os.version_id) + " of " + distro.name + " is not in the catalogue",
                    "supported versions: " + versions_text(distro));
}

Identity identify_exactly(const OsRelease& os, const Catalog& catalog) {
  Identity identity;
  const Distro* distro = catalog.distro(os.id);
  if (distro == nullptr) {
    identity.checks.push_back(unknown_distribution(os, catalog));
    identity.checks.push_back(
        make_check("version", CheckStatus::warn, "the version was not judged, because the distribution is not known"));
    return identity;
  }
  identity.checks.push_back(
      make_check("distribution", CheckStatus::pass, "the distribution is " + distro->name + " (" + distro->id + ")"));
  if (os.version_id.empty()) {
    identity.checks.push_back(missing_version(os, *distro));
    return identity;
  }
  const DistroVersion* version = version_by_id(*distro, os.version_id);
  if (version == nullptr) {
    identity.checks.push_back(unknown_version(os, *distro));
    return identity;
  }
  const bool equivalent = version->version != os.version_id;
  identity.checks.push_back(make_check(
      "version", CheckStatus::pass,
      "the version is " + os.version_id + (equivalent ? ", documented as the same as " + version->version : "")));
  if (Result<Target> target = catalog.target(distro->id + "-" + version->version)) {
    identity.target = std::move(*target);
  }
  return identity;
}

Identity identify_as(const std::string& id, const MachineFacts& facts, const Catalog& catalog) {
  Identity identity;
  Result<Target> target = catalog.target(id);
  if (!target) {
    const Error& error = target.error();
    identity.checks.push_back(make_check("distribution", CheckStatus::fail,
                                         "--treat-as names the " + error.message + ": " + error.reason, error.help));
    identity.checks.push_back(
        make_check("version", CheckStatus::warn, "the version was not judged, because --treat-as names no target"));
    return identity;
  }
  const std::string own = facts.os_release ? facts.os_release->id + "-" + facts.os_release->version_id : "unknown";
  if (facts.os_release) {
    Identity exact = identify_exactly(*facts.os_release, catalog);
    if (exact.target && exact.target->id == target->id) {
      return exact;
    }
  }
  const std::string message = in_quotes(own) + " is taken for " + target->id + ", because --treat-as says so";
  identity.checks.push_back(make_check("distribution", CheckStatus::warn, message,
                                       "packages of " + target->id + " may not fit; this is recorded in the logs"));
  identity.checks.push_back(make_check("version", CheckStatus::warn, message));
  target->treated_as_from = own;
  identity.target = std::move(*target);
  return identity;
}

Identity identify(const MachineFacts& facts, const Catalog& catalog, const std::optional<std::string>& treat_as) {
  Identity identity;
  if (treat_as) {
    identity = identify_as(*treat_as, facts, catalog);
  } else if (facts.os_release) {
    identity = identify_exactly(*facts.os_release, catalog);
  } else {
    const std::string why = "not judged, because os-release could not be read";
    identity.checks = {make_check("distribution", CheckStatus::fail, "the distribution was " + why,
                                  "supported targets: " + join(catalog.target_ids(), ", ")),
                       make_check("version", CheckStatus::warn, "the version was " + why)};
  }
  Check os_release = check_os_release(facts);
  if (os_release.status == CheckStatus::fail && identity.target) {
    os_release.status = CheckStatus::warn;
  }
  identity.checks.insert(identity.checks.begin(), std::move(os_release));
  return identity;
}

Check check_architecture(const MachineFacts& facts) {
  if (facts.machine == "x86_64") {
    return make_check("architecture", CheckStatus::pass, "the machine is x86_64");
  }
  if (facts.machine.empty()) {
    return make_check("architecture", CheckStatus::warn, "the architecture of the image could not be told",
                      "ROCm exists for x86_64 only");
  }
  return make_check("architecture", CheckStatus::fail, "the machine is " + facts.machine + ", not x86_64",
                    "ROCm exists for x86_64 only");
}

Check no_such_release(const CheckQuestion& question, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const SupportRow& row : question.support) {
    known.push_back(row.release);
  }
  return make_check(
      "release", CheckStatus::fail, "release " + in_quotes(*question.release) + " is not in the catalogue",
      "releases for this target: " + (names.empty() ? "none; all: " + join(known, ", ") : join(names, ", ")));
}

Check check_release(const CheckQuestion& question, const std::optional<Target>& target,
                    const std::vector<std::string>& names) {
  if (!target) {
    return make_check("release", CheckStatus::warn, "the release was not judged, because the target is not known");
  }
  const std::string none = "no release of the catalogue supports " + target->id;
  if (!question.release) {
    return names.empty()
               ? make_check("release", CheckStatus::fail, none, "choose another target, or add a catalogue")
               : make_check("release", CheckStatus::pass, "releases for " + target->id + ": " + join(names, ", "));
  }
  const auto row = std::find_if(question.support.begin(), question.support.end(),
                                [&](const SupportRow& one) { return one.release == *question.release; });
  if (row == question.support.end()) {
    return no_such_release(question, names);
  }
  if (!row->supported) {
    return make_check("release", CheckStatus::fail,
                      "release " + in_quotes(row->release) + " does not support " + target->id,
                      names.empty() ? none : "releases for " + target->id + ": " + join(names, ", "));
  }
  if (!row->certain) {
    return make_check("release", CheckStatus::warn,
                      "release " + in_quotes(row->release) + " supports " + target->id + " as far as is known",
                      "the facts are inferred or unverified; try it on one machine first");
  }
  return make_check("release", CheckStatus::pass, "release " + in_quotes(row->release) + " supports " + target->id);
}

// The rows to hold the kernel against: the release's where it has any, else the distribution's own (informative).
struct KernelRows {
  std::vector<KernelRow> rows;
  std::string whose;
  bool of_release = false;
};

KernelRows kernel_rows(const CheckQuestion& question, const std::optional<Target>& target, const Catalog& catalog) {
  for (const SupportRow& row : question.support) {
    if (question.release && row.release == *question.release && row.supported && !row.kernels.empty()) {
      return {row.kernels, "release " + in_quotes(row.release), true};
    }
  }
  const DistroVersion* version = target ? catalog.version(*target) : nullptr;
  return version == nullptr ? KernelRows{} : KernelRows{version->kernels, target->id, false};
}

bool has_validated(const std::vector<KernelRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const KernelRow& row) { return row.status == "validated"; });
}

Check check_kernel(const CheckQuestion& question, const std::optional<Target>& target, const Catalog& catalog) {
  const std::string& kernel = question.facts.kernel;
  if (kernel.empty()) {
    return make_check("kernel", question.with_driver ? CheckStatus::warn : CheckStatus::pass,
                      question.with_driver ? "the kernel was not judged, because it is not known"
                                           : "any kernel: no driver is to be built for it",
                      question.with_driver ? "give the target's `uname -r` with --kernel" : "");
  }
  const KernelRows known = kernel_rows(question, target, catalog);
  if (known.rows.empty()) {
    return make_check("kernel", CheckStatus::warn, "nothing is known of kernel " + kernel + " on this target");
  }
  const KernelRow* row = row_for(known.rows, kernel);
  const std::string list = "kernels of " + known.whose + ": " + kernels_text(known.rows);
  if (row != nullptr && (row->status == "validated" || !known.of_release)) {
    const std::string track = row->track.empty() ? "" : " (" + row->track + ")";
    return make_check("kernel", CheckStatus::pass, "kernel " + kernel + " is one of " + known.whose + track);
  }
  if (row != nullptr) {
    return make_check("kernel", CheckStatus::warn,
                      "kernel " + kernel + " is listed for " + known.whose + ", but not as validated", list);
  }
  // Only validated rows may refuse, and only a driver that is to be built for that kernel.
  const bool refuses = question.with_driver && known.of_release && has_validated(known.rows);
  return make_check("kernel", refuses ? CheckStatus::fail : CheckStatus::warn,
                    "kernel " + kernel + " is none of those of " + known.whose, list);
}

Check check_container(const CheckQuestion& question) {
  if (!question.facts.container_or_chroot) {
    return make_check("container", CheckStatus::pass, "no container or chroot was found");
  }
  return make_check("container", CheckStatus::warn, "this is a container, chroot or image",
                    question.with_driver ? "a driver is built for the kernels given with --kernel only; the running "
                                           "kernel is the host's"
                                         : "the GPU's devices (/dev/kfd, /dev/dri) and its driver come from the host");
}

Check check_lifecycle(const CheckQuestion& question, const std::optional<Target>& target, const Catalog& catalog) {
  const DistroVersion* version = target ? catalog.version(*target) : nullptr;
  if (version == nullptr) {
    return make_check("lifecycle", CheckStatus::warn, "the lifecycle was not judged, because the target is not known");
  }
  if (version->end_of_life.empty()) {
    return make_check("lifecycle", CheckStatus::pass, "no end of updates is known for " + target->id);
  }
  const std::string until = "updates for " + target->id + " end on " + version->end_of_life;
  // Dates of this form sort as text.
  if (!question.today.empty() && question.today > version->end_of_life) {
    return make_check("lifecycle", CheckStatus::warn, "updates for " + target->id + " ended on " + version->end_of_life,
                      "its repositories may move to an archive; use --mirror then");
  }
  return make_check("lifecycle", CheckStatus::pass, until);
}

std::vector<std::string> supporting_releases(const std::vector<SupportRow>& rows) {
  std::vector<std::string> names;
  for (const SupportRow& row : rows) {
    if (row.supported) {
      names.push_back(row.release);
    }
  }
  return names;
}

}  // namespace

CheckReport check_machine(const CheckQuestion& question, const Catalog& catalog) {
  Identity identity = identify(question.facts, catalog, question.treat_as);
  CheckReport report;
  report.checks = std::move(identity.checks);
  if (identity.target) {
    report.target = identity.target->id;
    report.releases = supporting_releases(question.support);
  }
  report.checks.push_back(check_architecture(question.facts));
  report.checks.push_back(check_release(question, identity.target, report.releases));
  report.checks.push_back(check_kernel(question, identity.target, catalog));
  report.checks.push_back(check_container(question));
  report.checks.push_back(check_lifecycle(question, identity.target, catalog));
  report.supported = std::none_of(report.checks.begin(), report.checks.end(),
                                  [](const Check& check) { return check.status == CheckStatus::fail; });
  return report;
}

Result<Target> identify_target(const MachineFacts& facts, const Catalog& catalog,
                               const std::optional<std::string>& treat_as) {
  if (treat_as) {
    if (Result<Target> wanted = catalog.target(*treat_as); !wanted) {
      return fail(in_context(std::move(wanted).error(), "reading --treat-as"));
    }
  }
  Identity identity = identify(facts, catalog, treat_as);
  if (identity.target) {
    return std::move(*identity.target);
  }
  Error error{.code = facts.os_release ? ErrorCode::wrong_target : ErrorCode::check_failed,
              .stage = Stage::check,
              .message = "this machine is no supported target"};
  for (const Check& check : identity.checks) {
    if (check.status == CheckStatus::fail) {
      error.reason = check.message;
      error.help = check.help;
      error.details["check"] = check.code;
      break;
    }
  }
  if (facts.os_release) {
    error.details["actual"] = machine_name(*facts.os_release);
  }
  return fail(std::move(error));
}

}  // namespace rocm_offline::distros
