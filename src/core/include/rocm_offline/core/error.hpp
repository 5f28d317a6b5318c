// Errors as values: what failed, why, where, and what to do next.
//
// A stage returns Result<T>. Each layer that passes an error on adds one context frame. One table maps a
// code to the exit status of cli.md (exit_status), one view renders (ui/error_view). Exceptions mean bugs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "rocm_offline/core/stage.hpp"

namespace rocm_offline {

// What went wrong. The names (error_code_name) are part of the JSON interface: add, never rename.
enum class ErrorCode {
  internal,              // a bug of ours                                      -> 1
  usage,                 // command line                                       -> 2
  config_invalid,        // --config, lock file, catalogue.d                    -> 2
  catalog_invalid,       // catalogue file does not fit its schema             -> 2
  profile_invalid,       //                                                    -> 2
  unknown_target,        //                                                    -> 2
  unknown_release,       //                                                    -> 2
  unknown_usecase,       //                                                    -> 2
  unknown_repository,    // name given to --mirror, --keyring, --allow-*       -> 2
  file_missing,          // a file named by the user                           -> 2
  output_busy,           // another create holds the output                    -> 2
  io_error,              // reading or writing failed, not for lack of space   -> 2
  target_unsupported,    // target not supported by the release                -> 3
  wrong_target,          // the bundle does not fit this machine               -> 3
  not_root,              //                                                    -> 3
  native_tool_locked,    //                                                    -> 3
  native_tool_broken,    // half-configured packages before we began           -> 3
  other_release_present, //                                                    -> 3
  check_failed,          // any other check that refuses                       -> 3
  not_installed,         // status, uninstall: no receipt of this bundle       -> 3
  unsolvable,            //                                                    -> 4
  unknown_package,       //                                                    -> 4
  plan_differs,          // simulation or lock differs; removals or downgrades -> 4
  transfer_failed,       // connection, TLS, redirect                          -> 5
  http_status,           //                                                    -> 5
  transfer_stalled,      //                                                    -> 5
  short_body,            //                                                    -> 5
  bundle_damaged,        //                                                    -> 6
  native_tool_failed,    //                                                    -> 7
  no_space,              //                                                    -> 8
  signature_invalid,     //                                                    -> 9
  key_unknown,           //                                                    -> 9
  key_expired,           //                                                    -> 9
  metadata_expired,      //                                                    -> 9
  metadata_rollback,     //                                                    -> 9
  metadata_invalid,      // signed metadata that breaks its format, hostile names -> 9
  digest_missing,        //                                                    -> 9
  digest_mismatch,       // complete body, other digest                        -> 9
  size_mismatch,         // complete body, other size                          -> 9
  web_page,              // HTML where metadata was expected                    -> 9
  cancelled,             // SIGINT, SIGTERM, SIGHUP                            -> 130
};

// One conflict or missing provider of an unsolvable request, rendered in words (cli.md: `problems`).
struct Problem {
  std::string summary{};             // "nothing provides libfoo (>= 2)"
  std::vector<std::string> chain{};  // end of the chain first
  std::string help{};
  bool operator==(const Problem&) const = default;
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  Stage stage = Stage::check;
  std::string message{};                         // what: one sentence, no full stop, lower case
  std::string reason{};                          // why
  std::vector<std::string> context{};            // where: outermost frame last, as added going up
  std::map<std::string, std::string> details{};  // expected, actual, url, path, ...; never credentials
  std::string help{};                            // what to do next
  std::vector<Problem> problems{};               // for unsolvable, unknown_package, plan_differs
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

// Success without a value.
struct Done {
  bool operator==(const Done&) const = default;
};

// Stable lower-case name, as in `--json` ("digest_mismatch").
[[nodiscard]] std::string_view error_code_name(ErrorCode code);
// Exit status of cli.md. Total: every code has one.
[[nodiscard]] int exit_status(ErrorCode code);
// Every code, in declaration order (for tests and the manual).
[[nodiscard]] const std::vector<ErrorCode>& all_error_codes();

// Wraps an error for returning: `return fail(Error{...});`
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
// The error with one more context frame: `return fail(in_context(std::move(r).error(), "loading repositories"));`
[[nodiscard]] Error in_context(Error error, std::string frame);

}  // namespace rocm_offline
