#include <catch2/catch.hpp>

#include "rocm_offline/core/text.hpp"

using namespace rocm_offline;

TEST_CASE("dates of Release files are read, others are not", "[core]") {
  CHECK(parse_release_date("Sat, 21 Nov 2026 09:15:44 UTC") == UnixTime{1795252544});
  CHECK(parse_release_date("Sat, 21 Nov 2026 09:15:44 +0000") == UnixTime{1795252544});
  CHECK(parse_release_date("Thu, 29 Feb 2024 00:00:00 UTC") == UnixTime{1709164800});
  for (const char* bad : {"", "2026-11-21", "Sat, 21 Nov 2026 09:15:44", "Sat, 21 Nov 2026 09:15:44 +0200",
                          "Sat, 31 Feb 2026 09:15:44 UTC", "Sat, 21 Nov 2026 24:00:00 UTC", "Sat, 0 Nov 2026 1:1:1 UTC",
                          "Sat, 21 Nov 99999999999 09:15:44 UTC", "Sat, 21 Nov 2026 09:15 UTC"}) {
    INFO(bad);
    CHECK_FALSE(parse_release_date(bad).has_value());
  }
}

TEST_CASE("times, sizes and durations are printed as in the documents", "[core]") {
  CHECK(format_time(1796085812) == "2026-12-01T00:43:32Z");
  CHECK(format_time_compact(1796085812) == "20261201T004332Z");
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(999) == "999 B");
  CHECK(format_size(429100000) == "429.1 MB");
  CHECK(counted(1, "file") == "1 file");
  CHECK(counted(0, "file") == "0 files");
  CHECK(format_duration(12) == "12 s");
  CHECK(format_duration(185) == "3 min 05 s");
  CHECK(format_duration(3725) == "1 h 02 min");
}

TEST_CASE("addresses are shown without credentials", "[core]") {
  CHECK(redact_url("https://user:secret@host/x?token=a&b=c") == "https://host/x?token=***&b=***");
  CHECK(redact_url("https://user:p@ss@host") == "https://host");
  CHECK(redact_url("https://host/a@b") == "https://host/a@b");
  CHECK(redact_url("/no/address?x=1") == "/no/address?x=1");
}

TEST_CASE("only harmless relative paths may be joined to a folder", "[core]") {
  for (const char* good : {"a", "pool/main/a_1%3a2.deb", "a..b/..c"}) {
    CHECK(is_safe_relative_path(good));
  }
  for (const std::string& bad : {std::string(), std::string("/a"), std::string("a//b"), std::string("a/"),
                                 std::string("../a"), std::string("a/../b"), std::string("./a"), std::string("a\\b"),
                                 std::string("a\nb"), std::string("a\0b", 3), std::string(4097, 'a')}) {
    INFO(bad.substr(0, 20));
    CHECK_FALSE(is_safe_relative_path(bad));
  }
}

TEST_CASE("near names come nearest first, and strange wishes get none", "[core]") {
  const std::vector<std::string> names = {"debian-12", "debian-13", "ubuntu-24.04"};
  CHECK(near_names("debian-14", names) == std::vector<std::string>{"debian-12", "debian-13"});
  CHECK(near_names("ubuntu", names) == std::vector<std::string>{"ubuntu-24.04"});
  CHECK(near_names("debian", names, 1).size() == 1);
  CHECK(near_names("debian-31", names, 1) == std::vector<std::string>{"debian-13"});  // a swap is one slip
  CHECK(near_names("hpi", {"hip", "rocm", "lrt"}) == std::vector<std::string>{"hip"});
  CHECK(near_names("HIP", {"hip", "rocm", "lrt"}) == std::vector<std::string>{"hip"});
  CHECK(near_names("windows", names).empty());
  CHECK(near_names("", names).empty());
  CHECK(near_names(std::string(1000, 'd'), names).empty());
}

TEST_CASE("text is split, trimmed and joined", "[core]") {
  CHECK(split("a,,b,", ',') == std::vector<std::string>{"a", "", "b", ""});
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \n").empty());
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
  CHECK(first_of({"a", "b"}, 2) == "a, b");
  CHECK(first_of({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(has_control_characters("a\x7f"));
  CHECK_FALSE(has_control_characters("a\u00e9"));
}
