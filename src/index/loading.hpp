// One repository on its way from definition to VerifiedRepository.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index_cache.hpp"
#include "release_file.hpp"
#include "rocm_offline/index/repository_set.hpp"

namespace rocm_offline::index {

// One compression of an index, as the Release lists it.
struct IndexChoice {
  std::string path;    // "main/binary-amd64/Packages.xz"
  std::string ending;  // "xz"; "packages" for the plain file
  ListedFile file;
};

// One index to load: one component and architecture.
struct IndexJob {
  std::string component;
  std::string path;                  // without compression: "main/binary-amd64/Packages"
  std::optional<ListedFile> plain;   // as listed, whether the mirror has it or not
  std::vector<IndexChoice> choices;  // in the order of preference
  std::size_t choice = 0;
  bool done = false;
  bool from_cache = false;
  std::string text;  // once done: the verified index
  std::optional<TrustFile> trust_file;
  std::unique_ptr<FileSink> sink;
  std::optional<Error> error;  // of the last choice tried
  std::optional<Error> cause;  // gravest error of all choices: a broken proof before a file that is not there
  bool out_of_step = false;    // the error is one that another Release or compression may cure
};

struct Loading {
  const RepositoryDefinition* definition = nullptr;
  std::size_t served_by = 0;   // of base_urls
  std::size_t first_base = 0;  // those before it served a Release that was refused
  std::vector<Error> refused;  // why, one for each of them
  bool missing = false;        // optional, and no mirror has a Release
  bool reread = false;         // its Release was read a second time
  ReleaseFile release;
  RepositoryEvidence evidence;
  std::vector<TrustFile> release_files;
  std::vector<IndexJob> jobs;
  std::vector<std::string> warnings;
  std::optional<Error> error;

  [[nodiscard]] bool open() const { return !missing && !error; }
};

// "dists/trixie"; for a flat repository (suite ends in "/") the folder itself, which may be empty.
[[nodiscard]] std::string dist_path(const RepositoryDefinition& definition);
[[nodiscard]] bool is_flat(const RepositoryDefinition& definition);
// base/dist/path
[[nodiscard]] std::string dist_url(const RepositoryDefinition& definition, std::size_t base, const std::string& path);

// An error about the repository, named in the message's context.
[[nodiscard]] Error repository_error(ErrorCode code, const RepositoryDefinition& definition, std::string message,
                                     std::string reason, std::string help);
// The error in one line of another's list: what, why, at which address, what to do.
[[nodiscard]] Problem problem_of(const Error& error);

}  // namespace rocm_offline::index
