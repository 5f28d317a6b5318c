#include "requests.hpp"

#include <algorithm>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::plan {
namespace {

// Letters of package names and versions in both families (deb-version(7), RPM's own); ':' is deb's architecture
// qualifier and the epoch's mark.
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("+-._:~^").find(c) != std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 256 && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), is_name_character);
}

// Control characters must not reach a terminal by way of an error.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 80));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return result;
}

Error bad_package(std::string_view text, std::string reason) {
  return {.code = ErrorCode::usage,
          .stage = Stage::plan,
          .message = "--package '" + shown(text) + "' is not understood",
          .reason = std::move(reason),
          .help = "write it like --package hipcc or --package hipcc=5.7.1-3"};
}

Error unknown_usecase(std::string_view wanted, const std::string& where, const std::vector<std::string>& possible) {
  const std::vector<std::string> near = near_names(wanted, possible);
  Error error{.code = ErrorCode::unknown_usecase,
              .stage = Stage::plan,
              .message = "unknown use case '" + shown(wanted) + "'",
              .reason = where + " has no use case of that name",
              .details = {{"usecase", shown(wanted)}, {"possible", join(possible, ", ")}},
              .help = "its use cases are: " + join(possible, ", ")};
  if (!near.empty()) {
    error.help = "did you mean " + join(near, " or ") + "? " + error.help;
    error.details["near"] = join(near, ", ");
  }
  return error;
}

const repos::UseCase* usecase_of(const repos::Release& release, std::string_view id) {
  const auto found = std::find_if(release.usecases.begin(), release.usecases.end(),
                                  [&](const repos::UseCase& usecase) { return usecase.id == id; });
  return found == release.usecases.end() ? nullptr : &*found;
}

class Requests {
 public:
  // A request of the same name takes the version that only one of the two gives; two versions contradict each other.
  Result<Done> add(PackageRequest request) {
    const auto same = std::find_if(m_list.begin(), m_list.end(),
                                   [&](const PackageRequest& other) { return other.name == request.name; });
    if (same == m_list.end()) {
      m_list.push_back(std::move(request));
      return Done{};
    }
    if (same->version && request.version && same->version != request.version) {
      return fail(bad_package(request.name + "=" + *request.version,
                              "version " + *same->version + " of the same package is asked for, too"));
    }
    if (request.version) {
      same->version = std::move(request.version);
    }
    return Done{};
  }

  [[nodiscard]] std::vector<PackageRequest> take() { return std::move(m_list); }

 private:
  std::vector<PackageRequest> m_list;
};

Result<Done> add_usecases(Requests& requests, const std::vector<std::string>& usecases, const repos::Release& release,
                          const Target& target) {
  for (const std::string& id : usecases) {
    const repos::UseCase* usecase = usecase_of(release, id);
    const auto packages = usecase->packages.find(target.id);
    if (packages == usecase->packages.end()) {
      std::vector<std::string> possible;
      for (const repos::UseCase& other : release.usecases) {
        if (other.packages.contains(target.id)) {
          possible.push_back(other.id);
        }
      }
      Error error = unknown_usecase(id, "release '" + release.id + "' on " + target.id, possible);
      error.message = "use case '" + id + "' is not there for " + target.id;
      error.details["target"] = target.id;
      return fail(std::move(error));
    }
    for (const std::string& name : packages->second) {
      if (Result<Done> added = requests.add({.name = name, .version = std::nullopt, .because = "usecase " + id});
          !added) {
        return added;
      }
    }
  }
  return Done{};
}

Result<Done> add_driver(Requests& requests, const repos::Release& release, const Target& target) {
  const auto packages = release.driver_packages.find(target.id);
  if (packages == release.driver_packages.end()) {
    return fail({.code = ErrorCode::usage,
                 .stage = Stage::plan,
                 .message = "release '" + release.id + "' has no driver packages for " + target.id,
                 .reason = "the amdgpu driver there is the one of the distribution's own kernel",
                 .details = {{"release", release.id}, {"target", target.id}},
                 .help = "leave --driver out"});
  }
  for (const std::string& name : packages->second) {
    if (Result<Done> added = requests.add({.name = name, .version = std::nullopt, .because = "--driver"}); !added) {
      return added;
    }
  }
  return Done{};
}

}  // namespace

Result<PackageRequest> parse_package(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (!is_word(name)) {
    return fail(bad_package(text, name.empty() ? "it has no name" : "'" + shown(name) + "' is no package name"));
  }
  PackageRequest request{.name = std::string(name), .version = std::nullopt, .because = "--package"};
  if (equals != std::string_view::npos) {
    const std::string_view version = text.substr(equals + 1);
    if (!is_word(version)) {
      return fail(bad_package(
          text, version.empty() ? "it has no version after '='" : "'" + shown(version) + "' is no version"));
    }
    request.version = std::string(version);
  }
  return request;
}

Result<std::vector<std::string>> chosen_usecases(const Selection& selection, const repos::Release& release) {
  std::vector<std::string> chosen;
  for (const std::string& id : selection.usecases) {
    if (usecase_of(release, id) == nullptr) {
      std::vector<std::string> possible;
      for (const repos::UseCase& usecase : release.usecases) {
        possible.push_back(usecase.id);
      }
      return fail(unknown_usecase(id, "release '" + release.id + "'", possible));
    }
    if (std::find(chosen.begin(), chosen.end(), id) == chosen.end()) {
      chosen.push_back(id);
    }
  }
  return chosen;
}

Result<std::vector<PackageRequest>> make_requests(const Selection& selection, const repos::Release& release,
                                                  const Target& target) {
  const Result<std::vector<std::string>> usecases = chosen_usecases(selection, release);
  if (!usecases) {
    return fail(usecases.error());
  }
  Requests requests;
  if (Result<Done> added = add_usecases(requests, *usecases, release, target); !added) {
    return fail(std::move(added).error());
  }
  for (const std::string& text : selection.packages) {
    Result<PackageRequest> request = parse_package(text);
    if (!request) {
      return fail(std::move(request).error());
    }
    if (Result<Done> added = requests.add(std::move(*request)); !added) {
      return fail(std::move(added).error());
    }
  }
  if (selection.driver) {
    if (Result<Done> added = add_driver(requests, release, target); !added) {
      return fail(std::move(added).error());
    }
  }
  return requests.take();
}

}  // namespace rocm_offline::plan
