#include "rocm_offline/distros/apt.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "rocm_offline/core/deb_version.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::distros {

namespace fs = std::filesystem;

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Error output_error(std::string tool, std::string_view line) {
  return {.code = ErrorCode::native_tool_failed,
          .stage = Stage::install,
          .message = "cannot understand the output of " + tool,
          .reason = "a line has another form than this version knows",
          .details = {{"line", std::string(line.substr(0, 400))}},
          .help = "send the log to whoever made this bundle"};
}

std::string_view up_to(std::string_view text, std::string_view separators) {
  return text.substr(0, text.find_first_of(separators));
}

// "[1.2-3] rest" -> "1.2-3", text becomes " rest".
std::optional<std::string> take_bracketed(std::string_view& text, char open, char close) {
  if (text.empty() || text.front() != open) {
    return std::nullopt;
  }
  const auto end = text.find(close);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::string inside(text.substr(1, end - 1));
  text.remove_prefix(end + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return inside;
}

// "libc6:i386" -> name and architecture.
std::pair<std::string, std::string> split_qualifier(std::string_view name, std::string_view native_arch) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) {
    return {std::string(name), std::string(native_arch)};
  }
  return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1))};
}

Result<SimulatedChange> parse_change(std::string_view line, std::string_view native_arch) {
  std::string_view rest = line.substr(5);
  const std::string_view name = up_to(rest, " ");
  rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  SimulatedChange change;
  std::tie(change.id.name, change.id.arch) = split_qualifier(name, native_arch);
  if (auto before = take_bracketed(rest, '[', ']')) {
    change.before = *before;
  }
  if (line.starts_with("Inst ")) {
    // "(5.7.1-3 Debian:13/stable, Debian-Security:13 [amd64])"
    if (rest.empty() || rest.front() != '(') {
      return fail(output_error("apt-get", line));
    }
    rest.remove_prefix(1);
    change.id.version = up_to(rest, " )");
    const auto end = rest.find("])");
    const auto begin = rest.rfind('[', end);
    if (end == std::string_view::npos || begin == std::string_view::npos) {
      return fail(output_error("apt-get", line));
    }
    change.id.arch = rest.substr(begin + 1, end - begin - 1);
  } else {
    change.id.version = change.before;
  }
  if (change.id.name.empty() || change.id.version.empty()) {
    return fail(output_error("apt-get", line));
  }
  return change;
}

// `DPkg::Post-Invoke:: "command";` -> name without trailing colons, value.
std::optional<std::pair<std::string, std::string>> parse_setting(std::string_view line) {
  const auto quote = line.find(" \"");
  if (quote == std::string_view::npos || !line.ends_with("\";")) {
    return std::nullopt;
  }
  std::string_view name = line.substr(0, quote);
  while (name.ends_with(':')) {
    name.remove_suffix(1);
  }
  return std::pair{std::string(name), std::string(line.substr(quote + 2, line.size() - quote - 4))};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool is_hook(std::string_view lower_name) {
  return lower_name.starts_with("dpkg::pre-invoke") || lower_name.starts_with("dpkg::post-invoke") ||
         lower_name.starts_with("dpkg::pre-install-pkgs") || lower_name.starts_with("apt::update::pre-invoke") ||
         lower_name.starts_with("apt::update::post-invoke") || lower_name.starts_with("apt::install::pre-invoke") ||
         lower_name.starts_with("apt::install::post-invoke");
}

bool is_told_setting(std::string_view lower_name) {
  return lower_name == "apt::default-release" || lower_name == "acquire::http::proxy" ||
         lower_name == "acquire::https::proxy" || lower_name == "acquire::ftp::proxy" ||
         lower_name == "apt::get::allow-downgrades" || lower_name == "dpkg::options";
}

// Every byte that sources.list(5) could take for something else, as %xx.
std::string percent_encoded(const std::string& path) {
  static constexpr std::string_view plain = "/._-+~:@,=";
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string encoded;
  for (const char c : path) {
    if (is_digit(c) || is_letter(c) || plain.find(c) != std::string_view::npos) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(digits[byte >> 4U]);
      encoded.push_back(digits[byte & 15U]);
    }
  }
  return encoded;
}

