#include "selection.hpp"

#include <system_error>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/user_name.hpp"

namespace rocm_offline::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* site_catalog = "/etc/rocm-offline/catalog.d";
constexpr std::uint64_t max_keyring_bytes = 4U << 20U;

Result<Keyring> read_keyring(const fs::path& file) {
  auto data = read_file(Stage::plan, file, max_keyring_bytes);
  if (!data) {
    return fail(in_context(std::move(data).error(), "reading --keyring"));
  }
  return Keyring{.name = file.filename().string(), .data = std::move(*data)};
}

// A path may hold '=' as well: NAME= only where what stands before it has no slash, or begins with a known group
// ("debian/trixie").
bool names_repository(const std::string& text, const repos::Catalog& catalog) {
  const auto slash = text.find('/');
  return slash == std::string::npos || catalog.group(text.substr(0, slash)) != nullptr;
}

Result<Done> add_keyrings(const SelectionOptions& options, const repos::Catalog& catalog, plan::Selection& selection) {
  for (const std::string& text : options.keyrings) {
    const auto equals = text.find('=');
    const bool named = equals != std::string::npos && names_repository(text.substr(0, equals), catalog);
    auto keyring = read_keyring(named ? text.substr(equals + 1) : text);
    if (!keyring) {
      return fail(std::move(keyring).error());
    }
    selection.keyrings[named ? text.substr(0, equals) : ""].push_back(std::move(*keyring));
  }
  return Done{};
}

bool is_supported_url(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://") || url.starts_with("file:/");
}

Result<Done> add_mirrors(const SelectionOptions& options, plan::Selection& selection) {
  for (const std::string& text : options.mirrors) {
    auto pair = name_and_value("--mirror", text);
    if (!pair) {
      return fail(std::move(pair).error());
    }
    std::vector<std::string> urls;
    for (std::string url : split(pair->second, ',')) {
      while (url.size() > 1 && url.back() == '/') {
        url.pop_back();
      }
      if (!is_supported_url(url) || has_control_characters(url)) {
        return fail({.code = ErrorCode::usage,
                     .stage = Stage::plan,
                     .message = "--mirror " + pair->first + " is not understood",
                     .reason = "'" + redact_url(url) + "' is no http, https or file address",
                     .help = "write it like --mirror " + pair->first + "=https://mirror.example/path"});
      }
      urls.push_back(std::move(url));
    }
    selection.mirrors[pair->first] = std::move(urls);  // of several options for one NAME the last wins
  }
  return Done{};
}

void add_host_mirrors(const Catalogs& catalogs, plan::Selection& selection, EventSink& events) {
  for (auto& [name, urls] : repos::mirrors_from_host(repos::read_host_sources("/"), catalogs.repos)) {
    if (selection.mirrors.contains(name)) {
      continue;  // --mirror is the more particular word
    }
    events.event({.level = Level::info,
                  .name = "plan.mirror.from_host",
                  .message = "taking '" + name + "' from " + redact_url(urls.front()) + ", as this host does",
                  .fields = {{"repository", name}, {"url", redact_url(urls.front())}}});
    selection.mirrors[name] = urls;
  }
}

}  // namespace

Result<std::pair<std::string, std::string>> name_and_value(std::string_view option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::plan,
                 .message = std::string(option) + " is not understood",
                 .reason = "'" + redact_url(text) + "' is not of the form NAME=VALUE",
                 .help = "write it like " + std::string(option) + " debian=..."});
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<Catalogs> load_catalogs(const std::vector<fs::path>& folders) {
  std::vector<fs::path> all;
  std::error_code ignored;
  if (fs::is_directory(site_catalog, ignored)) {
    all.emplace_back(site_catalog);
  }
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder, ignored)) {
      return fail({.code = ErrorCode::file_missing,
                   .stage = Stage::plan,
                   .message = "cannot read the catalogue folder " + folder.string(),
                   .reason = "there is no such folder",
                   .details = {{"path", folder.string()}},
                   .help = "give --catalog a folder with catalogue files (*.json)"});
    }
    all.push_back(folder);
  }
  auto distros = distros::Catalog::load(all);
  if (!distros) {
    return fail(in_context(std::move(distros).error(), "loading the catalogue"));
  }
  auto repos = repos::Catalog::load(all);
  if (!repos) {
    return fail(in_context(std::move(repos).error(), "loading the catalogue"));
  }
  return Catalogs{std::move(*distros), std::move(*repos)};
}

Result<plan::Selection> make_selection(const SelectionOptions& options, const Catalogs& catalogs, EventSink& events) {
  plan::Selection selection;
  selection.targets = options.targets;
  selection.release = options.release;
  selection.usecases = options.usecases;
  selection.packages = options.packages;
  selection.driver = options.driver;
  selection.kernels = options.kernels;
  selection.treat_as = options.treat_as;
  selection.recommends = options.recommends;
  selection.minimum = options.deps == "minimum";
  selection.allow_unsigned = options.allow_unsigned;
  selection.allow_expired = options.allow_expired;
  selection.allow_rollback = options.allow_rollback;
  if (options.gpu_access && !is_user_name(*options.gpu_access)) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::plan,
                 .message = "--gpu-access is not understood",
                 .reason = "'" + *options.gpu_access + "' cannot be the name of a user",
                 .help = "give the name of one user, or all"});
  }
  selection.post_install.gpu_access = options.gpu_access;
  for (const fs::path& file : options.repos) {
    auto repository = repos::read_site_repository(file);
    if (!repository) {
      return fail(in_context(std::move(repository).error(), "reading --repo " + file.string()));
    }
    selection.site_repositories.push_back(std::move(*repository));
  }
  if (auto added = add_keyrings(options, catalogs.repos, selection); !added) {
    return fail(std::move(added).error());
  }
  if (auto added = add_mirrors(options, selection); !added) {
    return fail(std::move(added).error());
  }
  if (options.mirrors_from_host) {
    add_host_mirrors(catalogs, selection, events);
  }
  return selection;
}

}  // namespace rocm_offline::app
