// repos/catalog: compiled in, then replaced or extended by the files of catalogue folders.
#include "rocm_offline/repos/catalog.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "documents.hpp"
#include "embedded_repos_files.hpp"
#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::repos {
namespace {

using nlohmann::json;

constexpr std::uint64_t max_keyring_bytes = 1U << 20U;
constexpr std::string_view frame = "loading the catalogue of releases";

struct Parts {
  std::vector<RepositoryGroup> groups;
  std::vector<Release> releases;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Three-number ids by number, words after them by name: 6.2.0, 7.10.0, distro.
std::vector<unsigned long> numbers_of(const std::string& id) {
  std::vector<unsigned long> numbers;
  for (const std::string& part : split(id, '.')) {
    if (part.empty() || part.size() > 9 || !std::all_of(part.begin(), part.end(), is_digit)) {
      return {};
    }
    numbers.push_back(std::stoul(part));
  }
  return numbers;
}

bool release_before(const Release& a, const Release& b) {
  const auto left = numbers_of(a.id);
  const auto right = numbers_of(b.id);
  if (left.empty() != right.empty()) {
    return right.empty();
  }
  return left.empty() ? a.id < b.id : left < right;
}

Result<Done> check_document(const std::string& file, const std::string& kind, const json& document) {
  return check_json_schema({.stage = Stage::repos,
                            .code = ErrorCode::catalog_invalid,
                            .file = file,
                            .schema = compiled_in_file("schema/" + kind + ".schema.json")},
                           document);
}

void put_group(Parts& parts, RepositoryGroup group) {
  const auto same = std::find_if(parts.groups.begin(), parts.groups.end(),
                                 [&](const RepositoryGroup& other) { return other.name == group.name; });
  if (same != parts.groups.end()) {
    *same = std::move(group);
  } else {
    parts.groups.push_back(std::move(group));
  }
}

void put_release(Parts& parts, Release release) {
  const auto same = std::find_if(parts.releases.begin(), parts.releases.end(),
                                 [&](const Release& other) { return other.id == release.id; });
  if (same != parts.releases.end()) {
    *same = std::move(release);
  } else {
    parts.releases.push_back(std::move(release));
  }
}

// Where a catalogue file's key files are: beside it, or (folder empty) compiled in.
struct KeySource {
  std::string catalog_file;
  std::filesystem::path folder;
};

Result<std::string> key_material(const PinnedKey& key, std::size_t index, const KeySource& source) {
  if (!source.folder.empty()) {
    Result<std::string> text = read_file(Stage::repos, source.folder / key.file, max_keyring_bytes);
    if (text || text.error().code != ErrorCode::file_missing) {
      return text;
    }
  }
  const std::string_view compiled = compiled_in_file("keyrings/" + key.file);
  if (!compiled.empty()) {
    return std::string(compiled);
  }
  const std::string pointer = "/keys/" + std::to_string(index) + "/file";
  const std::string expected = "a key file beside the catalogue file, or one that is compiled in";
  return fail({.code = ErrorCode::catalog_invalid,
               .stage = Stage::repos,
               .message = "'" + source.catalog_file + "' names a key file that is not there",
               .reason = "at " + pointer + ": expected " + expected + ", found \"" + key.file + "\"",
               .details = {{"path", source.catalog_file}, {"pointer", pointer}, {"expected", expected}},
               .help = "put the public key there, or leave 'file' out and give the key with --keyring"});
}

Result<Done> read_keys(RepositoryGroup& group, const KeySource& source) {
  for (std::size_t index = 0; index < group.keys.size(); ++index) {
    PinnedKey& key = group.keys[index];
    if (key.file.empty()) {
      continue;
    }
    Result<std::string> data = key_material(key, index, source);
    if (!data) {
      return fail(std::move(data).error());
    }
    key.data = std::move(*data);
  }
  return Done{};
}

Result<Done> add_document(Parts& parts, const std::string& kind, const json& document, const KeySource& source) {
  if (kind != "repository-group" && kind != "release") {
    return Done{};
  }
  if (Result<Done> fits = check_document(source.catalog_file, kind, document); !fits) {
    return fits;
  }
  if (kind == "release") {
    put_release(parts, read_release(document));
    return Done{};
  }
  RepositoryGroup group = read_group(document);
  if (Result<Done> keys = read_keys(group, source); !keys) {
    return keys;
  }
  put_group(parts, std::move(group));
  return Done{};
}

Result<Done> add_compiled_in(Parts& parts) {
  for (const EmbeddedFile& file : embedded::repos_files()) {
    if (!file.path.starts_with("catalog/")) {
      continue;
    }
    const std::string name = "repos/" + std::string(file.path);
    Result<json> document = parse_json(Stage::repos, ErrorCode::catalog_invalid, name, file.data);
    if (!document) {
      return fail(std::move(document).error());
    }
    const std::string kind = file.path.starts_with("catalog/groups/") ? "repository-group" : "release";
    if (Result<Done> added = add_document(parts, kind, *document, {name, {}}); !added) {
      return added;
    }
  }
  return Done{};
}

Result<Done> add_folder(Parts& parts, const std::filesystem::path& folder) {
  Result<std::vector<CatalogFile>> files = read_catalog_folder(Stage::repos, folder);
  if (!files) {
    return fail(std::move(files).error());
  }
  for (const CatalogFile& file : *files) {
    if (Result<Done> added = add_document(parts, file.kind, file.document, {file.path.string(), folder}); !added) {
      return added;
    }
  }
  return Done{};
}

// Two numbers mean the first patch release: "6.2" is "6.2.0" (cli.md).
std::string full_release_id(std::string_view id) {
  const std::string text(id);
  return numbers_of(text).size() == 2 ? text + ".0" : text;
}

}  // namespace

Result<Catalog> Catalog::load(const std::vector<std::filesystem::path>& overrides) {
  Parts parts;
  if (Result<Done> added = add_compiled_in(parts); !added) {
    return fail(in_context(std::move(added).error(), std::string(frame)));
  }
  for (const std::filesystem::path& folder : overrides) {
    if (Result<Done> added = add_folder(parts, folder); !added) {
      return fail(in_context(std::move(added).error(), std::string(frame)));
    }
  }
  std::sort(parts.groups.begin(), parts.groups.end(),
            [](const RepositoryGroup& a, const RepositoryGroup& b) { return a.name < b.name; });
  std::sort(parts.releases.begin(), parts.releases.end(), release_before);
  Catalog catalog;
  catalog.m_groups = std::move(parts.groups);
  catalog.m_releases = std::move(parts.releases);
  return catalog;
}

const RepositoryGroup* Catalog::group(std::string_view name) const {
  const auto found =
      std::find_if(m_groups.begin(), m_groups.end(), [&](const RepositoryGroup& group) { return group.name == name; });
  return found == m_groups.end() ? nullptr : &*found;
}

std::vector<std::string> Catalog::release_ids() const {
  std::vector<std::string> ids;
  for (const Release& release : m_releases) {
    ids.push_back(release.id);
  }
  return ids;
}

Result<const Release*> Catalog::release(std::string_view id) const {
  const std::string full = full_release_id(id);
  for (const Release& release : m_releases) {
    if (release.id == id || release.id == full) {
      return &release;
    }
  }
  const std::vector<std::string> ids = release_ids();
  const std::vector<std::string> near = near_names(full, ids);
  Error error{.code = ErrorCode::unknown_release,
              .stage = Stage::repos,
              .message = "unknown release '" + std::string(id) + "'",
              .reason = "the catalogue has no release of that name",
              .details = {{"release", std::string(id)}, {"possible", join(ids, ", ")}},
              .help = "the releases are: " + join(ids, ", ")};
  if (!near.empty()) {
    error.help = "did you mean " + join(near, " or ") + "? " + error.help;
    error.details["near"] = join(near, ", ");
  }
  return fail(std::move(error));
}

std::optional<Keyring> Catalog::keyring(const PinnedKey& key) const {
  if (!key.data.empty()) {
    return Keyring{.name = std::filesystem::path(key.file).filename().string(),
                   .data = key.data,
                   .fingerprints = {key.fingerprint},
                   .urls = {}};
  }
  if (!key.url.empty()) {
    return Keyring{.name = key.fingerprint, .data = {}, .fingerprints = {key.fingerprint}, .urls = {key.url}};
  }
  return std::nullopt;
}

bool target_fits(std::string_view pattern, std::string_view target_id) {
  if (pattern.ends_with("-*")) {
    pattern.remove_suffix(1);
    // What follows the id is a version: "debian-*" must not take the target of a distribution called debian-edu.
    return target_id.size() > pattern.size() && target_id.starts_with(pattern) &&
           target_id.find('-', pattern.size()) == std::string_view::npos;
  }
  return pattern == target_id;
}

}  // namespace rocm_offline::repos
