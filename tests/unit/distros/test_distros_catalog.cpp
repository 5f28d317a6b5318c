#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/values_json.hpp"
#include "rocm_offline/distros/distro.hpp"

using namespace rocm_offline;
using namespace rocm_offline::distros;
namespace fs = std::filesystem;

namespace {

class CatalogFolder {
 public:
  CatalogFolder() : m_folder(*TemporaryDirectory::create(Stage::check, fs::temp_directory_path(), "catalog")) {}
  [[nodiscard]] const fs::path& path() const { return m_folder.path(); }
  void file(const std::string& name, std::string_view text) const { std::ofstream(path() / name) << text; }

 private:
  TemporaryDirectory m_folder;
};

std::string distribution(std::string_view versions) {
  return R"({"schema":1,"kind":"distribution","id":"raspbian","name":"R","family":"deb","package_manager":"apt",)"
         R"("arch":"amd64","versions":)" +
         std::string(versions) + "}";
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the catalogue has the targets of the first release") {
  const Catalog catalog = *Catalog::load({});
  CHECK(catalog.target_ids() == std::vector<std::string>{"debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"});
  const Result<Target> target = catalog.target("debian-13");
  REQUIRE(target.has_value());
  CHECK(target->codename == "trixie");
  CHECK(target->arch == "amd64");
  CHECK(target->family == PackageFamily::deb);
  REQUIRE(catalog.version(*target) != nullptr);
  CHECK(catalog.version(*target)->base_groups == std::vector<std::string>{"debian", "debian-security"});
}

TEST_CASE("an unknown target is refused with near ids") {
  const Result<Target> target = Catalog::load({})->target("debian-133");
  REQUIRE_FALSE(target.has_value());
  CHECK(target.error().code == ErrorCode::unknown_target);
  CHECK(has(target.error().help, "did you mean debian-13"));
  CHECK(has(target.error().help, "ubuntu-24.04"));
}

TEST_CASE("a point release is no target, and its target is named") {
  const Result<Target> target = Catalog::load({})->target("ubuntu-24.04.2");
  REQUIRE_FALSE(target.has_value());
  CHECK(has(target.error().reason, "its target is ubuntu-24.04"));
}

TEST_CASE("every file of the distribution catalogue fits the schema") {
  const fs::path source(ROCM_OFFLINE_SOURCE_DIR);
  const std::string schema = *read_file(Stage::check, source / "distros/schema/distribution.schema.json", 1 << 20);
  const Result<std::vector<CatalogFile>> files = read_catalog_folder(Stage::check, source / "distros/catalog");
  REQUIRE(files.has_value());
  CHECK(files->size() == Catalog::load({})->distros().size());
  for (const CatalogFile& file : *files) {
    INFO(file.path);
    CHECK(file.kind == "distribution");
    CHECK(check_json_schema({Stage::check, ErrorCode::catalog_invalid, file.path.string(), schema}, file.document)
              .has_value());
  }
}

TEST_CASE("a folder adds a distribution and replaces one of its id") {
  const CatalogFolder folder;
  folder.file("a.json", distribution(R"([{"version":"12","codename":"bookworm","equivalent_versions":["12.0"],)"
                                     R"("base_groups":["debian"]}])"));
  folder.file("notes.txt", "no JSON");
  folder.file(".hidden.json", "no JSON");
  Catalog catalog = *Catalog::load({folder.path()});
  CHECK(catalog.target("raspbian-12")->codename == "bookworm");
  CHECK(catalog.target("raspbian-12.0")->id == "raspbian-12");
  CHECK(catalog.target_ids().size() == 5);
  const CatalogFolder second;
  second.file("b.json", distribution(R"([{"version":"13","base_groups":["debian"]}])"));
  catalog = *Catalog::load({folder.path(), second.path()});
  CHECK_FALSE(catalog.target("raspbian-12").has_value());
  CHECK(catalog.target("raspbian-13").has_value());
}

TEST_CASE("a file that does not fit names file, JSON pointer and what was expected") {
  struct Case {
    std::string text, pointer, expected;
  };
  const Case one = GENERATE(values<Case>({
      {distribution("[]"), "/versions", "at least one"},
      {distribution(R"([{"base_groups":[]}])"), "/versions/0", "the property 'version'"},
      {distribution(R"([{"version":13,"base_groups":[]}])"), "/versions/0/version", "VERSION_ID of os-release"},
      {distribution(R"([{"version":"13","base_groups":["A b"]}])"), "/versions/0/base_groups/0", "repository group"},
      {distribution(R"([{"version":"13","base_groups":[],"eol":"x"}])"), "/versions/0", "no property 'eol'"},
      {distribution(R"([{"version":"13","base_groups":[],"end_of_life":"soon"}])"), "/versions/0/end_of_life",
       "YYYY-MM-DD"},
      {R"({"schema":2,"kind":"distribution"})", "/schema", "the number 1"},
      {R"({"schema":1,"kind":"distribution"})", "", "the property"},
      {R"({"kind":"else"})", "/kind", "one of distribution"},
      {R"([1])", "/kind", "one of distribution"},
  }));
  const CatalogFolder folder;
  folder.file("x.json", one.text);
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  REQUIRE_FALSE(catalog.has_value());
  const Error& error = catalog.error();
  INFO(error.message << " | " << error.reason);
  CHECK(error.code == ErrorCode::catalog_invalid);
  CHECK(has(error.message, (folder.path() / "x.json").string()));
  CHECK(error.details.at("pointer") == one.pointer);
  CHECK(has(error.details.at("expected"), one.expected));
  CHECK(has(error.reason, one.expected));
  CHECK_FALSE(error.help.empty());
}

TEST_CASE("a file that is no JSON, too deep or too large is refused") {
  const CatalogFolder folder;
  SECTION("no JSON") {
    folder.file("x.json", "{");
  }
  SECTION("too deep") {
    folder.file("x.json", std::string(1000, '[') + std::string(1000, ']'));
  }
  SECTION("too large") {
    folder.file("x.json", std::string((1 << 20) + 1, ' '));
  }
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  REQUIRE_FALSE(catalog.has_value());
  CHECK(has(catalog.error().message + catalog.error().details.at("path"), "x.json"));
}

TEST_CASE("a text long enough to exhaust the stack of a pattern is refused before any pattern") {
  const CatalogFolder folder;
  folder.file("x.json", distribution("[{\"version\":\"" + std::string(900000, '1') + "\",\"base_groups\":[]}]"));
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  REQUIRE_FALSE(catalog.has_value());
  CHECK(catalog.error().details.at("pointer") == "/versions/0/version");
  CHECK(has(catalog.error().reason, "16384 bytes"));
}

TEST_CASE("a catalogue folder that is not there is named") {
  const Result<Catalog> catalog = Catalog::load({"/nonexistent/catalog"});
  REQUIRE_FALSE(catalog.has_value());
  CHECK(catalog.error().code == ErrorCode::file_missing);
  CHECK(catalog.error().details.at("path") == "/nonexistent/catalog");
}
