// What every failed `create` must keep to, as Catch2 checks.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "support/creator_run/creator_run.hpp"

namespace rocm_offline::test {

inline std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) {
    ++count;
  }
  return count;
}

inline bool contains(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

// Exit status, code, the server's address in the words and in the JSON document, help, nothing usable left.
inline void check_failed(CreatorRun& scene, const CreatorResult& result, int status, const std::string& code,
                         const std::string& address) {
  CAPTURE(result.err);
  CAPTURE(result.out);
  REQUIRE(result.exit_code == status);
  const auto error = result.error();
  CHECK(error["code"] == code);
  CHECK_FALSE(error["help"].get<std::string>().empty());
  CHECK(contains(error["details"].dump(), address));
  CHECK(contains(result.error_text(), address));
  CHECK(contains(result.error_text(), "help: "));
  CHECK(scene.usable_leftovers().empty());
  CHECK(contains(scene.logs("log"), address));
  CHECK(contains(scene.logs("jsonl"), code));
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A run whose right file is known, its packages not in any cache.
struct KnownCreatorRun : CreatorRun {
  KnownCreatorRun() {
    build();
    const auto made = create();
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    right = bytes_of(output);
    remove_output();
    server.forget_requests();
  }
  void remove_output() const {
    std::filesystem::remove(output);
    std::filesystem::remove(output.string() + ".sha256");
  }
  // After a failure and with the server mended the same command gives the right file.
  void check_mends() {
    server.clear_faults();
    server.forget_requests();
    const auto made = create();
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(bytes_of(output) == right);
  }
  std::string right;
};

}  // namespace rocm_offline::test
