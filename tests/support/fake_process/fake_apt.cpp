#include "support/fake_process/fake_apt.hpp"

#include <algorithm>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::test {

namespace {

ProcessOutcome said(std::string text, int exit_code = 0) {
  return {.exit_code = exit_code, .output = std::move(text), .truncated = false};
}

// "hipcc:amd64=1.0" -> "hipcc"
std::string bare_name(const std::string& argument) {
  return argument.substr(0, argument.find_first_of(":="));
}

}  // namespace

Result<ProcessOutcome> FakeApt::answer(const ProcessRequest& request) {
  const std::vector<std::string>& argv = request.argv;
  const std::string command = join(argv, " ");
  if (argv[0] == "apt-get") {
    return apt_get({argv.begin() + 1, argv.end()});
  }
  if (argv[0] == "dpkg-query") {
    return said(dpkg_query());
  }
  if (command == "dpkg --print-architecture") {
    return said("amd64\n");
  }
  if (argv[0] == "dpkg") {
    configured = true;
    for (auto& [name, package] : installed) {
      package.status = package.status == "iU" || package.status == "iF" ? "ii" : package.status;
    }
    return said("");
  }
  if (command == "apt-config dump") {
    return said(config_dump);
  }
  if (command == "apt-mark showauto") {
    std::string text;
    for (const std::string& name : automatic) {
      text += name + "\n";
    }
    return said(text);
  }
  if (argv[0] == "apt-mark") {
    for (auto name = argv.begin() + 2; name != argv.end(); ++name) {
      argv[1] == "auto" ? static_cast<void>(automatic.insert(*name)) : static_cast<void>(automatic.erase(*name));
    }
    return said("");
  }
  if (argv[0] == "getent") {
    return look_up(argv[1], argv[2]);
  }
  if (argv[0] == "usermod") {
    groups[argv[3]].insert(argv[4]);
    return said("");
  }
  if (argv[0] == "groupadd") {
    groups[argv[2]];
    return said("");
  }
  if (argv[0] == "groupdel") {
    return said("", groups.erase(argv[1]) == 1 ? 0 : 6);
  }
  if (argv[0] == "gpasswd") {
    return said("", groups[argv[3]].erase(argv[2]) == 1 ? 0 : 3);
  }
  return said("unknown command: " + command, 127);
}

ProcessOutcome FakeApt::look_up(const std::string& database, const std::string& name) const {
  if (database == "passwd" && users.contains(name)) {
    return said(name + ":x:1000:1000::/home/" + name + ":/bin/sh\n");
  }
  if (database == "group" && groups.contains(name)) {
    const auto& members = groups.at(name);
    return said(name + ":x:44:" + join({members.begin(), members.end()}, ",") + "\n");
  }
  return said("", 2);
}

std::string FakeApt::dpkg_query() const {
  std::string text;
  for (const auto& [name, package] : installed) {
    text += name + "\t" + package.version + "\tamd64\t" + package.status + " \tno\t\t" + package.depends + "\t\n";
  }
  return text;
}

ProcessOutcome FakeApt::apt_get(std::vector<std::string> argv) {
  bool simulate = false;
  std::string verb;
  std::vector<std::string> names;
  for (const std::string& argument : argv) {
    if (argument == "-s") {
      simulate = true;
    } else if (argument.starts_with("-")) {
      continue;
    } else if (verb.empty()) {
      verb = argument;
    } else {
      names.push_back(bare_name(argument));
    }
  }
  if (verb == "install") {
    return install(names, simulate);
  }
  if (verb == "remove" || verb == "purge") {
    return remove(names, simulate, verb == "purge");
  }
  return said("Reading package lists...\n");
}

ProcessOutcome FakeApt::install(const std::vector<std::string>& names, bool simulate) {
  if (simulate && !simulation_failure.empty()) {
    return said(simulation_failure, 100);
  }
  std::vector<std::string> order;
  std::vector<std::string> open = names;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    const auto present = installed.find(name);
    const bool same = present != installed.end() && present->second.status == "ii" &&
                      (!repository.contains(name) || present->second.version == repository.at(name).version);
    if (same || std::find(order.begin(), order.end(), name) != order.end()) {
      continue;
    }
    order.push_back(name);
    const auto& depends = repository.at(name).depends;
    open.insert(open.end(), depends.begin(), depends.end());
  }
  std::reverse(order.begin(), order.end());
  std::string text;
  int done = 0;
  for (const std::string& name : order) {
    const Available& available = repository.at(name);
    const auto present = installed.find(name);
    const bool upgrade = present != installed.end() && present->second.status == "ii";
    if (simulate) {
      text += "Inst " + name + (upgrade ? " [" + present->second.version + "]" : "") + " (" + available.version +
              " localhost [amd64])\n";
      continue;
    }
    text += "Unpacking " + name + " (" + available.version + ") ...\n";
    if (lose_a_package && name == order.back()) {
      break;
    }
    installed[name] = {.version = available.version,
                       .status = "ii",
                       .depends = join(available.depends, ", "),
                       .conffiles = available.conffiles};
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      automatic.insert(name);
    }
    if (++done == stop_after_unpacking) {
      installed[name].status = "iU";
      return said(text + "dpkg: error: interrupted\nE: Sub-process /usr/bin/dpkg returned an error code (1)\n", 100);
    }
    text += "Setting up " + name + " (" + available.version + ") ...\n";
  }
  if (!simulate) {
    for (const std::string& name : names) {
      automatic.erase(name);
    }
  }
  return said(text);
}

ProcessOutcome FakeApt::remove(const std::vector<std::string>& names, bool simulate, bool purge) {
  std::set<std::string> going(names.begin(), names.end());
  // Whatever depends on something that goes, goes too, as with apt-get -y.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, package] : installed) {
      const std::vector<std::string> depends = split(package.depends, ',');
      const bool breaks = std::any_of(depends.begin(), depends.end(), [&](const std::string& dependency) {
        return going.contains(std::string(trim(dependency)));
      });
      if (breaks && package.status == "ii" && going.insert(name).second) {
        changed = true;
      }
    }
  }
  std::string text;
  for (const std::string& name : going) {
    const auto present = installed.find(name);
    if (present == installed.end()) {
      continue;
    }
    text += (simulate ? "Remv " + name + " [" + present->second.version + "]\n" : "Removing " + name + " ...\n");
    if (simulate) {
      continue;
    }
    automatic.erase(name);
    if (present->second.conffiles && !purge) {
      present->second.status = "rc";
    } else {
      installed.erase(present);
    }
  }
  return said(text);
}

}  // namespace rocm_offline::test
