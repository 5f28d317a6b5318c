#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "rocm_offline/core/json_schema.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/repos/catalog.hpp"
#include "rocm_offline/repos/templates.hpp"

using namespace rocm_offline;
using namespace rocm_offline::repos;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : m_folder(*TemporaryDirectory::create(Stage::repos, fs::temp_directory_path(), "catalog")) {}
  [[nodiscard]] const fs::path& path() const { return m_folder.path(); }
  fs::path file(const std::string& name, std::string_view text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }

 private:
  TemporaryDirectory m_folder;
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string group_text(std::string_view keys) {
  return R"({"schema":1,"kind":"repository-group","name":"rocm","base_url":"https://repo.example/rocm/","type":"deb",)"
         R"("layouts":[{"targets":["debian-*"],"path":"apt/{dir}","suites":["{amd_suite}"],"components":["main"],)"
         R"("priority":600}],"keys":)" +
         std::string(keys) + "}";
}

std::string release_text(std::string_view id) {
  return R"({"schema":1,"kind":"release","id":")" + std::string(id) +
         R"(","values":{"dir":"6.2"},"targets":[{"target":"debian-12","groups":["rocm"],)"
         R"("values":{"amd_suite":"jammy"}}],"usecases":[{"id":"hip","packages":{"debian-12":["rocm-hip-runtime"]}}]})";
}

}  // namespace

TEST_CASE("every file of the release catalogue fits its schema") {
  const fs::path source = fs::path(ROCM_OFFLINE_SOURCE_DIR) / "repos";
  std::size_t seen = 0;
  for (const char* folder : {"catalog/groups", "catalog/releases"}) {
    const Result<std::vector<CatalogFile>> files = read_catalog_folder(Stage::repos, source / folder);
    REQUIRE(files.has_value());
    for (const CatalogFile& file : *files) {
      INFO(file.path);
      const std::string schema = *read_file(Stage::repos, source / "schema" / (file.kind + ".schema.json"), 1 << 20);
      CHECK(check_json_schema({Stage::repos, ErrorCode::catalog_invalid, file.path.string(), schema}, file.document)
                .has_value());
      ++seen;
    }
  }
  const Catalog catalog = *Catalog::load({});
  CHECK(seen == catalog.groups().size() + catalog.releases().size());
}

TEST_CASE("the groups of Debian and Ubuntu pin the keys of the facts, and every pinned key is compiled in") {
  const Catalog catalog = *Catalog::load({});
  const std::map<std::string, std::set<std::string>> pinned = {
      {"debian",
       {"B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8", "4D64FEC119C2029067D6E791F8D2585B8783D481",
        "04B54C3CDCA79751B16BC6B5225629DF75B188BD", "41587F7DB8C774BCCF131416762F67A0B2C39DE4"}},
      {"debian-security", {"05AB90340C0C5E797F44A8C8254CF3B5AEC0A8F0", "5E04A1E3223A19A20706E20F9904613D4CCE68C6"}},
      {"ubuntu", {"F6ECB3762474EDA9D21B7022871920D1991BC93C", "790BC7277767219C42C86F933B4FE6ACC0B21F32"}},
      {"ubuntu-security", {"F6ECB3762474EDA9D21B7022871920D1991BC93C", "790BC7277767219C42C86F933B4FE6ACC0B21F32"}}};
  for (const auto& [name, fingerprints] : pinned) {
    INFO(name);
    const RepositoryGroup* group = catalog.group(name);
    REQUIRE(group != nullptr);
    std::set<std::string> found;
    for (const PinnedKey& key : group->keys) {
      const std::optional<Keyring> keyring = catalog.keyring(key);
      REQUIRE(keyring.has_value());
      CHECK(keyring->data.starts_with("-----BEGIN PGP PUBLIC KEY BLOCK-----"));
      CHECK(keyring->fingerprints == std::vector<std::string>{key.fingerprint});
      CHECK(keyring->name.ends_with(".asc"));
      found.insert(key.fingerprint);
    }
    CHECK(found == fingerprints);
  }
}

