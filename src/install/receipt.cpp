#include "receipt.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::install {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int receipt_schema = 1;
constexpr std::uint64_t max_receipt_bytes = 16U << 20U;

constexpr std::array<std::string_view, 4> state_names = {"planned", "installing", "installed", "removing"};

Error damaged(std::string reason) {
  return {.code = ErrorCode::check_failed,
          .stage = Stage::install,
          .message = "the receipt of an installation cannot be read",
          .reason = std::move(reason),
          .help = "restore /var/lib/rocm-offline from a backup; without its receipt a bundle cannot be taken back"};
}

// Reads fields of one object; the first that does not fit is remembered.
class FieldReader {
 public:
  FieldReader(const json& object, std::string& problem) : m_object(object), m_problem(problem) {
    if (!object.is_object()) {
      m_problem = "an entry is no object";
    }
  }
  std::string text(const char* name) {
    const json* value = find(name);
    if (value == nullptr || !value->is_string() || has_control_characters(value->get_ref<const std::string&>())) {
      m_problem = std::string(name) + " is missing or no text";
      return {};
    }
    return value->get<std::string>();
  }
  bool flag(const char* name) {
    const json* value = find(name);
    if (value == nullptr || !value->is_boolean()) {
      m_problem = std::string(name) + " is missing or no truth value";
      return false;
    }
    return value->get<bool>();
  }
  std::int64_t integer(const char* name) {
    const json* value = find(name);
    if (value == nullptr || !value->is_number_integer()) {
      m_problem = std::string(name) + " is missing or no integer";
      return 0;
    }
    return value->get<std::int64_t>();
  }
  const json& list(const char* name) {
    static const json empty = json::array();
    const json* value = find(name);
    if (value == nullptr || !value->is_array()) {
      m_problem = std::string(name) + " is missing or no list";
      return empty;
    }
    return *value;
  }
  std::vector<std::string> texts(const char* name) {
    std::vector<std::string> result;
    for (const json& item : list(name)) {
      if (!item.is_string() || has_control_characters(item.get_ref<const std::string&>())) {
        m_problem = std::string(name) + " holds something other than text";
        break;
      }
      result.push_back(item.get<std::string>());
    }
    return result;
  }

 private:
  const json* find(const char* name) {
    if (!m_object.is_object()) {
      return nullptr;
    }
    const auto found = m_object.find(name);
    return found == m_object.end() ? nullptr : &*found;
  }
  const json& m_object;
  std::string& m_problem;
};

// What reaches a command line as a package's name (deb-version(7), Debian Policy 5.6.7).
bool is_package_name(std::string_view name) {
  return name.size() >= 2 && name.front() != '-' && name.front() != '+' && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.") ==
             std::string_view::npos;
}

}  // namespace

std::string_view receipt_state_name(ReceiptState state) {
  return state_names.at(static_cast<std::size_t>(state));
}

std::vector<std::string> dpkg_names(const Receipt& receipt) {
  std::vector<std::string> names;
  for (const ReceiptPackage& package : receipt.packages) {
    names.push_back(package.id.name + (package.id.arch == "all" ? "" : ":" + package.id.arch));
  }
  return names;
}

std::string receipt_to_json(const Receipt& receipt) {
  json packages = json::array();
  for (const ReceiptPackage& package : receipt.packages) {
    packages.push_back({{"name", package.id.name},
                        {"version", package.id.version},
                        {"arch", package.id.arch},
                        {"before_version", package.before_version},
                        {"config_files_before", package.config_files_before}});
  }
  json steps = json::array();
  for (const PostInstallStep& step : receipt.post_install) {
    steps.push_back({{"kind", step.kind},
                     {"group", step.group},
                     {"user", step.user},
                     {"path", step.path},
                     {"sha256", step.sha256}});
  }
  const json object = {{"schema", receipt_schema},
                       {"bundle_id", receipt.bundle_id},
                       {"program_version", receipt.program_version},
                       {"target", receipt.target},
                       {"release", receipt.release},
                       {"state", receipt_state_name(receipt.state)},
                       {"created", receipt.created},
                       {"updated", receipt.updated},
                       {"packages", std::move(packages)},
                       {"automatic_before", receipt.automatic_before},
                       {"needs", receipt.needs},
                       {"post_install", std::move(steps)}};
  return object.dump(1) + "\n";
}

