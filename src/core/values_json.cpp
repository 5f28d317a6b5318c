#include "rocm_offline/core/values_json.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline {

using nlohmann::json;

namespace {

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

}  // namespace

json to_json(const Problem& problem) {
  return {{"summary", problem.summary}, {"chain", problem.chain}, {"help", problem.help}};
}

json to_json(const Error& error) {
  json object = {{"code", error_code_name(error.code)},
                 {"stage", stage_name(error.stage)},
                 {"message", error.message},
                 {"reason", error.reason},
                 {"context", error.context},
                 {"details", error.details},
                 {"help", error.help}};
  if (!error.problems.empty() || exit_status(error.code) == 4) {
    object["problems"] = json::array();
    for (const Problem& problem : error.problems) {
      object["problems"].push_back(to_json(problem));
    }
  }
  return object;
}

json to_json(const Reason& reason) {
  return {{"kind", reason_kind_name(reason.kind)}, {"by", reason.by}, {"relation", reason.relation}};
}

json to_json(const PackageRecord& package) {
  return {{"name", package.id.name},
          {"version", package.id.version},
          {"arch", package.id.arch},
          {"repository", package.repository},
          {"filename", package.filename},
          {"size", package.size},
          {"installed_size", or_null(package.installed_size)},
          {"sha256", package.sha256.hex()},
          {"reason", to_json(package.reason)}};
}

json to_json(const Totals& totals) {
  return {{"packages", totals.packages},
          {"download_bytes", totals.download_bytes},
          {"installed_bytes", totals.installed_bytes},
          {"installed_unknown", totals.installed_unknown},
          {"bundle_bytes", totals.bundle_bytes}};
}

json to_json(const Check& check) {
  return {{"code", check.code},
          {"status", check_status_name(check.status)},
          {"message", check.message},
          {"help", check.help}};
}

json to_json(const Target& target) {
  return {{"id", target.id},
          {"distro", target.distro},
          {"version", target.version},
          {"codename", target.codename},
          {"family", family_name(target.family)},
          {"arch", target.arch},
          {"kernels", target.kernels},
          {"treated_as_from", or_null(target.treated_as_from)}};
}

json to_json(const RepositoryEvidence& evidence) {
  return {{"name", evidence.name},
          {"url", evidence.url},
          {"suite", evidence.suite},
          {"codename", evidence.codename},
          {"date", format_time(evidence.date)},
          {"valid_until", evidence.valid_until ? json(format_time(*evidence.valid_until)) : json(nullptr)},
          {"release_sha256", evidence.release_sha256},
          {"signed_by", evidence.signed_by},
          {"allowed", evidence.allowed}};
}

json to_json(const PostInstall& post_install) {
  return {{"gpu_access", or_null(post_install.gpu_access)},
          {"blacklist_driver", post_install.blacklist_driver},
          {"start_driver", post_install.start_driver}};
}

Result<json> parse_json(Stage stage, ErrorCode code, std::string_view what, std::string_view text) {
  constexpr int max_depth = 64;
  bool too_deep = false;
  // The callback sees each value as it opens: depth is refused before the recursive destructor could matter.
  json parsed = json::parse(
      text.begin(), text.end(),
      [&](int depth, json::parse_event_t, json&) {
        too_deep = too_deep || depth > max_depth;
        return !too_deep;
      },
      false);
  if (too_deep || parsed.is_discarded()) {
    return fail({.code = code,
                 .stage = stage,
                 .message = std::string(what) + " is not valid JSON",
                 .reason = too_deep ? "it nests deeper than 64 levels" : "it does not parse",
                 .help = "check the file with a JSON tool, or get a fresh copy"});
  }
  return parsed;
}

}  // namespace rocm_offline
