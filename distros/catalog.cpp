// distros/catalog: compiled in, then replaced or extended by the files of catalogue folders.
#include <algorithm>
#include <span>

#include "embedded_distro_files.hpp"
#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/distros/distro.hpp"

namespace rocm_offline::distros {
namespace {

using nlohmann::json;

constexpr std::string_view kind_distribution = "distribution";

std::string_view schema_text() {
  for (const EmbeddedFile& file : embedded::distro_files()) {
    if (file.path == "schema/distribution.schema.json") {
      return file.data;
    }
  }
  return {};
}

// The readers below run on documents that fit the schema: what is there has the right type.
std::vector<std::string> strings_of(const json& node, const char* name) {
  return node.value(name, std::vector<std::string>{});
}

KernelRow read_kernel(const json& node) {
  return {.prefix = node.value("prefix", std::string()),
          .status = node.value("status", std::string()),
          .track = node.value("track", std::string())};
}

DistroVersion read_version(const json& node) {
  DistroVersion version;
  version.version = node.value("version", std::string());
  version.codename = node.value("codename", std::string());
  version.equivalent_versions = strings_of(node, "equivalent_versions");
  version.point_releases = strings_of(node, "point_releases");
  version.base_groups = strings_of(node, "base_groups");
  version.end_of_life = node.value("end_of_life", std::string());
  if (const auto kernels = node.find("kernels"); kernels != node.end()) {
    for (const json& kernel : *kernels) {
      version.kernels.push_back(read_kernel(kernel));
    }
  }
  return version;
}

Distro read_distro(const json& node) {
  Distro distro;
  distro.id = node.value("id", std::string());
  distro.name = node.value("name", std::string());
  distro.family = node.value("family", std::string()) == "rpm" ? PackageFamily::rpm : PackageFamily::deb;
  distro.package_manager = node.value("package_manager", std::string());
  distro.arch = node.value("arch", std::string());
  for (const json& version : node.at("versions")) {
    distro.versions.push_back(read_version(version));
  }
  return distro;
}

Result<Distro> checked_distro(const std::string& file, const json& document) {
  const SchemaQuestion question{
      .stage = Stage::check, .code = ErrorCode::catalog_invalid, .file = file, .schema = schema_text()};
  if (Result<Done> fits = check_json_schema(question, document); !fits) {
    return fail(in_context(std::move(fits).error(), "loading the catalogue of distributions"));
  }
  return read_distro(document);
}

Result<std::vector<Distro>> compiled_in() {
  std::vector<Distro> distros;
  for (const EmbeddedFile& file : embedded::distro_files()) {
    if (!file.path.starts_with("catalog/")) {
      continue;
    }
    const std::string name = "distros/" + std::string(file.path);
    Result<json> document = parse_json(Stage::check, ErrorCode::catalog_invalid, name, file.data);
    if (!document) {
      return fail(std::move(document).error());
    }
    Result<Distro> distro = checked_distro(name, *document);
    if (!distro) {
      return fail(std::move(distro).error());
    }
    distros.push_back(std::move(*distro));
  }
  return distros;
}

void put(std::vector<Distro>& distros, Distro distro) {
  const auto same =
      std::find_if(distros.begin(), distros.end(), [&](const Distro& other) { return other.id == distro.id; });
  if (same != distros.end()) {
    *same = std::move(distro);
  } else {
    distros.push_back(std::move(distro));
  }
}

bool has_version(const DistroVersion& version, std::string_view wanted) {
  return version.version == wanted || std::find(version.equivalent_versions.begin(), version.equivalent_versions.end(),
                                                wanted) != version.equivalent_versions.end();
}

std::string target_id(const Distro& distro, const DistroVersion& version) {
  return distro.id + "-" + version.version;
}

Target make_target(const Distro& distro, const DistroVersion& version) {
  Target target;
  target.id = target_id(distro, version);
  target.distro = distro.id;
  target.version = version.version;
  target.codename = version.codename;
  target.family = distro.family;
  target.arch = distro.arch;
  return target;
}

bool is_point_release(const Distro& distro, const DistroVersion& version, std::string_view id) {
  return std::any_of(version.point_releases.begin(), version.point_releases.end(),
                     [&](const std::string& release) { return distro.id + "-" + release == id; });
}

// Why an id is none, where the catalogue can tell: a point release is the same target as its version.
std::string why_unknown(std::string_view id, const std::vector<Distro>& distros) {
  for (const Distro& distro : distros) {
    for (const DistroVersion& version : distro.versions) {
      if (is_point_release(distro, version, id)) {
        return "that is a point release; its target is " + target_id(distro, version);
      }
    }
  }
  return "a target is <ID>-<VERSION_ID> of os-release, and the catalogue has none of that name";
}

}  // namespace

Result<Catalog> Catalog::load(const std::vector<std::filesystem::path>& overrides) {
  Result<std::vector<Distro>> distros = compiled_in();
  if (!distros) {
    return fail(std::move(distros).error());
  }
  for (const std::filesystem::path& folder : overrides) {
    Result<std::vector<CatalogFile>> files = read_catalog_folder(Stage::check, folder);
    if (!files) {
      return fail(std::move(files).error());
    }
    for (const CatalogFile& file : *files) {
      if (file.kind != kind_distribution) {
        continue;
      }
      Result<Distro> distro = checked_distro(file.path.string(), file.document);
      if (!distro) {
        return fail(std::move(distro).error());
      }
      put(*distros, std::move(*distro));
    }
  }
  std::sort(distros->begin(), distros->end(), [](const Distro& a, const Distro& b) { return a.id < b.id; });
  Catalog catalog;
  catalog.m_distros = std::move(*distros);
  return catalog;
}

Result<Target> Catalog::target(std::string_view id) const {
  for (const Distro& distro : m_distros) {
    if (!id.starts_with(distro.id + "-")) {
      continue;
    }
    const std::string_view wanted = id.substr(distro.id.size() + 1);
    for (const DistroVersion& version : distro.versions) {
      if (has_version(version, wanted)) {
        return make_target(distro, version);
      }
    }
  }
  const std::vector<std::string> ids = target_ids();
  std::vector<std::string> near = near_names(id, ids);
  for (const Distro& distro : m_distros) {
    for (const DistroVersion& version : distro.versions) {
      if (!version.codename.empty() && version.codename == id) {
        near = {distro.id + "-" + version.version};
      }
    }
  }
  Error error{.code = ErrorCode::unknown_target,
              .stage = Stage::check,
              .message = "unknown target '" + std::string(id) + "'",
              .reason = why_unknown(id, m_distros),
              .details = {{"target", std::string(id)}, {"possible", join(ids, ", ")}},
              .help = "the targets are: " + join(ids, ", ")};
  if (!near.empty()) {
    error.help = "did you mean " + join(near, " or ") + "? " + error.help;
    error.details["near"] = join(near, ", ");
  }
  return fail(std::move(error));
}

std::vector<std::string> Catalog::target_ids() const {
  std::vector<std::string> ids;
  for (const Distro& distro : m_distros) {
    for (const DistroVersion& version : distro.versions) {
      ids.push_back(target_id(distro, version));
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

const Distro* Catalog::distro(std::string_view id) const {
  const auto found =
      std::find_if(m_distros.begin(), m_distros.end(), [&](const Distro& distro) { return distro.id == id; });
  return found == m_distros.end() ? nullptr : &*found;
}

const DistroVersion* Catalog::version(const Target& target) const {
  const Distro* found = distro(target.distro);
  if (found == nullptr) {
    return nullptr;
  }
  for (const DistroVersion& version : found->versions) {
    if (has_version(version, target.version)) {
      return &version;
    }
  }
  return nullptr;
}

}  // namespace rocm_offline::distros
