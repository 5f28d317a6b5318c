#include "post_install.hpp"

#include <unistd.h>

#include <algorithm>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/user_name.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view rules_path = "/etc/udev/rules.d/70-amdgpu.rules";
constexpr std::uint64_t max_rules_bytes = 1U << 20U;

// One entry of the target's databases (getent(1) asks LDAP and the like too, which a static program cannot).
Result<std::optional<std::vector<std::string>>> look_up(distros::AptTool& tool, const std::string& database,
                                                        const std::string& name) {
  auto outcome = tool.run({"getent", database, name});
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return std::optional<std::vector<std::string>>();
  }
  return std::optional(split(trim(outcome->output), ':'));
}

Result<Done> run_tool(distros::AptTool& tool, const std::vector<std::string>& argv) {
  auto outcome = tool.run(argv);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  if (outcome->exit_code != 0) {
    return fail(Error{.code = ErrorCode::native_tool_failed,
                      .stage = Stage::install,
                      .message = argv[0] + " failed with status " + std::to_string(outcome->exit_code),
                      .reason = std::string(trim(outcome->output)),
                      .details = {{"command", join(argv, " ")}},
                      .help = "the packages are installed; run the command by hand to see more"});
  }
  return Done{};
}

bool recorded(const Receipt& receipt, const PostInstallStep& step) {
  return std::find(receipt.post_install.begin(), receipt.post_install.end(), step) != receipt.post_install.end();
}

Result<Done> record(Receipt& receipt, const PostInstallStep& step, const std::function<Result<Done>()>& save) {
  if (recorded(receipt, step)) {
    return Done{};
  }
  receipt.post_install.push_back(step);
  return save();
}

// A member by the database's list, or because it is the user's primary group.
bool is_member(const std::vector<std::string>& group, const std::vector<std::string>& user) {
  if (user.size() > 3 && group.size() > 2 && user[3] == group[2]) {
    return true;
  }
  const std::vector<std::string> members = split(group.size() > 3 ? group[3] : "", ',');
  return std::find(members.begin(), members.end(), user[0]) != members.end();
}

Result<Done> join_group(const std::string& user_name, const std::string& group_name, distros::AptTool& tool,
                        Receipt& receipt, const std::function<Result<Done>()>& save, PostInstallOutcome& outcome) {
  auto user = look_up(tool, "passwd", user_name);
  auto group = user ? look_up(tool, "group", group_name) : user;
  if (!group) {
    return fail(std::move(group).error());
  }
  if (!*group) {
    const PostInstallStep step{.kind = "group_created", .group = group_name, .user = "", .path = "", .sha256 = ""};
    if (auto saved = record(receipt, step, save); !saved) {
      return saved;
    }
    if (auto created = run_tool(tool, {"groupadd", "--system", group_name}); !created) {
      return created;
    }
    outcome.done.push_back("created the system group " + group_name);
    group = look_up(tool, "group", group_name);
    if (!group) {
      return fail(std::move(group).error());
    }
  }
  if (*user && *group && is_member(**group, **user)) {
    return Done{};
  }
  const PostInstallStep step{.kind = "group_member", .group = group_name, .user = user_name, .path = "", .sha256 = ""};
  if (auto saved = record(receipt, step, save); !saved) {
    return saved;
  }
  if (auto added = run_tool(tool, {"usermod", "-a", "-G", group_name, user_name}); !added) {
    return added;
  }
  outcome.done.push_back("added user " + user_name + " to group " + group_name + " (from the next login on)");
  return Done{};
}

Result<Done> write_rules(const fs::path& root, Receipt& receipt, const std::function<Result<Done>()>& save,
                         PostInstallOutcome& outcome) {
  const fs::path path = root / fs::path(rules_path).relative_path();
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored))) {
    const auto present = read_file(Stage::install, path, max_rules_bytes);
    if (!present || *present != gpu_udev_rules()) {
      outcome.notes.push_back(std::string(rules_path) +
                              " exists with other content and was left alone: GPU access for "
                              "everybody is not granted by this bundle");
    }
    return Done{};
  }
  if (const fs::path folder = fs::path(rules_path).parent_path(); !fs::exists(path.parent_path(), ignored)) {
    const PostInstallStep made{.kind = "folder", .group = "", .user = "", .path = folder.string(), .sha256 = ""};
    if (auto saved = record(receipt, made, save); !saved) {
      return saved;
    }
  }
  const PostInstallStep step{.kind = "file",
                             .group = "",
                             .user = "",
                             .path = std::string(rules_path),
                             .sha256 = sha256_of(gpu_udev_rules()).hex()};
  if (auto saved = record(receipt, step, save); !saved) {
    return saved;
  }
  if (auto made = make_directories(Stage::install, path.parent_path()); !made) {
    return made;
  }
  if (auto written = write_file_atomically(Stage::install, path, gpu_udev_rules(), 0644); !written) {
    return written;
  }
  outcome.done.push_back("wrote " + std::string(rules_path) +
                         " (acts from the next boot on, or after `udevadm control --reload && udevadm trigger`)");
  return Done{};
}

}  // namespace

