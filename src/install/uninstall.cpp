#include <algorithm>
#include <set>

#include <unistd.h>

#include "comparison.hpp"
#include "package_lock.hpp"
#include "places.hpp"
#include "post_install.hpp"
#include "preflight.hpp"
#include "receipt.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/install/installer.hpp"
#include "session.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

namespace {

Error not_installed(const Places& places) {
  return {.code = ErrorCode::not_installed,
          .stage = Stage::install,
          .message = "this bundle is not installed here",
          .reason = "there is no receipt of bundle " + places.bundle_id + ": it was never installed, or is taken back",
          .details = {{"path", places.receipt().string()}},
          .help = "use the very file that was installed: each file takes back only its own packages"};
}

// One run of uninstall.
class Removal {
 public:
  Removal(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports)
      : m_options(options), m_ports(ports), m_session(bundle, options, ports) {
    m_report.bundle_id = bundle.bundle_id();
    m_report.dryrun = options.dryrun;
  }

  Result<InstallReport> run() {
    if (auto ready = prepare(); !ready) {
      return fail(std::move(ready).error());
    }
    {
      auto workspace = Workspace::open(m_session.places());
      if (!workspace) {
        return fail(std::move(workspace).error());
      }
      if (auto planned = plan(); !planned) {
        return fail(std::move(planned).error());
      }
      if (m_options.dryrun) {
        return m_report;
      }
      if (auto done = change(); !done) {
        return fail(std::move(done).error());
      }
    }
    return m_report;
  }

 private:
  Result<Done> prepare() {
    if (Workspace::is_held(m_session.places())) {
      return fail(other_run_error(m_session.places()));
    }
    auto receipt = read_receipt(m_session.places().receipt());
    if (!receipt) {
      return fail(std::move(receipt).error());
    }
    if (!*receipt) {
      return fail(not_installed(m_session.places()));
    }
    m_receipt = std::move(**receipt);
    m_report.target = m_receipt.target;
    if (::access((m_options.root / "var/lib/dpkg").c_str(), W_OK) != 0) {
      return fail(Error{.code = ErrorCode::not_root,
                        .stage = Stage::install,
                        .message = "uninstalling needs root",
                        .reason = "this user may not change the package database",
                        .help = "run the same command with sudo, or as root"});
    }
    auto others = other_receipts(m_session.places());
    if (!others) {
      return fail(std::move(others).error());
    }
    m_others = std::move(*others);
    return wait_for_package_lock(m_options.root, m_options.lock_wait, m_ports.events, m_ports.cancel);
  }

  Result<Done> plan() {
    const fs::path apt_folder = m_session.places().work_inside() / "apt";
    if (auto isolated = m_session.tool().isolate({.folder = apt_folder, .repository = std::nullopt}); !isolated) {
      return isolated;
    }
    if (auto settled = settle_interrupted(); !settled) {
      return settled;
    }
    std::vector<std::string> added;
    for (const ReceiptPackage& package : m_receipt.packages) {
      if (package.added()) {
        added.push_back(package.id.name);
      } else {
        m_report.notes.push_back(package.id.name + " stays upgraded: " + package.before_version + " -> " +
                                 package.id.version);
      }
    }
    std::vector<std::string> needed_by_others;
    for (const Receipt& other : m_others) {
      needed_by_others.insert(needed_by_others.end(), other.needs.begin(), other.needs.end());
    }
    m_choice = choose_removals(added, needed_by_others, m_installed);
    m_report.notes.insert(m_report.notes.end(), m_choice.stay.begin(), m_choice.stay.end());
    return compare_simulation();
  }

  // A killed run, of either direction, left dpkg in the middle.
  Result<Done> settle_interrupted() {
    auto installed = m_session.tool().packages();
    if (!installed) {
      return fail(std::move(installed).error());
    }
    const bool half_done = std::any_of(installed->begin(), installed->end(),
                                       [](const distros::DpkgPackage& package) { return package.half_done(); });
    if (half_done && !m_options.dryrun) {
      if (m_receipt.state == ReceiptState::installed) {
        return fail(Error{.code = ErrorCode::native_tool_broken,
                          .stage = Stage::install,
                          .message = "packages of this machine are half-installed",
                          .reason = "dpkg was interrupted by something else than this bundle",
                          .help = "repair them first: dpkg --configure -a && apt-get -f install"});
      }
      if (auto configured = m_session.tool().configure_pending(); !configured) {
        return configured;
      }
      installed = m_session.tool().packages();
      if (!installed) {
        return fail(std::move(installed).error());
      }
    }
    m_installed = std::move(*installed);
    return Done{};
  }

