#include "places.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace rocm_offline::install {

namespace fs = std::filesystem;

fs::path Places::work_inside() const {
  if (work_dir) {
    return fs::absolute(*work_dir) / ("rocm-offline-" + bundle_id);
  }
  return fs::path("/var/lib/rocm-offline") / bundle_id / "work";
}

Error other_run_error(const Places& places) {
  return {.code = ErrorCode::native_tool_locked,
          .stage = Stage::install,
          .message = "another run of a ROCm offline installer is at work on this system",
          .reason = "it holds the lock on " + places.state().string(),
          .details = {{"path", places.state().string()}},
          .help = "wait until it has ended, then run the same command again"};
}

bool Workspace::is_held(const Places& places) {
  const FileDescriptor lock(::open(places.state().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<Workspace> Workspace::open(const Places& places) {
  if (auto made = make_directories(Stage::install, places.bundle()); !made) {
    return fail(std::move(made).error());
  }
  FileDescriptor lock(::open(places.state().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) {
    return fail(system_error(Stage::install, "cannot open the state folder", places.state(), errno));
  }
  // is_held() of a `status` or `check` takes it for a moment.
  constexpr int tries = 10;
  int left = tries;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && --left > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (left == 0) {
    return fail(other_run_error(places));
  }
  std::error_code error;
  fs::remove_all(places.work(), error);
  if (auto made = make_directories(Stage::install, places.work()); !made) {
    return fail(std::move(made).error());
  }
  // Private: what apt is told to trust must not be changed by others between check and use.
  if (::chmod(places.work().c_str(), 0700) != 0) {
    return fail(system_error(Stage::install, "cannot make the working folder private", places.work(), errno));
  }
  return Workspace(places, std::move(lock));
}

Workspace::~Workspace() {
  if (!m_lock.valid()) {
    return;  // moved from
  }
  std::error_code ignored;
  fs::remove_all(m_places.work(), ignored);
  // Only succeed where nothing else is inside.
  ::rmdir(m_places.bundle().c_str());
  ::rmdir(m_places.state().c_str());
}

}  // namespace rocm_offline::install
