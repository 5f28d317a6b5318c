// The real apt of this machine as a judge of choices: private directories, no root, no network, nothing installed.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::test {

struct AptAnswer {
  int exit_code = 0;
  std::set<std::pair<std::string, std::string>> installs{};  // name (with :arch where foreign) and version
  std::set<std::string> removes{};
  std::string output{};
};

class AptSimulation {
 public:
  // Simulates with the configuration file given.
  explicit AptSimulation(std::filesystem::path apt_conf) : m_apt_conf(std::move(apt_conf)) {}
  // Sets up private directories below `folder` for flat repositories with these Packages texts (later ones are listed
  // later in sources.list) and this dpkg status. Throws std::runtime_error where apt-get update fails.
  [[nodiscard]] static AptSimulation create(const std::filesystem::path& folder,
                                            const std::vector<std::string>& packages_texts, const std::string& status);
  // Is there an apt-get?
  [[nodiscard]] static bool available();

  // apt-get -s install, with or without Recommends.
  [[nodiscard]] AptAnswer install(const std::vector<std::string>& requests, bool recommends = false) const;

 private:
  [[nodiscard]] ProcessOutcome run(std::vector<std::string> arguments) const;
  std::filesystem::path m_apt_conf;
};

}  // namespace rocm_offline::test