  Result<Done> compare_simulation() {
    if (m_choice.remove.empty()) {
      return Done{};
    }
    auto simulation = m_session.tool().simulate_removal(m_choice.remove);
    if (!simulation) {
      return fail(in_context(std::move(simulation).error(), "simulating the removal"));
    }
    Error error{.code = ErrorCode::plan_differs,
                .stage = Stage::install,
                .message = "removing the bundle's packages would change others",
                .reason = "packages that the bundle did not add depend on them",
                .help = "remove those packages first, or keep the bundle; nothing was changed"};
    const std::set<std::string> ours(m_choice.remove.begin(), m_choice.remove.end());
    for (const distros::SimulatedChange& change : simulation->removals) {
      if (!ours.contains(change.id.name)) {
        error.problems.push_back(
            {.summary = change.id.name + " " + change.id.version + " would be removed", .chain = {}, .help = ""});
      } else {
        m_report.removed.push_back({.id = change.id, .before = change.before});
      }
    }
    for (const distros::SimulatedChange& change : simulation->installs) {
      error.problems.push_back(
          {.summary = change.id.name + " " + change.id.version + " would be installed", .chain = {}, .help = ""});
    }
    if (!error.problems.empty()) {
      return fail(std::move(error));
    }
    return Done{};
  }

  Result<Done> save_receipt() {
    m_receipt.updated = m_ports.clock.now();
    return write_receipt(m_session.places().receipt(), m_receipt);
  }

  Result<Done> change() {
    if (m_options.ask && !m_options.ask("Remove " + counted(m_choice.remove.size(), "package") + "?")) {
      return fail(Error{.code = ErrorCode::cancelled,
                        .stage = Stage::install,
                        .message = "nothing was removed",
                        .reason = "the question was answered with no",
                        .help = ""});
    }
    m_receipt.state = ReceiptState::removing;
    if (auto saved = save_receipt(); !saved) {
      return saved;
    }
    StepCounter counter(m_ports.events, "removing packages, in steps", m_choice.remove.size());
    const auto on_line = [&](std::string_view line) { counter.line(line); };
    if (auto removed = m_session.tool().remove(m_choice.remove, false, on_line); !removed) {
      return fail(in_context(std::move(removed).error(), "removing with apt-get"));
    }
    if (m_ports.cancel.cancelled()) {
      return fail(Error{.code = ErrorCode::cancelled,
                        .stage = Stage::install,
                        .message = "stopped while removing",
                        .reason = "a signal asked for it",
                        .help = "run the same command again: it continues"});
    }
    if (m_options.purge) {
      if (auto purged = purge_configuration(); !purged) {
        return purged;
      }
    }
    if (auto compared = compare_result(); !compared) {
      return compared;
    }
    return finish();
  }

  // Of packages of which nothing, not even configuration, was there before.
  std::vector<std::string> configuration_left(const std::vector<distros::DpkgPackage>& now) const {
    std::vector<std::string> names;
    for (const ReceiptPackage& package : m_receipt.packages) {
      const bool leftover = std::any_of(now.begin(), now.end(), [&](const distros::DpkgPackage& entry) {
        return entry.id.name == package.id.name && entry.id.arch == package.id.arch && entry.config_files_only();
      });
      if (package.added() && !package.config_files_before && leftover) {
        names.push_back(package.id.name);
      }
    }
    return names;
  }

  Result<Done> purge_configuration() {
    auto now = m_session.tool().packages();
    if (!now) {
      return fail(std::move(now).error());
    }
    const std::vector<std::string> names = configuration_left(*now);
    return m_session.tool().remove(names, true, nullptr);
  }

  Result<Done> compare_result() {
    auto now = m_session.tool().packages();
    if (!now) {
      return fail(std::move(now).error());
    }
    std::vector<std::string> left;
    for (const distros::DpkgPackage& package : *now) {
      if (std::find(m_choice.remove.begin(), m_choice.remove.end(), package.id.name) != m_choice.remove.end() &&
          !package.config_files_only() && package.status.size() >= 2 && package.status[1] != 'n') {
        left.push_back(package.id.name + " (" + package.status + ")");
      }
    }
    m_installed = std::move(*now);
    note_configuration_left();
    if (left.empty()) {
      return Done{};
    }
    return fail(Error{.code = ErrorCode::native_tool_failed,
                      .stage = Stage::install,
                      .message = "not everything that was to be removed is gone",
                      .reason = join(left, ", "),
                      .help = "read what the package manager said in the log, then run the same command again"});
  }

  // With the receipt goes the knowledge of what was not there before: said now, with the command.
  void note_configuration_left() {
    const std::vector<std::string> names = configuration_left(m_installed);
    if (!names.empty()) {
      m_report.notes.push_back("the configuration of " + counted(names.size(), "removed package") +
                               " stays (uninstall --purge takes it too); to remove it now: dpkg --purge " +
                               join(names, " "));
    }
  }

