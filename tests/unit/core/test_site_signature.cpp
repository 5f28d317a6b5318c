#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/site_signature.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

// RFC 8032, 7.1, test 2, as PKCS #8 and SPKI.
constexpr const char* private_pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* public_hex = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
constexpr const char* signature_hex =
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

struct Folder {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::plan, fs::temp_directory_path(), "site-signature").value();
  fs::path write(const std::string& name, const std::string& content, mode_t mode = 0600) const {
    const fs::path path = directory.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
  }
  // openssl(1) writes the keys that people have.
  fs::path openssl(const std::string& name, std::vector<std::string> arguments) const {
    const fs::path path = directory.path() / name;
    arguments.insert(arguments.begin(), "openssl");
    arguments.insert(arguments.end(), {"-out", path.string()});
    PosixProcessRunner processes;
    const auto outcome = processes.run({.argv = arguments});
    REQUIRE(outcome);
    INFO(outcome->output);
    REQUIRE(outcome->exit_code == 0);
    return path;
  }
};

std::string hex_of(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 15U];
  }
  return text;
}

}  // namespace

TEST_CASE("the vector of RFC 8032 is signed as it says, every time") {
  const Folder folder;
  const auto key = SiteSigningKey::read(Stage::plan, folder.write("key.pem", private_pem));
  REQUIRE(key);
  CHECK(key->public_key().hex() == public_hex);
  CHECK(hex_of(key->sign("\x72")) == signature_hex);
  CHECK(key->sign("a manifest") == key->sign("a manifest"));
  CHECK(key->sign("") != key->sign("a manifest"));
}

TEST_CASE("a signature fits its text and its key only") {
  const Folder folder;
  const auto key = SiteSigningKey::read(Stage::plan, folder.write("key.pem", private_pem)).value();
  const std::string text = "{\"schema\": 1}\n";
  const std::string signature = key.sign(text);
  REQUIRE(signature.size() == site_signature_size);
  CHECK(site_signature_fits(key.public_key(), text, signature));
  CHECK_FALSE(site_signature_fits(key.public_key(), text + " ", signature));
  CHECK_FALSE(site_signature_fits(key.public_key(), text, signature.substr(1)));
  CHECK_FALSE(site_signature_fits(key.public_key(), text, ""));
  CHECK_FALSE(site_signature_fits(SitePublicKey{}, text, signature));
  // Each bit counts: verify relies on it, because the signature is the one part that cannot be regenerated.
  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    std::string changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    INFO("bit " << bit);
    CHECK_FALSE(site_signature_fits(key.public_key(), text, changed));
  }
}

TEST_CASE("a public key is read from the form that openssl writes") {
  const Folder folder;
  const fs::path private_key = folder.openssl("key.pem", {"genpkey", "-algorithm", "ed25519"});
  const fs::path public_key = folder.openssl("key.pub", {"pkey", "-in", private_key.string(), "-pubout"});
  const auto key = SiteSigningKey::read(Stage::plan, private_key);
  const auto read = SitePublicKey::read(Stage::verify, public_key);
  REQUIRE(key);
  REQUIRE(read);
  CHECK(*read == key->public_key());
  CHECK(SitePublicKey::from_hex(read->hex()) == *read);
  CHECK_FALSE(SitePublicKey::from_hex(read->hex().substr(1)));
  CHECK_FALSE(SitePublicKey::from_hex(std::string(64, 'G')));
}

TEST_CASE("keys that cannot sign are refused, each with its reason") {
  const Folder folder;
  const fs::path plain = folder.write("plain.pem", private_pem);
  const auto refusal = [](const Result<SiteSigningKey>& key) {
    REQUIRE_FALSE(key);
    CHECK(exit_status(key.error().code) == 2);
    CHECK_FALSE(key.error().help.empty());
    return key.error().reason;
  };
  const auto reason = [&](const fs::path& path) { return refusal(SiteSigningKey::read(Stage::plan, path)); };
  const fs::path encrypted =
      folder.openssl("encrypted.pem", {"pkey", "-in", plain.string(), "-aes-256-cbc", "-passout", "pass:secret words"});
  CHECK(reason(encrypted).find("passphrase") != std::string::npos);
  CHECK(reason(folder.openssl("rsa.pem", {"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"})) ==
        "its key is of type rsaEncryption, not Ed25519");
  CHECK(reason(folder.openssl("ed448.pem", {"genpkey", "-algorithm", "ED448"})) ==
        "its key is of type ED448, not Ed25519");
  CHECK(reason(folder.openssl("public.pem", {"pkey", "-in", plain.string(), "-pubout"})) ==
        "it holds a public key; signing needs the private one");
  CHECK(reason(folder.write("empty.pem", "")) == "it holds no private key in PEM form");
  CHECK(reason(folder.write("cut.pem", std::string(private_pem).substr(0, 60))) ==
        "it holds no private key in PEM form");
  CHECK(SiteSigningKey::read(Stage::plan, folder.directory.path() / "none.pem").error().code ==
        ErrorCode::file_missing);
  CHECK(exit_status(SiteSigningKey::read(Stage::plan, folder.write("big.pem", std::string(70000, 'x'))).error().code) ==
        2);
  const auto wrong = SitePublicKey::read(Stage::verify, plain);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().reason == "it holds a private key; only the public one is needed here");
  CHECK(SitePublicKey::read(Stage::verify, folder.directory.path() / "none.pub").error().code ==
        ErrorCode::file_missing);
}

TEST_CASE("a key file that others can read is noticed") {
  const Folder folder;
  const auto exposed = [&](const char* name, mode_t mode) {
    return SiteSigningKey::read(Stage::plan, folder.write(name, private_pem, mode)).value().readable_by_others();
  };
  CHECK_FALSE(exposed("mine.pem", 0600));
  CHECK(exposed("group.pem", 0640));
  CHECK(exposed("all.pem", 0604));
}
