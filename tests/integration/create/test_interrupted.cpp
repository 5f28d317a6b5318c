// What stops `create` from outside: signals, a kill, another create, a full disk. Nothing usable is left, and the same
// command goes on where it was.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "rocm_offline/core/posix.hpp"
#include "support/creator_run/checks.hpp"

using namespace rocm_offline;
using namespace std::chrono_literals;
using test::bytes_of;
using test::contains;
using test::CreatorResult;
using test::CreatorRun;
using test::FaultKind;

namespace {

const std::string kSlow = CreatorRun::deb_path("hipcc");

// Its largest package comes slowly; the others are done long before.
struct Scene : test::KnownCreatorRun {
  void slow_down() { server.set_fault(kSlow, {.kind = FaultKind::slow, .bytes_per_second = 40000}); }
  // True once the slow package is under way and the others are claimed by the journal.
  [[nodiscard]] bool under_way() const {
    const std::string journal = bytes_of(output.string() + ".part.journal");
    return server.count(kSlow) > 0 && claims(journal, "libhip") && claims(journal, "rocm-core");
  }
  // By its size, which no other member has.
  [[nodiscard]] bool claims(const std::string& journal, const std::string& package) const {
    const auto size = std::filesystem::file_size(root / deb_path(package).substr(1));
    return contains(journal, " " + std::to_string(size) + "\n");
  }
  // Runs `create` and sends it the signal in the middle of the slow transfer.
  CreatorResult create_and_signal(int signal) {
    slow_down();
    std::filesystem::remove(process_file());
    std::jthread sender([this, signal](const std::stop_token& stop) {
      while (!stop.stop_requested() && !under_way()) {
        std::this_thread::sleep_for(10ms);
      }
      long process = 0;
      std::ifstream(process_file()) >> process;
      if (!stop.stop_requested() && process > 0) {
        ::kill(static_cast<pid_t>(process), signal);
      }
    });
    return create();
  }
  // The same command gives the right file, and asks only for what it did not have.
  void check_goes_on() {
    check_mends();
    CHECK(server.count(kSlow) == 1);
    CHECK(server.count(deb_path("libhip")) == 0);
    CHECK(server.count(deb_path("rocm-core")) == 0);
  }
};

// A small file system at a folder, seen by this thread and what it starts alone.
class SmallDisk {
 public:
  // In memory.
  SmallDisk(std::filesystem::path folder, const std::string& size) : m_folder(std::move(folder)) {
    m_mounted = own_namespace() && ::mount("tmpfs", m_folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  // ext2 in an image of that many bytes: it has no fallocate(2), so that nothing can be reserved.
  SmallDisk(std::filesystem::path folder, const std::filesystem::path& image, std::uintmax_t bytes)
      : m_folder(std::move(folder)) {
    std::ofstream(image).close();
    std::filesystem::resize_file(image, bytes);
    m_mounted = own_namespace() && runs({"mkfs.ext2", "-q", "-F", image.string()}) &&
                runs({"mount", "-o", "loop", image.string(), m_folder.string()});
  }
  ~SmallDisk() {
    if (m_mounted) {
      ::umount2(m_folder.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool mounted() const { return m_mounted; }

 private:
  bool own_namespace() const {
    std::filesystem::create_directories(m_folder);
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
  static bool runs(const std::vector<std::string>& argv) {
    PosixProcessRunner processes;
    const auto outcome = processes.run({.argv = argv});
    return outcome && outcome->exit_code == 0;
  }

  std::filesystem::path m_folder;
  bool m_mounted = false;
};

}  // namespace

TEST_CASE_METHOD(Scene, "create: interrupted in the middle of a transfer, it says how to go on, and does", "[create]") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const auto stopped = create_and_signal(signal);
    CAPTURE(stopped.err);
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.error()["code"] == "cancelled");
    CHECK_FALSE(stopped.error()["help"].get<std::string>().empty());
    CHECK(usable_leftovers().empty());
    check_goes_on();
    remove_output();
  }
}

TEST_CASE_METHOD(Scene, "create: killed in the middle of a transfer, it goes on, and its lock is gone", "[create]") {
  const auto killed = create_and_signal(SIGKILL);
  CHECK(killed.exit_code == 128 + SIGKILL);
  CHECK(usable_leftovers().empty());
  check_goes_on();
}

TEST_CASE_METHOD(Scene, "create: two on one output, the second is told who holds it", "[create]") {
  slow_down();
  CreatorResult second;
  long holder = 0;
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !under_way()) {
      std::this_thread::sleep_for(10ms);
    }
    std::ifstream(process_file()) >> holder;
    second = run({"create",      "--json",
                  "--target",    "debian-13",
                  "--release",   "distro",
                  "--package",   "hipcc",
                  "--mirror",    "debian=" + server.url("debian"),
                  "--mirror",    "debian-security=" + server.url("security"),
                  "--keyring",   "debian=" + keyring.string(),
                  "--keyring",   "debian-security=" + (folder.path() / "security.asc").string(),
                  "--proxy",     "",
                  "--cache-dir", (folder.path() / "cache").string(),
                  "--log-dir",   (folder.path() / "logs").string(),
                  "-o",          output.string()},
                 "second");
  });
  const auto first = create();
  other.join();
  INFO(first.err);
  INFO(second.err);
  CHECK(first.exit_code == 0);
  CHECK(bytes_of(output) == right);
  CHECK(second.exit_code == 2);
  CHECK(contains(second.error_text(), output.string()));
  CHECK(contains(second.error_text(), std::to_string(holder)));
}