// apt's own words about why it stops, without its progress chatter.
std::string complaint_of(std::string_view output) {
  std::vector<std::string> kept;
  bool in_dependencies = false;
  for (const std::string& line : split(output, '\n')) {
    in_dependencies = in_dependencies || line.find("unmet dependencies") != std::string::npos;
    if (line.starts_with("E: ") || line.starts_with("W: ") || (in_dependencies && line.starts_with(" "))) {
      kept.emplace_back(trim(line));
    }
  }
  if (kept.empty()) {
    kept.emplace_back(trim(output.substr(output.size() > 600 ? output.size() - 600 : 0)));
  }
  return join(kept, "\n");
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> needles) {
  return std::any_of(needles.begin(), needles.end(),
                     [&](std::string_view needle) { return text.find(needle) != std::string_view::npos; });
}

std::vector<std::string> install_command(const AptInstallRequest& request, bool simulate) {
  std::vector<std::string> argv = {"apt-get"};
  if (simulate) {
    argv.emplace_back("-s");
  }
  argv.insert(argv.end(), {"install", "-y", "--no-install-recommends"});
  if (!request.allow_removals) {
    argv.emplace_back("--no-remove");
  }
  if (request.allow_downgrades) {
    argv.emplace_back("--allow-downgrades");
  }
  for (const PackageId& id : request.packages) {
    argv.push_back(id.name + (id.arch == "all" ? "" : ":" + id.arch) + "=" + id.version);
  }
  return argv;
}

Error tool_error(const std::vector<std::string>& argv, const ProcessOutcome& outcome) {
  return {.code = ErrorCode::native_tool_failed,
          .stage = Stage::install,
          .message = argv[0] + " failed with status " + std::to_string(outcome.exit_code),
          .reason = complaint_of(outcome.output + outcome.errors),
          .details = {{"command", join(argv, " ")}},
          .help = "read the lines above, or the log: every line of the package manager is in it"};
}

}  // namespace

bool DpkgPackage::half_done() const {
  if (status.size() >= 3 && status[2] == 'R') {
    return true;
  }
  return status.size() >= 2 && (status[1] == 'U' || status[1] == 'F' || status[1] == 'H');
}

std::string dpkg_query_format() {
  return "${Package}\\t${Version}\\t${Architecture}\\t${db:Status-Abbrev}\\t${Essential}\\t${Pre-Depends}\\t"
         "${Depends}\\t${Provides}\\n";
}

Result<std::vector<DpkgPackage>> parse_dpkg_query(std::string_view output) {
  std::vector<DpkgPackage> packages;
  for (const std::string& line : split(output, '\n')) {
    if (line.empty()) {
      continue;
    }
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 8 || fields[0].empty() || fields[3].size() < 2) {
      return fail(output_error("dpkg-query", line));
    }
    DpkgPackage package{.id = {.name = fields[0], .version = fields[1], .arch = fields[2]},
                        .status = std::string(trim(fields[3])),
                        .essential = fields[4] == "yes",
                        .depends = fields[5],
                        .provides = fields[7]};
    if (!fields[6].empty()) {
      package.depends += (package.depends.empty() ? "" : ", ") + fields[6];
    }
    packages.push_back(std::move(package));
  }
  return packages;
}

std::vector<ChangedFile> parse_dpkg_verify(std::string_view output) {
  static constexpr std::array<std::string_view, 6> left_out = {"/usr/share/doc/",     "/usr/share/man/",
                                                               "/usr/share/info/",    "/usr/share/locale/",
                                                               "/usr/share/lintian/", "/usr/share/linda/"};
  std::vector<ChangedFile> files;
  for (const std::string& line : split(output, '\n')) {
    // "missing     /usr/bin/hipcc (Permission denied)" or "??5?????? c /etc/x": marks, an attribute (c: conffile),
    // path.
    const auto slash = line.find('/');
    if (slash == std::string::npos || slash < 2) {
      continue;
    }
    const std::string_view head = trim(std::string_view(line).substr(0, slash));
    std::string path = line.substr(slash);
    const bool is_missing = head.starts_with("missing");
    if (const auto reason = path.rfind(" ("); is_missing && reason != std::string::npos) {
      if (path.find("Permission denied", reason) != std::string::npos) {
        continue;  // an ordinary user cannot tell
      }
      path.resize(reason);
    }
    const bool is_documentation = std::any_of(left_out.begin(), left_out.end(),
                                              [&path](std::string_view folder) { return path.starts_with(folder); });
    if (!head.ends_with(" c") && !(is_missing && is_documentation)) {
      files.push_back({.path = std::move(path), .missing = is_missing});
    }
  }
  return files;
}

