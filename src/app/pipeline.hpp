// Selection -> verified repositories -> closures -> layout: what plan and create share.
#pragma once

#include <memory>
#include <vector>

#include "options.hpp"
#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "session.hpp"

namespace rocm_offline::app {

struct Planned {
  std::vector<bundle::TargetContent> targets;  // in the order asked
  bundle::BundleLayout layout;
};

[[nodiscard]] fetch::TransferOptions transfer_options(const SelectionOptions& selection, unsigned jobs);

// Everything up to and including the layout; downloads indexes only. Unsolvable requests are errors here (exit 4).
[[nodiscard]] Result<Planned> make_plan(const SelectionOptions& options, fetch::Downloader& downloader,
                                        Session& session);

}  // namespace rocm_offline::app