Result<Receipt> receipt_from_json(std::string_view text) {
  auto parsed = parse_json(Stage::install, ErrorCode::check_failed, "receipt", text);
  if (!parsed) {
    return fail(std::move(parsed).error());
  }
  std::string problem;
  FieldReader fields(*parsed, problem);
  if (fields.integer("schema") != receipt_schema) {
    return fail(damaged("its schema is not " + std::to_string(receipt_schema) + ": another version wrote it"));
  }
  Receipt receipt;
  receipt.bundle_id = fields.text("bundle_id");
  receipt.program_version = fields.text("program_version");
  receipt.target = fields.text("target");
  receipt.release = fields.text("release");
  receipt.created = fields.integer("created");
  receipt.updated = fields.integer("updated");
  receipt.automatic_before = fields.texts("automatic_before");
  receipt.needs = fields.texts("needs");
  const std::string state = fields.text("state");
  const auto known = std::find(state_names.begin(), state_names.end(), state);
  if (known == state_names.end()) {
    return fail(damaged("its state '" + state + "' is not known"));
  }
  receipt.state = static_cast<ReceiptState>(known - state_names.begin());
  for (const json& item : fields.list("packages")) {
    FieldReader entry(item, problem);
    ReceiptPackage package{
        .id = {.name = entry.text("name"), .version = entry.text("version"), .arch = entry.text("arch")},
        .before_version = entry.text("before_version"),
        .config_files_before = entry.flag("config_files_before")};
    if (problem.empty() && (!is_package_name(package.id.name) || !is_package_name(package.id.arch))) {
      problem = "a package has an impossible name";
    }
    receipt.packages.push_back(std::move(package));
  }
  for (const json& item : fields.list("post_install")) {
    FieldReader entry(item, problem);
    receipt.post_install.push_back({.kind = entry.text("kind"),
                                    .group = entry.text("group"),
                                    .user = entry.text("user"),
                                    .path = entry.text("path"),
                                    .sha256 = entry.text("sha256")});
  }
  for (const std::string& name : receipt.automatic_before) {
    if (!is_package_name(name)) {
      problem = "a package has an impossible name";
    }
  }
  if (!problem.empty()) {
    return fail(damaged(problem));
  }
  return receipt;
}

Result<std::optional<Receipt>> read_receipt(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return std::optional<Receipt>();
  }
  auto text = read_file(Stage::install, path, max_receipt_bytes);
  if (!text) {
    return fail(std::move(text).error());
  }
  auto receipt = receipt_from_json(*text);
  if (!receipt) {
    receipt.error().details["path"] = path.string();
    return fail(std::move(receipt).error());
  }
  return std::optional<Receipt>(std::move(*receipt));
}

Result<Done> write_receipt(const fs::path& path, const Receipt& receipt) {
  if (auto made = make_directories(Stage::install, path.parent_path()); !made) {
    return fail(std::move(made).error());
  }
  return write_file_atomically(Stage::install, path, receipt_to_json(receipt), 0644);
}

Result<std::vector<Receipt>> other_receipts(const Places& places) {
  std::vector<Receipt> receipts;
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(places.state(), error)) {
    folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    if (folder.filename() == places.bundle_id) {
      continue;
    }
    auto receipt = read_receipt(folder / "receipt.json");
    if (!receipt) {
      return fail(std::move(receipt).error());
    }
    if (*receipt) {
      receipts.push_back(std::move(**receipt));
    }
  }
  return receipts;
}

}  // namespace rocm_offline::install
