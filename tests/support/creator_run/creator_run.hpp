// The whole program against a misbehaving mirror: `create` of three small packages for debian-13 from signed mini
// repositories behind an HttpServer, and what a failed run must not leave.
//
//   CreatorRun scene;
//   scene.build();
//   scene.server.set_fault(scene.deb_path("hipcc"), {.kind = FaultKind::status, .status = 404});
//   const CreatorResult result = scene.create();
//   ... result.exit_code, result.error()["code"], scene.usable_leftovers() ...
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rocm_offline/core/posix.hpp"
#include "support/deb_repository/deb_repository.hpp"
#include "support/http_server/http_server.hpp"

namespace rocm_offline::test {

struct CreatorResult {
  int exit_code = -1;
  std::string out{};
  std::string err{};
  // From "error: " on: what the person reads last.
  [[nodiscard]] std::string error_text() const;
  // The member `error` of the JSON document; fails the test (throws) when there is none.
  [[nodiscard]] nlohmann::json error() const;
};

class CreatorRun {
 public:
  CreatorRun();

  // Writes the three suites; `spec` makes the first, debian/trixie, and `key` signs it. The others are small and right.
  void build(const SigningKey* key = &vendor_key());
  // `create --json`, with the options that every run needs and `more`.
  CreatorResult create(const std::vector<std::string>& more = {});
  // Any command, in the same private home.
  // `name`: of one that runs beside another.
  CreatorResult run(const std::vector<std::string>& arguments, const std::string& name = {});

  // Holds the process id of the running (or last) command, which may be signalled from another thread.
  [[nodiscard]] std::filesystem::path process_file() const;

  // Everything that looks like a result though the run failed: the file, its checksum, a member that the journal calls
  // complete though its bytes are not those of the index, an unfinished file that `verify` accepts.
  std::vector<std::string> usable_leftovers();
  // Text of all logs with this ending ("log", "jsonl"), oldest first.
  [[nodiscard]] std::string logs(const std::string& ending) const;
  // "/debian/pool/main/h/hipcc/hipcc_1.0_amd64.deb"
  [[nodiscard]] static std::string deb_path(const std::string& package);
  [[nodiscard]] std::string host() const;  // "127.0.0.1:PORT"
  // Replaces a file of the first suite's dists folder by `text`.
  void write(const std::string& below_dist, const std::string& text) const;

  static const SigningKey& vendor_key();
  static const SigningKey& other_key();

  TemporaryDirectory folder;
  std::filesystem::path root;  // what the server serves: debian/, security/
  HttpServer server;
  DebRepositorySpec spec;
  std::vector<std::string> mirrors = {};  // of group debian; empty: this server
  std::filesystem::path keyring = {};     // for group debian; empty: no --keyring for it
  std::filesystem::path output = {};      // folder/out/x.run
  std::map<std::string, std::string> environment = {};
};

}  // namespace rocm_offline::test
