#include <catch2/catch.hpp>
#include <string>

#include "release_file.hpp"
#include "signature.hpp"
#include "verified_repository.hpp"

using namespace rocm_offline;
using namespace rocm_offline::index;

namespace {
const std::string kDigest(64, 'a');
const std::string kHead =
    "Origin: Debian\nSuite: stable-updates\nCodename: trixie-updates\nDate: Sat, 21 Nov 2026 09:15:44 UTC\n"
    "Valid-Until: Sat, 28 Nov 2026 09:15:44 UTC\nAcquire-By-Hash: yes\nArchitectures: all amd64 arm64\n"
    "Components: main contrib\n";
const std::string kFiles = "MD5Sum:\n abc 1 x\nSHA256:\n " + kDigest + "   100 main/binary-amd64/Packages\n";
}  // namespace

TEST_CASE("a Release is read with its dates, words and SHA-256 section", "[index]") {
  const auto release = parse_release(kHead + kFiles);
  REQUIRE(release);
  CHECK(release->suite == "stable-updates");
  CHECK(release->codename == "trixie-updates");
  CHECK(release->date == 1795252544);
  CHECK(release->valid_until == 1795857344);
  CHECK(release->acquire_by_hash);
  CHECK(release->components == std::vector<std::string>{"main", "contrib"});
  CHECK_FALSE(release->packages_hold_arch_all);
  REQUIRE(release->files.size() == 1);
  CHECK(release->files.at("main/binary-amd64/Packages").size == 100);
}

TEST_CASE("a Release with CR LF line ends reads the same", "[index]") {
  std::string text;
  for (const char c : kHead + kFiles) {
    text += c == '\n' ? "\r\n" : std::string(1, c);
  }
  const auto release = parse_release(text);
  REQUIRE(release);
  CHECK(release->suite == "stable-updates");
  CHECK(release->files.size() == 1);
}

TEST_CASE("packages of all stand in the index of each architecture where Release says so", "[index]") {
  const auto release = parse_release(kHead + "No-Support-for-Architecture-all: Packages\n" + kFiles);
  REQUIRE(release);
  CHECK(release->packages_hold_arch_all);
}

TEST_CASE("a Release without SHA-256 digests is not enough", "[index]") {
  const auto release = parse_release(kHead + "MD5Sum:\n abc 1 main/binary-amd64/Packages\nSHA1:\n abc 1 x\n");
  REQUIRE_FALSE(release);
  CHECK(release.error().code == ErrorCode::digest_missing);
}

TEST_CASE("a broken or hostile Release is refused", "[index]") {
  const std::vector<std::string> texts = {
      "",
      "no colon\n",
      " continued first\n" + kHead + kFiles,
      kHead + "Suite: other\n" + kFiles,
      kHead + kFiles + "\nSuite: second stanza\n",
      "Suite: x\n" + kFiles,
      "Date: yesterday\n" + kFiles,
      kHead + "SHA256:\n " + kDigest + " 100 ../../etc/passwd\n",
      kHead + "SHA256:\n " + kDigest + " 100 /etc/passwd\n",
      kHead + "SHA256:\n " + kDigest + " -1 a\n",
      kHead + "SHA256:\n " + kDigest + " 1 a b\n",
      kHead + "SHA256:\n abc 1 a\n",
      kHead + "SHA256:\n " + kDigest + " 1 a\n " + kDigest + " 2 a\n",
  };
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto release = parse_release(text);
    REQUIRE_FALSE(release);
    CHECK(exit_status(release.error().code) == 9);
  }
}

TEST_CASE("only a file that is one clear-signed message is taken for one", "[index]") {
  const std::string good =
      "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nSuite: a\n- -dashed\n-----BEGIN PGP SIGNATURE-----\n\nabc\n"
      "-----END PGP SIGNATURE-----\n";
  CHECK(is_one_clearsigned_message(good));
  CHECK(unverified_text_of(good) == "Suite: a\n-dashed\n");
  CHECK_FALSE(is_one_clearsigned_message("Suite: evil\n" + good));
  CHECK_FALSE(is_one_clearsigned_message(good + "Suite: evil\n"));
  CHECK_FALSE(is_one_clearsigned_message(good + good));
  CHECK_FALSE(is_one_clearsigned_message("-----BEGIN PGP SIGNED MESSAGE-----\nSuite: a\n"));
  CHECK_FALSE(is_one_clearsigned_message(""));
}

TEST_CASE("names in addresses are percent-encoded", "[index]") {
  CHECK(percent_encoded_path("pool/main/libs/libstdc++6_14.2~rc1_amd64.deb") ==
        "pool/main/libs/libstdc%2b%2b6_14.2~rc1_amd64.deb");
  CHECK(percent_encoded_path("a%3a1 b?c#d") == "a%253a1%20b%3fc%23d");
}
