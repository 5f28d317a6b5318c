#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>

#include "generated_documents.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/posix.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

const fs::path source_dir = ROCM_OFFLINE_SOURCE_DIR;

std::string content(const fs::path& path) {
  const auto text = read_file(Stage::logs, path, 4U << 20U);
  return text ? *text : std::string();
}

}  // namespace

TEST_CASE("the generated pages of docs are up to date", "[docs]") {
  const char* accept = std::getenv("ROCM_OFFLINE_ACCEPT");
  for (const auto& document : docs::generated_documents()) {
    const std::string committed = content(source_dir / document.path);
    if (accept != nullptr && std::string_view(accept) == "1" && committed != document.content) {
      REQUIRE(write_file_atomically(Stage::logs, source_dir / document.path, document.content).has_value());
      FAIL_CHECK(document.path << " was rewritten: look at the difference and run the test again");
      continue;
    }
    INFO(document.path << " is old: run with ROCM_OFFLINE_ACCEPT=1");
    CHECK(committed == document.content);
  }
}

TEST_CASE("every event name in the sources is in the table", "[docs]") {
  const std::regex literal("\"((check|plan|repos|resolve|fetch|bundle|install|verify|logs|ui)\\.[a-z_]+\\.[a-z_]+)\"");
  std::size_t found = 0;
  for (const char* folder : {"src", "logs", "ui", "distros", "repos"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_dir / folder)) {
      const bool source = entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp";
      if (!source || entry.path().filename() == "event_names.cpp") {
        continue;
      }
      const std::string text = content(entry.path());
      for (auto match = std::sregex_iterator(text.begin(), text.end(), literal); match != std::sregex_iterator();
           ++match) {
        ++found;
        INFO(entry.path().string() << ": " << (*match)[1].str());
        CHECK(is_event_name((*match)[1].str()));
      }
    }
  }
  CHECK(found > 20);
}

TEST_CASE("each status of the exit status page is the one that codes are known for", "[docs]") {
  const std::string page = content(source_dir / "docs/exit-status.md");
  for (const char* row :
       {"| 1 | `internal` |\n", "| 6 | `bundle_damaged` |\n", "| 7 | `native_tool_failed` |\n", "| 8 | `no_space` |\n",
        "| 4 | `unsolvable`, `unknown_package`, `plan_differs` |\n",
        "| 5 | `transfer_failed`, `http_status`, `transfer_stalled`, `short_body` |\n", "| 130 | `cancelled` |\n",
        "| 3 | `target_unsupported`, `wrong_target`, `not_root`, `native_tool_locked`, `native_tool_broken`, "
        "`other_release_present`, `check_failed`, `not_installed` |\n",
        "| 2 | `usage`, `config_invalid`, `catalog_invalid`, `profile_invalid`, `unknown_target`, `unknown_release`, "
        "`unknown_usecase`, `unknown_repository`, `file_missing`, `output_busy`, `io_error` |\n",
        "| 9 | `signature_invalid`, `key_unknown`, `key_expired`, `metadata_expired`, `metadata_rollback`, "
        "`metadata_invalid`, `digest_missing`, `digest_mismatch`, `size_mismatch`, `web_page` |\n"}) {
    INFO(row);
    CHECK(page.find(row) != std::string::npos);
  }
}
