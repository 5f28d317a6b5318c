#include <catch2/catch.hpp>

#include "rocm_offline/core/posix.hpp"
#include "signature.hpp"
#include "support/deb_repository/deb_repository.hpp"

using namespace rocm_offline;
using index::SignatureRequest;
using index::SignatureVerifier;

namespace {

struct Fixture {
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-signature-").value();
  test::SigningKey key;
  std::string signed_text = key.clearsign("Suite: trixie\n- dashed\n");
  std::vector<Keyring> keyrings = {{.name = "test.asc", .data = key.public_key(), .fingerprints = {key.fingerprint()}}};
  SignatureRequest request{keyrings, "InRelease", "debian"};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the text is the signed part, with dashes undone", "[index]") {
  SignatureVerifier verifier(folder.path(), SystemClock().now());
  const auto text = verifier.verify_clearsigned(signed_text, request);
  REQUIRE(text);
  CHECK(text->text == "Suite: trixie\n- dashed\n");
  CHECK(text->signed_by == std::vector<std::string>{key.fingerprint()});
}

TEST_CASE_METHOD(Fixture, "the private home is gone afterwards, and open to nobody else before", "[index]") {
  {
    SignatureVerifier verifier(folder.path(), SystemClock().now());
    REQUIRE(verifier.verify_clearsigned(signed_text, request));
    REQUIRE_FALSE(std::filesystem::is_empty(folder.path()));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      CHECK((entry.status().permissions() & std::filesystem::perms::mask) == std::filesystem::perms::owner_all);
      CHECK_FALSE(std::filesystem::exists(entry.path() / "S.gpg-agent"));
    }
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE_METHOD(Fixture, "keys of one repository do not speak for another", "[index]") {
  SignatureVerifier verifier(folder.path(), SystemClock().now());
  const test::SigningKey other;
  const std::vector<Keyring> others = {{.name = "other.asc", .data = other.public_key(), .fingerprints = {}}};
  REQUIRE(verifier.verify_clearsigned(signed_text, request));
  const auto text = verifier.verify_clearsigned(signed_text, {others, "InRelease", "rocm"});
  REQUIRE_FALSE(text);
  CHECK(text.error().code == ErrorCode::key_unknown);
}

TEST_CASE_METHOD(Fixture, "a machine without gpg is told what to install", "[index]") {
  SignatureVerifier verifier(folder.path(), SystemClock().now(), "/nonexistent/gpg");
  const auto text = verifier.verify_clearsigned(signed_text, request);
  REQUIRE_FALSE(text);
  CHECK(text.error().code == ErrorCode::check_failed);
  CHECK(text.error().help.find("gnupg") != std::string::npos);
}

TEST_CASE_METHOD(Fixture, "a detached signature of another text is refused", "[index]") {
  SignatureVerifier verifier(folder.path(), SystemClock().now());
  const std::string signature = key.detached_signature("Suite: trixie\n");
  CHECK(verifier.verify_detached("Suite: trixie\n", signature, request));
  const auto other = verifier.verify_detached("Suite: sid\n", signature, request);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::signature_invalid);
  CHECK_FALSE(verifier.verify_detached("Suite: trixie\n", "no signature", request).has_value());
}

TEST_CASE("a key that has expired by our clock is refused, whatever the machine's says", "[index]") {
  const auto folder = TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-signature-").value();
  const test::SigningKey key(test::KeyKind::expired);  // of 2020-01-01, for one day
  const std::string text = key.clearsign("Suite: trixie\n");
  const std::vector<Keyring> keyrings = {{.name = "a.asc", .data = key.public_key(), .fingerprints = {}}};
  const SignatureRequest request{keyrings, "InRelease", "debian"};
  constexpr UnixTime kNoonOfThatDay = 1577880000;
  CHECK(SignatureVerifier(folder.path(), kNoonOfThatDay).verify_clearsigned(text, request).has_value());
  const auto late = SignatureVerifier(folder.path(), kNoonOfThatDay + 86400).verify_clearsigned(text, request);
  REQUIRE_FALSE(late);
  CHECK(late.error().code == ErrorCode::key_expired);
  // A clock that is behind makes no signature wrong: the Release's date tells of it.
  CHECK(SignatureVerifier(folder.path(), kNoonOfThatDay - 20 * 365 * 86400LL).verify_clearsigned(text, request));
}

TEST_CASE("a revoked key is refused as such", "[index]") {
  const auto folder = TemporaryDirectory::create(Stage::repos, "/tmp", "rocm-test-signature-").value();
  const test::SigningKey key(test::KeyKind::revoked);
  const std::vector<Keyring> keyrings = {{.name = "a.asc", .data = key.public_key(), .fingerprints = {}}};
  SignatureVerifier verifier(folder.path(), SystemClock().now());
  const auto text = verifier.verify_clearsigned(key.clearsign("Suite: trixie\n"), {keyrings, "InRelease", "debian"});
  REQUIRE_FALSE(text);
  CHECK(text.error().code == ErrorCode::key_expired);
  CHECK(text.error().reason.find("revoked") != std::string::npos);
}
