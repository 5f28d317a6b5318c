#include "support/bundle_builder/bundle_builder.hpp"

#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::test {

namespace {

std::string filename_of(const FakePackage& package) {
  if (!package.filename.empty()) {
    return package.filename;
  }
  std::string version = package.id.version;
  for (std::size_t colon = version.find(':'); colon != std::string::npos; colon = version.find(':')) {
    version.replace(colon, 1, "%3a");
  }
  return "pool/main/" + package.id.name + "_" + version + "_" + package.id.arch + ".deb";
}

Result<std::vector<bundle::LocalFile>> write_trust(const FakeTarget& target, const std::filesystem::path& scratch) {
  std::vector<bundle::LocalFile> trust;
  for (const auto& [path, content] : target.trust) {
    const auto source = scratch / ("trust-" + target.id) / path;
    if (auto done = make_directories(Stage::bundle, source.parent_path()); !done) {
      return fail(std::move(done).error());
    }
    if (auto done = write_file_atomically(Stage::bundle, source, content); !done) {
      return fail(std::move(done).error());
    }
    trust.push_back({.path = "trust/" + target.id + "/" + path,
                     .source = source,
                     .size = content.size(),
                     .sha256 = sha256_of(content)});
  }
  return trust;
}

bundle::TargetContent content_of(const FakeTarget& target) {
  bundle::TargetContent content;
  ReleasePlan& plan = content.plan;
  plan.release = target.release;
  plan.target.id = target.id;
  plan.target.distro = target.distro;
  plan.target.version = target.version;
  plan.target.codename = target.codename;
  plan.usecases = target.usecases;
  plan.requests = target.requests;
  plan.post_install = target.post_install;
  RepositoryDefinition repository;
  repository.name = "debian/trixie";
  repository.group = "debian";
  repository.keyrings = target.keyrings;
  plan.repositories.push_back(repository);
  for (const FakePackage& package : target.packages) {
    content.closure.packages.push_back(record_of(package));
    if (target.requests.empty() && package.reason == ReasonKind::requested) {
      plan.requests.push_back({.name = package.id.name, .because = "--package"});
    }
  }
  content.closure.proofs = {"installs on an empty " + target.id};
  RepositoryEvidence evidence;
  evidence.name = "debian/trixie";
  evidence.url = "http://mirror.example/debian";
  evidence.suite = "trixie";
  evidence.codename = "trixie";
  evidence.date = target.date;
  evidence.allowed = target.allowed;
  evidence.valid_until = 1765000000;
  evidence.release_sha256 = sha256_of("InRelease").hex();
  for (const char* name : {"debian/trixie/Release", "debian/trixie/InRelease"}) {
    if (const auto file = target.trust.find(name); file != target.trust.end()) {
      evidence.release_sha256 = sha256_of(file->second).hex();
    }
  }
  evidence.signed_by = {"0123456789ABCDEF0123456789ABCDEF01234567"};
  content.repositories.push_back(evidence);
  return content;
}

Result<Done> receive(bundle::BundleWriter& writer, const bundle::BundleLayout& layout,
                     const std::map<Sha256Digest, std::string>& payloads) {
  for (const std::size_t member : writer.missing()) {
    ByteSink& sink = writer.sink(member);
    if (auto done = sink.begin(0); !done) {
      return done;
    }
    if (auto done = sink.write(0, payloads.at(layout.members[member].sha256)); !done) {
      return done;
    }
    if (auto done = writer.mark_complete(member); !done) {
      return done;
    }
  }
  return Done{};
}

}  // namespace

std::string_view tiny_stub() {
  return R"stub(#!/bin/sh
# A stub for tests.
rocm_runner_offset=00000000000000000000
rocm_runner_size=00000000000000000000
rocm_runner_sha256=0000000000000000000000000000000000000000000000000000000000000000
rocm_manifest_offset=00000000000000000000
rocm_manifest_size=00000000000000000000
rocm_manifest_sha256=0000000000000000000000000000000000000000000000000000000000000000
rocm_file_size=00000000000000000000
echo "runner at $rocm_runner_offset of $rocm_file_size"
exit 0
)stub";
}

PackageRecord record_of(const FakePackage& package) {
  PackageRecord record;
  record.id = package.id;
  record.repository = package.repository;
  record.filename = filename_of(package);
  record.size = package.payload.size();
  record.installed_size = package.payload.size();
  record.sha256 = sha256_of(package.payload);
  record.reason.kind = package.reason;
  record.urls = package.urls;
  record.stanza = "Package: " + package.id.name + "\nVersion: " + package.id.version +
                  "\nArchitecture: " + package.id.arch + "\nMaintainer: Nobody <nobody@example.org>\n";
  for (const std::string& line : package.control_lines) {
    record.stanza += line + "\n";
  }
  record.stanza += "Filename: " + record.filename + "\nSize: " + std::to_string(record.size) +
                   "\nSHA256: " + record.sha256.hex() + "\nDescription: made up for a test";
  return record;
}

Result<bundle::BundleLayout> lay_out(const FakeBundle& content, const std::filesystem::path& scratch) {
  bundle::BundleRequest request;
  request.stub_template = content.stub_template.empty() ? tiny_stub() : std::string_view(content.stub_template);
  request.runner = content.runner;
  request.source_date = content.source_date;
  request.signing_key = content.signing_key;
  for (const FakeTarget& target : content.targets) {
    request.targets.push_back(content_of(target));
    auto trust = write_trust(target, scratch);
    if (!trust) {
      return fail(std::move(trust).error());
    }
    request.targets.back().trust = std::move(*trust);
  }
  return bundle::compute_layout(request);
}

std::map<Sha256Digest, std::string> payloads_of(const FakeBundle& content) {
  std::map<Sha256Digest, std::string> payloads;
  for (const FakeTarget& target : content.targets) {
    for (const FakePackage& package : target.packages) {
      payloads.emplace(sha256_of(package.payload), package.payload);
    }
  }
  return payloads;
}

Result<bundle::FinishedBundle> build_bundle(const FakeBundle& content, const std::filesystem::path& output,
                                            const std::filesystem::path& scratch) {
  const auto layout = lay_out(content, scratch);
  if (!layout) {
    return fail(layout.error());
  }
  NullEventSink events;
  auto writer = bundle::BundleWriter::open({.output = output}, *layout, events, CancelToken());
  if (!writer) {
    return fail(std::move(writer).error());
  }
  if (auto done = receive(*writer, *layout, payloads_of(content)); !done) {
    return fail(std::move(done).error());
  }
  return writer->publish();
}

}  // namespace rocm_offline::test
