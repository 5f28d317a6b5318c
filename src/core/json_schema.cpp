#include "rocm_offline/core/json_schema.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <system_error>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline {
namespace {

using nlohmann::json;

// std::regex recurses once per character; beyond this a `pattern` could exhaust the stack.
constexpr std::size_t max_text_bytes = 16U << 10U;
constexpr std::uint64_t max_file_bytes = 1U << 20U;

struct Mismatch {
  std::vector<std::string> path;  // tokens of the JSON pointer
  std::string expected;
  std::string found;
};

std::string pointer_of(const std::vector<std::string>& path) {
  std::string pointer;
  for (const std::string& token : path) {
    pointer += '/';
    for (const char c : token) {
      pointer += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
    }
  }
  return pointer;
}

std::optional<std::vector<std::string>> find_long_text(const json& node) {
  if (node.is_string() && node.get_ref<const std::string&>().size() > max_text_bytes) {
    return std::vector<std::string>{};
  }
  if (!node.is_structured()) {
    return std::nullopt;
  }
  std::size_t index = 0;
  for (const auto& item : node.items()) {
    const std::string token = node.is_array() ? std::to_string(index++) : item.key();
    if (token.size() > max_text_bytes) {
      return std::vector<std::string>{};
    }
    if (auto path = find_long_text(item.value())) {
      path->insert(path->begin(), token);
      return path;
    }
  }
  return std::nullopt;
}

// valijson names a place as "<root>", "[versions]", "[0]".
std::vector<std::string> tokens_of(const std::vector<std::string>& context) {
  std::vector<std::string> tokens;
  for (const std::string& part : context) {
    if (part.size() >= 2 && part.front() == '[' && part.back() == ']') {
      tokens.push_back(part.substr(1, part.size() - 2));
    }
  }
  return tokens;
}

const json* child_of(const json& node, const std::string& token) {
  if (node.is_object()) {
    const auto found = node.find(token);
    return found == node.end() ? nullptr : &*found;
  }
  if (node.is_array() && !token.empty() && token.size() < 9 &&
      std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    const std::size_t index = std::stoul(token);
    return index < node.size() ? &node[index] : nullptr;
  }
  return nullptr;
}

const json* schema_below(const json& schema, const std::string& token) {
  if (const json* properties = child_of(schema, "properties")) {
    if (const json* property = child_of(*properties, token)) {
      return property;
    }
  }
  const json* rest = child_of(schema, "additionalProperties");
  return rest != nullptr && rest->is_object() ? rest : child_of(schema, "items");
}

std::string description_of(const json* schema) {
  const json* description = schema == nullptr ? nullptr : child_of(*schema, "description");
  return description != nullptr && description->is_string() ? description->get<std::string>() : std::string();
}

// What an object lacks or has too much, in the words of its schema; empty when it is neither.
std::string expected_of_object(const json& object, const json& schema) {
  if (const json* required = child_of(schema, "required")) {
    for (const json& name : *required) {
      if (!object.contains(name)) {
        const std::string what = description_of(schema_below(schema, name.get<std::string>()));
        return "the property '" + name.get<std::string>() + "'" + (what.empty() ? "" : ": " + what);
      }
    }
  }
  const json* properties = child_of(schema, "properties");
  const json* rest = child_of(schema, "additionalProperties");
  if (properties == nullptr || rest == nullptr || *rest != json(false)) {
    return {};
  }
  for (const auto& item : object.items()) {
    if (!properties->contains(item.key())) {
      std::vector<std::string> names;
      for (const auto& property : properties->items()) {
        names.push_back(property.key());
      }
      return "no property '" + item.key() + "' (known are " + join(names, ", ") + ")";
    }
  }
  return {};
}

std::string shown(const json& node) {
  constexpr std::size_t most = 60;
  // An address may carry credentials, and errors go to logs.
  const bool address = node.is_string() && node.get_ref<const std::string&>().find("://") != std::string::npos;
  const json shown_node = address ? json(redact_url(node.get_ref<const std::string&>())) : node;
  std::string text = shown_node.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > most) {
    text = text.substr(0, most) + "...";
  }
  return text;
}

Mismatch explain(std::vector<std::string> path, const json& document, const json& schema) {
  const json* node = &document;
  const json* rule = &schema;
  for (const std::string& token : path) {
    node = node == nullptr ? nullptr : child_of(*node, token);
    rule = rule == nullptr ? nullptr : schema_below(*rule, token);
  }
  Mismatch mismatch{.path = std::move(path), .expected = {}, .found = node == nullptr ? "" : shown(*node)};
  if (node != nullptr && rule != nullptr && node->is_object()) {
    mismatch.expected = expected_of_object(*node, *rule);
  }
  if (mismatch.expected.empty()) {
    mismatch.expected = description_of(rule);
  }
  return mismatch;
}

