// One function per command: runs it, prints its result, returns the exit status of cli.md.
#pragma once

#include "../options.hpp"
#include "../session.hpp"

namespace rocm_offline::app {

[[nodiscard]] int run_check(const Invocation& invocation, Session& session);
[[nodiscard]] int run_list(const Invocation& invocation, Session& session);  // targets, releases, usecases
[[nodiscard]] int run_plan(const Invocation& invocation, Session& session);
[[nodiscard]] int run_create(const Invocation& invocation, Session& session);
[[nodiscard]] int run_inspect(const Invocation& invocation, Session& session);
[[nodiscard]] int run_verify(const Invocation& invocation, Session& session);
[[nodiscard]] int run_extract(const Invocation& invocation, Session& session);
[[nodiscard]] int run_diff(const Invocation& invocation, Session& session);

}  // namespace rocm_offline::app
