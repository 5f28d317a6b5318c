#include "seen_releases.hpp"

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::index {
namespace {

constexpr std::uint64_t kMostBytes = 4U << 20U;
constexpr int kSchema = 1;

// An address with credentials never reaches the file.
std::string key_of(const std::string& base_url, const std::string& suite) {
  return redact_url(base_url) + " " + suite;
}

Error damaged(const std::filesystem::path& path, std::string reason) {
  Error error;
  error.code = ErrorCode::config_invalid;
  error.stage = Stage::repos;
  error.message = "the record of the releases seen so far cannot be used";
  error.reason = std::move(reason);
  error.details["path"] = path.string();
  error.help =
      "without it an old repository could pass for a new one; if that is acceptable once, remove " + path.string();
  return error;
}

Result<std::map<std::string, SeenRelease>> read(const std::filesystem::path& path) {
  std::map<std::string, SeenRelease> known;
  auto text = read_file(Stage::repos, path, kMostBytes);
  if (!text) {
    return text.error().code == ErrorCode::file_missing ? Result<std::map<std::string, SeenRelease>>(known)
                                                        : tl::unexpected(std::move(text).error());
  }
  auto json = parse_json(Stage::repos, ErrorCode::config_invalid, "record of the releases seen", *text);
  if (!json) {
    return fail(damaged(path, json.error().reason));
  }
  const auto releases = json->is_object() ? json->find("releases") : json->end();
  if (!json->is_object() || json->value("schema", nlohmann::json()) != kSchema || releases == json->end() ||
      !releases->is_object()) {
    return fail(damaged(path, "it has not the expected form"));
  }
  for (const auto& [key, value] : releases->items()) {
    if (!value.is_object() || !value.contains("date") || !value["date"].is_number_integer() ||
        !value.contains("sha256") || !value["sha256"].is_string()) {
      return fail(damaged(path, "its entry for " + redact_url(key) + " has not the expected form"));
    }
    known[key] = {value["date"].get<UnixTime>(), value["sha256"].get<std::string>()};
  }
  return known;
}

}  // namespace

Result<SeenReleases> SeenReleases::load(const std::filesystem::path& state_dir) {
  SeenReleases seen;
  seen.m_path = state_dir / "releases-seen.json";
  auto known = read(seen.m_path);
  if (!known) {
    return tl::unexpected(std::move(known).error());
  }
  seen.m_known = std::move(*known);
  return seen;
}

std::optional<SeenRelease> SeenReleases::find(const std::string& base_url, const std::string& suite) const {
  const auto found = m_known.find(key_of(base_url, suite));
  return found == m_known.end() ? std::nullopt : std::optional(found->second);
}

void SeenReleases::remember(const std::string& base_url, const std::string& suite, SeenRelease release) {
  const auto known = find(base_url, suite);
  // After an allowed rollback the newest date stays: the next, unallowed run is to notice it again.
  if (!known || known->date < release.date) {
    m_new[key_of(base_url, suite)] = std::move(release);
  }
}

Result<Done> SeenReleases::save() const {
  if (m_new.empty()) {
    return Done{};
  }
  auto known = read(m_path);
  if (!known) {
    return tl::unexpected(std::move(known).error());
  }
  for (const auto& [key, release] : m_new) {
    const auto [place, added] = known->emplace(key, release);
    if (!added && place->second.date < release.date) {
      place->second = release;
    }
  }
  nlohmann::json releases = nlohmann::json::object();
  for (const auto& [key, release] : *known) {
    releases[key] = {{"date", release.date}, {"sha256", release.sha256}};
  }
  if (auto made = make_directories(Stage::repos, m_path.parent_path()); !made) {
    return made;
  }
  const nlohmann::json json = {{"schema", kSchema}, {"releases", releases}};
  return write_file_atomically(Stage::repos, m_path, json.dump(2) + "\n", 0644);
}

}  // namespace rocm_offline::index
