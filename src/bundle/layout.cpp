#include "rocm_offline/bundle/layout.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "deb_tree.hpp"
#include "image_plan.hpp"
#include "readme.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/version.hpp"
#include "stub_constants.hpp"

namespace rocm_offline::bundle {

namespace {

// dd of the smallest systems counts in 31 bits, and so do some boot loaders.
constexpr std::uint64_t stub_reach = std::uint64_t{2} << 30U;
// ISO 9660 numbers its sectors in 32 bits.
constexpr std::uint64_t largest_volume = std::uint64_t{0xFFFFFFFF} * sector_size;

Error invalid(ErrorCode code, std::string message, std::string reason, std::string help) {
  return {.code = code,
          .stage = Stage::bundle,
          .message = std::move(message),
          .reason = std::move(reason),
          .help = std::move(help)};
}

// What fills an extent of the data area: bytes in memory, a file of this machine, or a download.
struct Content {
  std::string bytes{};
  std::optional<std::filesystem::path> source{};
  std::vector<std::string> urls{};
  std::string what{};
};

struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// Gives each content its place, and equal contents the same.
class DataArea {
 public:
  std::uint64_t place(const Sha256Digest& digest, std::uint64_t size, Content content) {
    if (size == 0) {
      return 0;
    }
    const auto [known, is_new] = m_extents.try_emplace(digest, Extent{m_end, size});
    if (is_new) {
      m_contents.emplace_back(digest, std::move(content));
      m_end += align_up(size, alignment);
    }
    return known->second.offset;
  }
  [[nodiscard]] std::uint64_t size_of(const Sha256Digest& digest) const {
    const auto found = m_extents.find(digest);
    return found == m_extents.end() ? 0 : found->second.size;
  }
  [[nodiscard]] std::uint64_t offset_of(const Sha256Digest& digest) const { return m_extents.at(digest).offset; }
  [[nodiscard]] std::vector<std::pair<Sha256Digest, Content>>& contents() { return m_contents; }

 private:
  std::map<Sha256Digest, Extent> m_extents{};
  std::vector<std::pair<Sha256Digest, Content>> m_contents{};  // ascending by offset
  std::uint64_t m_end = 0;
};

// A file of the image before it has a place.
struct PendingFile {
  Sha256Digest digest{};
  std::uint64_t size = 0;
  Content content{};
};

PendingFile in_memory(std::string bytes) {
  PendingFile file;
  file.digest = sha256_of(bytes);
  file.size = bytes.size();
  file.content.bytes = std::move(bytes);
  return file;
}

// Builds manifest and data area of a request.
class LayoutBuilder {
 public:
  explicit LayoutBuilder(const BundleRequest& request) : m_request(request) {}

  Result<BundleLayout> build() {
    if (auto done = check_request(); !done) {
      return fail(std::move(done).error());
    }
    std::vector<const TargetContent*> targets;
    for (const TargetContent& content : m_request.targets) {
      targets.push_back(&content);
    }
    std::sort(targets.begin(), targets.end(),
              [](const TargetContent* a, const TargetContent* b) { return a->plan.target.id < b->plan.target.id; });
    for (const TargetContent* content : targets) {
      if (auto done = add_target(*content); !done) {
        return fail(std::move(done).error());
      }
    }
    m_files.insert_or_assign("README.txt", in_memory(readme_text(m_manifest.targets)));
    place_everything();
    return finish();
  }

 private:
  Result<Done> check_request() {
    if (m_request.targets.empty()) {
      return fail(invalid(ErrorCode::usage, "there is no target to make a bundle for", "none was named",
                          "name one with --target"));
    }
    if (m_request.stub_template.size() >= stub_size || m_request.runner.empty() ||
        m_request.runner.size() >= stub_reach / 2) {
      return fail(invalid(ErrorCode::internal, "stub or runner has an impossible size",
                          "the stub has to be smaller than 32 KiB, the runner between 1 byte and 1 GiB", ""));
    }
    m_manifest.creator_version = program_version();
    m_manifest.source_date = std::clamp<UnixTime>(m_request.source_date, 0, 253402300799);
    m_manifest.runner_size = m_request.runner.size();
    m_manifest.runner_sha256 = sha256_of(m_request.runner);
    m_manifest.stub_sha256 = sha256_of(m_request.stub_template);
    m_manifest.post_install = m_request.targets.front().plan.post_install;
    if (m_request.signing_key != nullptr) {
      m_manifest.signing_key = m_request.signing_key->public_key();
    }
    return Done{};
  }

