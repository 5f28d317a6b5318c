// Selection -> plans -> verified repositories -> closures -> layout: what plan and create share.
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

// Choices and catalogues -> one plan per target.
[[nodiscard]] Result<std::vector<ReleasePlan>> make_release_plans(const SelectionOptions& options, Session& session);

// Transfers as the options want them; a client certificate is shown to the hosts of its group only.
[[nodiscard]] Result<fetch::TransferOptions> transfer_options(const SelectionOptions& selection,
                                                              const std::vector<ReleasePlan>& plans, unsigned jobs);

// Verified indexes, closures and the layout; downloads indexes only. Unsolvable requests are errors here (exit 4).
[[nodiscard]] Result<Planned> make_plan(const std::vector<ReleasePlan>& plans, bool carry_trust,
                                        fetch::Downloader& downloader, Session& session);

}  // namespace rocm_offline::app
