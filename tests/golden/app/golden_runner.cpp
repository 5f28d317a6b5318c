// golden_runner CREATOR CASE_FOLDER: runs the commands of <case>/cmd against signed mini repositories and compares what
// the creator printed with <case>/out and <case>/err. ROCM_OFFLINE_ACCEPT=1 rewrites them and reports the case as
// skipped.
//
// cmd: one command per line, words separated by blanks; @TMP@ (private folder, the working directory), @MIRROR@ (file:
// address of the mini repository), @KEY@ and @OTHER_KEY@ (key files) are replaced. Lines that begin with '!' change the
// scene; a line `-` is the program without arguments: `!flip FILE OFFSET`, `!rename OLD NEW`, `!write FILE TEXT`,
// `!expire` (builds the repository again, expired),
// `!list FOLDER` prints the names in it.
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "support/deb_repository/deb_repository.hpp"

namespace fs = std::filesystem;
using namespace rocm_offline;

namespace {

constexpr unsigned ordinary_user = 65534;
constexpr int skipped = 77;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

test::DebSpec package(std::string name, std::string version, std::vector<std::pair<std::string, std::string>> fields,
                      std::string arch = "amd64") {
  test::DebSpec spec;
  spec.name = std::move(name);
  spec.version = std::move(version);
  spec.arch = std::move(arch);
  spec.fields = std::move(fields);
  return spec;
}

// A small Debian: what the use cases of cli.md's examples need, in two suites.
std::vector<test::DebSpec> packages(const std::string& tag) {
  return {package("base-files", "1" + tag, {{"Essential", "yes"}, {"Priority", "required"}, {"Pre-Depends", "awk"}}),
          package("mawk", "1.3.4" + tag, {{"Provides", "awk"}, {"Priority", "required"}}),
          package("libc6", "2.41-12" + tag, {{"Depends", "libgcc-s1"}, {"Multi-Arch", "same"}}),
          package("libgcc-s1", "14.2.0" + tag, {{"Depends", "libc6 (>= 2.35)"}}),
          package("hipcc", "5.7.1-3" + tag,
                  {{"Depends", "libc6 (>= 2.38), rocm-device-libs-17 | rocm-device-libs"}, {"Recommends", "rocminfo"}}),
          package("rocm-device-libs-17", "6.0+1" + tag, {}, "all"),
          package("rocminfo", "6.1.2-1" + tag, {{"Depends", "libc6, libhsa-runtime64-1 (>= 6)"}}),
          package("libhsa-runtime64-1", "6.1.2-3" + tag, {{"Depends", "libc6 (>= 2.38)"}}),
          package("broken-tool", "1.0", {{"Depends", "libnowhere (>= 2), libc6"}})};
}

class Scene {
 public:
  Scene(fs::path folder, fs::path creator) : m_folder(std::move(folder)), m_creator(std::move(creator)) {
    build(std::nullopt);
    write_text(m_folder / "key.asc", m_key.public_key());
    write_text(m_folder / "other.asc", m_other.public_key());
    fs::create_directories(m_folder / "home");
  }

  void run_line(const std::string& line) {
    std::vector<std::string> words;
    for (const std::string& word : split(line, ' ')) {
      if (!word.empty()) {
        words.push_back(replaced(word));
      }
    }
    m_out += "$ " + line + "\n";
    m_err += "$ " + line + "\n";
    if (words == std::vector<std::string>{"-"}) {
      words.clear();  // the program without arguments
    }
    if (line.starts_with('!')) {
      change(words);
    } else {
      run_creator(words);
    }
  }

  [[nodiscard]] std::string out() const { return normalised(m_out); }
  [[nodiscard]] std::string err() const { return normalised(m_err); }

 private:
  void build(std::optional<std::int64_t> valid_until) {
    for (const auto& [version, codename] : {std::pair("13", "trixie"), std::pair("12", "bookworm")}) {
      for (const char* pocket : {"", "-updates", "-security"}) {
        test::DebRepositorySpec spec;
        spec.suite = spec.codename = std::string(codename) + pocket;
        spec.release_suite = spec.suite;
        spec.date = 1'700'000'000;
        spec.valid_until = valid_until;
        if (*pocket == '\0') {
          spec.packages = packages(std::string("+deb") + version);
        }
        test::build_deb_repository(m_folder / "mirror", spec, &m_key);
      }
    }
  }

  std::string replaced(std::string word) const {
    const std::vector<std::pair<std::string, std::string>> values = {
        {"@TMP@", m_folder.string()},
        {"@MIRROR@", "file://" + (m_folder / "mirror").string()},
        {"@KEY@", (m_folder / "key.asc").string()},
        {"@OTHER_KEY@", (m_folder / "other.asc").string()}};
    for (const auto& [name, value] : values) {
      for (auto at = word.find(name); at != std::string::npos; at = word.find(name, at + value.size())) {
        word.replace(at, name.size(), value);
      }
    }
    return word;
  }

