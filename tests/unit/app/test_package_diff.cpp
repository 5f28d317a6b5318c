#include <catch2/catch.hpp>

#include "package_diff.hpp"

using namespace rocm_offline;
using namespace rocm_offline::app;

namespace {

PackageRecord package(const std::string& name, const std::string& version, const std::string& repository = "debian") {
  PackageRecord record;
  record.id = {name, version, "amd64"};
  record.repository = repository;
  record.filename = "pool/" + name + "_" + version + ".deb";
  record.size = 10;
  record.sha256 = sha256_of(name + version);
  return record;
}

}  // namespace

TEST_CASE("the same packages are equal, whatever their order") {
  const PackagesByTarget a = {{"debian-13", {package("x", "1"), package("y", "2")}}};
  const PackagesByTarget b = {{"debian-13", {package("y", "2"), package("x", "1")}}};
  const PackageDiff diff = compare_packages(a, b);
  CHECK(diff.equal);
  CHECK(diff.unchanged == 2);
  CHECK(diff.bytes_before == 20);
  CHECK(diff.bytes_new == 0);
  CHECK(diff_text(diff, false).empty());
}

TEST_CASE("each kind of change is in its list, versions as dpkg orders them") {
  const PackagesByTarget before = {{"debian-13",
                                    {package("gone", "1"), package("up", "1.9"), package("tilde", "2.0~rc1"),
                                     package("epoch", "1:1"), package("moved", "1"), package("same", "1")}}};
  const PackagesByTarget after = {{"debian-13",
                                   {package("new", "1"), package("up", "1.10"), package("tilde", "2.0"),
                                    package("epoch", "9"), package("moved", "1", "site"), package("same", "1")}}};
  const PackageDiff diff = compare_packages(before, after);
  const nlohmann::json document = diff_to_json(diff);
  CHECK_FALSE(diff.equal);
  CHECK(document["schema"] == "rocm-offline/diff/1");
  CHECK(document["equal"] == false);
  const auto names = [&](const char* list) {
    std::string text;
    for (const auto& entry : document[list]) {
      text += entry["name"].get<std::string>() + " ";
    }
    return text;
  };
  CHECK(names("added") == "new ");
  CHECK(names("removed") == "gone ");
  CHECK(names("upgraded") == "tilde up ");
  CHECK(names("downgraded") == "epoch ");
  CHECK(names("moved") == "moved ");
  CHECK(document["upgraded"][1]["before"]["version"] == "1.9");
  CHECK(document["upgraded"][1]["after"]["version"] == "1.10");
  CHECK(document["added"][0]["version"] == "1");
  CHECK(document["added"][0]["target"] == "debian-13");
  CHECK(document["totals"]["unchanged"] == 1);
  CHECK(document["totals"]["bytes_new"] == 40);
  CHECK(diff_text(diff, true).find("moved\tamd64\tmoved\t1\tdebian -> site\tdebian-13\n") != std::string::npos);
}

TEST_CASE("the same version with other bytes is moved, not equal") {
  PackagesByTarget before = {{"debian-13", {package("x", "1")}}};
  PackagesByTarget after = before;
  after["debian-13"][0].sha256 = sha256_of("rebuilt");
  const PackageDiff diff = compare_packages(before, after);
  REQUIRE(diff.moved.size() == 1);
  CHECK(diff_text(diff, false) == "x\tamd64\tmoved\t1\tother bytes\n");
}

TEST_CASE("a target that only one side has makes all of its packages added or removed") {
  const PackagesByTarget one = {{"debian-13", {package("x", "1")}}};
  PackagesByTarget two = one;
  two["debian-12"] = {package("x", "1")};
  const PackageDiff more = compare_packages(one, two);
  CHECK(more.added.size() == 1);
  CHECK(more.added[0].target == "debian-12");
  CHECK(more.bytes_new == 0);
  CHECK(compare_packages(two, one).removed.size() == 1);
  two["debian-12"].clear();
  CHECK_FALSE(compare_packages(one, two).equal);
}
