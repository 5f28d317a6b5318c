#include <catch2/catch.hpp>
#include <string>

#include "rocm_offline/archive/archive.hpp"
#include "support/deb_repository/compress.hpp"

using namespace rocm_offline;

TEST_CASE("every compression that a repository may use gives the same bytes back", "[archive]") {
  const std::string text = "Package: hipcc\nVersion: 5.7.1-3\n" + std::string(100000, 'a');
  for (const char* how : {"xz", "gz", "zst", "bz2", ""}) {
    CAPTURE(how);
    const auto plain = archive::decompress(test::compress(text, how), text.size());
    REQUIRE(plain);
    CHECK(*plain == text);
  }
}

TEST_CASE("empty data, and compressed nothing, are an empty text", "[archive]") {
  for (const char* how : {"xz", "gz", "zst", "bz2", ""}) {
    CAPTURE(how);
    const auto plain = archive::decompress(test::compress("", how), 100);
    REQUIRE(plain);
    CHECK(plain->empty());
  }
}

TEST_CASE("a compression bomb is refused at the cap", "[archive]") {
  const std::string bomb = test::compress(std::string(4U << 20U, '\0'), "xz");
  REQUIRE(bomb.size() < 8192);
  const auto plain = archive::decompress(bomb, 1U << 20U);
  REQUIRE_FALSE(plain);
  CHECK(plain.error().code == ErrorCode::metadata_invalid);
  CHECK(plain.error().reason == "more than 1048576 bytes");
  CHECK(exit_status(plain.error().code) == 9);
}

TEST_CASE("one byte over the cap is refused, the cap itself is not", "[archive]") {
  const std::string packed = test::compress(std::string(1000, 'x'), "gz");
  CHECK(archive::decompress(packed, 1000).has_value());
  CHECK_FALSE(archive::decompress(packed, 999).has_value());
}

TEST_CASE("truncated and damaged data is an error, not a shorter text", "[archive]") {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += std::to_string(i * 7919) + "\n";
  }
  for (const char* how : {"xz", "gz", "zst", "bz2"}) {
    CAPTURE(how);
    const std::string packed = test::compress(text, how);
    const auto cut = archive::decompress(std::string_view(packed).substr(0, packed.size() / 2), text.size());
    CHECK_FALSE(cut.has_value());
  }
}
