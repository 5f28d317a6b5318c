#include "rocm_offline/core/error.hpp"

#include <array>
#include <utility>

namespace rocm_offline {

namespace {

struct CodeRow {
  ErrorCode code;
  std::string_view name;
  int status;
};

// The one table: code -> name in JSON, exit status of cli.md.
constexpr std::array code_rows = {
    CodeRow{ErrorCode::internal, "internal", 1},
    CodeRow{ErrorCode::usage, "usage", 2},
    CodeRow{ErrorCode::config_invalid, "config_invalid", 2},
    CodeRow{ErrorCode::catalog_invalid, "catalog_invalid", 2},
    CodeRow{ErrorCode::profile_invalid, "profile_invalid", 2},
    CodeRow{ErrorCode::unknown_target, "unknown_target", 2},
    CodeRow{ErrorCode::unknown_release, "unknown_release", 2},
    CodeRow{ErrorCode::unknown_usecase, "unknown_usecase", 2},
    CodeRow{ErrorCode::unknown_repository, "unknown_repository", 2},
    CodeRow{ErrorCode::file_missing, "file_missing", 2},
    CodeRow{ErrorCode::output_busy, "output_busy", 2},
    CodeRow{ErrorCode::io_error, "io_error", 2},
    CodeRow{ErrorCode::target_unsupported, "target_unsupported", 3},
    CodeRow{ErrorCode::wrong_target, "wrong_target", 3},
    CodeRow{ErrorCode::not_root, "not_root", 3},
    CodeRow{ErrorCode::native_tool_locked, "native_tool_locked", 3},
    CodeRow{ErrorCode::native_tool_broken, "native_tool_broken", 3},
    CodeRow{ErrorCode::other_release_present, "other_release_present", 3},
    CodeRow{ErrorCode::check_failed, "check_failed", 3},
    CodeRow{ErrorCode::not_installed, "not_installed", 3},
    CodeRow{ErrorCode::unsolvable, "unsolvable", 4},
    CodeRow{ErrorCode::unknown_package, "unknown_package", 4},
    CodeRow{ErrorCode::plan_differs, "plan_differs", 4},
    CodeRow{ErrorCode::transfer_failed, "transfer_failed", 5},
    CodeRow{ErrorCode::http_status, "http_status", 5},
    CodeRow{ErrorCode::transfer_stalled, "transfer_stalled", 5},
    CodeRow{ErrorCode::short_body, "short_body", 5},
    CodeRow{ErrorCode::bundle_damaged, "bundle_damaged", 6},
    CodeRow{ErrorCode::native_tool_failed, "native_tool_failed", 7},
    CodeRow{ErrorCode::no_space, "no_space", 8},
    CodeRow{ErrorCode::signature_invalid, "signature_invalid", 9},
    CodeRow{ErrorCode::key_unknown, "key_unknown", 9},
    CodeRow{ErrorCode::key_expired, "key_expired", 9},
    CodeRow{ErrorCode::metadata_expired, "metadata_expired", 9},
    CodeRow{ErrorCode::metadata_rollback, "metadata_rollback", 9},
    CodeRow{ErrorCode::metadata_invalid, "metadata_invalid", 9},
    CodeRow{ErrorCode::digest_missing, "digest_missing", 9},
    CodeRow{ErrorCode::digest_mismatch, "digest_mismatch", 9},
    CodeRow{ErrorCode::size_mismatch, "size_mismatch", 9},
    CodeRow{ErrorCode::web_page, "web_page", 9},
    CodeRow{ErrorCode::cancelled, "cancelled", 130},
};

// Rows stand in the order of the enumeration, so that a lookup is an index and a missing row does not compile.
static_assert(code_rows.size() == static_cast<std::size_t>(ErrorCode::cancelled) + 1);
static_assert([] {
  for (std::size_t i = 0; i < code_rows.size(); ++i) {
    if (static_cast<std::size_t>(code_rows[i].code) != i) {
      return false;
    }
  }
  return true;
}());

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  return code_rows.at(static_cast<std::size_t>(code)).name;
}

int exit_status(ErrorCode code) {
  return code_rows.at(static_cast<std::size_t>(code)).status;
}

const std::vector<ErrorCode>& all_error_codes() {
  static const std::vector<ErrorCode> codes = [] {
    std::vector<ErrorCode> all;
    for (const CodeRow& row : code_rows) {
      all.push_back(row.code);
    }
    return all;
  }();
  return codes;
}

Error in_context(Error error, std::string frame) {
  error.context.push_back(std::move(frame));
  return error;
}

std::string_view stage_name(Stage stage) {
  static constexpr std::array<std::string_view, 10> names = {"check",  "plan",    "repos",  "resolve", "fetch",
                                                             "bundle", "install", "verify", "logs",    "ui"};
  return names.at(static_cast<std::size_t>(stage));
}

}  // namespace rocm_offline