  void change(const std::vector<std::string>& words) {
    if (words[0] == "!flip") {
      std::fstream file(m_folder / words[1], std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(std::stol(words[2]));
      const char byte = static_cast<char>(file.get() ^ 1);
      file.seekp(std::stol(words[2]));
      file.put(byte);
      if (!file.flush()) {
        throw std::runtime_error("cannot change " + words[1]);
      }
    } else if (words[0] == "!rename") {
      fs::rename(m_folder / words[1], m_folder / words[2]);
    } else if (words[0] == "!write") {
      write_text(m_folder / words[1], join({words.begin() + 2, words.end()}, " ") + "\n");
    } else if (words[0] == "!expire") {
      build(1'700'100'000);
    } else if (words[0] == "!list") {
      std::set<std::string> names;
      for (const auto& entry : fs::directory_iterator(m_folder / words[1])) {
        names.insert(entry.path().filename().string());
      }
      for (const std::string& name : names) {
        m_out += name + "\n";
      }
    } else {
      throw std::runtime_error("unknown line in cmd: " + words[0]);
    }
  }

  void run_creator(const std::vector<std::string>& arguments) {
    const fs::path out = m_folder / "stdout";
    const fs::path err = m_folder / "stderr";
    // A shell of our own with fixed text separates the two streams; the arguments reach it as positional parameters.
    ProcessRequest request{.argv = {"sh", "-c", "out=$1 err=$2; shift 2; exec \"$@\" >\"$out\" 2>\"$err\"", "sh",
                                    out.string(), err.string(), m_creator.string()},
                           .environment = {{"HOME", (m_folder / "home").string()},
                                           {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"},
                                           {"LC_ALL", "C.UTF-8"}},
                           .clear_environment = true,
                           .chroot = std::nullopt,
                           .directory = m_folder};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    PosixProcessRunner processes;
    const auto outcome = processes.run(request);
    if (!outcome) {
      throw std::runtime_error(outcome.error().message);
    }
    m_out += read_text(out) + "exit " + std::to_string(outcome->exit_code) + "\n";
    m_err += read_text(err);
  }

  // What differs from run to run or from machine to machine becomes a name.
  [[nodiscard]] std::string normalised(std::string text) const {
    for (auto at = text.find(m_folder.string()); at != std::string::npos; at = text.find(m_folder.string())) {
      text.replace(at, m_folder.string().size(), "@TMP@");
    }
    for (const auto& [key, name] :
         {std::pair(m_key.fingerprint(), "@FINGERPRINT@"), std::pair(m_other.fingerprint(), "@OTHER@")}) {
      // Long and short key ids end the fingerprint.
      for (const std::string& form : {key, key.substr(24)}) {
        text = std::regex_replace(text, std::regex(form, std::regex::icase), name);
      }
    }
    static const std::vector<std::pair<std::regex, std::string>> forms = {
        {std::regex("[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}"), "@RUN@"},
        {std::regex("\\b[0-9a-f]{64}\\b"), "@SHA256@"},
        {std::regex("(\"?bundle_id\"?: |bundle +)\"?[0-9a-f]{16}\"?"), "$1@BUNDLE_ID@"},
        {std::regex("\"(bundle_bytes|bytes|download_bytes|installed_bytes|size|installed_size)\": [0-9]+"),
         "\"$1\": @N@"},
        {std::regex("(\\.run|[a-z]) [0-9]+ @SHA256@"), "$1 @N@ @SHA256@"},
        {std::regex("now it is [0-9TZ:-]+"), "now it is @NOW@"},
        {std::regex("[0-9]+ bytes"), "@N@ bytes"},
        {std::regex("\\b[0-9]+(\\.[0-9])? (B|kB|MB)\\b"), "@SIZE@"},
        {std::regex("libsolv [0-9.]+"), "libsolv @VERSION@"}};
    for (const auto& [form, name] : forms) {
      text = std::regex_replace(text, form, name);
    }
    return text;
  }

  fs::path m_folder, m_creator;
  test::SigningKey m_key, m_other;
  std::string m_out, m_err;
};

bool compare(const fs::path& golden, const std::string& actual, bool accept) {
  if (accept) {
    write_text(golden, actual);
    return true;
  }
  if (read_text(golden) == actual) {
    return true;
  }
  std::cout << "differs from " << golden.string() << "; this run printed:\n" << actual << "\n";
  return false;
}

// Runs every line; the two streams end up in files, because this process may no longer write elsewhere.
int play(const std::string& commands, const fs::path& folder) {
  try {
    if (::geteuid() == 0 &&
        (::chown(folder.c_str(), ordinary_user, ordinary_user) != 0 || ::setgroups(0, nullptr) != 0 ||
         ::setgid(ordinary_user) != 0 || ::setuid(ordinary_user) != 0)) {
      throw std::runtime_error("cannot become an ordinary user");
    }
    Scene scene(folder, folder / "rocm-offline-creator");
    for (const std::string& line : split(commands, '\n')) {
      if (!line.empty() && !line.starts_with('#')) {
        scene.run_line(line);
      }
    }
    write_text(folder / "golden-out", scene.out());
    write_text(folder / "golden-err", scene.err());
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "golden_runner: " << problem.what() << std::endl;
    return 1;
  }
}

int run_case(const fs::path& creator, const fs::path& folder) {
  const bool accept = std::getenv("ROCM_OFFLINE_ACCEPT") != nullptr;
  const std::string commands = read_text(folder / "cmd");
  auto temporary = TemporaryDirectory::create(Stage::ui, fs::temp_directory_path(), "rocm-offline-golden");
  if (!temporary) {
    throw std::runtime_error(temporary.error().message);
  }
  fs::copy_file(creator, temporary->path() / "rocm-offline-creator");
  // In a process of its own, as an ordinary user: the default places are part of what is compared.
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(play(commands, temporary->path()));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("the case could not be played");
  }
  const std::string out = read_text(temporary->path() / "golden-out");
  const std::string err = read_text(temporary->path() / "golden-err");
  const bool same_out = compare(folder / "out", out, accept);
  const bool same_err = compare(folder / "err", err, accept);
  if (accept) {
    std::cout << "SKIPPED: rewritten by ROCM_OFFLINE_ACCEPT\n";
    return skipped;
  }
  return same_out && same_err ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: golden_runner CREATOR CASE_FOLDER\n";
    return 2;
  }
  try {
    return run_case(argv[1], argv[2]);
  } catch (const std::exception& problem) {
    std::cerr << "golden_runner: " << problem.what() << "\n";
    return 1;
  }
}