std::string_view gpu_udev_rules() {
  return "KERNEL==\"kfd\", MODE=\"0666\"\n"
         "SUBSYSTEM==\"drm\", KERNEL==\"renderD*\", MODE=\"0666\"\n";
}

Result<Done> check_post_install(const PostInstall& wanted, distros::AptTool& tool) {
  if (!wanted.gpu_access || *wanted.gpu_access == "all") {
    return Done{};
  }
  const std::string& name = *wanted.gpu_access;
  if (is_user_name(name)) {
    auto user = look_up(tool, "passwd", name);
    if (!user) {
      return fail(std::move(user).error());
    }
    if (*user) {
      return Done{};
    }
  }
  return fail(
      Error{.code = ErrorCode::check_failed,
            .stage = Stage::install,
            .message = "user '" + name + "' does not exist on this machine",
            .reason = "GPU access is to be given to that user",
            .details = {{"user", name}},
            .help = "name an existing user with --gpu-access USER, all for everybody, or pass --no-post-install"});
}

Result<PostInstallOutcome> apply_post_install(const PostInstall& wanted, const fs::path& root, distros::AptTool& tool,
                                              Receipt& receipt, const std::function<Result<Done>()>& save) {
  PostInstallOutcome outcome;
  if (!wanted.gpu_access) {
    return outcome;
  }
  if (*wanted.gpu_access == "all") {
    if (auto written = write_rules(root, receipt, save, outcome); !written) {
      return fail(in_context(std::move(written).error(), "giving everybody access to the GPUs"));
    }
    return outcome;
  }
  for (const char* group : {"video", "render"}) {
    if (auto joined = join_group(*wanted.gpu_access, group, tool, receipt, save, outcome); !joined) {
      return fail(in_context(std::move(joined).error(), "giving user " + *wanted.gpu_access + " access to the GPUs"));
    }
  }
  return outcome;
}

PostInstallOutcome undo_post_install(const Receipt& receipt, const fs::path& root, distros::AptTool& tool) {
  PostInstallOutcome outcome;
  for (auto step = receipt.post_install.rbegin(); step != receipt.post_install.rend(); ++step) {
    if (step->kind == "group_member") {
      const auto removed = tool.run({"gpasswd", "-d", step->user, step->group});
      if (removed && removed->exit_code == 0) {
        outcome.done.push_back("removed user " + step->user + " from group " + step->group);
      } else {
        outcome.notes.push_back("user " + step->user + " is not in group " + step->group + " any more");
      }
    } else if (step->kind == "group_created") {
      const auto removed = tool.run({"groupdel", step->group});
      if (removed && removed->exit_code == 0) {
        outcome.done.push_back("removed group " + step->group);
      } else {
        outcome.notes.push_back("group " + step->group + " could not be removed and stays");
      }
    } else if (step->kind == "folder" && step->path == fs::path(rules_path).parent_path()) {
      // Only succeeds where nothing else is inside by now.
      ::rmdir((root / fs::path(step->path).relative_path()).c_str());
    } else if (step->kind == "file" && step->path == rules_path) {
      const fs::path path = root / fs::path(rules_path).relative_path();
      const auto present = read_file(Stage::install, path, max_rules_bytes);
      if (present && sha256_of(*present).hex() == step->sha256 && ::unlink(path.c_str()) == 0) {
        outcome.done.push_back("removed " + step->path);
      } else {
        outcome.notes.push_back(step->path + " was changed since, or is gone; left alone");
      }
    }
  }
  return outcome;
}

}  // namespace rocm_offline::install
