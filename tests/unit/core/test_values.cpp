#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

using namespace rocm_offline;

TEST_CASE("SHA-256 gives the known vectors of FIPS 180-4", "[core]") {
  CHECK(sha256_of("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 streamed;
  for (int i = 0; i < 1000; ++i) {
    streamed.update(std::string(1000, 'a'));
  }
  CHECK(streamed.finish().hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a digest is read from exactly 64 hex digits", "[core]") {
  const std::string hex = sha256_of("abc").hex();
  CHECK(Sha256Digest::from_hex(hex) == sha256_of("abc"));
  std::string upper = hex;
  upper[0] = 'B';
  CHECK(Sha256Digest::from_hex(upper) == sha256_of("abc"));
  for (const std::string& bad : {std::string(), hex.substr(1), hex + "0", "g" + hex.substr(1), " " + hex.substr(1)}) {
    CHECK_FALSE(Sha256Digest::from_hex(bad).has_value());
  }
}

TEST_CASE("every code has a name of its own", "[core]") {
  std::set<std::string_view> names;
  for (const ErrorCode code : all_error_codes()) {
    names.insert(error_code_name(code));
  }
  CHECK(names.size() == all_error_codes().size());
  CHECK(names.size() == static_cast<std::size_t>(ErrorCode::cancelled) + 1);
}

TEST_CASE("context frames are added at the end, the outermost last", "[core]") {
  CHECK(in_context(in_context({}, "inner"), "outer").context == std::vector<std::string>{"inner", "outer"});
}

TEST_CASE("an error has the JSON form of the command line page", "[core]") {
  Error error{.code = ErrorCode::digest_mismatch,
              .stage = Stage::fetch,
              .message = "m",
              .reason = "r",
              .context = {"a", "b"},
              .details = {{"actual", "1"}},
              .help = "h"};
  CHECK(
      to_json(error).dump() ==
      R"({"code":"digest_mismatch","context":["a","b"],"details":{"actual":"1"},"help":"h","message":"m","reason":"r","stage":"fetch"})");
  error.code = ErrorCode::unsolvable;
  CHECK(to_json(error)["problems"] == nlohmann::json::array());
}

TEST_CASE("a package record has every key, null where the size is unknown", "[core]") {
  PackageRecord record;
  record.id = {"a", "1", "amd64"};
  record.repository = "debian";
  record.filename = "pool/a.deb";
  record.size = 7;
  record.sha256 = sha256_of("");
  CHECK(to_json(record).dump() ==
        R"({"arch":"amd64","filename":"pool/a.deb","installed_size":null,"name":"a",)"
        R"("reason":{"by":"","kind":"requested","relation":""},"repository":"debian",)"
        R"("sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":7,"version":"1"})");
}

TEST_CASE("hostile JSON is refused without an exception", "[core]") {
  const auto parsed = [](const std::string& text) {
    return parse_json(Stage::verify, ErrorCode::bundle_damaged, "manifest", text);
  };
  CHECK(parsed("{\"a\":[1]}").has_value());
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("{} x"), std::string("\"\xff\""), std::string(100000, '[')}) {
    const auto refused = parsed(bad);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::bundle_damaged);
    CHECK(refused.error().message.starts_with("manifest"));
  }
}

TEST_CASE("event names are unique and follow the grammar", "[core]") {
  std::set<std::string_view> seen;
  for (const EventName& event : event_names()) {
    INFO(event.name);
    CHECK(seen.insert(event.name).second);
    CHECK(std::count(event.name.begin(), event.name.end(), '.') == 2);
    CHECK(is_event_name(event.name));
    CHECK_FALSE(event.meaning.empty());
  }
  CHECK_FALSE(is_event_name("repos.release"));
  CHECK(event_stage("repos.release.verified") == "repos");
}
