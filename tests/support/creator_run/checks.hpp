// What every failed `create` must keep to, as Catch2 checks.
#pragma once

#include <catch2/catch.hpp>
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

}  // namespace rocm_offline::test
