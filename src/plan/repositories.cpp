#include "repositories.hpp"

#include <algorithm>
#include <utility>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/repos/templates.hpp"

namespace rocm_offline::plan {
namespace {

using repos::TemplateValues;

constexpr std::string_view flat_suite = "./";

Error catalog_error(std::string message, std::string reason) {
  return {.code = ErrorCode::catalog_invalid,
          .stage = Stage::plan,
          .message = std::move(message),
          .reason = std::move(reason),
          .help = "correct the files of --catalog or /etc/rocm-offline/catalog.d"};
}

// The release's values, then the target's own, then what os-release tells: later ones win.
TemplateValues values_of(const RepositoryQuestion& question) {
  TemplateValues values = question.release.values;
  for (const auto& [name, value] : question.release_target.values) {
    values[name] = value;
  }
  values["release"] = question.release.id;
  values["version"] = question.target.version;
  if (!question.target.codename.empty()) {
    values["codename"] = question.target.codename;
  }
  return values;
}

class Definitions {
 public:
  explicit Definitions(const RepositoryQuestion& question) : m_question(question), m_values(values_of(question)) {}

  Result<Done> add_group(const std::string& name) {
    const repos::RepositoryGroup* group = m_question.repos.group(name);
    if (group == nullptr) {
      return fail(catalog_error("the catalogue has no repository group '" + name + "'",
                                m_question.target.id + " or release '" + m_question.release.id + "' names it"));
    }
    bool fits = false;
    for (const repos::GroupLayout& layout : group->layouts) {
      if (!is_for_target(layout.targets)) {
        continue;
      }
      fits = true;
      if (Result<Done> added = add_layout(*group, layout); !added) {
        return fail(in_context(std::move(added).error(), "repository group '" + name + "'"));
      }
    }
    if (!fits) {
      return fail(catalog_error("repository group '" + name + "' has no layout for " + m_question.target.id,
                                "release '" + m_question.release.id + "' needs it there"));
    }
    return Done{};
  }

  void add_site(const repos::SiteRepository& site) {
    if (!is_for_target(site.targets)) {
      return;
    }
    RepositoryDefinition definition;
    definition.name = site.name;
    definition.group = site.name;
    definition.type = site.type;
    definition.base_urls = {site.base_url};
    definition.catalog_url = site.base_url;
    definition.suite = site.suite;
    definition.components = site.components;
    definition.arch = m_question.target.arch;
    definition.priority = site.priority;
    m_list.push_back(std::move(definition));
  }

  [[nodiscard]] std::vector<RepositoryDefinition> take() { return std::move(m_list); }

 private:
  [[nodiscard]] bool is_for_target(const std::vector<std::string>& patterns) const {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return repos::target_fits(pattern, m_question.target.id); });
  }

  Result<Done> add_layout(const repos::RepositoryGroup& group, const repos::GroupLayout& layout) {
    Result<std::string> path = repos::fill_template(layout.path, m_values);
    if (!path) {
      return fail(std::move(path).error());
    }
    const std::string url = path->empty() ? group.base_url : group.base_url + "/" + *path;
    const std::vector<std::string> no_suite = {""};
    for (const std::string& suite : layout.suites.empty() ? no_suite : layout.suites) {
      if (Result<Done> added = add_suite(group, layout, url, suite); !added) {
        return added;
      }
    }
    return Done{};
  }

  Result<Done> add_suite(const repos::RepositoryGroup& group, const repos::GroupLayout& layout, const std::string& url,
                         const std::string& suite_template) {
    Result<std::string> suite = repos::fill_template(suite_template, m_values);
    if (!suite) {
      return fail(std::move(suite).error());
    }
    TemplateValues values = m_values;
    values["suite"] = *suite;
    Result<std::string> codename = repos::fill_template(layout.codename, values);
    if (!codename) {
      return fail(std::move(codename).error());
    }
    RepositoryDefinition definition;
    definition.name = suite->empty() || *suite == flat_suite ? group.name : group.name + "/" + *suite;
    definition.group = group.name;
    definition.type = group.type;
    definition.base_urls = {url};
    definition.catalog_url = url;
    definition.suite = std::move(*suite);
    definition.components = layout.components;
    definition.arch = m_question.target.arch;
    if (!codename->empty()) {
      definition.codename = std::move(*codename);
    }
    definition.priority = layout.priority;
    definition.optional = layout.optional;
    return add_unique(std::move(definition));
  }

