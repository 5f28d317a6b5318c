#include "rocm_offline/install/installer.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "comparison.hpp"
#include "exposure.hpp"
#include "package_lock.hpp"
#include "places.hpp"
#include "post_install.hpp"
#include "preflight.hpp"
#include "receipt.hpp"
#include "rocm_offline/core/deb_version.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"
#include "session.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

namespace {

Error cancelled(std::string message, std::string help) {
  return {.code = ErrorCode::cancelled,
          .stage = Stage::install,
          .message = std::move(message),
          .reason = "a signal asked for it",
          .help = std::move(help)};
}

// One run of install or dryrun, step by step. Each step leaves a state from which the next run continues.
class Installation {
 public:
  Installation(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports)
      : m_bundle(bundle), m_options(options), m_ports(ports), m_session(bundle, options, ports) {}

  Result<InstallReport> run() {
    m_report.bundle_id = m_bundle.bundle_id();
    m_report.dryrun = m_options.dryrun;
    if (auto ready = prepare(); !ready) {
      return fail(std::move(ready).error());
    }
    auto workspace = Workspace::open(m_session.places());
    if (!workspace) {
      return fail(std::move(workspace).error());
    }
    if (auto planned = plan(); !planned) {
      return fail(std::move(planned).error());
    }
    m_report.nothing_to_do = m_simulation.installs.empty() && m_simulation.removals.empty();
    if (m_options.dryrun) {
      return m_report;
    }
    if (auto done = change(); !done) {
      return fail(std::move(done).error());
    }
    return m_report;
  }

 private:
  // Preflight, with the bundle's digests; nothing is changed yet.
  Result<Done> prepare() {
    // Everything below would describe what that run is about to change.
    if (Workspace::is_held(m_session.places())) {
      return fail(other_run_error(m_session.places()));
    }
    auto receipt = read_receipt(m_session.places().receipt());
    if (!receipt) {
      return fail(std::move(receipt).error());
    }
    m_previous = std::move(*receipt);
    m_report.resumed = m_previous && m_previous->state == ReceiptState::installing;
    if (m_previous && m_previous->state == ReceiptState::removing) {
      return fail(Error{.code = ErrorCode::check_failed,
                        .stage = Stage::install,
                        .message = "this bundle's removal was interrupted",
                        .reason = "its receipt says that it is being taken back",
                        .help = "finish it first: FILE.run uninstall"});
    }
    m_preflight = run_preflight(m_bundle, m_options,
                                {.will_change = true, .resuming = m_report.resumed, .verify = m_options.verify_members},
                                m_session.tool(), m_session.places());
    m_session.report(m_preflight);
    for (const Finding& finding : m_preflight.findings) {
      m_report.checks.push_back(finding.check);
    }
    m_report.notes = m_preflight.notes;
    if (m_preflight.damage) {
      return fail(*m_preflight.damage);
    }
    if (auto refusal = m_preflight.refusal()) {
      return fail(std::move(*refusal));
    }
    m_report.target = m_preflight.target->target.id;
    return wait_for_package_lock(m_options.root, m_options.lock_wait, m_ports.events, m_ports.cancel);
  }

