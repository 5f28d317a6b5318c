// damage_driver CREATOR RUNNER STUB [SEED]
// Damages a small bundle in 560 ways, one at a time: 500 changed bytes (a third of them in stub, directory records,
// padding and tail), 50 truncations, 10 appends. The creator's `verify` gives 6 for each; the file's own `verify` and
// `install` 6, or any other failure where the stub itself is damaged. `install` runs in a root whose apt and dpkg
// record that they were started: none may be.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

constexpr int skipped = 77;
constexpr int damaged_status = 6;
constexpr unsigned default_seed = 20261201;
// In seconds: more than the whole of a run takes on a busy machine; what has not ended by then does not end.
constexpr const char* limit = "60";
constexpr unsigned workers = 2;
constexpr std::size_t stub_bytes = 32768;
// Shorter than the first command of the script: for a shell that is an empty file, which does nothing and succeeds.
constexpr std::uint64_t shortest = 64;
const char* const native_tools[] = {"apt",       "apt-get", "apt-cache",  "apt-config", "apt-mark",
                                    "apt-cdrom", "dpkg",    "dpkg-query", "dpkg-deb",   "dpkg-divert"};

enum class DamageKind { flip, truncate, append };

struct Damage {
  DamageKind kind = DamageKind::flip;
  std::uint64_t at = 0;  // the byte, or the new size
  char mask = 0;         // for flips
  std::string bytes{};   // for appends
  std::string where{};

  [[nodiscard]] std::string text() const {
    switch (kind) {
      case DamageKind::flip:
        return "byte " + std::to_string(at) + " (" + where + ") ^ " + std::to_string(static_cast<unsigned char>(mask));
      case DamageKind::truncate:
        return "cut to " + std::to_string(at) + " bytes";
      case DamageKind::append:
        return std::to_string(bytes.size()) + " bytes appended";
    }
    return "";
  }
};

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

[[noreturn]] void stop(const std::string& what) {
  throw std::runtime_error(what);
}

void check(bool condition, const std::string& what) {
  if (!condition) {
    stop(what);
  }
}

void write_text(const fs::path& path, const std::string& text, unsigned mode = 0644) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  check(out.good() && ::chmod(path.c_str(), mode) == 0, "cannot write " + path.string());
}

std::string read_whole(const fs::path& path, std::uint64_t cap) {
  const auto text = read_file(Stage::verify, path, cap);
  check(text.has_value(), "cannot read " + path.string());
  return *text;
}

test::FakeBundle content_of(const fs::path& runner, const fs::path& stub, std::mt19937& random) {
  test::FakeBundle content;
  content.stub_template = read_whole(stub, stub_bytes);
  content.runner = read_whole(runner, std::uint64_t{1} << 30U);
  content.targets.resize(1);
  for (int i = 0; i < 24; ++i) {
    const std::string name = "package-" + std::to_string(i);
    std::string payload(1 + random() % 60000, '\0');
    std::generate(payload.begin(), payload.end(), [&] { return static_cast<char>(random()); });
    content.targets[0].packages.push_back({.id = {name, "1.0", "amd64"}, .payload = std::move(payload)});
  }
  content.targets[0].trust = {{"debian/trixie/InRelease", std::string(3000, 's')},
                              {"debian/trixie/main/Packages", std::string(50000, 'p')}};
  return content;
}

struct Subject {
  fs::path file{};
  std::uint64_t size = 0;
  std::uint64_t script_size = 0;  // of the stub, without what pads it
  Range records{};
  std::vector<Range> gaps{};      // padding
  std::vector<Range> contents{};  // manifest, files and payloads
};

