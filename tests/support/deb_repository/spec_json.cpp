#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/deb_repository/deb_repository.hpp"

namespace rocm_offline::test {
namespace {

using nlohmann::ordered_json;

std::vector<std::pair<std::string, std::string>> pairs_of(const ordered_json& object) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : object.items()) {
    pairs.emplace_back(name, value.get<std::string>());
  }
  return pairs;
}

ReleaseForm form_of(const std::string& name) {
  const std::vector<std::pair<std::string, ReleaseForm>> forms = {{"in_release", ReleaseForm::in_release},
                                                                  {"in_release_only", ReleaseForm::in_release_only},
                                                                  {"detached", ReleaseForm::detached},
                                                                  {"unsigned_release", ReleaseForm::unsigned_release}};
  for (const auto& [known, form] : forms) {
    if (known == name) {
      return form;
    }
  }
  throw std::runtime_error("deb_repository: unknown form " + name);
}

DebSpec package_of(const ordered_json& json) {
  DebSpec package;
  package.name = json.at("name").get<std::string>();
  package.version = json.value("version", package.version);
  package.arch = json.value("arch", package.arch);
  package.component = json.value("component", package.component);
  package.padding = json.value("padding", package.padding);
  package.fields = pairs_of(json.value("fields", ordered_json::object()));
  package.scripts = pairs_of(json.value("scripts", ordered_json::object()));
  for (const auto& [path, content] : pairs_of(json.value("files", ordered_json::object()))) {
    const bool program = path.find("bin/") != std::string::npos;
    package.files.push_back({path, content, program ? 0755U : 0644U});
  }
  return package;
}

}  // namespace

DebRepositorySpec spec_from_json(std::string_view text) {
  const ordered_json json = ordered_json::parse(text);
  DebRepositorySpec spec;
  spec.suite = json.value("suite", spec.suite);
  spec.release_suite = json.value("release_suite", spec.release_suite);
  spec.codename = json.value("codename", spec.codename);
  spec.components = json.value("components", spec.components);
  spec.architectures = json.value("architectures", spec.architectures);
  spec.compressions = json.value("compressions", spec.compressions);
  spec.by_hash = json.value("by_hash", spec.by_hash);
  spec.sha256 = json.value("sha256", spec.sha256);
  spec.form = form_of(json.value("form", std::string("in_release")));
  if (json.contains("date")) {
    spec.date = json.at("date").get<std::int64_t>();
  }
  if (json.contains("valid_until")) {
    spec.valid_until = json.at("valid_until").get<std::int64_t>();
  }
  for (const auto& package : json.value("packages", ordered_json::array())) {
    spec.packages.push_back(package_of(package));
  }
  return spec;
}

}  // namespace rocm_offline::test
