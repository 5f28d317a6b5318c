// What each word of the bundle does. Each prints its result and returns the exit status.
#pragma once

#include "rocm_offline/bundle/reader.hpp"
#include "session.hpp"

namespace rocm_offline::runner {

[[nodiscard]] int run_install(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_uninstall(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_check(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_status(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_verify(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_extract(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_list(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_notes(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_logs(const bundle::BundleReader& bundle, Session& session);
[[nodiscard]] int run_version(const bundle::BundleReader& bundle, Session& session);

}  // namespace rocm_offline::runner