std::vector<OrGroup> parse_relation_names(std::string_view field) {
  std::vector<OrGroup> groups;
  for (const std::string& part : split(field, ',')) {
    OrGroup group;
    for (const std::string& alternative : split(part, '|')) {
      const std::string_view name = up_to(trim(alternative), " (:[<");
      if (!name.empty()) {
        group.emplace_back(name);
      }
    }
    if (!group.empty()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

Result<Simulation> parse_simulation(std::string_view output, std::string_view native_arch) {
  Simulation simulation;
  for (const std::string& line : split(output, '\n')) {
    const bool install = line.starts_with("Inst ");
    if (!install && !line.starts_with("Remv ") && !line.starts_with("Purg ")) {
      continue;
    }
    auto change = parse_change(line, native_arch);
    if (!change) {
      return fail(std::move(change).error());
    }
    (install ? simulation.installs : simulation.removals).push_back(std::move(*change));
  }
  return simulation;
}

AptSiteConfiguration parse_apt_config_dump(std::string_view dump) {
  AptSiteConfiguration site;
  for (const std::string& line : split(dump, '\n')) {
    const auto setting = parse_setting(line);
    if (!setting || setting->second.empty()) {
      continue;
    }
    const std::string name = lower(setting->first);
    // debconf's own hook only asks questions early, and there is nobody to answer.
    if (is_hook(name) && setting->second.find("dpkg-preconfigure") == std::string::npos) {
      site.hooks.push_back(setting->first + ": " + setting->second);
    } else if (is_told_setting(name)) {
      site.settings.push_back(setting->first + " \"" + redact_url(setting->second) + "\"");
    }
  }
  return site;
}

std::vector<AptPin> parse_apt_preferences(std::string_view text) {
  std::vector<AptPin> pins;
  AptPin pin;
  bool has_priority = false;
  const auto finish = [&] {
    if (!pin.packages.empty() && has_priority) {
      pins.push_back(pin);
    }
    pin = AptPin{};
    has_priority = false;
  };
  for (const std::string& raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty()) {
      finish();
      continue;
    }
    const auto colon = line.find(':');
    if (line.front() == '#' || colon == std::string_view::npos) {
      continue;
    }
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "package") {
      pin.packages = value;
    } else if (name == "pin") {
      pin.pin = value;
    } else if (name == "pin-priority") {
      has_priority = std::from_chars(value.data(), value.data() + value.size(), pin.priority).ec == std::errc{};
    }
  }
  finish();
  return pins;
}

Result<std::string> apt_configuration(const AptIsolation& isolation) {
  const std::string p = isolation.folder.string();
  if (p.find_first_of("\"\\;{}") != std::string::npos || has_control_characters(p)) {
    return fail(
        Error{.code = ErrorCode::usage,
              .stage = Stage::install,
              .message = "the working folder's path cannot be used with apt",
              .reason = "apt's configuration cannot hold a quote, backslash, semicolon, brace or control character",
              .details = {{"path", p}},
              .help = "name another folder with --work-dir"});
  }
  // Only the file named by APT_CONFIG is read before the target's own parts, so only here can they be closed.
  // Dir::State and Dir::Log stay the target's: its database of marks and its audit trail.
  return "Dir::Etc::Main \"/dev/null\";\n"
         "Dir::Etc::Parts \"/dev/null\";\n"
         "Dir::Etc::SourceList \"" +
         p +
         "/sources.list\";\n"
         "Dir::Etc::SourceParts \"/dev/null\";\n"
         "Dir::Etc::Preferences \"/dev/null\";\n"
         "Dir::Etc::PreferencesParts \"/dev/null\";\n"
         "Dir::Etc::Trusted \"/dev/null\";\n"
         "Dir::Etc::TrustedParts \"/dev/null\";\n"
         "Dir::Etc::netrc \"/dev/null\";\n"
         "Dir::Etc::netrcparts \"/dev/null\";\n"
         "Dir::State::Lists \"" +
         p +
         "/lists\";\n"
         "Dir::State::mirrors \"" +
         p +
         "/mirrors\";\n"
         "Dir::Cache \"" +
         p +
         "/cache\";\n"
         "Dir::Cache::archives \"" +
         p +
         "/cache/archives\";\n"
         "Dir::Cache::pkgcache \"\";\n"
         "Dir::Cache::srcpkgcache \"\";\n"
         "Dir::Log::Planner \"" +
         p +
         "/eipp.log.xz\";\n"
         "APT::Sandbox::User \"root\";\n"
         "Acquire::Languages \"none\";\n"
         "APT::Get::AutomaticRemove \"false\";\n"
         "DPkg::Lock::Timeout \"60\";\n"
         "Dpkg::Use-Pty \"0\";\n"
         "DPkg::Options { \"--force-confdef\"; \"--force-confold\"; };\n";
}

std::string apt_source_line(const fs::path& repository) {
  return "deb [trusted=yes check-date=no check-valid-until=no] file:" + percent_encoded(repository.string()) + " ./\n";
}

AptTool::AptTool(ProcessRunner& processes, fs::path root, std::function<void(std::string_view)> on_line)
    : m_processes(processes), m_root(std::move(root)), m_on_line(std::move(on_line)) {}

Result<Done> AptTool::isolate(const AptIsolation& isolation) {
  auto configuration = apt_configuration(isolation);
  if (!configuration) {
    return fail(std::move(configuration).error());
  }
  const fs::path folder = m_root / isolation.folder.relative_path();
  for (const char* sub : {"lists/partial", "cache/archives/partial", "mirrors"}) {
    if (auto made = make_directories(Stage::install, folder / sub); !made) {
      return fail(std::move(made).error());
    }
  }
  if (::chmod(folder.c_str(), 0700) != 0) {
    return fail(system_error(Stage::install, "cannot make the working folder private", folder, errno));
  }
  const std::string source = isolation.repository ? apt_source_line(*isolation.repository) : std::string();
  if (auto written = write_file_atomically(Stage::install, folder / "sources.list", source, 0600); !written) {
    return fail(std::move(written).error());
  }
  if (auto written = write_file_atomically(Stage::install, folder / "apt.conf", *configuration, 0600); !written) {
    return fail(std::move(written).error());
  }
  m_config = isolation.folder / "apt.conf";
  return Done{};
}

ProcessRequest AptTool::request_for(const std::vector<std::string>& argv) const {
  ProcessRequest request;
  request.argv = argv;
  // A clean environment: no proxy, locale, frontend or debconf setting of the caller acts.
  request.clear_environment = true;
  request.environment = {{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                         // Another user may not look into /root, and dpkg warns about the .dpkg.cfg it cannot read.
                         {"HOME", ::geteuid() == 0 ? "/root" : "/nonexistent"},
                         {"LC_ALL", "C.UTF-8"},
                         {"DEBIAN_FRONTEND", "noninteractive"},
                         {"DEBCONF_NONINTERACTIVE_SEEN", "true"},
                         {"NEEDRESTART_SUSPEND", "1"}};
  if (m_root != "/") {
    request.chroot = m_root;
    request.environment["SYSTEMD_OFFLINE"] = "1";
  }
  return request;
}

Result<ProcessOutcome> AptTool::run(const std::vector<std::string>& argv) {
  ProcessRequest request = request_for(argv);
  return m_processes.run(request);
}

Result<ProcessOutcome> AptTool::ask(const std::vector<std::string>& argv) {
  ProcessRequest request = request_for(argv);
  // dpkg warns of what has nothing to do with the answer: a configuration file of HOME that it may not read, say.
  request.separate_errors = true;
  request.capture_limit = 64U << 20U;
  return m_processes.run(request);
}

Result<ProcessOutcome> AptTool::run_isolated(const std::vector<std::string>& argv,
                                             const std::function<void(std::string_view)>& on_progress_line) {
  if (!m_config) {
    return fail(Error{.code = ErrorCode::internal,
                      .stage = Stage::install,
                      .message = "apt would run with the target's own configuration",
                      .reason = "the private configuration was not written first",
                      .help = "report this as a bug"});
  }
  ProcessRequest request = request_for(argv);
  request.environment["APT_CONFIG"] = m_config->string();
  request.directory = "/";
  request.on_line = [&](std::string_view line) {
    if (m_on_line) {
      m_on_line(line);
    }
    if (on_progress_line) {
      on_progress_line(line);
    }
  };
  return m_processes.run(request);
}

Result<std::vector<DpkgPackage>> AptTool::packages() {
  const std::vector<std::string> argv = {"dpkg-query", "-W", "-f=" + dpkg_query_format()};
  auto outcome = ask(argv);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0 || outcome->truncated) {
    return fail(tool_error(argv, *outcome));
  }
  return parse_dpkg_query(outcome->output);
}

Result<std::vector<ChangedFile>> AptTool::changed_files(const std::vector<std::string>& names) {
  if (names.empty()) {
    return std::vector<ChangedFile>{};
  }
  std::vector<std::string> argv = {"dpkg", "--verify", "--verify-format", "rpm"};
  argv.insert(argv.end(), names.begin(), names.end());
  auto outcome = ask(argv);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  // dpkg exits with 0 or 1 when it found something; 2 is a failure, of which the lines before it may tell the reason.
  if (outcome->exit_code > 1) {
    return fail(tool_error(argv, *outcome));
  }
  return parse_dpkg_verify(outcome->output);
}

Result<std::string> AptTool::architecture() {
  const std::vector<std::string> argv = {"dpkg", "--print-architecture"};
  auto outcome = ask(argv);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  // The answer is the last line: what dpkg warns about comes before.
  const std::string_view answer = trim(outcome->output);
  return std::string(answer.substr(answer.rfind('\n') == std::string_view::npos ? 0 : answer.rfind('\n') + 1));
}

Result<std::vector<std::string>> AptTool::automatic_marks() {
  const std::vector<std::string> argv = {"apt-mark", "showauto"};
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  std::vector<std::string> names;
  for (const std::string& line : split(outcome->output, '\n')) {
    if (!line.empty() && line.find(' ') == std::string::npos) {
      names.push_back(line);
    }
  }
  return names;
}

Result<Done> AptTool::mark(bool automatic, const std::vector<std::string>& names) {
  if (names.empty()) {
    return Done{};
  }
  std::vector<std::string> argv = {"apt-mark", automatic ? "auto" : "manual"};
  argv.insert(argv.end(), names.begin(), names.end());
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  return Done{};
}

Result<AptSiteConfiguration> AptTool::site_configuration() {
  auto outcome = ask({"apt-config", "dump"});
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error({"apt-config", "dump"}, *outcome));
  }
  return parse_apt_config_dump(outcome->output);
}