  Result<Done> plan() {
    const bool may_mount = !m_options.no_mount && m_options.root == "/" && ::geteuid() == 0;
    auto exposure = Exposure::open(m_bundle, *m_preflight.target, m_session.places(), may_mount, m_ports.events);
    if (!exposure) {
      return fail(std::move(exposure).error());
    }
    m_exposure.emplace(std::move(*exposure));
    const fs::path apt_folder = m_session.places().work_inside() / "apt";
    auto isolated = m_session.tool().isolate({.folder = apt_folder, .repository = m_exposure->repository()});
    if (!isolated) {
      return isolated;
    }
    // A killed dpkg's leftovers come first: apt refuses to plan on top of them.
    if (m_report.resumed && !m_options.dryrun) {
      m_session.tell(Level::info, "install.run.resumed", "continuing an interrupted installation");
      if (auto configured = m_session.tool().configure_pending(); !configured) {
        return configured;
      }
    }
    if (auto updated = m_session.tool().update(); !updated) {
      return fail(in_context(std::move(updated).error(), "reading the bundle's package index"));
    }
    auto installed = m_session.tool().packages();
    if (!installed) {
      return fail(std::move(installed).error());
    }
    m_before = std::move(*installed);
    auto request = choose_request(*m_preflight.target, m_before, m_options.allow_downgrades);
    if (!request) {
      return fail(std::move(request).error());
    }
    m_report.notes.insert(m_report.notes.end(), request->notes.begin(), request->notes.end());
    m_request = {.packages = request->packages,
                 .allow_removals = m_options.allow_removals,
                 .allow_downgrades = m_options.allow_downgrades};
    if (!m_request.packages.empty()) {
      auto simulation = m_session.tool().simulate_install(m_request);
      if (!simulation) {
        return fail(in_context(std::move(simulation).error(), "simulating the installation"));
      }
      m_simulation = std::move(*simulation);
    }
    auto planned = compare_with_plan(m_simulation, *m_preflight.target,
                                     {.removals = m_options.allow_removals, .downgrades = m_options.allow_downgrades});
    if (!planned) {
      return fail(std::move(planned).error());
    }
    m_planned = std::move(*planned);
    describe_plan();
    return check_room();
  }

  void describe_plan() {
    for (const distros::SimulatedChange& change : m_simulation.installs) {
      const ChangedPackage changed{.id = change.id, .before = change.before};
      if (change.before.empty()) {
        m_report.added.push_back(changed);
      } else if (compare_deb_versions(change.id.version, change.before) < 0) {
        m_report.downgraded.push_back(changed);
      } else {
        m_report.upgraded.push_back(changed);
      }
    }
    for (const distros::SimulatedChange& change : m_simulation.removals) {
      m_report.removed.push_back({.id = change.id, .before = change.before});
    }
    for (const auto* list : {&m_report.added, &m_report.upgraded, &m_report.downgraded, &m_report.removed}) {
      for (const ChangedPackage& changed : *list) {
        m_ports.events.event(
            {.level = Level::debug,
             .name = "install.package.planned",
             .message = changed.id.name + " " + changed.id.version,
             .fields = {{"package", changed.id.name}, {"version", changed.id.version}, {"before", changed.before}}});
      }
    }
    m_ports.events.event({.level = Level::info,
                          .name = "install.simulation.compared",
                          .message = "apt would do what the plan says: " + std::to_string(m_report.added.size()) +
                                     " new, " + std::to_string(m_report.upgraded.size()) + " upgraded, " +
                                     std::to_string(m_report.removed.size()) + " removed",
                          .fields = {{"added", std::to_string(m_report.added.size())},
                                     {"upgraded", std::to_string(m_report.upgraded.size())},
                                     {"downgraded", std::to_string(m_report.downgraded.size())},
                                     {"removed", std::to_string(m_report.removed.size())}}});
  }

  Result<Done> check_room() {
    std::vector<SpaceNeed> needs = space_needs(m_options.root, m_planned);
    needs.push_back({.folder = m_session.places().work(), .bytes = m_exposure->bytes_to_copy(m_planned)});
    return check_space(needs);
  }

  Result<Done> change() {
    if (m_options.ask && !m_report.nothing_to_do &&
        !m_options.ask("Install " + counted(m_report.added.size(), "package") + " and upgrade " +
                       std::to_string(m_report.upgraded.size()) + "?")) {
      return fail(Error{.code = ErrorCode::cancelled,
                        .stage = Stage::install,
                        .message = "nothing was installed",
                        .reason = "the question was answered with no",
                        .help = ""});
    }
    if (auto provided = m_exposure->provide(m_planned, m_ports.events, m_ports.cancel); !provided) {
      return provided;
    }
    if (m_ports.cancel.cancelled()) {
      return fail(cancelled("stopped before anything was installed", "run the same command again"));
    }
    if (auto written = begin_receipt(); !written) {
      return written;
    }
    if (auto installed = run_apt(); !installed) {
      return installed;
    }
    if (auto post = run_post_install(); !post) {
      return post;
    }
    m_receipt.state = ReceiptState::installed;
    return save_receipt();
  }