TEST_CASE("a pinned key without a file is one to fetch from its address, or none at all") {
  const Folder folder;
  const std::string pinned(40, 'A');
  folder.file("g.json",
              group_text(R"([{"fingerprint":")" + pinned + R"(","url":"https://repo.example/rocm/key.asc"},)" +
                         R"({"fingerprint":")" + std::string(40, 'B') + R"("}])"));
  const Catalog catalog = *Catalog::load({folder.path()});
  const RepositoryGroup* group = catalog.group("rocm");
  REQUIRE(group != nullptr);
  REQUIRE(group->keys.size() == 2);
  const std::optional<Keyring> keyring = catalog.keyring(group->keys[0]);
  REQUIRE(keyring.has_value());
  CHECK(keyring->data.empty());
  CHECK(keyring->urls == std::vector<std::string>{"https://repo.example/rocm/key.asc"});
  CHECK(keyring->fingerprints == std::vector<std::string>{pinned});
  CHECK_FALSE(catalog.keyring(group->keys[1]).has_value());
}

TEST_CASE("an address of a key without a fingerprint is no pin, and refused") {
  const Folder folder;
  folder.file("g.json", group_text(R"([{"url":"https://repo.example/rocm/key.asc"}])"));
  const Result<Catalog> without = Catalog::load({folder.path()});
  REQUIRE_FALSE(without.has_value());
  CHECK(without.error().code == ErrorCode::catalog_invalid);
  folder.file("g.json", group_text(R"([{"fingerprint":")" + std::string(40, 'A') + R"(","url":"ftp://x/key?a"}])"));
  const Result<Catalog> odd = Catalog::load({folder.path()});
  REQUIRE_FALSE(odd.has_value());
  CHECK(has(odd.error().reason, "/keys/0/url"));
}

TEST_CASE("release distro serves Debian in Debian's package names") {
  const Catalog catalog = *Catalog::load({});
  const Result<const Release*> release = catalog.release("distro");
  REQUIRE(release.has_value());
  std::map<std::string, std::set<std::string>> usecases;
  for (const UseCase& usecase : (*release)->usecases) {
    for (const auto& [target, packages] : usecase.packages) {
      usecases[usecase.id].insert(packages.begin(), packages.end());
    }
    CHECK(usecase.packages.contains("debian-13"));
  }
  CHECK(usecases.size() == 5);
  CHECK(usecases.at("hip").contains("hipcc"));
  CHECK(usecases.at("hip").contains("rocminfo"));
  for (const char* id : {"lrt", "hip", "hiplibsdk", "opencl"}) {
    INFO(id);
    const std::set<std::string>& all = usecases.at("rocm");
    CHECK(std::includes(all.begin(), all.end(), usecases.at(id).begin(), usecases.at(id).end()));
  }
}

TEST_CASE("every group that a release or a group's target needs is in the catalogue") {
  const Catalog catalog = *Catalog::load({});
  for (const Release& release : catalog.releases()) {
    for (const ReleaseTarget& target : release.targets) {
      for (const std::string& group : target.groups) {
        CHECK(catalog.group(group) != nullptr);
      }
    }
  }
}

TEST_CASE("an unknown release is refused with the possible ones") {
  const Result<const Release*> release = Catalog::load({})->release("distrro");
  REQUIRE_FALSE(release.has_value());
  CHECK(release.error().code == ErrorCode::unknown_release);
  CHECK(has(release.error().help, "did you mean distro?"));
}

TEST_CASE("two numbers name the first patch release, and releases sort by number with words last") {
  const Folder folder;
  folder.file("a.json", release_text("7.10.0"));
  folder.file("b.json", release_text("6.2.0"));
  folder.file("c.json", release_text("7.2.4"));
  const Catalog catalog = *Catalog::load({folder.path()});
  CHECK((*catalog.release("6.2"))->id == "6.2.0");
  CHECK((*catalog.release("7.10"))->id == "7.10.0");
  CHECK_FALSE(catalog.release("7").has_value());
  CHECK_FALSE(catalog.release("7.2").has_value());
  CHECK(catalog.release_ids() == std::vector<std::string>{"6.2.0", "7.2.4", "7.10.0", "distro"});
}

TEST_CASE("a folder adds a group whose key lies beside its file") {
  const std::string key = R"([{"fingerprint":"0123456789012345678901234567890123456789","file":"site.asc"}])";
  const Folder folder;
  folder.file("group.json", group_text(key));
  SECTION("and the key is read") {
    folder.file("site.asc", "KEY");
    const Catalog catalog = *Catalog::load({folder.path()});
    const RepositoryGroup* group = catalog.group("rocm");
    REQUIRE(group != nullptr);
    CHECK(group->base_url == "https://repo.example/rocm");
    CHECK(catalog.keyring(group->keys.at(0))->data == "KEY");
  }
  SECTION("and a key that is not there is named") {
    const Result<Catalog> catalog = Catalog::load({folder.path()});
    REQUIRE_FALSE(catalog.has_value());
    CHECK(catalog.error().code == ErrorCode::catalog_invalid);
    CHECK(catalog.error().details.at("pointer") == "/keys/0/file");
    CHECK(has(catalog.error().message, "group.json"));
  }
}

TEST_CASE("a pinned key without a file has no keyring") {
  const Folder folder;
  folder.file("group.json", group_text(R"([{"fingerprint":"0123456789012345678901234567890123456789"}])"));
  const Catalog catalog = *Catalog::load({folder.path()});
  CHECK_FALSE(catalog.keyring(catalog.group("rocm")->keys.at(0)).has_value());
}

TEST_CASE("a catalogue file that does not fit is refused with pointer and expectation") {
  struct Case {
    std::string text, pointer, expected;
  };
  const Case one = GENERATE(values<Case>({
      {group_text(R"([{"fingerprint":"abc"}])"), "/keys/0/fingerprint", "40 upper-case hex digits"},
      {group_text(R"([{"fingerprint":"0123456789012345678901234567890123456789","file":"../../etc/passwd"}])"),
       "/keys/0/file", "a key file"},
      {release_text("six"), "", ""},
      {R"({"schema":1,"kind":"release","id":"6.2.0","targets":[],"usecases":[{"id":"hip","packages":{"debian-12":[1]}}]})",
       "/usecases/0/packages/debian-12/0", "a package name"},
      {R"({"schema":1,"kind":"release","id":"6.2.0","targets":[],"usecases":[{"id":"hip","packages":{"a/b~c":[]}}]})",
       "/usecases/0/packages/a~1b~0c", "at least one"},
  }));
  const Folder folder;
  folder.file("x.json", one.text);
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  if (one.expected.empty()) {
    CHECK(catalog.has_value());
    return;
  }
  REQUIRE_FALSE(catalog.has_value());
  INFO(catalog.error().reason);
  CHECK(catalog.error().code == ErrorCode::catalog_invalid);
  CHECK(catalog.error().details.at("pointer") == one.pointer);
  CHECK(has(catalog.error().reason, one.expected));
}

TEST_CASE("a base address with credentials' query or another scheme is refused") {
  std::string text = group_text("[]");
  const std::string url = GENERATE("ftp://x/y", "https://x/y?token=1", "https://x /y", "/srv/mirror");
  text.replace(text.find("https://repo.example/rocm/"), std::string("https://repo.example/rocm/").size(), url);
  const Folder folder;
  folder.file("x.json", text);
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  REQUIRE_FALSE(catalog.has_value());
  CHECK(catalog.error().details.at("pointer") == "/base_url");
}

TEST_CASE("an error about an address does not show its credentials") {
  std::string text = group_text("[]");
  const std::string good = "https://repo.example/rocm/";
  text.replace(text.find(good), good.size(), "ftp://user:secret@x/y");
  const Folder folder;
  folder.file("x.json", text);
  const Result<Catalog> catalog = Catalog::load({folder.path()});
  REQUIRE_FALSE(catalog.has_value());
  CHECK_FALSE(has(catalog.error().reason, "secret"));
  CHECK_FALSE(has(catalog.error().details.at("actual"), "secret"));
}

TEST_CASE("a site repository is read with its keyring beside it") {
  const Folder folder;
  folder.file("key.asc", "KEY");
  const fs::path file = folder.file(
      "site.json",
      R"({"schema":1,"name":"site","type":"deb","base_url":"https://x/y/","suite":"stable","keyring":"key.asc",)"
      R"("priority":700,"targets":["debian-13"]})");
  const Result<SiteRepository> site = read_site_repository(file);
  REQUIRE(site.has_value());
  CHECK(site->name == "site");
  CHECK(site->base_url == "https://x/y");
  CHECK(site->suite == "stable");
  CHECK(site->components == std::vector<std::string>{"main"});
  CHECK(site->priority == 700);
  CHECK(site->keyring->data == "KEY");
  CHECK(site->keyring->name == "key.asc");
  CHECK(site->keyring->fingerprints.empty());
}

TEST_CASE("a site repository without a suite is a flat one") {
  const Folder folder;
  const fs::path file = folder.file("site.json", R"({"schema":"rocm-offline/repository/1","name":"site","type":"deb",)"
                                                 R"("base_url":"file:///srv/x","targets":["debian-*"]})");
  const Result<SiteRepository> site = read_site_repository(file);
  REQUIRE(site.has_value());
  CHECK(site->suite == "./");
  CHECK(site->components.empty());
  CHECK_FALSE(site->keyring.has_value());
}

TEST_CASE("a site repository's keys may stand in the file itself") {
  const Folder folder;
  const fs::path file = folder.file(
      "site.json", R"({"schema":1,"name":"site","type":"deb","base_url":"file:///srv/x","targets":["debian-13"],)"
                   R"("keyring":"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n"})");
  CHECK(read_site_repository(file)->keyring->name == "site.asc");
}

TEST_CASE("a broken site repository is refused with pointer and expectation") {
  struct Case {
    std::string rest, pointer;
  };
  const Case one = GENERATE(values<Case>({{R"("targets":[])", "/targets"},
                                          {R"("targets":["debian"])", "/targets/0"},
                                          {R"("targets":["debian-13"],"components":["main"])", "/components"},
                                          {R"("targets":["debian-13"],"suite":"../x y")", "/suite"},
                                          {R"("targets":["debian-13"],"surprise":1)", ""}}));
  const Folder folder;
  const fs::path file = folder.file(
      "site.json", R"({"schema":1,"name":"site","type":"deb","base_url":"file:///srv/x",)" + one.rest + "}");
  const Result<SiteRepository> site = read_site_repository(file);
  REQUIRE_FALSE(site.has_value());
  INFO(site.error().reason);
  CHECK(site.error().code == ErrorCode::catalog_invalid);
  CHECK(site.error().details.at("pointer") == one.pointer);
}

TEST_CASE("a site repository or keyring that is not there is file_missing") {
  const Folder folder;
  CHECK(read_site_repository(folder.path() / "none.json").error().code == ErrorCode::file_missing);
  const fs::path file = folder.file(
      "site.json", R"({"schema":1,"name":"site","type":"deb","base_url":"file:///srv/x","targets":["debian-13"],)"
                   R"("keyring":"none.asc"})");
  const Result<SiteRepository> site = read_site_repository(file);
  REQUIRE_FALSE(site.has_value());
  CHECK(site.error().code == ErrorCode::file_missing);
  CHECK(has(site.error().details.at("path"), "none.asc"));
}

TEST_CASE("a pattern fits the versions of one distribution") {
  CHECK(target_fits("debian-13", "debian-13"));
  CHECK(target_fits("debian-*", "debian-13"));
  CHECK_FALSE(target_fits("debian-*", "debian-edu-13"));
  CHECK_FALSE(target_fits("debian-*", "debian-"));
  CHECK_FALSE(target_fits("debian-1", "debian-13"));
}

TEST_CASE("templates are filled, and a name without a value is refused") {
  const TemplateValues values = {{"codename", "trixie"}, {"dir", "6.2"}};
  CHECK(*fill_template("{codename}-updates", values) == "trixie-updates");
  CHECK(*fill_template("apt/{dir}", values) == "apt/6.2");
  CHECK(*fill_template("", values) == "");
  CHECK(*fill_template("plain", values) == "plain");
  for (const char* bad : {"{other}", "{codename", "codename}", "{}", "{co{dename}"}) {
    INFO(bad);
    const Result<std::string> filled = fill_template(bad, values);
    REQUIRE_FALSE(filled.has_value());
    CHECK(filled.error().code == ErrorCode::catalog_invalid);
  }
}
