#include "documents.hpp"

#include "embedded_repos_files.hpp"

namespace rocm_offline::repos {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

std::string text_of(const json& node, const char* name) {
  return node.value(name, std::string());
}
Texts texts_of(const json& node, const char* name) {
  return node.value(name, Texts{});
}
PackageFamily family_of(const json& node) {
  return text_of(node, "type") == "rpm" ? PackageFamily::rpm : PackageFamily::deb;
}

// The elements of an array that may be absent.
json list_of(const json& node, const char* name) {
  return node.value(name, json::array());
}

GroupLayout read_layout(const json& node) {
  GroupLayout layout;
  layout.targets = texts_of(node, "targets");
  layout.path = text_of(node, "path");
  layout.suites = texts_of(node, "suites");
  layout.components = texts_of(node, "components");
  layout.codename = text_of(node, "codename");
  layout.priority = node.value("priority", layout.priority);
  layout.optional = node.value("optional", false);
  return layout;
}

PinnedKey read_key(const json& node) {
  return {.fingerprint = text_of(node, "fingerprint"),
          .file = text_of(node, "file"),
          .url = text_of(node, "url"),
          .note = text_of(node, "note"),
          .data = {}};
}

ReleaseTarget read_target(const json& node) {
  ReleaseTarget target;
  target.target = text_of(node, "target");
  target.groups = texts_of(node, "groups");
  target.values = node.value("values", target.values);
  target.certain = node.value("certain", true);
  for (const json& kernel : list_of(node, "kernels")) {
    target.kernels.push_back(
        {.prefix = text_of(kernel, "prefix"), .status = text_of(kernel, "status"), .track = text_of(kernel, "track")});
  }
  return target;
}

UseCase read_usecase(const json& node) {
  UseCase usecase;
  usecase.id = text_of(node, "id");
  usecase.title = text_of(node, "title");
  usecase.packages = node.value("packages", usecase.packages);
  return usecase;
}

}  // namespace

RepositoryGroup read_group(const json& node) {
  RepositoryGroup group;
  group.name = text_of(node, "name");
  group.title = text_of(node, "title");
  group.base_url = text_of(node, "base_url");
  while (group.base_url.ends_with('/')) {
    group.base_url.pop_back();
  }
  group.type = family_of(node);
  group.source = text_of(node, "source");
  group.codenames = node.value("codenames", group.codenames);
  group.host_suites = texts_of(node, "host_suites");
  for (const json& layout : list_of(node, "layouts")) {
    group.layouts.push_back(read_layout(layout));
  }
  for (const json& key : list_of(node, "keys")) {
    group.keys.push_back(read_key(key));
  }
  return group;
}

Release read_release(const json& node) {
  Release release;
  release.id = text_of(node, "id");
  release.title = text_of(node, "title");
  release.date = text_of(node, "date");
  release.values = node.value("values", release.values);
  release.driver_packages = node.value("driver_packages", release.driver_packages);
  release.notes = texts_of(node, "notes");
  for (const json& target : list_of(node, "targets")) {
    release.targets.push_back(read_target(target));
  }
  for (const json& usecase : list_of(node, "usecases")) {
    release.usecases.push_back(read_usecase(usecase));
  }
  return release;
}

SiteRepository read_site_document(const json& node) {
  SiteRepository repository;
  repository.name = text_of(node, "name");
  repository.type = family_of(node);
  repository.base_url = text_of(node, "base_url");
  while (repository.base_url.ends_with('/')) {
    repository.base_url.pop_back();
  }
  repository.suite = text_of(node, "suite");
  repository.components = texts_of(node, "components");
  repository.priority = node.value("priority", repository.priority);
  repository.targets = texts_of(node, "targets");
  return repository;
}

std::string_view compiled_in_file(std::string_view path) {
  for (const EmbeddedFile& file : embedded::repos_files()) {
    if (file.path == path) {
      return file.data;
    }
  }
  return {};
}

}  // namespace rocm_offline::repos
