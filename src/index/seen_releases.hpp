// The newest Release date seen of each suite of each mirror, so that a mirror (or someone in its place) cannot serve an
// older, validly signed state: <state>/releases-seen.json, {schema, releases: {"<base URL> <suite>": {date, sha256}}}.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::index {

struct SeenRelease {
  UnixTime date = 0;
  std::string sha256;
  bool operator==(const SeenRelease&) const = default;
};

class SeenReleases {
 public:
  // A missing file is an empty memory; a damaged one is config_invalid naming the path.
  [[nodiscard]] static Result<SeenReleases> load(const std::filesystem::path& state_dir);
  [[nodiscard]] std::optional<SeenRelease> find(const std::string& base_url, const std::string& suite) const;
  void remember(const std::string& base_url, const std::string& suite, SeenRelease release);
  // Written atomically, together with what other runs wrote meanwhile; nothing to do when nothing is new.
  [[nodiscard]] Result<Done> save() const;
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  std::map<std::string, SeenRelease> m_known;
  std::map<std::string, SeenRelease> m_new;
};

}  // namespace rocm_offline::index