Subject build(const test::FakeBundle& content, const fs::path& work) {
  Subject subject{.file = work / "bundle.run"};
  const auto built = test::build_bundle(content, subject.file, work);
  check(built.has_value(), "cannot build the bundle");
  const auto layout = test::lay_out(content, work);
  check(layout.has_value() && layout->fixed_parts.size() > 4, "cannot lay out the bundle");
  subject.size = layout->file_size;
  subject.script_size = layout->fixed_parts.front().bytes.find('\0');
  std::vector<Range> used;
  for (const bundle::FixedPart& part : layout->fixed_parts) {
    used.push_back({part.offset, part.offset + part.bytes.size()});
    if (part.bytes != content.runner) {
      subject.contents.push_back(used.back());
    }
  }
  subject.records = used.at(1);
  for (const bundle::Member& member : layout->members) {
    used.push_back({member.offset, member.offset + member.size});
    subject.contents.push_back(used.back());
  }
  std::sort(used.begin(), used.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  for (const Range& range : used) {
    if (range.begin > end) {
      subject.gaps.push_back({end, range.begin});
    }
    end = std::max(end, range.end);
  }
  if (end < subject.size) {
    subject.gaps.push_back({end, subject.size});
  }
  return subject;
}

class DamagePlan {
 public:
  DamagePlan(const Subject& subject, std::mt19937& random) : m_subject(subject), m_random(random) {
    const std::uint64_t script_end = m_subject.script_size;
    for (int i = 0; i < 21; ++i) {
      flip("script", {0, script_end});
      flip("behind the script", {script_end, stub_bytes});
    }
    for (int i = 0; i < 42; ++i) {
      flip("directory records", m_subject.records);
      flip("padding", any_of(m_subject.gaps));
      flip("tail", {m_subject.size - 4096, m_subject.size});
    }
    for (int i = 0; i < 166; ++i) {
      flip("anywhere", {0, m_subject.size});
      flip("contents", any_of(m_subject.contents));
    }
    for (const std::uint64_t size : {shortest, script_end, std::uint64_t{stub_bytes}, std::uint64_t{stub_bytes} + 1,
                                     m_subject.size - 1, m_subject.size - 2048, m_subject.size - 4096}) {
      m_damages.push_back({.kind = DamageKind::truncate, .at = size});
    }
    for (int i = 0; i < 13; ++i) {
      m_damages.push_back({.kind = DamageKind::truncate, .at = between({shortest, script_end})});
    }
    for (int i = 0; i < 30; ++i) {
      m_damages.push_back({.kind = DamageKind::truncate, .at = between({shortest, m_subject.size})});
    }
    for (const std::string& bytes : {std::string(1, '\0'), std::string("\n"), std::string(2048, '\0'),
                                     std::string("\nexit 0\n"), std::string(4096, 'x')}) {
      m_damages.push_back({.kind = DamageKind::append, .bytes = bytes});
    }
    for (int i = 0; i < 5; ++i) {
      m_damages.push_back(
          {.kind = DamageKind::append, .bytes = std::string(1 + m_random() % 100000, static_cast<char>(m_random()))});
    }
  }
  [[nodiscard]] const std::vector<Damage>& damages() const { return m_damages; }

 private:
  std::uint64_t between(Range range) { return range.begin + m_random() % (range.end - range.begin); }
  Range any_of(const std::vector<Range>& ranges) { return ranges.at(m_random() % ranges.size()); }
  void flip(const char* where, Range range) {
    m_damages.push_back(
        {.at = between(range), .mask = static_cast<char>(1 + m_random() % 255), .bytes = {}, .where = where});
  }

  const Subject& m_subject;
  std::mt19937& m_random;
  std::vector<Damage> m_damages{};
};

// A root of busybox, which says that it is a Debian 13, with tools that only record that they were started.
class Root {
 public:
  Root(fs::path folder, const Subject& subject) : m_folder(std::move(folder)), m_subject(subject) {
    for (const char* path :
         {"bin", "dev", "etc", "proc", "root", "tmp", "usr/bin", "usr/lib", "var/lib/dpkg", "var/tmp"}) {
      fs::create_directories(m_folder / path);
    }
    fs::copy_file(*find_program("busybox"), m_folder / "bin/busybox");
    PosixProcessRunner runner;
    const auto applets = runner.run({.argv = {"busybox", "--list"}});
    check(applets.has_value(), "busybox --list");
    std::string name;
    for (const char c : applets->output) {
      if (c != '\n') {
        name += c;
        continue;
      }
      if (name != "busybox" &&
          std::find(std::begin(native_tools), std::end(native_tools), name) == std::end(native_tools)) {
        fs::create_symlink("busybox", m_folder / "bin" / name);
      }
      name.clear();
    }
    for (const char* tool : native_tools) {
      write_text(m_folder / "usr/bin" / tool, "#!/bin/sh\necho \"$0 $*\" >>/started\nexit 100\n", 0755);
    }
    write_text(m_folder / "etc/os-release",
               "ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\nPRETTY_NAME=Debian\n");
    write_text(m_folder / "var/lib/dpkg/status", "");
    fs::copy_file(subject.file, file());
  }
  // False where device files cannot be made.
  bool make_devices() {
    return ::mknod((m_folder / "dev/null").c_str(), S_IFCHR | 0666, ::makedev(1, 3)) == 0 &&
           FileDescriptor(::open((m_folder / "dev/null").c_str(), O_WRONLY | O_CLOEXEC)).valid();
  }
  [[nodiscard]] fs::path file() const { return m_folder / "bundle.run"; }

  [[nodiscard]] int creator_verify(const fs::path& creator) const {
    return run({"timeout", "-k", "5", limit, creator.string(), "verify", file().string(), "-q"});
  }
  [[nodiscard]] int own(const std::string& word) const {
    fs::remove_all(m_folder / "var/log");
    return run({"timeout", "-k", "5", limit, "chroot", m_folder.string(), "/bin/sh", "/bundle.run", word});
  }
  // What was started since the last call.
  [[nodiscard]] std::string started() const {
    const fs::path record = m_folder / "started";
    std::error_code ignored;
    if (!fs::exists(record, ignored)) {
      return "";
    }
    std::string text = read_whole(record, 1U << 20U);
    fs::remove(record);
    return text;
  }
  [[nodiscard]] const std::string& last_output() const { return m_output; }

  void apply(const Damage& damage) const {
    const FileDescriptor fd(::open(file().c_str(), O_RDWR | O_CLOEXEC));
    check(fd.valid(), "cannot open the copy");
    switch (damage.kind) {
      case DamageKind::flip: {
        char byte = 0;
        check(::pread(fd.get(), &byte, 1, static_cast<off_t>(damage.at)) == 1, "cannot read the copy");
        byte = static_cast<char>(byte ^ damage.mask);
        check(::pwrite(fd.get(), &byte, 1, static_cast<off_t>(damage.at)) == 1, "cannot write the copy");
        break;
      }
      case DamageKind::truncate:
        check(::ftruncate(fd.get(), static_cast<off_t>(damage.at)) == 0, "cannot cut the copy");
        break;
      case DamageKind::append:
        check(write_at(Stage::verify, fd.get(), m_subject.size, damage.bytes, file()).has_value(),
              "cannot append to the copy");
        break;
    }
  }
  void undo(const Damage& damage) const {
    if (damage.kind == DamageKind::flip) {
      apply(damage);
    } else {
      fs::copy_file(m_subject.file, file(), fs::copy_options::overwrite_existing);
    }
  }

 private:
  int run(std::vector<std::string> argv) const {
    PosixProcessRunner runner;
    const auto outcome = runner.run({.argv = std::move(argv),
                                     .environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", "/root"}},
                                     .clear_environment = true});
    check(outcome.has_value(), "a program could not be started");
    m_output = outcome->output;
    return outcome->exit_code;
  }

  fs::path m_folder;
  const Subject& m_subject;
  mutable std::string m_output{};
};

class Driver {
 public:
  Driver(fs::path creator, const Subject& subject, const std::vector<Damage>& damages)
      : m_creator(std::move(creator)), m_subject(subject), m_damages(damages) {}

  // The undamaged file is right, and its installation does start the package manager: else nothing below says anything.
  void check_sound(const Root& root) {
    check(root.creator_verify(m_creator) == 0, "the creator refuses the sound file:\n" + root.last_output());
    check(root.own("verify") == 0, "the sound file does not verify itself:\n" + root.last_output());
    check(root.started().empty(), "verify started a package manager");
    const int status = root.own("install");
    check(!root.started().empty(), "the sound file did not start the package manager (status " +
                                       std::to_string(status) + "):\n" + root.last_output());
  }

  std::size_t run(std::vector<std::unique_ptr<Root>>& roots) {
    std::vector<std::thread> threads;
    threads.reserve(roots.size());
    for (auto& root : roots) {
      threads.emplace_back([&] { work(*root); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    return m_failures;
  }

 private:
  void work(const Root& root) {
    try {
      for (std::size_t i = m_next++; i < m_damages.size(); i = m_next++) {
        root.apply(m_damages[i]);
        try_one(root, m_damages[i]);
        root.undo(m_damages[i]);
      }
    } catch (const std::exception& problem) {
      failed(problem.what());
    }
  }

  void try_one(const Root& root, const Damage& damage) {
    if (const int status = root.creator_verify(m_creator); status != damaged_status) {
      failed(damage.text() + ": the creator's verify gives " + std::to_string(status) + "\n" + root.last_output());
    }
    for (const std::string word : {"verify", "install"}) {
      const int status = root.own(word);
      const bool timed_out = status == 124 || status == 137;
      const bool hits_script = damage.kind != DamageKind::append && damage.at < m_subject.script_size;
      const bool right = hits_script ? status != 0 && !timed_out : status == damaged_status;
      if (!right) {
        failed(damage.text() + ": the file's own " + word + " gives " + std::to_string(status) + "\n" +
               root.last_output());
      }
      if (const std::string started = root.started(); !started.empty()) {
        failed(damage.text() + ": " + word + " started " + started);
      }
    }
  }

  void failed(const std::string& what) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    ++m_failures;
    std::cout << "FAILED: " << what.substr(0, 600) << std::endl;
  }

  fs::path m_creator;
  const Subject& m_subject;
  const std::vector<Damage>& m_damages;
  std::atomic<std::size_t> m_next = 0;
  std::mutex m_mutex{};
  std::size_t m_failures = 0;
};

int run(int argc, char** argv) {
  if (::geteuid() != 0) {
    std::cout << "SKIPPED: needs root for chroot\n";
    return skipped;
  }
  if (!find_program("busybox") || !find_program("chroot")) {
    std::cout << "SKIPPED: busybox or chroot is not installed\n";
    return skipped;
  }
  const auto seed = argc > 4 ? static_cast<unsigned>(std::stoul(argv[4])) : default_seed;
  std::cout << "seed " << seed << std::endl;
  std::mt19937 random(seed);
  const auto work = TemporaryDirectory::create(Stage::verify, "/var/tmp", "rocm-offline-damage");
  check(work.has_value(), "no temporary folder");
  const Subject subject = build(content_of(argv[2], argv[3], random), work->path());
  const DamagePlan plan(subject, random);
  std::vector<std::unique_ptr<Root>> roots;
  for (unsigned i = 0; i < workers; ++i) {
    roots.push_back(std::make_unique<Root>(work->path() / ("root" + std::to_string(i)), subject));
    if (!roots.back()->make_devices()) {
      std::cout << "SKIPPED: device files cannot be made here\n";
      return skipped;
    }
  }
  Driver driver(argv[1], subject, plan.damages());
  driver.check_sound(*roots[0]);
  const std::size_t failures = driver.run(roots);
  // Everything was put back: what was seen was seen of one damage at a time.
  driver.check_sound(*roots[0]);
  driver.check_sound(*roots[1]);
  std::cout << plan.damages().size() << " damages, " << failures << " failures (seed " << seed << ")\n";
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: damage_driver CREATOR RUNNER STUB [SEED]\n";
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& problem) {
    std::cout << "FAILED: " << problem.what() << "\n";
    return 1;
  }
}
