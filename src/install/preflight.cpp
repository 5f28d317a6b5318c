#include "preflight.hpp"

#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "package_lock.hpp"
#include "post_install.hpp"
#include "receipt.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t names_shown = 5;
constexpr std::uint64_t max_preferences_bytes = 1U << 20U;

Error refuse(ErrorCode code, std::string message, std::string reason, std::string help) {
  return {.code = code,
          .stage = Stage::install,
          .message = std::move(message),
          .reason = std::move(reason),
          .help = std::move(help)};
}

std::string target_list(const bundle::Manifest& manifest) {
  std::vector<std::string> ids;
  for (const bundle::ManifestTarget& target : manifest.targets) {
    ids.push_back(target.target.id);
  }
  return join(ids, ", ");
}

class Inspector {
 public:
  Inspector(const bundle::BundleReader& bundle, const InstallOptions& options, const PreflightQuestion& question,
            distros::AptTool& tool, const Places& places)
      : m_bundle(bundle), m_options(options), m_question(question), m_tool(tool), m_places(places) {}

  Preflight run() {
    m_facts = distros::read_machine_facts(m_options.root);
    check_target();
    check_architecture();
    check_kernel();
    check_root();
    if (!verify_bundle()) {
      return std::move(m_result);
    }
    check_package_manager();
    check_lock();
    if (!m_other_run) {
      check_half_done();
    }
    check_receipt();
    check_other_release();
    check_post_install_user();
    check_space_estimate();
    check_site_configuration();
    return std::move(m_result);
  }

 private:
  void add(std::string code, CheckStatus status, std::string message, std::string help = "") {
    m_result.findings.push_back(
        {{.code = std::move(code), .status = status, .message = std::move(message), .help = std::move(help)}, {}});
  }
  void add_refusal(std::string code, Error error) {
    const std::string message = error.reason.empty() ? error.message : error.message + ": " + error.reason;
    m_result.findings.push_back(
        {{.code = std::move(code), .status = CheckStatus::fail, .message = message, .help = error.help},
         std::move(error)});
  }

  const bundle::ManifestTarget* find(const std::string& id) const {
    for (const bundle::ManifestTarget& target : m_bundle.manifest().targets) {
      if (target.target.id == id) {
        return &target;
      }
    }
    return nullptr;
  }

  void check_target() {
    auto catalog = distros::Catalog::load({});
    if (!catalog) {
      add_refusal("distribution", std::move(catalog).error());
      return;
    }
    auto machine = distros::identify_target(m_facts, *catalog, m_options.treat_as);
    if (!machine) {
      add_refusal("distribution", std::move(machine).error());
      return;
    }
    m_result.machine_target = machine->id;
    m_result.target = find(machine->id);
    if (m_result.target != nullptr) {
      add("distribution", CheckStatus::pass, "this machine is " + machine->id + ", which the bundle is for");
      return;
    }
    const auto same_distribution =
        std::find_if(m_bundle.manifest().targets.begin(), m_bundle.manifest().targets.end(),
                     [&](const bundle::ManifestTarget& target) { return target.target.distro == machine->distro; });
    if (same_distribution != m_bundle.manifest().targets.end() && m_options.allow_version_mismatch) {
      m_result.target = &*same_distribution;
      add("version", CheckStatus::warn,
          "this machine is " + machine->id + ", the bundle's packages are for " + same_distribution->target.id +
              " (--allow-mismatch version)");
      return;
    }
    add_refusal("distribution",
                refuse(ErrorCode::wrong_target, "the bundle does not fit this machine",
                       "this machine is " + machine->id + ", the bundle is for " + target_list(m_bundle.manifest()),
                       "create a bundle with --target " + machine->id));
  }

  void check_architecture() {
    if (m_facts.machine.empty()) {
      return;  // below --root: dpkg's architecture tells
    }
    if (m_facts.machine == "x86_64") {
      add("architecture", CheckStatus::pass, "the machine is x86_64");
      return;
    }
    add_refusal("architecture", refuse(ErrorCode::wrong_target, "the bundle does not fit this machine's architecture",
                                       "uname says '" + m_facts.machine + "', ROCm exists for x86_64 only",
                                       "run it on the machine that ROCm is for"));
  }