TEST_CASE_METHOD(Scene, "create: a disk that is too small is told before the first package is fetched", "[create]") {
  const SmallDisk disk(output.parent_path(), "1m");
  if (!disk.mounted()) {
    WARN("no file system can be mounted here (not root): the rest is left out");
    return;
  }
  const auto full = create();
  CAPTURE(full.err);
  REQUIRE(full.exit_code == 8);
  const auto error = full.error();
  CHECK(error["code"] == "no_space");
  CHECK(contains(error["details"].dump(), std::to_string(right.size())));
  CHECK(contains(full.error_text(), output.parent_path().string()));
  CHECK_FALSE(error["help"].get<std::string>().empty());
  CHECK(usable_leftovers().empty());
  CHECK(server.count(kSlow) == 0);
}

TEST_CASE_METHOD(Scene, "create: a disk that another fills meanwhile fails the transfer, and it goes on", "[create]") {
  const SmallDisk disk(output.parent_path(), folder.path() / "ext2.image", std::uintmax_t{64} << 20U);
  if (!disk.mounted()) {
    WARN("no ext2 image can be mounted here (not root, or no loop devices): the rest is left out");
    return;
  }
  slow_down();
  const std::filesystem::path filler = output.parent_path() / "filler";
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && !under_way()) {
      std::this_thread::sleep_for(10ms);
    }
    std::ofstream file(filler, std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  });
  const auto full = create();
  other.request_stop();
  other.join();
  CAPTURE(full.err);
  REQUIRE(full.exit_code == 8);
  CHECK(full.error()["code"] == "no_space");
  CHECK(contains(full.error_text(), output.parent_path().string()));
  CHECK_FALSE(full.error()["help"].get<std::string>().empty());
  CHECK_FALSE(contains(full.error_text(), "damaged"));
  std::filesystem::remove(filler);
  std::filesystem::remove(output.parent_path() / "lost+found");  // mkfs made it
  CHECK(usable_leftovers().empty());
  check_goes_on();
}

TEST_CASE_METHOD(Scene, "create: a full disk below the cache is no doubt about the repository", "[create]") {
  const std::filesystem::path cache = folder.path() / "small-cache";
  const SmallDisk disk(cache, "8k");
  if (!disk.mounted()) {
    WARN("no file system can be mounted here (not root): the rest is left out");
    return;
  }
  const auto full = create({"--cache-dir", cache.string()});
  CAPTURE(full.err);
  REQUIRE(full.exit_code == 8);
  CHECK(full.error()["code"] == "no_space");
  CHECK(contains(full.error_text(), cache.string()));
  CHECK_FALSE(contains(full.error_text(), "not trusted"));
  CHECK_FALSE(contains(full.error_text(), "mirror"));
  CHECK(usable_leftovers().empty());
}