  Result<Done> add_unique(RepositoryDefinition definition) {
    for (const RepositoryDefinition& other : m_list) {
      if (other.name == definition.name) {
        return fail(catalog_error("two layouts define the repository '" + definition.name + "'",
                                  "a suite of a group may come from one layout only"));
      }
    }
    m_list.push_back(std::move(definition));
    return Done{};
  }

  const RepositoryQuestion& m_question;
  TemplateValues m_values;
  std::vector<RepositoryDefinition> m_list;
};

Error unknown_name(const std::string& option, const std::string& name, const std::set<std::string>& names) {
  const std::vector<std::string> possible(names.begin(), names.end());
  const std::vector<std::string> near = near_names(name, possible);
  Error error{.code = ErrorCode::unknown_repository,
              .stage = Stage::plan,
              .message = option + " names the unknown repository '" + name + "'",
              .reason = "no repository or group has that name",
              .details = {{"option", option}, {"repository", name}, {"possible", join(possible, ", ")}},
              .help = "the names are: " + join(possible, ", ")};
  if (!near.empty()) {
    error.help = "did you mean " + join(near, " or ") + "? " + error.help;
    error.details["near"] = join(near, ", ");
  }
  return error;
}

bool is_address(std::string_view url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://") || url.starts_with("file:/");
  return known && !has_control_characters(url) && url.find_first_of(" ?#") == std::string_view::npos;
}

Result<Done> check_mirror(const std::string& name, const std::vector<std::string>& urls) {
  for (const std::string& url : urls) {
    if (!is_address(url)) {
      return fail({.code = ErrorCode::usage,
                   .stage = Stage::plan,
                   .message = "--mirror " + name + " has an address that is none",
                   .reason = "'" + redact_url(url) + "' is not http://, https:// or file://, or has a query",
                   .help = "write it like --mirror " + name + "=https://mirror.example/path"});
    }
  }
  return Done{};
}

// By the repository's own name, else by its group's.
template <class Map>
auto named(const Map& map, const RepositoryDefinition& definition) {
  const auto own = map.find(definition.name);
  return own != map.end() ? own : map.find(definition.group);
}

bool lists(const std::vector<std::string>& names, const RepositoryDefinition& definition) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == definition.name || name == definition.group; });
}

// The same path below each of the mirrors.
std::vector<std::string> moved(const std::string& path, const std::vector<std::string>& mirrors) {
  std::vector<std::string> urls;
  for (std::string url : mirrors) {
    // file:/path is apt's form of the same address.
    if (url.starts_with("file:/") && !url.starts_with("file://")) {
      url.insert(5, "//");
    }
    while (url.ends_with('/')) {
      url.pop_back();
    }
    urls.push_back(url + path);
  }
  return urls;
}

void apply_mirrors(const Selection& selection, const std::string& catalog_base, RepositoryDefinition& definition) {
  const auto mirrors = named(selection.mirrors, definition);
  if (mirrors != selection.mirrors.end() && !mirrors->second.empty()) {
    definition.base_urls = moved(definition.catalog_url.substr(catalog_base.size()), mirrors->second);
  }
}

// A key that is published below the base address of a group (its own or another: vendors keep one key for several) is
// also below that group's mirrors. The definition's own mirrors come first.
std::vector<std::string> key_urls(const Selection& selection, const repos::Catalog& repos,
                                  const RepositoryDefinition& definition, const std::string& url) {
  const auto below = [&url](const repos::RepositoryGroup* group) {
    return group != nullptr && url.starts_with(group->base_url + "/");
  };
  const repos::RepositoryGroup* own = repos.group(definition.group);
  if (const auto mirrors = named(selection.mirrors, definition); below(own) && mirrors != selection.mirrors.end()) {
    return moved(url.substr(own->base_url.size()), mirrors->second);
  }
  for (const auto& [name, mirrors] : selection.mirrors) {
    if (const repos::RepositoryGroup* other = repos.group(name); below(other)) {
      return moved(url.substr(other->base_url.size()), mirrors);
    }
  }
  return {url};
}

const repos::SiteRepository* site_of(const Selection& selection, const std::string& name) {
  for (const repos::SiteRepository& site : selection.site_repositories) {
    if (site.name == name) {
      return &site;
    }
  }
  return nullptr;
}

