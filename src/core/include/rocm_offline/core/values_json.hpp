// JSON forms of the values and of Error, as cli.md prints them. Output is compact and sorted by key.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline {

// {code, stage, message, reason, context, details, help} and, where there are any, problems.
[[nodiscard]] nlohmann::json to_json(const Error& error);
// {name, version, arch, repository, filename, size, installed_size|null, sha256, reason}
[[nodiscard]] nlohmann::json to_json(const PackageRecord& package);
[[nodiscard]] nlohmann::json to_json(const Reason& reason);
[[nodiscard]] nlohmann::json to_json(const Totals& totals);
[[nodiscard]] nlohmann::json to_json(const Check& check);
[[nodiscard]] nlohmann::json to_json(const Target& target);
[[nodiscard]] nlohmann::json to_json(const RepositoryEvidence& evidence);
[[nodiscard]] nlohmann::json to_json(const Problem& problem);
[[nodiscard]] nlohmann::json to_json(const PostInstall& post_install);

// Parses untrusted text: no exceptions, at most 64 levels deep. `what` names it in the error ("manifest").
[[nodiscard]] Result<nlohmann::json> parse_json(Stage stage, ErrorCode code, std::string_view what, std::string_view text);

}  // namespace rocm_offline
