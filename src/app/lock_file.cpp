#include "lock_file.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>
#include <set>

#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/core/version.hpp"

namespace rocm_offline::app {

using nlohmann::json;

namespace {

constexpr std::uint64_t most_lock_bytes = 64U << 20U;
constexpr const char* schema_name = "rocm-offline/lock/1";
constexpr std::size_t most_problems = 50;

// Form only; what a schema cannot say is checked after it.
constexpr std::string_view lock_schema = R"json({
  "type": "object", "description": "a lock file",
  "required": ["schema", "creator_version", "time", "source_date", "targets"],
  "properties": {
    "schema": {"const": "rocm-offline/lock/1", "description": "rocm-offline/lock/1, the only version that is read"},
    "creator_version": {"type": "string", "description": "the version of the creator that wrote it"},
    "time": {"$ref": "#/definitions/time"},
    "source_date": {"$ref": "#/definitions/time"},
    "targets": {"type": "array", "minItems": 1, "description": "at least one target", "items": {
      "type": "object", "description": "a locked target",
      "required": ["target", "release", "usecases", "requests", "policy", "repositories", "files", "packages"],
      "properties": {
        "target": {"type": "object", "description": "a target",
          "required": ["id", "distro", "version", "codename", "family", "arch", "kernels", "treated_as_from"],
          "properties": {
            "id": {"type": "string", "description": "<ID>-<VERSION_ID>"},
            "distro": {"type": "string"}, "version": {"type": "string"}, "codename": {"type": "string"},
            "family": {"enum": ["deb", "rpm"], "description": "deb or rpm"},
            "arch": {"type": "string"},
            "kernels": {"$ref": "#/definitions/texts"},
            "treated_as_from": {"type": ["string", "null"]}}},
        "release": {"type": "string"},
        "usecases": {"$ref": "#/definitions/texts"},
        "requests": {"type": "array", "items": {"type": "object", "required": ["name", "version", "because"],
          "properties": {"name": {"type": "string"}, "version": {"type": ["string", "null"]},
                         "because": {"type": "string"}}}},
        "policy": {"type": "object", "required": ["recommends", "minimum"],
          "properties": {"recommends": {"type": "boolean"}, "minimum": {"type": "boolean"}}},
        "repositories": {"type": "array", "items": {"type": "object",
          "required": ["name", "url", "suite", "codename", "date", "valid_until", "release_sha256", "signed_by",
                       "allowed"],
          "properties": {
            "name": {"type": "string"}, "url": {"type": "string"}, "suite": {"type": "string"},
            "codename": {"type": "string"}, "date": {"$ref": "#/definitions/time"},
            "valid_until": {"type": ["string", "null"]}, "release_sha256": {"$ref": "#/definitions/digest"},
            "signed_by": {"$ref": "#/definitions/texts"}, "allowed": {"$ref": "#/definitions/texts"}}}},
        "files": {"type": "array", "items": {"type": "object", "required": ["path", "size", "sha256"],
          "properties": {"path": {"type": "string"}, "size": {"$ref": "#/definitions/size"},
                         "sha256": {"$ref": "#/definitions/digest"}}}},
        "packages": {"type": "array", "items": {"type": "object", "description": "a package",
          "required": ["name", "version", "arch", "repository", "filename", "size", "installed_size", "sha256",
                       "reason"],
          "properties": {
            "name": {"type": "string"}, "version": {"type": "string"}, "arch": {"type": "string"},
            "repository": {"type": "string"}, "filename": {"type": "string"},
            "size": {"$ref": "#/definitions/size"},
            "installed_size": {"type": ["integer", "null"], "minimum": 0},
            "sha256": {"$ref": "#/definitions/digest"},
            "reason": {"type": "object", "required": ["kind", "by", "relation"],
              "properties": {"kind": {"enum": ["requested", "dependency", "essential", "baseline"]},
                             "by": {"type": "string"}, "relation": {"type": "string"}}}}}}
      }}}},
  "definitions": {
    "time": {"type": "string", "description": "a time like 2026-12-01T00:00:00Z"},
    "texts": {"type": "array", "items": {"type": "string"}, "description": "a list of texts"},
    "size": {"type": "integer", "minimum": 0, "description": "a number of bytes"},
    "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "64 lower-case hex digits"}}
})json";

Error invalid(const std::filesystem::path& path, std::string reason) {
  return {.code = ErrorCode::config_invalid,
          .stage = Stage::plan,
          .message = "cannot use the lock file " + path.string(),
          .reason = std::move(reason),
          .details = {{"path", path.string()}},
          .help = "make it again with --lock and without --locked"};
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json target_to_json(const LockedTarget& locked) {
  json object = {{"target", to_json(locked.target)},
                 {"release", locked.release},
                 {"usecases", locked.usecases},
                 {"requests", json::array()},
                 {"policy", {{"recommends", locked.policy.recommends}, {"minimum", locked.policy.minimum}}},
                 {"repositories", json::array()},
                 {"files", json::array()},
                 {"packages", json::array()}};
  for (const PackageRequest& request : locked.requests) {
    object["requests"].push_back(
        {{"name", request.name}, {"version", or_null(request.version)}, {"because", request.because}});
  }
  for (const RepositoryEvidence& repository : locked.repositories) {
    object["repositories"].push_back(to_json(repository));
  }
  for (const LockedFile& file : locked.files) {
    object["files"].push_back({{"path", file.path}, {"size", file.size}, {"sha256", file.sha256.hex()}});
  }
  for (const PackageRecord& package : locked.packages) {
    object["packages"].push_back(to_json(package));
  }
  return object;
}

// Turns a document that fits the schema into values. The first thing that is none is remembered.
class LockReader {
 public:
  Lock read(const json& document) {
    Lock lock;
    lock.creator_version = document.at("creator_version");
    lock.time = time(document, "time", "/time");
    lock.source_date = time(document, "source_date", "/source_date");
    std::set<std::string> ids;
    for (std::size_t i = 0; i < document.at("targets").size(); ++i) {
      const std::string where = "/targets/" + std::to_string(i);
      lock.targets.push_back(read_target(document.at("targets")[i], where));
      if (!ids.insert(lock.targets.back().target.id).second) {
        refuse(where, "target " + lock.targets.back().target.id + " is there twice");
      }
    }
    return lock;
  }
  [[nodiscard]] const std::string& misfit() const { return m_misfit; }

 private:
  void refuse(const std::string& where, const std::string& why) {
    if (m_misfit.empty()) {
      m_misfit = "at " + where + ": " + why;
    }
  }

  UnixTime time(const json& object, const char* key, const std::string& where) {
    const std::string written = object.at(key);
    std::tm parts{};
    const char* end = strptime(written.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    const UnixTime parsed = end != nullptr && *end == '\0' ? static_cast<UnixTime>(timegm(&parts)) : -1;
    if (parsed < 0 || format_time(parsed) != written) {
      refuse(where, "expected a time like 2026-12-01T00:00:00Z");
      return 0;
    }
    return parsed;
  }

  static std::optional<std::string> optional_text(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<std::string>());
  }

  // The schema checked the form.
  static Sha256Digest digest(const json& value) {
    return Sha256Digest::from_hex(value.get<std::string>()).value_or(Sha256Digest{});
  }

  std::string path(const json& value, const std::string& where) {
    std::string text = value.get<std::string>();
    if (!is_safe_relative_path(text)) {
      refuse(where, "expected a path without '..'");
    }
    return text;
  }

  LockedTarget read_target(const json& object, const std::string& where) {
    LockedTarget locked;
    const json& target = object.at("target");
    locked.target = {.id = target.at("id"),
                     .distro = target.at("distro"),
                     .version = target.at("version"),
                     .codename = target.at("codename"),
                     .family = target.at("family") == "rpm" ? PackageFamily::rpm : PackageFamily::deb,
                     .arch = target.at("arch"),
                     .kernels = target.at("kernels"),
                     .treated_as_from = optional_text(target.at("treated_as_from"))};
    locked.release = object.at("release");
    locked.usecases = object.at("usecases").get<std::vector<std::string>>();
    for (const json& request : object.at("requests")) {
      locked.requests.push_back({.name = request.at("name"),
                                 .version = optional_text(request.at("version")),
                                 .because = request.at("because")});
    }
    locked.policy = {.recommends = object.at("policy").at("recommends"), .minimum = object.at("policy").at("minimum")};
    for (const json& repository : object.at("repositories")) {
      locked.repositories.push_back(read_evidence(repository, where + "/repositories"));
    }
    for (const json& file : object.at("files")) {
      locked.files.push_back({.path = path(file.at("path"), where + "/files"),
                              .size = file.at("size"),
                              .sha256 = digest(file.at("sha256"))});
    }
    for (std::size_t i = 0; i < object.at("packages").size(); ++i) {
      locked.packages.push_back(read_package(object.at("packages")[i], where + "/packages/" + std::to_string(i)));
    }
    return locked;
  }

  RepositoryEvidence read_evidence(const json& object, const std::string& where) {
    RepositoryEvidence evidence;
    evidence.name = path(object.at("name"), where);
    evidence.url = object.at("url");
    evidence.suite = object.at("suite");
    evidence.codename = object.at("codename");
    evidence.date = time(object, "date", where);
    if (!object.at("valid_until").is_null()) {
      evidence.valid_until = time(object, "valid_until", where);
    }
    evidence.release_sha256 = object.at("release_sha256");
    evidence.signed_by = object.at("signed_by").get<std::vector<std::string>>();
    evidence.allowed = object.at("allowed").get<std::vector<std::string>>();
    return evidence;
  }

  PackageRecord read_package(const json& object, const std::string& where) {
    PackageRecord package;
    package.id = {object.at("name"), object.at("version"), object.at("arch")};
    package.repository = object.at("repository");
    package.filename = path(object.at("filename"), where + "/filename");
    package.size = object.at("size");
    if (!object.at("installed_size").is_null()) {
      package.installed_size = object.at("installed_size").get<std::uint64_t>();
    }
    package.sha256 = digest(object.at("sha256"));
    for (const ReasonKind kind :
         {ReasonKind::requested, ReasonKind::dependency, ReasonKind::essential, ReasonKind::baseline}) {
      if (reason_kind_name(kind) == object.at("reason").at("kind").get<std::string>()) {
        package.reason.kind = kind;
      }
    }
    package.reason.by = object.at("reason").at("by");
    package.reason.relation = object.at("reason").at("relation");
    if (package.id.name.empty() || package.size == 0) {
      refuse(where, "expected a package with a name and a size");
    }
    return package;
  }

  std::string m_misfit{};
};

Error deviation(ErrorCode code, std::string message, std::vector<Problem> problems, std::string help) {
  Error error{.code = code, .stage = Stage::plan, .message = std::move(message), .help = std::move(help)};
  error.reason = problems.front().summary;
  if (problems.size() > 1) {
    error.reason += ", and " + std::to_string(problems.size() - 1) + " more";
  }
  error.details["differences"] = std::to_string(problems.size());
  problems.resize(std::min(problems.size(), most_problems));
  error.problems = std::move(problems);
  return error;
}

std::string requests_text(const std::vector<PackageRequest>& requests) {
  std::vector<std::string> names;
  for (const PackageRequest& request : requests) {
    names.push_back(request.name + (request.version ? "=" + *request.version : ""));
  }
  return join(names, " ");
}

std::string label(const PackageId& id) {
  return id.name + " " + id.version + " (" + id.arch + ")";
}

const LockedTarget* find_target(const Lock& lock, const std::string& id) {
  const auto found = std::find_if(lock.targets.begin(), lock.targets.end(),
                                  [&](const LockedTarget& locked) { return locked.target.id == id; });
  return found == lock.targets.end() ? nullptr : &*found;
}

void compare_request(const LockedTarget& locked, const ReleasePlan& plan, std::vector<Problem>& problems) {
  const auto compare = [&](const std::string& what, const std::string& wanted, const std::string& held) {
    if (wanted != held) {
      problems.push_back(
          {.summary = plan.target.id + ": " + what + " is '" + wanted + "', in the lock '" + held + "'", .help = ""});
    }
  };
  const auto yes_or_no = [](bool flag) { return std::string(flag ? "yes" : "no"); };
  compare("release", plan.release, locked.release);
  compare("the request", requests_text(plan.requests), requests_text(locked.requests));
  compare("--recommends", yes_or_no(plan.policy.recommends), yes_or_no(locked.policy.recommends));
  compare("--deps minimum", yes_or_no(plan.policy.minimum), yes_or_no(locked.policy.minimum));
  compare("--kernel", join(plan.target.kernels, " "), join(locked.target.kernels, " "));
  compare("--treat-as", plan.target.treated_as_from.value_or(""), locked.target.treated_as_from.value_or(""));
  compare("architecture", plan.target.arch, locked.target.arch);
}

}  // namespace

LockedTarget lock_of(const bundle::TargetContent& content, const std::vector<bundle::LocalFile>& trust) {
  LockedTarget locked{.target = content.plan.target,
                      .release = content.plan.release,
                      .usecases = content.plan.usecases,
                      .requests = content.plan.requests,
                      .policy = content.plan.policy,
                      .repositories = content.repositories,
                      .files = {},
                      .packages = content.closure.packages};
  const std::string below = "trust/" + content.plan.target.id + "/";
  for (const bundle::LocalFile& file : trust) {
    locked.files.push_back({.path = file.path.starts_with(below) ? file.path.substr(below.size()) : file.path,
                            .size = file.size,
                            .sha256 = file.sha256});
  }
  for (PackageRecord& package : locked.packages) {
    package.stanza.clear();
    package.urls.clear();
  }
  return locked;
}

std::string lock_to_json(const Lock& lock) {
  json document = {{"schema", schema_name},
                   {"creator_version", lock.creator_version},
                   {"time", format_time(lock.time)},
                   {"source_date", format_time(lock.source_date)},
                   {"targets", json::array()}};
  for (const LockedTarget& locked : lock.targets) {
    document["targets"].push_back(target_to_json(locked));
  }
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Lock> read_lock(const std::filesystem::path& path) {
  auto text = read_file(Stage::plan, path, most_lock_bytes);
  if (!text) {
    return fail(in_context(std::move(text).error(), "reading the lock file"));
  }
  auto document = parse_json(Stage::plan, ErrorCode::config_invalid, "lock file '" + path.string() + "'", *text);
  if (!document) {
    return fail(std::move(document).error());
  }
  if (auto fits = check_json_schema(
          {.stage = Stage::plan, .code = ErrorCode::config_invalid, .file = path.string(), .schema = lock_schema},
          *document);
      !fits) {
    return fail(std::move(fits).error());
  }
  LockReader reader;
  Lock lock = reader.read(*document);
  if (!reader.misfit().empty()) {
    return fail(invalid(path, reader.misfit()));
  }
  return lock;
}

bool looks_like_lock(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  return file.get() == '{';
}

Result<Done> check_same_request(const Lock& lock, const std::vector<ReleasePlan>& plans) {
  std::vector<Problem> problems;
  std::set<std::string> asked;
  for (const ReleasePlan& plan : plans) {
    asked.insert(plan.target.id);
    if (const LockedTarget* locked = find_target(lock, plan.target.id)) {
      compare_request(*locked, plan, problems);
    } else {
      problems.push_back({.summary = "target " + plan.target.id + " is not in the lock", .help = ""});
    }
  }
  for (const LockedTarget& locked : lock.targets) {
    if (!asked.contains(locked.target.id)) {
      problems.push_back({.summary = "target " + locked.target.id + " of the lock is not asked for", .help = ""});
    }
  }
  if (problems.empty()) {
    return Done{};
  }
  return fail(deviation(ErrorCode::plan_differs, "the request is not the one that the lock file holds",
                        std::move(problems), "ask for the same, or write a new lock: --lock without --locked"));
}

Result<Done> check_still_listed(const LockedTarget& locked, const std::vector<ListedPackage>& listed) {
  std::map<std::pair<PackageId, std::string>, std::vector<const ListedPackage*>> by_id;
  for (const ListedPackage& package : listed) {
    by_id[{package.id, package.repository}].push_back(&package);
  }
  std::vector<Problem> gone;
  std::vector<Problem> changed;
  for (const PackageRecord& package : locked.packages) {
    const auto found = by_id.find({package.id, package.repository});
    if (found == by_id.end()) {
      gone.push_back({.summary = label(package.id) + " is gone from " + package.repository, .help = ""});
      continue;
    }
    const bool same = std::any_of(found->second.begin(), found->second.end(), [&](const ListedPackage* other) {
      return other->size == package.size && other->sha256 == package.sha256;
    });
    if (!same) {
      changed.push_back({.summary = label(package.id) + " of " + package.repository + " has another digest: " +
                                    found->second.front()->sha256.hex() + " instead of " + package.sha256.hex(),
                         .help = ""});
    }
  }
  if (!changed.empty()) {
    changed.insert(changed.end(), gone.begin(), gone.end());
    return fail(deviation(
        ErrorCode::digest_mismatch, "a locked package of " + locked.target.id + " was replaced", std::move(changed),
        "the same version with other bytes is not the same package: ask who maintains the repository, "
        "then write a new lock"));
  }
  if (!gone.empty()) {
    return fail(
        deviation(ErrorCode::transfer_failed, "a locked package of " + locked.target.id + " is gone", std::move(gone),
                  "use a mirror that still has that state (a snapshot) with --mirror, keep the cache folder that "
                  "the lock was made with and take the packages from --reuse OLD.run, or write a new lock"));
  }
  return Done{};
}

Result<Done> check_same_closure(const LockedTarget& locked, const PackageClosure& closure) {
  std::map<PackageId, const PackageRecord*> held;
  for (const PackageRecord& package : locked.packages) {
    held[package.id] = &package;
  }
  std::vector<Problem> problems;
  for (const PackageRecord& package : closure.packages) {
    const auto found = held.find(package.id);
    if (found == held.end()) {
      problems.push_back({.summary = label(package.id) + " would be taken too, and is not in the lock", .help = ""});
    } else {
      if (found->second->sha256 != package.sha256 || found->second->repository != package.repository) {
        problems.push_back({.summary = label(package.id) + " would come from " + package.repository + ", not from " +
                                       found->second->repository,
                            .help = ""});
      }
      held.erase(found);
    }
  }
  for (const auto& [id, package] : held) {
    problems.push_back({.summary = label(id) + " of the lock would not be taken", .help = ""});
  }
  if (problems.empty()) {
    return Done{};
  }
  return fail(deviation(ErrorCode::plan_differs, "the resolution for " + locked.target.id + " is not the locked one",
                        std::move(problems), "write a new lock: --lock without --locked"));
}

}  // namespace rocm_offline::app
