#include "rocm_offline/bundle/manifest.hpp"

#include <algorithm>
#include <set>

#include "iso9660.hpp"
#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::bundle {

using nlohmann::json;

namespace {

constexpr int manifest_schema = 1;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json request_to_json(const PackageRequest& request) {
  return {{"name", request.name}, {"version", or_null(request.version)}, {"because", request.because}};
}

json package_to_json(const ManifestPackage& package) {
  return {{"name", package.id.name},
          {"version", package.id.version},
          {"arch", package.id.arch},
          {"repository", package.repository},
          {"filename", package.filename},
          {"path", package.path},
          {"offset", package.offset},
          {"size", package.size},
          {"installed_size", or_null(package.installed_size)},
          {"sha256", package.sha256.hex()},
          {"reason", to_json(package.reason)}};
}

json target_to_json(const ManifestTarget& target) {
  json object = {{"target", to_json(target.target)},
                 {"release", target.release},
                 {"usecases", target.usecases},
                 {"requests", json::array()},
                 {"policy", {{"recommends", target.policy.recommends}, {"minimum", target.policy.minimum}}},
                 {"repositories", json::array()},
                 {"packages", json::array()},
                 {"proofs", target.proofs},
                 {"totals", to_json(target.totals)}};
  for (const PackageRequest& request : target.requests) {
    object["requests"].push_back(request_to_json(request));
  }
  for (const RepositoryEvidence& evidence : target.repositories) {
    object["repositories"].push_back(to_json(evidence));
  }
  for (const ManifestPackage& package : target.packages) {
    object["packages"].push_back(package_to_json(package));
  }
  return object;
}

json file_to_json(const ManifestFile& file) {
  return {{"path", file.path}, {"offset", file.offset}, {"size", file.size}, {"sha256", file.sha256.hex()}};
}

// Reads members of one JSON object; the first misfit is remembered and everything after it is ignored.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string where, std::string& misfit)
      : m_object(object), m_where(std::move(where)), m_misfit(misfit) {
    if (!object.is_object()) {
      refuse("", "an object");
    }
  }

  [[nodiscard]] const json& member(const char* key) const {
    static const json null;
    const auto found = m_object.is_object() ? m_object.find(key) : m_object.end();
    return m_object.is_object() && found != m_object.end() ? *found : null;
  }
  void text(const char* key, std::string& into) const {
    const json& value = member(key);
    if (!value.is_string()) {
      return refuse(key, "a string");
    }
    into = value.get<std::string>();
  }
  void number(const char* key, std::uint64_t& into) const {
    const json& value = member(key);
    if (!value.is_number_unsigned()) {
      return refuse(key, "a number of bytes");
    }
    into = value.get<std::uint64_t>();
  }
  void flag(const char* key, bool& into) const {
    const json& value = member(key);
    if (!value.is_boolean()) {
      return refuse(key, "true or false");
    }
    into = value.get<bool>();
  }
  void optional_text(const char* key, std::optional<std::string>& into) const {
    if (!member(key).is_null()) {
      text(key, into.emplace());
    }
  }
  void optional_number(const char* key, std::optional<std::uint64_t>& into) const {
    if (!member(key).is_null()) {
      number(key, into.emplace());
    }
  }
  void digest(const char* key, Sha256Digest& into) const {
    std::string hex;
    text(key, hex);
    const auto digest = Sha256Digest::from_hex(hex);
    if (!digest || digest->hex() != hex) {
      return refuse(key, "64 lower-case hex digits");
    }
    into = *digest;
  }
  void time(const char* key, UnixTime& into) const {
    std::string written;
    text(key, written);
    const auto parsed = parse_time(written);
    if (!parsed) {
      return refuse(key, "a time");
    }
    into = *parsed;
  }
  void optional_time(const char* key, std::optional<UnixTime>& into) const {
    if (!member(key).is_null()) {
      time(key, into.emplace());
    }
  }
  void texts(const char* key, std::vector<std::string>& into) const {
    each(key, [&](const json& element, const std::string&) {
      if (!element.is_string()) {
        return refuse(key, "an array of strings");
      }
      into.push_back(element.get<std::string>());
    });
  }
  // Calls fn(element, where) for each element of an array.
  template <class Function>
  void each(const char* key, Function fn) const {
    const json& value = member(key);
    if (!value.is_array()) {
      return refuse(key, "an array");
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      fn(value[i], m_where + "/" + key + "/" + std::to_string(i));
    }
  }
  [[nodiscard]] ObjectReader object(const char* key) const { return {member(key), m_where + "/" + key, m_misfit}; }
  void refuse(const char* key, const std::string& expected) const {
    if (m_misfit.empty()) {
      m_misfit = m_where + (*key == '\0' ? "" : "/") + key + " is not " + expected;
    }
  }
  [[nodiscard]] std::string& misfit() const { return m_misfit; }

