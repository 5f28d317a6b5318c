// `--repo FILE.json`: a repository of the user's own.
#include "documents.hpp"
#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/repos/catalog.hpp"

namespace rocm_offline::repos {
namespace {

using nlohmann::json;

constexpr std::uint64_t max_bytes = 1U << 20U;
constexpr std::string_view armor = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
constexpr std::string_view flat_suite = "./";

Error rule_broken(const std::string& file, const std::string& pointer, const std::string& expected) {
  return {.code = ErrorCode::catalog_invalid,
          .stage = Stage::repos,
          .message = "'" + file + "' does not describe a repository",
          .reason = "at " + pointer + ": expected " + expected,
          .details = {{"path", file}, {"pointer", pointer}, {"expected", expected}},
          .help = "correct that place of the file"};
}

Result<Keyring> read_keyring(const std::filesystem::path& file, const SiteRepository& repository,
                             const std::string& value) {
  if (trim(value).starts_with(armor)) {
    return Keyring{.name = repository.name + ".asc", .data = value, .fingerprints = {}};
  }
  if (has_control_characters(value)) {
    return fail(rule_broken(file.string(), "/keyring", "a path, or armored keys"));
  }
  const std::filesystem::path path = file.parent_path() / value;
  Result<std::string> data = read_file(Stage::repos, path, max_bytes);
  if (!data) {
    return fail(in_context(std::move(data).error(), "reading the keyring of '" + file.string() + "'"));
  }
  return Keyring{.name = path.filename().string(), .data = std::move(*data), .fingerprints = {}};
}

// What a schema cannot say: a flat deb repository (sources.list(5): its suite ends in a slash) has no components.
Result<Done> complete(const std::string& file, SiteRepository& repository) {
  if (repository.type == PackageFamily::rpm) {
    return Done{};
  }
  if (repository.suite.empty()) {
    repository.suite = flat_suite;
  }
  const bool flat = repository.suite.ends_with('/');
  if (flat && !repository.components.empty()) {
    return fail(
        rule_broken(file, "/components", "no components, because a flat repository has none (or give a suite)"));
  }
  if (!flat && repository.components.empty()) {
    repository.components = {"main"};
  }
  return Done{};
}

}  // namespace

Result<SiteRepository> read_site_repository(const std::filesystem::path& file) {
  Result<std::string> text = read_file(Stage::repos, file, max_bytes);
  if (!text) {
    return fail(std::move(text).error());
  }
  const std::string name = file.string();
  Result<json> document = parse_json(Stage::repos, ErrorCode::catalog_invalid, "'" + name + "'", *text);
  if (!document) {
    return fail(std::move(document).error());
  }
  const SchemaQuestion question{.stage = Stage::repos,
                                .code = ErrorCode::catalog_invalid,
                                .file = name,
                                .schema = compiled_in_file("schema/site-repository.schema.json")};
  if (Result<Done> fits = check_json_schema(question, *document); !fits) {
    return fail(std::move(fits).error());
  }
  SiteRepository repository = read_site_document(*document);
  if (Result<Done> whole = complete(name, repository); !whole) {
    return fail(std::move(whole).error());
  }
  const std::string keyring = document->value("keyring", std::string());
  if (!keyring.empty()) {
    Result<Keyring> read = read_keyring(file, repository, keyring);
    if (!read) {
      return fail(std::move(read).error());
    }
    repository.keyring = std::move(*read);
  }
  return repository;
}

}  // namespace rocm_offline::repos
