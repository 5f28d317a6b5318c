// A model of one machine's dpkg and apt: enough to install, remove, mark, and to be killed or broken.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::test {

struct FakeApt {
  struct Installed {
    std::string version{};
    std::string status = "ii";
    std::string depends{};
    bool conffiles = false;  // remove leaves it in state rc
  };
  struct Available {
    std::string version{};
    std::vector<std::string> depends{};
    bool conffiles = false;
  };
  std::map<std::string, Installed> installed{};
  std::map<std::string, Available> repository{};
  std::set<std::string> automatic{};
  std::map<std::string, std::set<std::string>> groups = {{"video", {}}, {"render", {}}};
  std::set<std::string> users = {"ann"};
  std::string config_dump{};
  std::string simulation_failure{};  // apt-get -s install fails with these words
  int stop_after_unpacking = -1;     // apt-get install dies after so many packages, leaving the last in iU
  bool lose_a_package = false;       // apt-get install says 0 but leaves its last package out
  bool configured = false;           // dpkg --configure -a was run

  [[nodiscard]] Result<ProcessOutcome> answer(const ProcessRequest& request);

 private:
  [[nodiscard]] ProcessOutcome apt_get(std::vector<std::string> argv);
  [[nodiscard]] ProcessOutcome install(const std::vector<std::string>& names, bool simulate);
  [[nodiscard]] ProcessOutcome remove(const std::vector<std::string>& names, bool simulate, bool purge);
  [[nodiscard]] std::string dpkg_query() const;
  [[nodiscard]] ProcessOutcome look_up(const std::string& database, const std::string& name) const;
};

}  // namespace rocm_offline::test
