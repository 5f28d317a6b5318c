#include "requests.hpp"

#include <algorithm>
#include <map>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::resolve {
namespace {

constexpr std::size_t k_max_listed = 8;

std::string because_words(const PackageRequest& request) {
  return request.name + " was requested" + (request.because.empty() ? "" : " (" + request.because + ")");
}

std::string origin(const PackageUniverse& universe, PackageIndex package) {
  const std::uint32_t repository = universe.at(package).repository;
  return repository == k_none ? "installed" : universe.repository(repository).name;
}

class RequestFinder {
 public:
  explicit RequestFinder(PackageUniverse& universe) : m_universe(universe) {}

  void find(const PackageRequest& request) {
    std::string_view name = request.name;
    std::string_view arch_name = m_universe.arch_name(0);
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
      arch_name = name.substr(colon + 1);
      name = name.substr(0, colon);
    }
    const std::optional<ArchId> arch =
        arch_name == "any" || arch_name == "all" || arch_name == "native" ? 0 : m_universe.find_arch(arch_name);
    if (!arch) {
      refuse(request, "architecture " + std::string(arch_name) + " is not one of the target's",
             "enable it with --foreign-arch " + std::string(arch_name));
      return;
    }
    const std::optional<NameId> id = m_universe.find_name(name);
    const SlotId slot = id ? m_universe.slot_of(*id, *arch) : k_none;
    if (slot != k_none && m_universe.candidate(slot) != k_none) {
      choose_version(request, slot);
    } else if (id && !m_universe.providers(*id).empty()) {
      choose_provider(request, *id, *arch);
    } else {
      unknown(request, name);
    }
  }

  FoundRequests take() { return std::move(m_found); }

 private:
  void refuse(const PackageRequest& request, std::string summary, std::string help) {
    m_found.problems.push_back({summary, {summary, because_words(request)}, std::move(help)});
  }

  void accept(const PackageRequest& request, PackageIndex package) {
    const auto same = std::find_if(m_found.requests.begin(), m_found.requests.end(),
                                   [&](const WalkRequest& other) { return other.package == package; });
    if (same == m_found.requests.end()) {
      m_found.requests.push_back({package, {ReasonKind::requested, request.because, ""}});
    }
  }

  void choose_version(const PackageRequest& request, SlotId slot) {
    if (!request.version) {
      accept(request, m_universe.candidate(slot));
      return;
    }
    PackageIndex best = k_none;
    std::string known;
    const std::vector<PackageIndex> versions = m_universe.versions(slot);
    for (const PackageIndex package : versions) {
      const bool wanted = m_universe.at(package).deb->version == *request.version;
      if (wanted && (best == k_none || m_universe.at(package).priority > m_universe.at(best).priority)) {
        best = package;
      }
      known.append(known.empty() ? "" : ", ").append(m_universe.at(package).deb->version);
      known.append(" (").append(origin(m_universe, package)).append(")");
    }
    if (best == k_none) {
      refuse(request, request.name + " has no version " + *request.version,
             "the repositories have " + known + "; leave the version out to take the newest");
      return;
    }
    const auto [pinned, fresh] = m_pinned.try_emplace(slot, best);
    if (!fresh && pinned->second != best) {
      refuse(request,
             request.name + " is requested in two versions: " +
                 std::string(m_universe.at(pinned->second).deb->version) + " and " + *request.version,
             "ask for one of them");
      return;
    }
    m_universe.pin(best);
    accept(request, best);
  }

  // As apt-get: a virtual name stands for its provider where there is only one.
  void choose_provider(const PackageRequest& request, NameId name, ArchId arch) {
    std::vector<PackageIndex> candidates;
    for (const PackageIndex provider : m_universe.providers(name)) {
      const UniversePackage& entry = m_universe.at(provider);
      if (entry.arch == arch && m_universe.candidate(entry.slot) == provider) {
        candidates.push_back(provider);
      }
    }
    if (candidates.size() == 1 && !request.version) {
      accept(request, candidates.front());
      return;
    }
    std::string names;
    for (std::size_t i = 0; i < candidates.size() && i < k_max_listed; ++i) {
      names.append(names.empty() ? "" : ", ").append(m_universe.at(candidates[i]).deb->name);
    }
    refuse(request, request.name + " is a virtual package",
           names.empty() ? "ask for a package that provides it by its own name"
                         : "it is provided by " + names + (candidates.size() > k_max_listed ? ", ..." : "") +
                               ": ask for one of them by name");
  }

  void unknown(const PackageRequest& request, std::string_view name) {
    m_found.unknown_package = true;
    const std::vector<std::string> near = near_names(name, m_universe.package_names());
    refuse(request, "no repository has a package named " + std::string(name),
           near.empty() ? "check the name, or add the repository that has it with --repo"
                        : "names near to it: " + join(near, ", "));
  }

  PackageUniverse& m_universe;
  std::map<SlotId, PackageIndex> m_pinned;
  FoundRequests m_found;
};

}  // namespace

FoundRequests find_requests(PackageUniverse& universe, const std::vector<PackageRequest>& requests) {
  // Versions first: what is pinned by one request is the candidate for all. The second pass keeps the order asked.
  RequestFinder pinning(universe);
  for (const PackageRequest& request : requests) {
    if (request.version) {
      pinning.find(request);
    }
  }
  RequestFinder finder(universe);
  for (const PackageRequest& request : requests) {
    finder.find(request);
  }
  return finder.take();
}

}  // namespace rocm_offline::resolve