Result<Done> AptTool::update() {
  const std::vector<std::string> argv = {"apt-get", "update"};
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  // apt-get update exits 0 when an index could not be read and only warns: its words decide.
  if (outcome->exit_code != 0 || contains_any(outcome->output, {"E: ", "W: Failed to fetch", "W: Some index files"})) {
    return fail(tool_error(argv, *outcome));
  }
  return Done{};
}

Result<Simulation> AptTool::simulate_install(const AptInstallRequest& request) {
  const std::vector<std::string> argv = install_command(request, true);
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code == 0) {
    return parse_simulation(outcome->output, "amd64");
  }
  const std::string& said = outcome->output;
  Error error = tool_error(argv, *outcome);
  const bool removals = contains_any(said, {"remove is disabled"});
  const bool downgrades = contains_any(said, {"were downgraded", "without --allow-downgrades"});
  const bool held = contains_any(said, {"Held packages were changed"});
  if (removals || downgrades || held) {
    error.code = ErrorCode::plan_differs;
    error.message = removals     ? "installing would remove packages of this machine"
                    : downgrades ? "installing would downgrade packages of this machine"
                                 : "installing would change packages that are held";
    error.help = removals     ? "look at the list; --allow-removals accepts it"
                 : downgrades ? "look at the list; --allow-downgrades accepts it"
                              : "release them with apt-mark unhold, or leave them out of the bundle";
    AptInstallRequest allowed = request;
    allowed.allow_removals = allowed.allow_downgrades = true;
    std::vector<std::string> listing = install_command(allowed, true);
    listing.emplace_back("--allow-change-held-packages");
    if (auto listed = run_isolated(listing, nullptr); listed && listed->exit_code == 0) {
      if (auto simulation = parse_simulation(listed->output, "amd64")) {
        for (const SimulatedChange& change : simulation->removals) {
          error.problems.push_back({.summary = change.id.name + " " + change.id.version + " would be removed",
                                    .chain = {},
                                    .help = "--allow-removals"});
        }
        for (const SimulatedChange& change : simulation->installs) {
          if (!change.before.empty() && compare_deb_versions(change.id.version, change.before) < 0) {
            error.problems.push_back(
                {.summary = change.id.name + " would be downgraded from " + change.before + " to " + change.id.version,
                 .chain = {},
                 .help = "--allow-downgrades"});
          }
        }
      }
    }
    return fail(std::move(error));
  }
  if (contains_any(said, {"unmet dependencies", "held broken packages", "Unable to satisfy dependencies",
                          "no installation candidate", "was not found", "Unable to locate package",
                          "Unable to correct problems"})) {
    error.code = ErrorCode::unsolvable;
    error.message = "this machine's apt finds no way to install the packages of the bundle";
    error.problems.push_back({.summary = complaint_of(said), .chain = {}, .help = ""});
    error.help =
        "the machine's packages are likely newer than the bundle, or locked to others: take a profile with "
        "`rocm-offline-creator probe-script` here and create the bundle with --profile";
    return fail(std::move(error));
  }
  return fail(std::move(error));
}