  void check_kernel() {
    if (m_result.target == nullptr || m_result.target->target.kernels.empty() || m_facts.kernel.empty()) {
      return;
    }
    const auto& kernels = m_result.target->target.kernels;
    if (std::find(kernels.begin(), kernels.end(), m_facts.kernel) != kernels.end()) {
      add("kernel", CheckStatus::pass, "the running kernel " + m_facts.kernel + " is one the bundle was made for");
      return;
    }
    const bool with_driver =
        std::any_of(m_result.target->packages.begin(), m_result.target->packages.end(),
                    [](const bundle::ManifestPackage& package) { return package.id.name == "amdgpu-dkms"; });
    const std::string message =
        "the running kernel is " + m_facts.kernel + ", the bundle was made for " + join(kernels, ", ");
    if (with_driver && !m_options.allow_kernel_mismatch && !m_facts.container_or_chroot) {
      add_refusal("kernel",
                  refuse(ErrorCode::check_failed, "the kernel driver may not build for this kernel", message,
                         "create the bundle with --kernel " + m_facts.kernel + ", or pass --allow-mismatch kernel"));
      return;
    }
    add("kernel", CheckStatus::warn, message);
  }

  // Whoever can write dpkg's database is root, in whatever way; a read-only system refuses even root.
  void check_root() {
    const fs::path database = m_options.root / "var/lib/dpkg";
    if (::access(database.c_str(), W_OK) == 0) {
      add("root", CheckStatus::pass, "packages can be installed by this user");
      return;
    }
    const int reason = errno;
    if (::geteuid() == 0) {
      add_refusal("root", refuse(ErrorCode::check_failed, "the package database cannot be written",
                                 system_error(Stage::install, "", database, reason).reason,
                                 "make " + database.string() + " writable"));
    } else if (m_question.will_change) {
      add_refusal("root",
                  refuse(ErrorCode::not_root, "installing needs root", "this user may not change the package database",
                         "run the same command with sudo, or as root"));
    } else {
      add("root", CheckStatus::warn, "this user may not install packages", "install with sudo, or as root");
    }
  }

  // False when the bundle is damaged.
  bool verify_bundle() {
    if (!m_question.verify || m_result.target == nullptr || m_result.refusal()) {
      return true;
    }
    if (auto verified = m_question.verify(m_result.target->target.id); !verified) {
      m_result.damage = std::move(verified).error();
      return false;
    }
    return true;
  }

  void check_package_manager() {
    auto architecture = m_tool.architecture();
    if (!architecture) {
      m_has_tool = false;
      add_refusal("package-manager", refuse(ErrorCode::native_tool_broken, "this system has no working dpkg",
                                            architecture.error().message + ": " + architecture.error().reason,
                                            "install the packages on a complete system"));
      return;
    }
    if (*architecture != "amd64") {
      add_refusal("package-manager",
                  refuse(ErrorCode::wrong_target, "the bundle does not fit this machine's architecture",
                         "dpkg's architecture is " + *architecture + ", the packages are amd64",
                         "use a 64-bit installation of the distribution"));
      return;
    }
    auto packages = m_tool.packages();
    if (!packages) {
      m_has_tool = false;
      add_refusal("package-manager", std::move(packages).error());
      return;
    }
    m_result.packages = std::move(*packages);
    add("package-manager", CheckStatus::pass, "dpkg and apt answer");
  }

  // An installation waits for the lock itself; `check` only tells.
  void check_lock() {
    m_other_run = Workspace::is_held(m_places);
    if (m_other_run) {
      add("lock", CheckStatus::warn, "an installer of ours is at work on this system now",
          "ask again when it has ended: what is found now will have changed by then");
    } else if (const auto holder = package_lock_holder(m_options.root); holder && !m_question.will_change) {
      add("lock", CheckStatus::warn, holder->text() + " holds the package manager's lock",
          "an installation waits up to a minute for it");
    }
  }

  void check_half_done() {
    if (!m_has_tool) {
      return;
    }
    std::vector<std::string> names;
    for (const distros::DpkgPackage& package : m_result.packages) {
      if (package.half_done()) {
        names.push_back(package.id.name + " (" + package.status + ")");
      }
    }
    if (names.empty()) {
      add("broken-packages", CheckStatus::pass, "no package is half-installed");
    } else if (m_question.resuming) {
      add("broken-packages", CheckStatus::warn,
          "an interrupted installation is continued, " + counted(names.size(), "package") +
              " half-installed: " + first_of(names, names_shown));
    } else {
      add_refusal("broken-packages",
                  refuse(ErrorCode::native_tool_broken, "packages of this machine are half-installed",
                         first_of(names, names_shown), "repair them first: dpkg --configure -a && apt-get -f install"));
    }
  }

