// Packages files and dpkg status files as index::DebPackage, without the trust chain: for tests of what follows it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::test {

// Owns the text that its packages point into.
struct PackagesText {
  std::unique_ptr<std::string> text{};
  std::vector<index::DebPackage> packages{};
};

// Takes every stanza as it is; nothing is checked. Stanzas whose Status does not end with " installed" are left out.
[[nodiscard]] PackagesText read_packages_text(std::string text);

}  // namespace rocm_offline::test