Result<Done> AptTool::install(const AptInstallRequest& request,
                              const std::function<void(std::string_view)>& on_progress_line) {
  const std::vector<std::string> argv = install_command(request, false);
  auto outcome = run_isolated(argv, on_progress_line);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code == 0) {
    return Done{};
  }
  Error error = tool_error(argv, *outcome);
  if (contains_any(outcome->output, {"No space left on device"})) {
    error.code = ErrorCode::no_space;
    error.help = "free space, then run the same command again: it continues";
  } else if (contains_any(outcome->output, {"Could not get lock", "Unable to acquire the dpkg frontend lock"})) {
    error.code = ErrorCode::native_tool_locked;
    error.help = "wait until the other package manager has finished, then run the same command again";
  } else {
    error.help = "mend what the lines above say, then run the same command again: it continues";
  }
  return fail(std::move(error));
}

Result<Simulation> AptTool::simulate_removal(const std::vector<std::string>& names) {
  std::vector<std::string> argv = {"apt-get", "-s", "remove", "-y", "--no-auto-remove"};
  argv.insert(argv.end(), names.begin(), names.end());
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  return parse_simulation(outcome->output, "amd64");
}

Result<Done> AptTool::remove(const std::vector<std::string>& names, bool purge,
                             const std::function<void(std::string_view)>& on_progress_line) {
  if (names.empty()) {
    return Done{};
  }
  std::vector<std::string> argv = {"apt-get", purge ? "purge" : "remove", "-y", "--no-auto-remove"};
  argv.insert(argv.end(), names.begin(), names.end());
  auto outcome = run_isolated(argv, on_progress_line);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  return Done{};
}

Result<Done> AptTool::configure_pending() {
  const std::vector<std::string> argv = {"dpkg", "--force-confdef", "--force-confold", "--configure", "-a"};
  auto outcome = run_isolated(argv, nullptr);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(tool_error(argv, *outcome));
  }
  return Done{};
}

}  // namespace rocm_offline::distros
