// JSON documents of the catalogue -> values. Each document must already fit its schema.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "rocm_offline/repos/catalog.hpp"

namespace rocm_offline::repos {

[[nodiscard]] RepositoryGroup read_group(const nlohmann::json& node);
[[nodiscard]] Release read_release(const nlohmann::json& node);
// Without the keyring, which is a file of its own.
[[nodiscard]] SiteRepository read_site_document(const nlohmann::json& node);

// A file compiled in, by its path below repos/; empty when there is none of that name.
[[nodiscard]] std::string_view compiled_in_file(std::string_view path);

}  // namespace rocm_offline::repos