std::vector<Keyring> keys_of(const Selection& selection, const repos::Catalog& repos,
                             const RepositoryDefinition& definition) {
  if (const auto given = named(selection.keyrings, definition); given != selection.keyrings.end()) {
    return given->second;
  }
  std::vector<Keyring> keys;
  if (const repos::SiteRepository* site = site_of(selection, definition.group)) {
    if (site->keyring) {
      keys.push_back(*site->keyring);
    }
    if (const auto unnamed = selection.keyrings.find(""); unnamed != selection.keyrings.end()) {
      keys.insert(keys.end(), unnamed->second.begin(), unnamed->second.end());
    }
    return keys;
  }
  if (const repos::RepositoryGroup* group = repos.group(definition.group)) {
    for (const repos::PinnedKey& key : group->keys) {
      if (std::optional<Keyring> keyring = repos.keyring(key)) {
        if (!keyring->urls.empty()) {
          keyring->urls = key_urls(selection, repos, definition, keyring->urls.front());
        }
        keys.push_back(std::move(*keyring));
      }
    }
  }
  return keys;
}

Error no_key(const RepositoryDefinition& definition) {
  return {.code = ErrorCode::key_unknown,
          .stage = Stage::plan,
          .message = "there is no key for repository '" + definition.name + "'",
          .reason = "neither the catalogue nor the command line has one, so nothing of it could be verified",
          .details = {{"repository", definition.name}, {"url", redact_url(definition.catalog_url)}},
          .help = "give the owner's public key with --keyring " + definition.group + "=FILE"};
}

}  // namespace

Result<std::vector<RepositoryDefinition>> define_repositories(const RepositoryQuestion& question) {
  Definitions definitions(question);
  std::vector<std::string> groups;
  if (const distros::DistroVersion* version = question.distros.version(question.target)) {
    groups = version->base_groups;
  }
  groups.insert(groups.end(), question.release_target.groups.begin(), question.release_target.groups.end());
  std::set<std::string> seen;
  for (const std::string& group : groups) {
    if (!seen.insert(group).second) {
      continue;
    }
    if (Result<Done> added = definitions.add_group(group); !added) {
      return fail(std::move(added).error());
    }
  }
  for (const repos::SiteRepository& site : question.selection.site_repositories) {
    definitions.add_site(site);
  }
  return definitions.take();
}

std::set<std::string> repository_names(const Selection& selection, const repos::Catalog& repos,
                                       const std::vector<ReleasePlan>& plans) {
  std::set<std::string> names;
  for (const repos::RepositoryGroup& group : repos.groups()) {
    names.insert(group.name);
  }
  for (const repos::SiteRepository& site : selection.site_repositories) {
    names.insert(site.name);
  }
  for (const ReleasePlan& plan : plans) {
    for (const RepositoryDefinition& definition : plan.repositories) {
      names.insert(definition.name);
    }
  }
  return names;
}

Result<Done> check_names(const Selection& selection, const std::set<std::string>& names) {
  std::vector<std::pair<std::string, std::string>> used;
  for (const auto& [name, urls] : selection.mirrors) {
    used.emplace_back("--mirror", name);
  }
  for (const auto& [name, keys] : selection.keyrings) {
    if (!name.empty()) {
      used.emplace_back("--keyring", name);
    }
  }
  const std::pair<const char*, const std::vector<std::string>*> allowances[] = {
      {"--allow-unsigned", &selection.allow_unsigned},
      {"--allow-expired", &selection.allow_expired},
      {"--allow-rollback", &selection.allow_rollback}};
  for (const auto& [option, allowed] : allowances) {
    for (const std::string& name : *allowed) {
      used.emplace_back(option, name);
    }
  }
  for (const auto& [option, name] : used) {
    if (!names.contains(name)) {
      return fail(unknown_name(option, name, names));
    }
  }
  for (const auto& [name, urls] : selection.mirrors) {
    if (Result<Done> fits = check_mirror(name, urls); !fits) {
      return fits;
    }
  }
  return Done{};
}

Result<Done> apply_selection(const Selection& selection, const repos::Catalog& repos,
                             RepositoryDefinition& definition) {
  const repos::RepositoryGroup* group = repos.group(definition.group);
  apply_mirrors(selection, group == nullptr ? definition.catalog_url : group->base_url, definition);
  definition.keyrings = keys_of(selection, repos, definition);
  definition.allowances = {.unsigned_metadata = lists(selection.allow_unsigned, definition),
                           .expired = lists(selection.allow_expired, definition),
                           .rollback = lists(selection.allow_rollback, definition)};
  if (definition.keyrings.empty() && !definition.allowances.unsigned_metadata) {
    return fail(no_key(definition));
  }
  return Done{};
}

}  // namespace rocm_offline::plan