 private:
  // The one form that format_time writes.
  static std::optional<UnixTime> parse_time(const std::string& written) {
    std::tm parts{};
    const char* end = strptime(written.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end == nullptr || *end != '\0') {
      return std::nullopt;
    }
    const auto parsed = static_cast<UnixTime>(timegm(&parts));
    return format_time(parsed) == written ? std::optional(parsed) : std::nullopt;
  }

  const json& m_object;
  std::string m_where;
  std::string& m_misfit;
};

// A path below the image's root whose every name fits a directory record.
void read_path(const ObjectReader& object, std::string& path, std::string_view below) {
  object.text("path", path);
  const std::vector<std::string> names = split(path, '/');
  const bool fits =
      std::all_of(names.begin(), names.end(), [](const std::string& name) { return name.size() <= longest_name; });
  if (!is_safe_relative_path(path) || !fits || path.substr(0, below.size()) != below) {
    object.refuse("path", "a safe path" + (below.empty() ? "" : " below " + std::string(below)));
  }
}

void read_extent(const ObjectReader& object, std::uint64_t& offset, std::uint64_t& size) {
  // No file system holds more, and sums of three of these cannot overflow.
  constexpr std::uint64_t largest = std::uint64_t{1} << 62U;
  object.number("offset", offset);
  object.number("size", size);
  if (offset % alignment != 0 || offset > largest || size > largest) {
    object.refuse("offset", "an aligned place of possible size");
  }
}

void read_target(const ObjectReader& object, Target& target) {
  object.text("id", target.id);
  object.text("distro", target.distro);
  object.text("version", target.version);
  object.text("codename", target.codename);
  object.text("arch", target.arch);
  object.texts("kernels", target.kernels);
  object.optional_text("treated_as_from", target.treated_as_from);
  std::string family;
  object.text("family", family);
  if (family != family_name(PackageFamily::deb) && family != family_name(PackageFamily::rpm)) {
    object.refuse("family", "deb or rpm");
  }
  target.family = family == family_name(PackageFamily::rpm) ? PackageFamily::rpm : PackageFamily::deb;
  if (!is_safe_relative_path(target.id) || target.id.find('/') != std::string::npos) {
    object.refuse("id", "a target id");
  }
}

void read_reason(const ObjectReader& object, Reason& reason) {
  std::string kind;
  object.text("kind", kind);
  object.text("by", reason.by);
  object.text("relation", reason.relation);
  for (const ReasonKind known :
       {ReasonKind::requested, ReasonKind::dependency, ReasonKind::essential, ReasonKind::baseline}) {
    if (reason_kind_name(known) == kind) {
      reason.kind = known;
      return;
    }
  }
  object.refuse("kind", "a kind of reason");
}

void read_package(const ObjectReader& object, ManifestPackage& package, const std::string& pool) {
  object.text("name", package.id.name);
  object.text("version", package.id.version);
  object.text("arch", package.id.arch);
  object.text("repository", package.repository);
  object.text("filename", package.filename);
  read_path(object, package.path, pool);
  read_extent(object, package.offset, package.size);
  if (package.size == 0) {
    object.refuse("size", "larger than 0");
  }
  object.optional_number("installed_size", package.installed_size);
  object.digest("sha256", package.sha256);
  read_reason(object.object("reason"), package.reason);
}

void read_evidence(const ObjectReader& object, RepositoryEvidence& evidence) {
  object.text("name", evidence.name);
  object.text("url", evidence.url);
  object.text("suite", evidence.suite);
  object.text("codename", evidence.codename);
  object.time("date", evidence.date);
  object.optional_time("valid_until", evidence.valid_until);
  object.text("release_sha256", evidence.release_sha256);
  object.texts("signed_by", evidence.signed_by);
  object.texts("allowed", evidence.allowed);
}

void read_totals(const ObjectReader& object, Totals& totals) {
  object.number("packages", totals.packages);
  object.number("download_bytes", totals.download_bytes);
  object.number("installed_bytes", totals.installed_bytes);
  object.number("installed_unknown", totals.installed_unknown);
  object.number("bundle_bytes", totals.bundle_bytes);
}

void read_manifest_target(const ObjectReader& object, ManifestTarget& target) {
  read_target(object.object("target"), target.target);
  object.text("release", target.release);
  object.texts("usecases", target.usecases);
  object.each("requests", [&](const json& element, const std::string& where) {
    const ObjectReader request(element, where, object.misfit());
    PackageRequest& into = target.requests.emplace_back();
    request.text("name", into.name);
    request.optional_text("version", into.version);
    request.text("because", into.because);
  });
  const ObjectReader policy = object.object("policy");
  policy.flag("recommends", target.policy.recommends);
  policy.flag("minimum", target.policy.minimum);
  object.each("repositories", [&](const json& element, const std::string& where) {
    read_evidence({element, where, object.misfit()}, target.repositories.emplace_back());
  });
  const std::string below = "repos/" + target.target.id + "/";
  object.each("packages", [&](const json& element, const std::string& where) {
    read_package({element, where, object.misfit()}, target.packages.emplace_back(), below);
  });
  object.texts("proofs", target.proofs);
  read_totals(object.object("totals"), target.totals);
}

