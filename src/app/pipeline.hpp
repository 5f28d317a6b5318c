// Selection -> plans -> verified repositories -> closures -> layout: what plan and create share.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lock_file.hpp"
#include "options.hpp"
#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/site_signature.hpp"
#include "rocm_offline/fetch/downloader.hpp"
#include "session.hpp"

namespace rocm_offline::app {

struct Planned {
  std::vector<bundle::TargetContent> targets;  // in the order asked
  bundle::BundleLayout layout;
  Lock lock;  // the whole resolution, as --lock writes it
};

// Choices and catalogues -> one plan per target.
[[nodiscard]] Result<std::vector<ReleasePlan>> make_release_plans(const SelectionOptions& options, Session& session);

// Transfers as the options want them; a client certificate is shown to the hosts of its group only.
[[nodiscard]] Result<fetch::TransferOptions> transfer_options(const SelectionOptions& selection,
                                                              const std::vector<ReleasePlan>& plans, unsigned jobs);

// The files that shape a plan beside the catalogues, read before anything is transferred.
struct PlanInputs {
  std::optional<SiteSigningKey> signing_key;
  std::optional<Lock> locked;  // --locked: what must come out
};
[[nodiscard]] Result<PlanInputs> read_plan_inputs(const SelectionOptions& options, Session& session);

// Verified indexes, closures and the layout; downloads indexes only. Unsolvable requests are errors here (exit 4).
// Writes the lock file where one is asked for.
[[nodiscard]] Result<Planned> make_plan(const std::vector<ReleasePlan>& plans, const SelectionOptions& options,
                                        const PlanInputs& inputs, fetch::Downloader& downloader, Session& session);

}  // namespace rocm_offline::app