// The deepest place that valijson complains of; the errors of its parents only repeat it.
std::optional<Mismatch> find_mismatch(const json& document, const json& schema_json) {
  valijson::Schema schema;
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  const valijson::adapters::NlohmannJsonAdapter schema_adapter(schema_json);
  parser.populateSchema(schema_adapter, schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter adapter(document);
  if (validator.validate(schema, adapter, &results)) {
    return std::nullopt;
  }
  std::vector<std::string> deepest;
  std::string description;
  for (const valijson::ValidationResults::Error& error : results) {
    if (description.empty() || error.context.size() > deepest.size()) {
      deepest = error.context;
      description = error.description;
    }
  }
  Mismatch mismatch = explain(tokens_of(deepest), document, schema_json);
  if (mismatch.expected.empty()) {
    mismatch.expected = description;
  }
  return mismatch;
}

Error mismatch_error(const SchemaQuestion& question, const Mismatch& mismatch) {
  const std::string pointer = pointer_of(mismatch.path);
  Error error{.code = question.code,
              .stage = question.stage,
              .message = "'" + question.file + "' does not fit its schema",
              .reason = "at " + (pointer.empty() ? std::string("the top") : pointer) + ": expected " +
                        mismatch.expected + (mismatch.found.empty() ? "" : ", found " + mismatch.found),
              .details = {{"path", question.file}, {"pointer", pointer}, {"expected", mismatch.expected}},
              .help = "correct that place of the file, or take the file away"};
  if (!mismatch.found.empty()) {
    error.details["actual"] = mismatch.found;
  }
  return error;
}

Error schema_broken(const SchemaQuestion& question, std::string why) {
  return {.code = ErrorCode::internal,
          .stage = question.stage,
          .message = "the schema for '" + question.file + "' cannot be read",
          .reason = std::move(why),
          .help = "this is a bug of the program; please report it"};
}

Result<CatalogFile> read_catalog_file(Stage stage, const std::filesystem::path& path) {
  Result<std::string> text = read_file(stage, path, max_file_bytes);
  if (!text) {
    return fail(in_context(std::move(text).error(), "reading the catalogue"));
  }
  const std::string what = "catalogue file '" + path.string() + "'";
  Result<json> document = parse_json(stage, ErrorCode::catalog_invalid, what, *text);
  if (!document) {
    Error error = std::move(document).error();
    error.details["path"] = path.string();
    return fail(std::move(error));
  }
  constexpr std::array kinds = {"distribution", "repository-group", "release"};
  const json* kind = child_of(*document, "kind");
  if (kind == nullptr || std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) {
    const std::string expected = "\"kind\" with one of distribution, repository-group, release";
    return fail({.code = ErrorCode::catalog_invalid,
                 .stage = stage,
                 .message = what + " does not say what it is",
                 .reason = "at /kind: expected " + expected,
                 .details = {{"path", path.string()}, {"pointer", "/kind"}, {"expected", expected}},
                 .help = "add the property, or take the file out of the catalogue folder"});
  }
  std::string kind_name = kind->get<std::string>();
  return CatalogFile{.path = path, .kind = std::move(kind_name), .document = std::move(*document)};
}

}  // namespace

Result<Done> check_json_schema(const SchemaQuestion& question, const json& document) {
  if (auto path = find_long_text(document)) {
    return fail(mismatch_error(question, {.path = std::move(*path),
                                          .expected = "a text of at most " + std::to_string(max_text_bytes) + " bytes",
                                          .found = {}}));
  }
  Result<json> schema = parse_json(question.stage, ErrorCode::internal, "schema", question.schema);
  if (!schema) {
    return fail(schema_broken(question, "it is not valid JSON"));
  }
  // valijson throws where a schema is malformed; no exception crosses the module's border.
  try {
    if (const std::optional<Mismatch> mismatch = find_mismatch(document, *schema)) {
      return fail(mismatch_error(question, *mismatch));
    }
  } catch (const std::exception& broken) {
    return fail(schema_broken(question, broken.what()));
  }
  return Done{};
}

Result<std::vector<CatalogFile>> read_catalog_folder(Stage stage, const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entries(folder, failure);
  if (failure) {
    return fail(system_error(stage, "cannot read the catalogue folder", folder, failure.value()));
  }
  std::set<std::filesystem::path> paths;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(failure)) {
    const std::filesystem::path path = entries->path();
    if (path.extension() == ".json" && !path.filename().string().starts_with('.')) {
      paths.insert(path);
    }
  }
  if (failure) {
    return fail(system_error(stage, "cannot read the catalogue folder", folder, failure.value()));
  }
  std::vector<CatalogFile> files;
  for (const std::filesystem::path& path : paths) {
    Result<CatalogFile> file = read_catalog_file(stage, path);
    if (!file) {
      return fail(std::move(file).error());
    }
    files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace rocm_offline
