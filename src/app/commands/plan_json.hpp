// The two JSON shapes of `plan`, and what `create` shares with them.
#pragma once

#include <nlohmann/json.hpp>

#include "../pipeline.hpp"

namespace rocm_offline::app {

// {schema, release, targets: [{target, packages, totals}], totals}; with one target also `target` and `packages`.
[[nodiscard]] nlohmann::json plan_to_json(const Planned& planned);

// Of the whole file: payloads that several targets share are counted once.
[[nodiscard]] Totals bundle_totals(const Planned& planned);

}  // namespace rocm_offline::app