  Result<Done> finish() {
    if (auto marks = restore_marks(); !marks) {
      return marks;
    }
    const PostInstallOutcome undone = undo_post_install(m_receipt, m_options.root, m_session.tool());
    m_report.post_install = undone.done;
    m_report.notes.insert(m_report.notes.end(), undone.notes.begin(), undone.notes.end());
    if (auto handed = hand_over(); !handed) {
      return handed;
    }
    std::error_code error;
    fs::remove(m_session.places().receipt(), error);
    if (error) {
      return fail(
          system_error(Stage::install, "cannot remove the receipt", m_session.places().receipt(), error.value()));
    }
    m_session.tell(Level::info, "install.receipt.removed", "the bundle is taken back");
    return Done{};
  }

  Result<Done> restore_marks() {
    std::vector<std::string> names;
    for (const std::string& name : m_receipt.automatic_before) {
      const bool present = std::any_of(
          m_installed.begin(), m_installed.end(),
          [&](const distros::DpkgPackage& package) { return package.id.name == name && package.installed(); });
      const bool wanted_elsewhere = std::any_of(m_others.begin(), m_others.end(), [&](const Receipt& other) {
        return std::find(other.automatic_before.begin(), other.automatic_before.end(), name) !=
               other.automatic_before.end();
      });
      if (present && !wanted_elsewhere) {
        names.push_back(name);
      }
    }
    return m_session.tool().mark(true, names);
  }

  // A package that another bundle keeps becomes that bundle's to take back.
  Result<Done> hand_over() {
    for (Receipt& other : m_others) {
      bool changed = false;
      for (const ReceiptPackage& package : m_receipt.packages) {
        const bool removed =
            std::find(m_choice.remove.begin(), m_choice.remove.end(), package.id.name) != m_choice.remove.end();
        const bool needed = std::find(other.needs.begin(), other.needs.end(), package.id.name) != other.needs.end();
        if (!package.added() || removed || !needed) {
          continue;
        }
        const auto known = std::find_if(other.packages.begin(), other.packages.end(), [&](const ReceiptPackage& entry) {
          return entry.id.name == package.id.name && entry.id.arch == package.id.arch;
        });
        if (known == other.packages.end()) {
          other.packages.push_back(package);
        } else {
          // It upgraded what this bundle had added: before both, nothing was there.
          known->before_version.clear();
          known->config_files_before = package.config_files_before;
        }
        changed = true;
      }
      if (changed) {
        Places theirs = m_session.places();
        theirs.bundle_id = other.bundle_id;
        if (auto written = write_receipt(theirs.receipt(), other); !written) {
          return written;
        }
      }
    }
    return Done{};
  }

  const InstallOptions& m_options;
  Ports& m_ports;
  Session m_session;
  InstallReport m_report;
  Receipt m_receipt;
  std::vector<Receipt> m_others;
  std::vector<distros::DpkgPackage> m_installed;
  RemovalChoice m_choice;
};

}  // namespace

Result<InstallReport> uninstall(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports) {
  return Removal(bundle, options, ports).run();
}

Result<StatusReport> status(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports) {
  Session session(bundle, options, ports);
  auto receipt = read_receipt(session.places().receipt());
  if (!receipt) {
    return fail(std::move(receipt).error());
  }
  StatusReport report;
  if (!*receipt) {
    report.state = "not-installed";
    return report;
  }
  if (Workspace::is_held(session.places())) {
    report.state = "partial";
    report.differences.emplace_back("an installer is at work on this system now: ask again when it has ended");
    return report;
  }
  if ((*receipt)->state != ReceiptState::installed) {
    report.state = "partial";
    report.differences.push_back("the last run ended in state " + std::string(receipt_state_name((*receipt)->state)) +
                                 ((*receipt)->state == ReceiptState::removing
                                      ? ": run uninstall again, it continues"
                                      : ": run this file again, it continues; or take it back with uninstall"));
    return report;
  }
  auto installed = session.tool().packages();
  if (!installed) {
    return fail(std::move(installed).error());
  }
  for (const ReceiptPackage& package : (*receipt)->packages) {
    if (auto same = compare_installed({package.id}, *installed); !same) {
      report.differences.push_back(same.error().reason);
    }
  }
  if (report.differences.empty()) {
    auto changed = session.tool().changed_files(dpkg_names(**receipt));
    if (!changed) {
      return fail(std::move(changed).error());
    }
    report.differences = file_differences(*changed);
  }
  report.state = report.differences.empty() ? "installed" : "changed";
  return report;
}

}  // namespace rocm_offline::install
