#include <algorithm>
#include <set>

#include "../selection.hpp"
#include "commands.hpp"
#include "rocm_offline/core/text.hpp"

namespace rocm_offline::app {

namespace {

// A row: the bare id first, then words for people. JSON: {id, ...}.
struct Row {
  std::string id;
  std::string words;
  nlohmann::json object;
};

std::vector<std::string> targets_of(const repos::Release& release) {
  std::vector<std::string> ids;
  for (const repos::ReleaseTarget& target : release.targets) {
    ids.push_back(target.target);
  }
  return ids;
}

bool has_target(const repos::Release& release, const std::optional<std::string>& id) {
  const auto ids = targets_of(release);
  return !id || std::find(ids.begin(), ids.end(), *id) != ids.end();
}

std::vector<Row> release_rows(const std::vector<const repos::Release*>& releases) {
  std::vector<Row> rows;
  for (const repos::Release* release : releases) {
    rows.push_back({release->id,
                    release->title + (release->date.empty() ? "" : " (" + release->date + ")"),
                    {{"id", release->id},
                     {"title", release->title},
                     {"date", release->date.empty() ? nlohmann::json(nullptr) : nlohmann::json(release->date)},
                     {"targets", targets_of(*release)}}});
  }
  return rows;
}

std::vector<Row> target_rows(const Catalogs& catalogs, const std::vector<const repos::Release*>& releases,
                             const ListOptions& options) {
  const std::optional<std::string>& only = options.target;
  const bool of_one_release = options.release.has_value();
  std::vector<Row> rows;
  for (const std::string& id : catalogs.distros.target_ids()) {
    std::vector<std::string> supporting;
    for (const repos::Release* release : releases) {
      if (has_target(*release, id)) {
        supporting.push_back(release->id);
      }
    }
    // Without a release asked for, a target that is known but has none yet is listed too: `check` judges it.
    if ((supporting.empty() && of_one_release) || (only && *only != id)) {
      continue;
    }
    rows.push_back({id,
                    "releases: " + (supporting.empty() ? "none in this version" : join(supporting, " ")),
                    {{"id", id}, {"releases", supporting}}});
  }
  return rows;
}

std::vector<Row> usecase_rows(const std::vector<const repos::Release*>& releases,
                              const std::optional<std::string>& target) {
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const repos::Release* release : releases) {
    for (const repos::UseCase& usecase : release->usecases) {
      if ((target && !usecase.packages.contains(*target)) || !seen.insert(usecase.id).second) {
        continue;
      }
      nlohmann::json object = {{"id", usecase.id}, {"title", usecase.title}, {"packages", usecase.packages}};
      std::string words = usecase.title;
      if (target) {
        words += ": " + join(usecase.packages.at(*target), " ");
        object["packages"] = {{*target, usecase.packages.at(*target)}};
      }
      rows.push_back({usecase.id, std::move(words), std::move(object)});
    }
  }
  return rows;
}

Result<std::vector<Row>> rows_of(Command command, const ListOptions& options, const Catalogs& catalogs) {
  std::vector<const repos::Release*> releases;
  if (options.target) {
    if (auto target = catalogs.distros.target(*options.target); !target) {
      return fail(std::move(target).error());
    }
  }
  if (options.release) {
    auto release = catalogs.repos.release(*options.release);
    if (!release) {
      return fail(std::move(release).error());
    }
    releases.push_back(*release);
  } else {
    for (const repos::Release& release : catalogs.repos.releases()) {
      releases.push_back(&release);
    }
  }
  std::erase_if(releases, [&](const repos::Release* release) { return !has_target(*release, options.target); });
  switch (command) {
    case Command::targets:
      return target_rows(catalogs, releases, options);
    case Command::releases:
      return release_rows(releases);
    default:
      return usecase_rows(releases, options.target);
  }
}

}  // namespace

int run_list(const Invocation& invocation, Session& session) {
  const std::string name(command_name(invocation.command));
  const std::string schema = "rocm-offline/" + name + "/1";
  auto catalogs = load_catalogs(session.options().catalogs);
  if (!catalogs) {
    return session.console().failed(catalogs.error(), schema);
  }
  auto rows = rows_of(invocation.command, invocation.list, *catalogs);
  if (!rows) {
    return session.console().failed(rows.error(), schema);
  }
  if (session.options().json) {
    nlohmann::json list = nlohmann::json::array();
    for (Row& row : *rows) {
      list.push_back(std::move(row.object));
    }
    session.console().print_json({{"schema", schema}, {name, std::move(list)}});
    return session.console().finished(0);
  }
  if (rows->empty()) {
    session.console().print("none: no release of this version is for " + invocation.list.target.value_or("any target") +
                            "\n");
  }
  std::size_t width = 0;
  for (const Row& row : *rows) {
    width = std::max(width, row.id.size());
  }
  for (const Row& row : *rows) {
    session.console().print(row.id + std::string(width - row.id.size() + 2, ' ') + row.words + "\n");
  }
  return session.console().finished(0);
}

}  // namespace rocm_offline::app