  Result<Done> add_target(const TargetContent& content) {
    const Target& target = content.plan.target;
    if (!m_ids.insert(target.id).second) {
      return fail(invalid(ErrorCode::usage, "target " + target.id + " is there twice",
                          "a bundle has one tree per target", "name each target once"));
    }
    if (!is_safe_relative_path(target.id) || target.id.find('/') != std::string::npos) {
      return fail(invalid(ErrorCode::usage, "target id '" + target.id + "' cannot be the name of a folder",
                          "it has to be <ID>-<VERSION_ID> of os-release", "check the catalogue"));
    }
    if (target.family != PackageFamily::deb) {
      return fail(invalid(ErrorCode::target_unsupported, "target " + target.id + " is not of the deb family",
                          "this version writes apt repositories only", "choose a Debian or Ubuntu target"));
    }
    ManifestTarget& into = m_manifest.targets.emplace_back();
    into.target = target;
    into.release = content.plan.release;
    into.usecases = content.plan.usecases;
    into.requests = content.plan.requests;
    into.policy = content.plan.policy;
    into.repositories = content.repositories;
    into.proofs = content.closure.proofs;
    into.totals = totals_of(content.closure.packages);
    into.totals.bundle_bytes = 0;
    add_keys(content.plan);
    if (auto done = add_packages(content.closure, into); !done) {
      return done;
    }
    return add_trust(content.trust, target.id);
  }

  void add_keys(const ReleasePlan& plan) {
    for (const RepositoryDefinition& repository : plan.repositories) {
      for (const Keyring& keyring : repository.keyrings) {
        PendingFile file = in_memory(keyring.data);
        std::string name = keyring.name;
        std::replace(name.begin(), name.end(), '/', '_');
        name = is_safe_relative_path(name) ? name : "keyring";
        if (m_keys.insert({name, file.digest}).second) {
          m_files.insert_or_assign("keys/" + m_key_names.allocate(name, file.digest), std::move(file));
        }
      }
    }
  }

  Result<Done> add_packages(const PackageClosure& closure, ManifestTarget& into) {
    std::vector<const PackageRecord*> packages;
    for (const PackageRecord& package : closure.packages) {
      packages.push_back(&package);
    }
    std::sort(packages.begin(), packages.end(), [](const PackageRecord* a, const PackageRecord* b) {
      return std::tie(a->id.name, a->id.arch, a->id.version, a->sha256) <
             std::tie(b->id.name, b->id.arch, b->id.version, b->sha256);
    });
    const std::string tree = "repos/" + into.target.id + "/";
    FolderNames names;
    std::string packages_file;
    for (const PackageRecord* package : packages) {
      if (auto done = check_package(*package); !done) {
        return done;
      }
      const std::string name =
          names.allocate(package->filename.substr(package->filename.rfind('/') + 1), package->sha256);
      auto stanza = pool_stanza(*package, name);
      if (!stanza) {
        return fail(std::move(stanza).error());
      }
      packages_file += *stanza + "\n";
      into.packages.push_back({.id = package->id,
                               .repository = package->repository,
                               .filename = package->filename,
                               .path = tree + "pool/" + name,
                               .offset = 0,
                               .size = package->size,
                               .installed_size = package->installed_size,
                               .sha256 = package->sha256,
                               .reason = package->reason});
      m_payloads.push_back(package);
    }
    m_files.insert_or_assign(tree + "Release",
                             in_memory(release_file(into.target, packages_file, m_manifest.source_date)));
    m_files.insert_or_assign(tree + "Packages", in_memory(std::move(packages_file)));
    return Done{};
  }

  Result<Done> check_package(const PackageRecord& package) {
    if (package.size == 0) {
      return fail(invalid(ErrorCode::metadata_invalid, "the size of package " + package.id.name + " is not known",
                          "its index entry says 0", "report it to who maintains repository " + package.repository));
    }
    if (!is_safe_relative_path(package.filename)) {
      return fail(invalid(ErrorCode::metadata_invalid, "package " + package.id.name + " has an unsafe file name",
                          "the index of " + package.repository + " names a path that leaves the repository",
                          "do not trust that repository"));
    }
    const auto [known, is_new] = m_sizes.try_emplace(package.sha256, package.size);
    if (!is_new && known->second != package.size) {
      return fail(invalid(ErrorCode::metadata_invalid, "package " + package.id.name + " has two sizes",
                          "two indexes give the same digest with " + std::to_string(known->second) + " and " +
                              std::to_string(package.size) + " bytes",
                          "read the indexes again; one of the mirrors is wrong"));
    }
    return Done{};
  }

  Result<Done> add_trust(const std::vector<LocalFile>& trust, const std::string& id) {
    const std::string below = "trust/" + id + "/";
    for (const LocalFile& local : trust) {
      if (!is_safe_relative_path(local.path) || local.path.compare(0, below.size(), below) != 0) {
        return fail(invalid(ErrorCode::internal, "trust data has an impossible path",
                            local.path + " is not below " + below, ""));
      }
      std::vector<std::string> names = split(local.path, '/');
      std::transform(names.begin(), names.end(), names.begin(), shortened_name);
      PendingFile file;
      file.digest = local.sha256;
      file.size = local.size;
      file.content.source = local.source;
      file.content.what = local.path;
      m_files.insert_or_assign(join(names, "/"), std::move(file));
    }
    return Done{};
  }

