// Where an installation keeps its state: <root>/var/lib/rocm-offline/<bundle-id>/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::install {

struct Places {
  std::filesystem::path root;
  std::string bundle_id;
  std::optional<std::filesystem::path> work_dir;  // --work-dir

  [[nodiscard]] std::filesystem::path state() const { return root / "var/lib/rocm-offline"; }
  [[nodiscard]] std::filesystem::path bundle() const { return state() / bundle_id; }
  [[nodiscard]] std::filesystem::path receipt() const { return bundle() / "receipt.json"; }
  // Folder of the private configuration and of copies, as programs inside root see it.
  [[nodiscard]] std::filesystem::path work_inside() const;
  [[nodiscard]] std::filesystem::path work() const { return root / work_inside().relative_path(); }
};

// native_tool_locked: another run of ours is at work below this root.
[[nodiscard]] Error other_run_error(const Places& places);

// The state and work folders of one run. Only one run at a time per root: a lock on the state folder, which vanishes
// with the process. The work folder is emptied first (a killed run leaves it) and removed at the end, as are state
// folders that are still empty then, so that a dry run leaves nothing.
class Workspace {
 public:
  // native_tool_locked when another run of ours holds the root.
  [[nodiscard]] static Result<Workspace> open(const Places& places);
  // True while another run of ours holds the root. Looks only: changes nothing, needs no root.
  [[nodiscard]] static bool is_held(const Places& places);
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = delete;
  ~Workspace();

 private:
  Workspace(Places places, FileDescriptor lock) : m_places(std::move(places)), m_lock(std::move(lock)) {}
  Places m_places;
  FileDescriptor m_lock;
};

}  // namespace rocm_offline::install
