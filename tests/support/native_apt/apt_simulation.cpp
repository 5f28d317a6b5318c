#include "support/native_apt/apt_simulation.hpp"

#include <fstream>
#include <stdexcept>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string configuration(const fs::path& folder) {
  const std::string base = folder.string();
  std::string text;
  const auto set = [&](const std::string& key, const std::string& value) {
    text.append(key).append(" \"").append(value).append("\";\n");
  };
  set("Dir::Etc::Main", "/dev/null");
  set("Dir::Etc::Parts", "/dev/null");
  set("Dir::Etc::SourceList", base + "/sources.list");
  set("Dir::Etc::SourceParts", "/dev/null");
  set("Dir::Etc::Preferences", "/dev/null");
  set("Dir::Etc::PreferencesParts", "/dev/null");
  set("Dir::State", base + "/state");
  set("Dir::State::status", base + "/status");
  set("Dir::Cache", base + "/cache");
  set("Dir::Log", base + "/log");
  set("APT::Architecture", "amd64");
  text += "APT::Architectures { \"amd64\"; };\n";
  set("APT::Sandbox::User", "");
  set("Acquire::Languages", "none");
  return text;
}

}  // namespace

bool AptSimulation::available() {
  return find_program("apt-get").has_value();
}

AptSimulation AptSimulation::create(const fs::path& folder, const std::vector<std::string>& packages_texts,
                                    const std::string& status) {
  std::string sources;
  for (std::size_t i = 0; i < packages_texts.size(); ++i) {
    const fs::path repository = folder / ("repository" + std::to_string(i));
    write(repository / "Packages", packages_texts[i]);
    sources += "deb [trusted=yes] file:" + repository.string() + " ./\n";
  }
  write(folder / "sources.list", sources);
  write(folder / "status", status);
  write(folder / "apt.conf", configuration(folder));
  for (const char* sub : {"state/lists/partial", "cache/archives/partial", "log"}) {
    fs::create_directories(folder / sub);
  }
  AptSimulation apt(folder / "apt.conf");
  const ProcessOutcome update = apt.run({"apt-get", "update"});
  if (update.exit_code != 0) {
    throw std::runtime_error("apt-get update: " + update.output);
  }
  return apt;
}

ProcessOutcome AptSimulation::run(std::vector<std::string> arguments) const {
  PosixProcessRunner runner;
  ProcessRequest request;
  request.argv = std::move(arguments);
  request.environment = {{"APT_CONFIG", m_apt_conf.string()}, {"LC_ALL", "C"}};
  auto outcome = runner.run(request);
  if (!outcome) {
    throw std::runtime_error(outcome.error().message);
  }
  return *std::move(outcome);
}

AptAnswer AptSimulation::install(const std::vector<std::string>& requests, bool recommends) const {
  std::vector<std::string> arguments{"apt-get",
                                     "-s",
                                     "-q",
                                     "-o",
                                     "APT::Get::AutomaticRemove=false",
                                     recommends ? "--install-recommends" : "--no-install-recommends",
                                     "install"};
  arguments.insert(arguments.end(), requests.begin(), requests.end());
  const ProcessOutcome outcome = run(std::move(arguments));
  AptAnswer answer;
  answer.exit_code = outcome.exit_code;
  answer.output = outcome.output;
  for (const std::string& line : split(outcome.output, '\n')) {
    // "Inst libc6 [2.36] (2.41-12 Debian:13 [amd64])"
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() >= 2 && words[0] == "Remv") {
      answer.removes.insert(words[1]);
    }
    const std::size_t open = line.find(" (");
    if (words.size() >= 3 && words[0] == "Inst" && open != std::string::npos) {
      answer.installs.emplace(words[1], line.substr(open + 2, line.find_first_of(" )", open + 2) - open - 2));
    }
  }
  return answer;
}

}  // namespace rocm_offline::test