  // Files in the order of their paths, then payloads in the order of targets and packages.
  void place_everything() {
    for (auto& [path, file] : m_files) {
      const std::uint64_t offset = m_area.place(file.digest, file.size, std::move(file.content));
      m_manifest.files.push_back({.path = path, .offset = offset, .size = file.size, .sha256 = file.digest});
    }
    auto record = m_payloads.begin();
    for (ManifestTarget& target : m_manifest.targets) {
      for (ManifestPackage& package : target.packages) {
        Content content;
        content.urls = (*record)->urls;
        content.what = "package " + package.id.name + " " + package.id.version + " (" + package.repository + ")";
        package.offset = m_area.place(package.sha256, package.size, std::move(content));
        ++record;
      }
    }
  }

  Result<BundleLayout> finish() {
    BundleLayout layout;
    layout.manifest_json = manifest_to_json(m_manifest);
    layout.bundle_id = bundle_id_of(layout.manifest_json);
    const std::string signature =
        m_request.signing_key == nullptr ? "" : m_request.signing_key->sign(layout.manifest_json);
    auto image = regenerate(m_manifest, layout.manifest_json, signature, m_request.stub_template);
    if (!image) {
      return fail(std::move(image).error());
    }
    if (image->data_offset > stub_reach || image->file_size > largest_volume) {
      return fail(invalid(ErrorCode::usage, "the bundle would be too large",
                          "its lists end at " + std::to_string(image->data_offset) + " and its packages at " +
                              std::to_string(image->file_size) + " bytes",
                          "make several bundles with fewer targets or packages each"));
    }
    layout.file_size = image->file_size;
    layout.fixed_parts = std::move(image->fixed_parts);
    add_runner(layout);
    for (auto& [digest, content] : m_area.contents()) {
      const std::uint64_t offset = image->data_offset + m_area.offset_of(digest);
      if (!content.bytes.empty()) {
        layout.fixed_parts.push_back({offset, std::move(content.bytes)});
        continue;
      }
      layout.members.push_back({.offset = offset,
                                .size = m_area.size_of(digest),
                                .sha256 = digest,
                                .what = std::move(content.what),
                                .urls = std::move(content.urls),
                                .source = std::move(content.source)});
    }
    layout.manifest = std::move(m_manifest);
    return layout;
  }

  // Before the manifest, the fourth part that regenerate() gives.
  void add_runner(BundleLayout& layout) const {
    const auto manifest = layout.fixed_parts.begin() + 3;
    const std::uint64_t offset = manifest->offset - align_up(m_request.runner.size(), alignment);
    layout.fixed_parts.insert(manifest, {offset, std::string(m_request.runner)});
  }

  const BundleRequest& m_request;
  Manifest m_manifest{};
  std::set<std::string> m_ids{};
  std::set<std::pair<std::string, Sha256Digest>> m_keys{};
  FolderNames m_key_names{};
  std::map<std::string, PendingFile> m_files{};
  std::map<Sha256Digest, std::uint64_t> m_sizes{};
  std::vector<const PackageRecord*> m_payloads{};  // one for each package of each target, in the manifest's order
  DataArea m_area{};
};

}  // namespace

Result<BundleLayout> compute_layout(const BundleRequest& request) {
  return LayoutBuilder(request).build();
}

Result<RegeneratedImage> regenerate(const Manifest& manifest, std::string_view manifest_json,
                                    std::string_view signature, std::string_view stub_template) {
  if (signature.size() != (manifest.signing_key ? site_signature_size : 0)) {
    return fail(invalid(ErrorCode::bundle_damaged, "the manifest's signature cannot be right",
                        "it has " + counted(signature.size(), "byte"), "copy the file again"));
  }
  const auto plan = plan_image(manifest, {manifest_json.size(), stub_template.size()});
  if (!plan) {
    return fail(plan.error());
  }
  auto script = fill_stub(stub_template, {.runner_offset = plan->runner_offset,
                                          .runner_size = manifest.runner_size,
                                          .runner_sha256 = manifest.runner_sha256,
                                          .manifest_offset = plan->manifest_offset,
                                          .manifest_size = manifest_json.size(),
                                          .manifest_sha256 = sha256_of(manifest_json),
                                          .file_size = plan->file_size});
  if (!script) {
    return fail(std::move(script).error());
  }
  RegeneratedImage image;
  image.file_size = plan->file_size;
  image.data_offset = plan->data_offset;
  std::string system_area = *script;
  system_area.resize(stub_size, '\0');
  image.fixed_parts.push_back({0, std::move(system_area)});
  image.fixed_parts.push_back({stub_size, plan->tree.render(plan->file_size, manifest.source_date)});
  image.fixed_parts.push_back({plan->install_script_offset, std::move(*script)});
  image.fixed_parts.push_back({plan->manifest_offset, std::string(manifest_json)});
  if (manifest.signing_key) {
    image.fixed_parts.push_back({plan->signature_offset, std::string(signature)});
  }
  return image;
}

std::optional<std::string> template_of_stub(std::string_view system_area) {
  auto script = fill_stub(stub_script(system_area), StubConstants{});
  return script ? std::optional(std::move(*script)) : std::nullopt;
}

}  // namespace rocm_offline::bundle