  // What the receipt says; `status` also compares.
  void check_receipt() {
    const auto receipt = read_receipt(m_places.receipt());
    if (!receipt) {
      add_refusal("receipt", receipt.error());
    } else if (!*receipt) {
      add("receipt", CheckStatus::pass, "this bundle is not installed yet");
    } else if ((*receipt)->state == ReceiptState::installed) {
      add("receipt", CheckStatus::pass, "this bundle is installed already");
    } else if (!m_other_run && !m_question.will_change) {
      add("receipt", CheckStatus::warn,
          "the last run of this bundle was cut off (" + std::string(receipt_state_name((*receipt)->state)) + ")",
          (*receipt)->state == ReceiptState::removing ? "FILE.run uninstall continues"
                                                      : "the same command continues, uninstall takes it back");
    }
  }

  void check_other_release() {
    auto receipts = other_receipts(m_places);
    if (!receipts) {
      add_refusal("other-release", std::move(receipts).error());
      return;
    }
    for (const Receipt& receipt : *receipts) {
      if (m_result.target != nullptr && receipt.release != m_result.target->release) {
        add_refusal("other-release",
                    refuse(ErrorCode::other_release_present, "another release is installed by a bundle of ours",
                           "bundle " + receipt.bundle_id + " installed release " + receipt.release + ", this one is " +
                               m_result.target->release,
                           "take it back first with its own file: FILE.run uninstall"));
        return;
      }
    }
    add("other-release", CheckStatus::pass, "no other release is installed by a bundle of ours");
  }

  void check_post_install_user() {
    if (m_options.no_post_install || !m_options.post_install.gpu_access || !m_has_tool) {
      return;
    }
    if (auto found = check_post_install(m_options.post_install, m_tool); !found) {
      add_refusal("post-install", std::move(found).error());
      return;
    }
    add("post-install", CheckStatus::pass,
        "GPU access will be given to " + (*m_options.post_install.gpu_access == "all"
                                              ? std::string("everybody")
                                              : "user " + *m_options.post_install.gpu_access));
  }

  // Only what is absent counts here: what apt will really change is known after its simulation.
  void check_space_estimate() {
    if (m_result.target == nullptr || !m_has_tool) {
      return;
    }
    std::set<std::string> present;
    for (const distros::DpkgPackage& package : m_result.packages) {
      if (package.installed()) {
        present.insert(package.id.name);
      }
    }
    std::vector<bundle::ManifestPackage> absent;
    for (const bundle::ManifestPackage& package : m_result.target->packages) {
      if (!present.contains(package.id.name)) {
        absent.push_back(package);
      }
    }
    if (auto enough = check_space(space_needs(m_options.root, absent)); !enough) {
      add_refusal("space", std::move(enough).error());
      return;
    }
    add("space", CheckStatus::pass, "there is room for the packages");
  }

  void check_site_configuration() {
    if (m_result.target == nullptr || !m_has_tool) {
      return;
    }
    if (auto site = m_tool.site_configuration()) {
      for (const std::string& hook : site->hooks) {
        m_result.notes.push_back("hook does not run: " + hook);
      }
      for (const std::string& setting : site->settings) {
        m_result.notes.push_back("setting does not act: " + setting);
      }
    }
    note_pins();
    note_holds();
    if (!m_result.notes.empty()) {
      add("site-configuration", CheckStatus::warn,
          std::to_string(m_result.notes.size()) +
              " settings of this machine's apt and dpkg concern the installation: " + join(m_result.notes, "; "));
    }
  }

  void note_pins() {
    std::vector<fs::path> files = {m_options.root / "etc/apt/preferences"};
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(m_options.root / "etc/apt/preferences.d", ignored)) {
      // apt_preferences(5): no extension, or .pref.
      if (entry.path().extension().empty() || entry.path().extension() == ".pref") {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin() + 1, files.end());
    for (const fs::path& file : files) {
      const auto text = read_file(Stage::install, file, max_preferences_bytes);
      for (const distros::AptPin& pin : text ? distros::parse_apt_preferences(*text) : std::vector<distros::AptPin>{}) {
        if (names_our_package(pin.packages)) {
          m_result.notes.push_back("pin does not act: " + pin.packages + ", " + pin.pin + ", priority " +
                                   std::to_string(pin.priority) + " (" +
                                   ("/" / file.lexically_relative(m_options.root)).string() + ")");
        }
      }
    }
  }