  Result<Done> save_receipt() {
    m_receipt.updated = m_ports.clock.now();
    auto written = write_receipt(m_session.places().receipt(), m_receipt);
    if (written) {
      m_ports.events.event({.level = Level::debug,
                            .name = "install.receipt.written",
                            .message = "receipt: " + std::string(receipt_state_name(m_receipt.state)),
                            .fields = {{"state", std::string(receipt_state_name(m_receipt.state))},
                                       {"path", m_session.places().receipt().string()}}});
    }
    return written;
  }

  // What was before is told by the first run's receipt; a later run only adds what it changes itself.
  Result<Done> begin_receipt() {
    if (m_previous) {
      m_receipt = *m_previous;
    } else {
      m_receipt.bundle_id = m_bundle.bundle_id();
      m_receipt.created = m_ports.clock.now();
    }
    m_receipt.program_version = program_version();
    m_receipt.target = m_preflight.target->target.id;
    m_receipt.release = m_preflight.target->release;
    if (auto marks = remember_marks(); !marks) {
      return marks;
    }
    for (const distros::SimulatedChange& change : m_simulation.installs) {
      remember_package(change);
    }
    std::sort(m_receipt.packages.begin(), m_receipt.packages.end(),
              [](const ReceiptPackage& a, const ReceiptPackage& b) { return a.id < b.id; });
    std::set<std::string> needs;
    for (const bundle::ManifestPackage& package : m_preflight.target->packages) {
      needs.insert(package.id.name);
    }
    m_receipt.needs.assign(needs.begin(), needs.end());
    if (m_report.nothing_to_do && m_previous && m_previous->state == ReceiptState::installed) {
      return Done{};
    }
    m_receipt.state = ReceiptState::planned;
    if (auto saved = save_receipt(); !saved) {
      return saved;
    }
    m_receipt.state = ReceiptState::installing;
    return save_receipt();
  }

  void remember_package(const distros::SimulatedChange& change) {
    for (ReceiptPackage& known : m_receipt.packages) {
      if (known.id.name == change.id.name && known.id.arch == change.id.arch) {
        known.id.version = change.id.version;
        return;
      }
    }
    const auto entry = std::find_if(m_before.begin(), m_before.end(), [&](const distros::DpkgPackage& package) {
      return package.id.name == change.id.name && package.id.arch == change.id.arch;
    });
    m_receipt.packages.push_back({.id = change.id,
                                  .before_version = change.before,
                                  .config_files_before = entry != m_before.end() && entry->config_files_only()});
  }

  // apt marks what it is asked for as manual; uninstall gives the old mark back.
  Result<Done> remember_marks() {
    auto automatic = m_session.tool().automatic_marks();
    if (!automatic) {
      return fail(std::move(automatic).error());
    }
    for (const PackageId& id : m_request.packages) {
      const bool was_automatic = std::find(automatic->begin(), automatic->end(), id.name) != automatic->end();
      const bool ours = std::any_of(m_receipt.packages.begin(), m_receipt.packages.end(),
                                    [&](const ReceiptPackage& package) { return package.id.name == id.name; });
      const bool known = std::find(m_receipt.automatic_before.begin(), m_receipt.automatic_before.end(), id.name) !=
                         m_receipt.automatic_before.end();
      if (was_automatic && !ours && !known) {
        m_receipt.automatic_before.push_back(id.name);
      }
    }
    return Done{};
  }

