#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "packages_reader.hpp"

using namespace rocm_offline;
using namespace rocm_offline::index;

namespace {

const std::string kDigest(64, 'a');
const std::string kOtherDigest(64, 'b');

std::string stanza(const std::string& name, const std::string& more = "", const std::string& digest = kDigest) {
  return "Package: " + name + "\nVersion: 1.0\nArchitecture: amd64\n" + more + "Filename: pool/" + name +
         ".deb\nSize: 1000\nSHA256: " + digest + "\n";
}

struct Read {
  std::unique_ptr<std::string> text;  // what the views of `packages` point into
  std::vector<DebPackage> packages;
  std::size_t duplicates = 0;
  std::optional<Error> error;
};

Read read(std::string text) {
  Read result;
  result.text = std::make_unique<std::string>(std::move(text));
  PackagesReader reader("amd64");
  const auto added = reader.add(*result.text, "Packages");
  if (!added) {
    result.error = added.error();
  }
  result.duplicates = reader.duplicates().size();
  result.packages = reader.take_packages();
  return result;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("stanzas become packages with their fields", "[index]") {
  const std::string text =
      "\n" +
      stanza("hipcc",
             "Depends: libc6 (>= 2.38),\n perl\nMULTI-ARCH: foreign\nInstalled-Size: 10\nEssential: yes\n"
             "Description: a\n .\n Package: not a field\n") +
      "\n\n" + stanza("rocminfo");
  const Read result = read(text);
  REQUIRE_FALSE(result.error);
  REQUIRE(result.packages.size() == 2);
  const DebPackage& hipcc = result.packages[0];
  CHECK(hipcc.name == "hipcc");
  CHECK(hipcc.version == "1.0");
  CHECK(hipcc.depends == "libc6 (>= 2.38),\n perl");
  CHECK(hipcc.multi_arch == "foreign");
  CHECK(hipcc.installed_size == 10240);
  CHECK(hipcc.essential);
  CHECK(hipcc.size == 1000);
  CHECK(hipcc.sha256.hex() == kDigest);
  CHECK(hipcc.filename == "pool/hipcc.deb");
  CHECK(hipcc.stanza.substr(0, 14) == "Package: hipcc");
  CHECK(hipcc.stanza.substr(hipcc.stanza.size() - 4) == "aaaa");
  CHECK(result.packages[1].name == "rocminfo");
  CHECK(result.packages[1].installed_size == 0);
}

TEST_CASE("an empty index has no packages and is no error", "[index]") {
  for (const char* text : {"", "\n", "\n\n\n"}) {
    const Read result = read(text);
    CHECK_FALSE(result.error);
    CHECK(result.packages.empty());
  }
}

TEST_CASE("packages of other architectures are left out, those of all are kept", "[index]") {
  const Read result = read(replaced(stanza("a"), "amd64", "i386") + "\n" + replaced(stanza("b"), "amd64", "all"));
  REQUIRE(result.packages.size() == 1);
  CHECK(result.packages[0].name == "b");
}

TEST_CASE("the same package twice counts once, and a twin with other bytes is told", "[index]") {
  CHECK(read(stanza("a") + "\n" + stanza("a")).duplicates == 0);
  const Read result = read(stanza("a") + "\n" + stanza("a", "", kOtherDigest));
  REQUIRE(result.packages.size() == 1);
  CHECK(result.packages[0].sha256.hex() == kDigest);
  CHECK(result.duplicates == 1);
}

TEST_CASE("hostile stanzas are refused with stanza and field", "[index]") {
  struct Case {
    std::string from, to, field;
    ErrorCode code = ErrorCode::metadata_invalid;
  };
  const std::vector<Case> cases = {
      {"Package: evil", "Package: ../evil", "Package"},
      {"Package: evil", "Package: -evil", "Package"},
      {"Package: evil", "Package: ev il", "Package"},
      {"Package: evil\n", "", "Package"},
      {"Version: 1.0", "Version: 1.0;rm", "Version"},
      {"Version: 1.0", "Version:", "Version"},
      {"Architecture: amd64", "Architecture: ../amd64", "Architecture"},
      {"pool/evil.deb", "../../etc/passwd", "Filename"},
      {"pool/evil.deb", "/etc/passwd", "Filename"},
      {"pool/evil.deb", "pool/../../x", "Filename"},
      {"pool/evil.deb", "pool\\x", "Filename"},
      {"Filename: pool/evil.deb\n", "", "Filename"},
      {"Size: 1000", "Size: 0", "Size"},
      {"Size: 1000", "Size: -1", "Size"},
      {"Size: 1000", "Size: 99999999999999999999999", "Size"},
      {"Size: 1000", "Size: 9223372036854775808", "Size"},
      {"Size: 1000", "Size: 1000 000", "Size"},
      {"SHA256: " + kDigest, "MD5sum: 0123", "SHA256", ErrorCode::digest_missing},
      {"SHA256: " + kDigest, "SHA256: abc", "SHA256"},
      {"Version: 1.0", "Version: 1.0\nVersion: 2.0", "Version"},
      {"Version: 1.0", "Version: 1.0\nno field at all", "(unknown)"},
      {"Version: 1.0", "Version: 1.0\n: empty", "(unknown)"},
  };
  for (const Case& hostile : cases) {
    CAPTURE(hostile.to);
    const Read result = read(stanza("good") + "\n" + replaced(stanza("evil"), hostile.from, hostile.to));
    REQUIRE(result.error);
    CHECK(result.error->code == hostile.code);
    CHECK(result.error->details.at("stanza") == "2");
    CHECK(result.error->details.at("field") == hostile.field);
    CHECK(exit_status(result.error->code) == 9);
    CHECK_FALSE(result.error->help.empty());
  }
}

TEST_CASE("control characters and CR LF are refused, naming the stanza", "[index]") {
  const Read nul = read(stanza("good") + "\n" + stanza("evil", std::string("Depends: a\0b\n", 13)));
  REQUIRE(nul.error);
  CHECK(nul.error->details.at("stanza") == "2");
  const Read crlf = read("Package: a\r\nVersion: 1\r\n");
  REQUIRE(crlf.error);
  CHECK(crlf.error->reason.find("CR LF") != std::string::npos);
}

TEST_CASE("a large index, read by several threads, gives what a small one would", "[index]") {
  std::string text;
  std::vector<std::string> names;
  while (text.size() < 5U << 20U) {
    names.push_back("p" + std::to_string(names.size()));
    text +=
        stanza(names.back(), "Description: " + std::string(names.size() % 900, 'd') + "\n folded\n  lines\n") + "\n";
  }
  const Read whole = read(text);
  REQUIRE_FALSE(whole.error);
  REQUIRE(whole.packages.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    REQUIRE(whole.packages[i].name == names[i]);
  }
  // A twin at the other end is found, and a broken stanza told by its number in the file.
  CHECK(read(text + replaced(stanza("p0"), kDigest, std::string(64, 'b'))).duplicates == 1);
  const Read broken = read(text + replaced(stanza("evil"), "Size: 1000", "Size: x") + "\n" + stanza("last"));
  REQUIRE(broken.error);
  CHECK(broken.error->details.at("stanza") == std::to_string(names.size() + 1));
}

TEST_CASE("an oversized stanza is refused", "[index]") {
  const Read result = read(stanza("a", "Depends: " + std::string(2U << 20U, 'x') + "\n"));
  REQUIRE(result.error);
  CHECK(result.error->reason.find("larger than 1 MiB") != std::string::npos);
}

TEST_CASE("names as real repositories have them are accepted", "[index]") {
  std::string text = replaced(stanza("libstdc++6"), "Version: 1.0", "Version: 2:1.0~rc1+dfsg-1.1+deb13u1~bpo12");
  text += "\n" + stanza("MIVisionX6.2.0") + "\n" + replaced(stanza("hsa_rocr"), "pool/", "./pool/");
  text += "\n" + stanza("odd", "Installed-Size: 18446744073709551615\n");
  const Read result = read(text);
  REQUIRE_FALSE(result.error);
  REQUIRE(result.packages.size() == 4);
  CHECK(result.packages[2].filename == "pool/hsa_rocr.deb");
  CHECK(result.packages[3].installed_size == 0);
}
