// JSON Schema (draft 7) for the files that people write: catalogues and site repositories.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline {

struct SchemaQuestion {
  Stage stage = Stage::check;
  ErrorCode code = ErrorCode::catalog_invalid;
  std::string file;         // how the document is named in the error: its path
  std::string_view schema;  // text of the schema; ours, compiled in
};
// Done when the document fits. Otherwise an error of the given code that names file, JSON pointer (RFC 6901) and what
// was expected: the schema's `description` at that place. A text longer than 16 KiB never fits.
[[nodiscard]] Result<Done> check_json_schema(const SchemaQuestion& question, const nlohmann::json& document);

// A JSON file of a catalogue folder. `kind` says which schema it has to fit.
struct CatalogFile {
  std::filesystem::path path;
  std::string kind;  // "distribution", "repository-group", "release"
  nlohmann::json document;
};
// The *.json of a folder by name, hidden files left out; at most 1 MiB each. A folder that is not there is
// file_missing; a file that is no JSON object or has none of the three kinds is catalog_invalid. No schema is applied.
[[nodiscard]] Result<std::vector<CatalogFile>> read_catalog_folder(Stage stage, const std::filesystem::path& folder);

}  // namespace rocm_offline
