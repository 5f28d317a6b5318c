// Compares the walk with the real apt on real indices, request by request: a measuring tool, not a test of its own.
//   walk_parity --conf APT_CONF --status STATUS [--recommends] [--sample N] [--seed S] [--size K]
//               --packages FILE... [--request NAME...]
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>

#include "closure.hpp"
#include "requests.hpp"
#include "support/native_apt/apt_simulation.hpp"
#include "support/native_apt/packages_text.hpp"
#include "walk.hpp"

namespace rocm_offline {
namespace {

using Choice = std::set<std::pair<std::string, std::string>>;
using SteadyClock = std::chrono::steady_clock;

struct Arguments {
  std::string conf, status;
  std::vector<std::string> packages, request;
  std::size_t sample = 0, size = 1;
  unsigned seed = 1;
  bool recommends = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  std::string option;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--")) {
      option = word;
      arguments.recommends = arguments.recommends || word == "--recommends";
    } else if (option == "--conf") {
      arguments.conf = word;
    } else if (option == "--status") {
      arguments.status = word;
    } else if (option == "--packages") {
      arguments.packages.push_back(word);
    } else if (option == "--request") {
      arguments.request.push_back(word);
    } else if (option == "--sample") {
      arguments.sample = std::stoul(word);
    } else if (option == "--size") {
      arguments.size = std::stoul(word);
    } else if (option == "--seed") {
      arguments.seed = static_cast<unsigned>(std::stoul(word));
    }
  }
  return arguments;
}

double milliseconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

test::PackagesText load(const std::string& path) {
  auto text = read_file(Stage::resolve, path, 1U << 30U);
  if (!text) {
    throw std::runtime_error(text.error().message + ": " + text.error().reason);
  }
  return test::read_packages_text(*std::move(text));
}

class Comparison {
 public:
  explicit Comparison(const Arguments& arguments) : m_arguments(arguments), m_apt(arguments.conf) {
    m_status = load(arguments.status);
    for (const std::string& path : arguments.packages) {
      m_texts.push_back(load(path));
    }
    const auto start = SteadyClock::now();
    std::vector<resolve::PackageUniverse::Repository> repositories;
    for (std::size_t i = 0; i < m_texts.size(); ++i) {
      repositories.push_back({arguments.packages[i], 500, m_texts[i].packages});
    }
    m_universe = std::make_unique<resolve::PackageUniverse>("amd64", std::vector<std::string>{},
                                                            std::move(repositories), m_status.packages);
    std::cout << "universe of " << m_universe->size() << " packages in " << milliseconds_since(start) << " ms, "
              << m_universe->installed_packages().size() << " installed\n";
  }

  void compare(const std::vector<std::string>& names) {
    const auto start = SteadyClock::now();
    const std::optional<Choice> ours = walk(names);
    m_walk_ms += milliseconds_since(start);
    const test::AptAnswer apt = m_apt.install(names, m_arguments.recommends);
    ++m_total;
    const bool both_fail = !ours && apt.exit_code != 0;
    const bool equal = both_fail || (ours && apt.exit_code == 0 && *ours == apt.installs && apt.removes.empty());
    m_equal += equal ? 1 : 0;
    m_failed += both_fail ? 1 : 0;
    if (!equal) {
      report(names, ours, apt);
    }
  }

  void compare_sample() {
    std::vector<std::string> names = m_universe->package_names();
    std::sort(names.begin(), names.end());
    std::mt19937 random(m_arguments.seed);
    for (std::size_t i = 0; i < m_arguments.sample; ++i) {
      std::vector<std::string> request;
      for (std::size_t k = 0; k < m_arguments.size; ++k) {
        request.push_back(names[random() % names.size()]);
      }
      compare(request);
    }
  }

  int summary() const {
    std::cout << m_equal << " of " << m_total << " equal (" << m_failed << " of them unsolvable for both), "
              << m_walk_ms / static_cast<double>(std::max<std::size_t>(m_total, 1)) << " ms a walk\n";
    return m_equal == m_total ? 0 : 1;
  }

 private:
  std::optional<Choice> walk(const std::vector<std::string>& names) {
    std::vector<PackageRequest> requests;
    for (const std::string& name : names) {
      requests.push_back({name, {}, {}});
    }
    const resolve::FoundRequests found = resolve::find_requests(*m_universe, requests);
    resolve::Walk walk(*m_universe, {m_arguments.recommends});
    if (!found.problems.empty() || !walk.install(found.requests)) {
      m_last_failure = found.problems.empty() ? walk.failure().chain : found.problems.front().chain;
      return std::nullopt;
    }
    Choice choice;
    for (const resolve::ChosenPackage& chosen : walk.chosen()) {
      const PackageId id = m_universe->id_of(chosen.package);
      choice.emplace(id.name, id.version);
    }
    return choice;
  }

  void report(const std::vector<std::string>& names, const std::optional<Choice>& ours, const test::AptAnswer& apt) {
    std::cout << "DIFFERS:";
    for (const std::string& name : names) {
      std::cout << ' ' << name;
    }
    std::cout << " (apt " << apt.exit_code << ", " << apt.installs.size() << " packages)\n";
    if (!ours) {
      for (const std::string& link : m_last_failure) {
        std::cout << "  ours fails: " << link << '\n';
      }
      return;
    }
    for (const auto& [name, version] : *ours) {
      if (apt.installs.count({name, version}) == 0) {
        std::cout << "  only ours: " << name << ' ' << version << '\n';
      }
    }
    for (const auto& [name, version] : apt.installs) {
      if (ours->count({name, version}) == 0) {
        std::cout << "  only apt: " << name << ' ' << version << '\n';
      }
    }
    for (const std::string& name : apt.removes) {
      std::cout << "  apt removes: " << name << '\n';
    }
  }

  Arguments m_arguments;
  test::AptSimulation m_apt;
  test::PackagesText m_status;
  std::vector<test::PackagesText> m_texts;
  std::unique_ptr<resolve::PackageUniverse> m_universe;
  std::vector<std::string> m_last_failure;
  std::size_t m_total = 0, m_equal = 0, m_failed = 0;
  double m_walk_ms = 0;
};

}  // namespace
}  // namespace rocm_offline

int main(int argc, char** argv) {
  const rocm_offline::Arguments arguments = rocm_offline::parse(argc, argv);
  rocm_offline::Comparison comparison(arguments);
  if (!arguments.request.empty()) {
    comparison.compare(arguments.request);
  }
  comparison.compare_sample();
  return comparison.summary();
}