// Absent in what older versions wrote.
void read_signing_key(const ObjectReader& object, std::optional<SitePublicKey>& into) {
  std::optional<std::string> hex;
  object.optional_text("signing_key", hex);
  if (hex) {
    into = SitePublicKey::from_hex(*hex);
    if (!into) {
      object.refuse("signing_key", "64 lower-case hex digits, or null");
    }
  }
}

Manifest read_manifest(const json& document, std::string& misfit) {
  Manifest manifest;
  const ObjectReader object(document, "", misfit);
  if (object.member("schema") != manifest_schema) {
    object.refuse("schema", "1, the only one that this version reads");
    return manifest;
  }
  object.text("creator_version", manifest.creator_version);
  object.time("source_date", manifest.source_date);
  object.each("targets", [&](const json& element, const std::string& where) {
    read_manifest_target({element, where, misfit}, manifest.targets.emplace_back());
  });
  object.each("files", [&](const json& element, const std::string& where) {
    const ObjectReader file(element, where, misfit);
    ManifestFile& into = manifest.files.emplace_back();
    read_path(file, into.path, "");
    read_extent(file, into.offset, into.size);
    file.digest("sha256", into.sha256);
  });
  const ObjectReader runner = object.object("runner");
  runner.number("size", manifest.runner_size);
  runner.digest("sha256", manifest.runner_sha256);
  object.object("stub").digest("sha256", manifest.stub_sha256);
  const ObjectReader post = object.object("post_install");
  post.optional_text("gpu_access", manifest.post_install.gpu_access);
  post.flag("blacklist_driver", manifest.post_install.blacklist_driver);
  post.flag("start_driver", manifest.post_install.start_driver);
  read_signing_key(object, manifest.signing_key);
  return manifest;
}

std::string find_inconsistency(const Manifest& manifest) {
  std::set<std::string_view> ids;
  for (const ManifestTarget& target : manifest.targets) {
    if (!ids.insert(target.target.id).second) {
      return "target " + target.target.id + " is there twice";
    }
  }
  std::set<std::string_view> paths = {"install.sh", "rocm-offline-install", "manifest.json", signature_path};
  for (const ManifestFile& file : manifest.files) {
    if (!paths.insert(file.path).second) {
      return "path " + file.path + " is there twice";
    }
  }
  for (const ManifestTarget& target : manifest.targets) {
    // Two packages of a target may be one file: the same payload under the same name.
    std::set<std::string_view> own;
    for (const ManifestPackage& package : target.packages) {
      if (paths.count(package.path) != 0 || !own.insert(package.path).second) {
        return "path " + package.path + " is there twice";
      }
    }
  }
  return "";
}

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
  json object = {{"schema", manifest_schema},
                 {"creator_version", manifest.creator_version},
                 {"source_date", format_time(manifest.source_date)},
                 {"targets", json::array()},
                 {"files", json::array()},
                 {"runner", {{"size", manifest.runner_size}, {"sha256", manifest.runner_sha256.hex()}}},
                 {"stub", {{"sha256", manifest.stub_sha256.hex()}}},
                 {"post_install", to_json(manifest.post_install)},
                 {"signing_key", manifest.signing_key ? json(manifest.signing_key->hex()) : json(nullptr)}};
  for (const ManifestTarget& target : manifest.targets) {
    object["targets"].push_back(target_to_json(target));
  }
  for (const ManifestFile& file : manifest.files) {
    object["files"].push_back(file_to_json(file));
  }
  // Names of packages are checked to be text; what else is not UTF-8 becomes U+FFFD rather than an exception.
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Manifest> manifest_from_json(std::string_view text) {
  auto document = parse_json(Stage::bundle, ErrorCode::bundle_damaged, "the bundle's manifest", text);
  if (!document) {
    return fail(std::move(document).error());
  }
  std::string misfit;
  Manifest manifest = read_manifest(*document, misfit);
  if (misfit.empty()) {
    misfit = find_inconsistency(manifest);
  }
  if (!misfit.empty()) {
    return fail({.code = ErrorCode::bundle_damaged,
                 .stage = Stage::bundle,
                 .message = "the bundle's manifest does not fit its format",
                 .reason = std::move(misfit),
                 .help = "copy the file again; if it was made by a newer version of this program, use that one"});
  }
  return manifest;
}

std::string bundle_id_of(std::string_view manifest_json) {
  return sha256_of(manifest_json).hex().substr(0, 16);
}

}  // namespace rocm_offline::bundle
