#include "loading.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::index {

bool is_flat(const RepositoryDefinition& definition) {
  return definition.suite.ends_with('/');
}

std::string dist_path(const RepositoryDefinition& definition) {
  if (!is_flat(definition)) {
    return "dists/" + definition.suite;
  }
  std::string path = definition.suite;
  while (path.starts_with("./")) {
    path.erase(0, 2);
  }
  while (path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

std::string dist_url(const RepositoryDefinition& definition, std::size_t base, const std::string& path) {
  const std::string dist = dist_path(definition);
  return definition.base_urls[base] + "/" + dist + (dist.empty() ? "" : "/") + path;
}

Error repository_error(ErrorCode code, const RepositoryDefinition& definition, std::string message, std::string reason,
                       std::string help) {
  Error error;
  error.code = code;
  error.stage = Stage::repos;
  error.message = std::move(message);
  error.reason = std::move(reason);
  error.details["repository"] = definition.name;
  error.details["url"] =
      redact_url(definition.base_urls.empty() ? definition.catalog_url : definition.base_urls.front());
  error.help = std::move(help);
  return error;
}

Problem problem_of(const Error& error) {
  const auto url = error.details.find("url");
  return {error.message + ": " + error.reason,
          url == error.details.end() ? std::vector<std::string>{} : std::vector{url->second}, error.help};
}

}  // namespace rocm_offline::index