  bool names_our_package(const std::string& patterns) const {
    for (const std::string& pattern : split(patterns, ' ')) {
      for (const bundle::ManifestPackage& package : m_result.target->packages) {
        if (!pattern.empty() && ::fnmatch(pattern.c_str(), package.id.name.c_str(), 0) == 0) {
          return true;
        }
      }
    }
    return false;
  }

  void note_holds() {
    std::set<std::string> ours;
    for (const bundle::ManifestPackage& package : m_result.target->packages) {
      ours.insert(package.id.name);
    }
    for (const distros::DpkgPackage& package : m_result.packages) {
      if (package.held() && ours.contains(package.id.name)) {
        m_result.notes.push_back("held package stays as it is: " + package.id.name + " " + package.id.version);
      }
    }
  }

  const bundle::BundleReader& m_bundle;
  const InstallOptions& m_options;
  const PreflightQuestion& m_question;
  distros::AptTool& m_tool;
  const Places& m_places;
  distros::MachineFacts m_facts;
  bool m_other_run = false;
  bool m_has_tool = true;
  Preflight m_result;
};

// The nearest folder that exists: a mount point is found by it.
fs::path existing(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

std::optional<Error> Preflight::refusal() const {
  std::optional<Error> first;
  for (const Finding& finding : findings) {
    if (!finding.error) {
      continue;
    }
    if (!first) {
      first = finding.error;
    } else {
      first->details["also " + finding.check.code] = finding.check.message;
    }
  }
  return first;
}

Preflight run_preflight(const bundle::BundleReader& bundle, const InstallOptions& options,
                        const PreflightQuestion& question, distros::AptTool& tool, const Places& places) {
  return Inspector(bundle, options, question, tool, places).run();
}

bool is_vendor_repository(std::string_view repository) {
  static constexpr std::array<std::string_view, 4> groups = {"rocm", "amdgpu", "graphics", "amdrocm"};
  const std::string_view group = repository.substr(0, repository.find('/'));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::vector<SpaceNeed> space_needs(const fs::path& root, const std::vector<bundle::ManifestPackage>& packages) {
  // dpkg's database and apt's logs grow with each package.
  constexpr std::uint64_t database_bytes_per_package = 64U << 10U;
  SpaceNeed usr{.folder = root / "usr"};
  SpaceNeed opt{.folder = root / "opt"};
  SpaceNeed var{.folder = root / "var/lib/dpkg", .bytes = database_bytes_per_package * packages.size()};
  for (const bundle::ManifestPackage& package : packages) {
    // AMD's packages install below /opt/rocm-*, the distribution's below /usr.
    (is_vendor_repository(package.repository) ? opt : usr).bytes += package.installed_size.value_or(package.size * 4);
  }
  return {usr, opt, var};
}

Result<Done> check_space(const std::vector<SpaceNeed>& needs) {
  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t free = 0;
    fs::path folder;
  };
  std::map<std::uint64_t, Sum> by_device;
  for (const SpaceNeed& need : needs) {
    const fs::path folder = existing(need.folder);
    struct stat info {};
    struct statvfs space {};
    if (need.bytes == 0 || ::stat(folder.c_str(), &info) != 0 || ::statvfs(folder.c_str(), &space) != 0) {
      continue;
    }
    Sum& sum = by_device[info.st_dev];
    sum.bytes += need.bytes;
    sum.free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    sum.folder = sum.folder.empty() ? folder : sum.folder;
  }
  std::vector<std::string> short_of;
  Error error = refuse(ErrorCode::no_space, "there is not enough room for the packages", "",
                       "free space there, or name a larger file system with --work-dir for the copies");
  for (const auto& [device, sum] : by_device) {
    if (sum.bytes > sum.free) {
      short_of.push_back("the file system of " + sum.folder.string() + " needs " + format_size(sum.bytes) + ", " +
                         format_size(sum.free) + " are free");
      error.details["path"] = sum.folder.string();
      error.details["needed"] = std::to_string(sum.bytes);
      error.details["free"] = std::to_string(sum.free);
    }
  }
  if (short_of.empty()) {
    return Done{};
  }
  error.reason = join(short_of, "; ");
  return fail(std::move(error));
}

}  // namespace rocm_offline::install