  Result<Done> run_apt() {
    if (m_report.nothing_to_do && !marks_missing()) {
      m_session.tell(Level::debug, "install.plan.unchanged", "everything is installed already: nothing to do");
      return note_changed_files();
    }
    StepCounter counter(m_ports.events, "installing packages, in steps", 2 * m_simulation.installs.size());
    auto installed = m_session.tool().install(m_request, [&](std::string_view line) { counter.line(line); });
    if (m_ports.cancel.cancelled()) {
      return fail(cancelled("stopped while the package manager was at work",
                            "run the same command again: it continues where this run ended"));
    }
    if (!installed) {
      return fail(in_context(std::move(installed).error(), "installing with apt-get"));
    }
    auto after = m_session.tool().packages();
    if (!after) {
      return fail(std::move(after).error());
    }
    std::vector<PackageId> wanted = m_request.packages;
    for (const distros::SimulatedChange& change : m_simulation.installs) {
      wanted.push_back(change.id);
    }
    if (auto same = compare_installed(wanted, *after); !same) {
      return same;
    }
    m_session.tell(Level::info, "install.result.compared", "what is installed is what the plan says");
    return Done{};
  }

  // Same versions need not be the same files: apt would not look, and neither would the admin.
  Result<Done> note_changed_files() {
    auto changed = m_session.tool().changed_files(dpkg_names(m_receipt));
    if (!changed) {
      return fail(std::move(changed).error());
    }
    for (std::string& difference : file_differences(*changed)) {
      m_report.notes.push_back(std::move(difference));
    }
    if (!changed->empty()) {
      m_report.notes.emplace_back("to bring such files back: uninstall, then install again");
    }
    return Done{};
  }

  // A requested package that is installed and marked automatic: the request itself is still to be recorded by apt.
  bool marks_missing() const {
    return std::any_of(m_request.packages.begin(), m_request.packages.end(), [&](const PackageId& id) {
      return std::find(m_receipt.automatic_before.begin(), m_receipt.automatic_before.end(), id.name) !=
             m_receipt.automatic_before.end();
    });
  }

  Result<Done> run_post_install() {
    if (m_options.no_post_install) {
      return Done{};
    }
    auto outcome = apply_post_install(m_options.post_install, m_options.root, m_session.tool(), m_receipt,
                                      [&] { return save_receipt(); });
    if (!outcome) {
      return fail(std::move(outcome).error());
    }
    for (const std::string& line : outcome->done) {
      m_session.tell(Level::debug, "install.postinstall.done", line);  // the report tells it too
    }
    for (const std::string& line : outcome->notes) {
      m_session.tell(Level::warning, "install.postinstall.skipped", line);
    }
    m_report.post_install = outcome->done;
    m_report.notes.insert(m_report.notes.end(), outcome->notes.begin(), outcome->notes.end());
    return Done{};
  }

  const bundle::BundleReader& m_bundle;
  const InstallOptions& m_options;
  Ports& m_ports;
  Session m_session;
  InstallReport m_report;
  Preflight m_preflight;
  std::optional<Receipt> m_previous;
  std::optional<Exposure> m_exposure;
  std::vector<distros::DpkgPackage> m_before;
  distros::AptInstallRequest m_request;
  distros::Simulation m_simulation;
  std::vector<bundle::ManifestPackage> m_planned;
  Receipt m_receipt;
};

}  // namespace

Result<distros::CheckReport> preflight(const bundle::BundleReader& bundle, const InstallOptions& options,
                                       Ports& ports) {
  Session session(bundle, options, ports);
  const Preflight found =
      run_preflight(bundle, options, {.will_change = false, .resuming = false}, session.tool(), session.places());
  distros::CheckReport report;
  report.target = found.machine_target;
  report.supported = true;
  for (const Finding& finding : found.findings) {
    report.checks.push_back(finding.check);
    report.supported = report.supported && finding.check.status != CheckStatus::fail;
  }
  if (found.target != nullptr) {
    report.releases.push_back(found.target->release);
  }
  return report;
}

Result<InstallReport> install(const bundle::BundleReader& bundle, const InstallOptions& options, Ports& ports) {
  return Installation(bundle, options, ports).run();
}

}  // namespace rocm_offline::install
