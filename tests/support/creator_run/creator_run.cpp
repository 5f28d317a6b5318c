#include "support/creator_run/creator_run.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TemporaryDirectory temporary_folder() {
  auto made = TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-create-");
  if (!made) {
    throw std::runtime_error(made.error().message);
  }
  return std::move(*made);
}

}  // namespace

std::string CreatorResult::error_text() const {
  const auto at = err.rfind("error: ");
  return at == std::string::npos ? std::string() : err.substr(at);
}

nlohmann::json CreatorResult::error() const {
  const auto document = nlohmann::json::parse(out, nullptr, false);
  if (!document.is_object() || !document.contains("error")) {
    throw std::runtime_error("no error in the JSON document: " + out + "\n" + err);
  }
  return document["error"];
}

const SigningKey& CreatorRun::vendor_key() {
  static const SigningKey key;
  return key;
}

const SigningKey& CreatorRun::other_key() {
  static const SigningKey key;
  return key;
}

CreatorRun::CreatorRun() : folder(temporary_folder()), root(folder.path() / "mirror"), server(root) {
  fs::create_directories(root);
  spec.packages = {{.name = "hipcc", .fields = {{"Depends", "rocm-core, libhip"}}, .padding = 400000},
                   {.name = "libhip", .padding = 150000},
                   {.name = "rocm-core", .arch = "all", .padding = 50000}};
  output = folder.path() / "out" / "x.run";
  fs::create_directories(output.parent_path());
  fs::create_directories(folder.path() / "home");
  keyring = folder.path() / "vendor.asc";
  write_text(keyring, vendor_key().public_key());
  write_text(folder.path() / "security.asc", vendor_key().public_key());
}

void CreatorRun::build(const SigningKey* key) {
  build_deb_repository(root / "debian", spec, key);
  for (const auto& [base, suite] : {std::pair("debian", "trixie-updates"), std::pair("security", "trixie-security")}) {
    DebRepositorySpec other;
    other.suite = other.codename = other.release_suite = suite;
    build_deb_repository(root / base, other, &vendor_key());
  }
}

CreatorResult CreatorRun::run(const std::vector<std::string>& arguments, const std::string& name) {
  const fs::path out = folder.path() / (name + "stdout");
  const fs::path err = folder.path() / (name + "stderr");
  ProcessRequest request;
  // A shell of our own with fixed text separates the streams; the arguments reach it as positional parameters.
  request.argv = {"sh",
                  "-c",
                  "echo $$ >\"$1\"; out=$2 err=$3; shift 3; exec \"$@\" >\"$out\" 2>\"$err\"",
                  "sh",
                  name.empty() ? process_file().string() : (folder.path() / (name + "process")).string(),
                  out.string(),
                  err.string(),
                  ROCM_OFFLINE_CREATOR};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.environment = {
      {"HOME", (folder.path() / "home").string()}, {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"LC_ALL", "C.UTF-8"}};
  request.environment.insert(environment.begin(), environment.end());
  request.clear_environment = true;
  request.directory = folder.path();
  PosixProcessRunner processes;
  const auto outcome = processes.run(request);
  if (!outcome) {
    throw std::runtime_error(outcome.error().message);
  }
  return {outcome->exit_code, text_of(out), text_of(err)};
}

CreatorResult CreatorRun::create(const std::vector<std::string>& more) {
  const std::string debian = mirrors.empty() ? server.url("debian") : join(mirrors, ",");
  std::vector<std::string> arguments = {"create",      "--json",
                                        "--target",    "debian-13",
                                        "--release",   "distro",
                                        "--package",   "hipcc",
                                        "--mirror",    "debian=" + debian,
                                        "--mirror",    "debian-security=" + server.url("security"),
                                        "--keyring",   "debian-security=" + (folder.path() / "security.asc").string(),
                                        "--proxy",     "",
                                        "--retries",   "1",
                                        "--timeout",   "2",
                                        "--cache-dir", (folder.path() / "cache").string(),
                                        "--log-dir",   (folder.path() / "logs").string(),
                                        "-o",          output.string()};
  if (!keyring.empty()) {
    arguments.insert(arguments.end(), {"--keyring", "debian=" + keyring.string()});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

fs::path CreatorRun::process_file() const {
  return folder.path() / "process";
}

std::vector<std::string> CreatorRun::usable_leftovers() {
  std::vector<std::string> usable;
  const fs::path part = output.string() + ".part";
  for (const auto& entry : fs::directory_iterator(output.parent_path())) {
    const fs::path& path = entry.path();
    if (path != part && path != fs::path(part.string() + ".journal")) {
      usable.push_back(path.string());
    }
  }
  if (!fs::exists(part)) {
    return usable;
  }
  const std::string bytes = text_of(part);
  for (const std::string& line : split(text_of(part.string() + ".journal"), '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 4 || words[0] != "done") {
      continue;
    }
    const std::string member = bytes.substr(std::stoull(words[2]), std::stoull(words[3]));
    if (sha256_of(member).hex() != words[1]) {
      usable.push_back("journal: " + line);
    }
  }
  if (run({"verify", part.string()}).exit_code == 0) {
    usable.push_back("verify accepts " + part.string());
  }
  return usable;
}

std::string CreatorRun::logs(const std::string& ending) const {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / "logs")) {
    if (entry.path().extension() == "." + ending) {
      files.insert(entry.path());
    }
  }
  std::string all;
  for (const fs::path& file : files) {
    all += text_of(file);
  }
  return all;
}

std::string CreatorRun::deb_path(const std::string& package) {
  const std::string letter = package.starts_with("lib") ? package.substr(0, 4) : package.substr(0, 1);
  return "/debian/pool/main/" + letter + "/" + package + "/" + package + "_1.0_" +
         (package == "rocm-core" ? "all" : "amd64") + ".deb";
}

std::string CreatorRun::host() const {
  return "127.0.0.1:" + std::to_string(server.port());
}

void CreatorRun::write(const std::string& below_dist, const std::string& text) const {
  write_text(root / "debian" / "dists" / spec.suite / below_dist, text);
}

}  // namespace rocm_offline::test
