// What an installation changes, written ahead of each step: uninstall and resume read it. JSON, schema 1, at
// <root>/var/lib/rocm-offline/<bundle-id>/receipt.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "places.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"

namespace rocm_offline::install {

// planned: nothing changed yet. installing, removing: a step may have been cut off. installed: whole.
enum class ReceiptState { planned, installing, installed, removing };
[[nodiscard]] std::string_view receipt_state_name(ReceiptState state);

struct ReceiptPackage {
  PackageId id;                      // as installed by the bundle
  std::string before_version;        // empty: absent, or only its configuration was there
  bool config_files_before = false;  // dpkg state rc
  [[nodiscard]] bool added() const { return before_version.empty(); }
  bool operator==(const ReceiptPackage&) const = default;
};

// One thing that a post-install step did, so that it can be undone.
struct PostInstallStep {
  std::string kind;  // group_created | group_member | folder | file
  std::string group;
  std::string user;
  std::string path;
  std::string sha256;  // of the file that was written
  bool operator==(const PostInstallStep&) const = default;
};

struct Receipt {
  std::string bundle_id;
  std::string program_version;
  std::string target;
  std::string release;
  ReceiptState state = ReceiptState::planned;
  UnixTime created = 0;
  UnixTime updated = 0;
  std::vector<ReceiptPackage> packages;       // changed by this bundle, sorted
  std::vector<std::string> automatic_before;  // requested packages that were marked automatic before
  std::vector<std::string> needs;             // names of all packages of the bundle's plan that it relies on
  std::vector<PostInstallStep> post_install;
  bool operator==(const Receipt&) const = default;
};

// "name:arch" (name alone for arch all), as dpkg takes them.
[[nodiscard]] std::vector<std::string> dpkg_names(const Receipt& receipt);

[[nodiscard]] std::string receipt_to_json(const Receipt& receipt);
// A receipt is root's own file, yet a damaged one must not lead to removals: every field is checked (check_failed).
[[nodiscard]] Result<Receipt> receipt_from_json(std::string_view text);

// nullopt when there is none.
[[nodiscard]] Result<std::optional<Receipt>> read_receipt(const std::filesystem::path& path);
[[nodiscard]] Result<Done> write_receipt(const std::filesystem::path& path, const Receipt& receipt);
// Receipts of every other bundle below the state folder.
[[nodiscard]] Result<std::vector<Receipt>> other_receipts(const Places& places);

}  // namespace rocm_offline::install
