// The independent judge: libsolv, in a fresh pool that holds nothing but the target's state and what the walk chose.
#pragma once

#include <string>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "universe.hpp"

namespace rocm_offline::resolve {

// What is judged: these packages, on a target that has exactly `installed` (of the same universe).
struct Verdict {
  bool holds = false;
  std::vector<std::string> problems{};  // libsolv's words, when it does not hold
};

// `chosen` must install on `installed`, all of them, with nothing else, and with nothing removed. Packages of `chosen`
// in a slot of `installed` upgrade it. Error: this libsolv cannot judge.
[[nodiscard]] Result<Verdict> judge(const PackageUniverse& universe, const std::vector<PackageIndex>& installed,
                                    const std::vector<PackageIndex>& chosen);

// internal, with help, when the libsolv we run with has no Debian semantics.
[[nodiscard]] Result<Done> check_judge();
// "libsolv 0.7.23"
[[nodiscard]] std::string judge_name();

}  // namespace rocm_offline::resolve
