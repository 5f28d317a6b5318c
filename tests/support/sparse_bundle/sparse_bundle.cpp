#include "support/sparse_bundle/sparse_bundle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "rocm_offline/bundle/layout.hpp"
#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

namespace rocm_offline::test {

namespace {

constexpr std::size_t small_size = 5000;

PackageRecord record(const std::string& name, std::uint64_t size, const std::string& filename = "") {
  PackageRecord package = record_of({.id = {name, "1.0", "amd64"}, .payload = name, .filename = filename});
  package.size = size;
  package.stanza = "Package: " + name + "\nVersion: 1.0\nArchitecture: amd64\nFilename: " + package.filename +
                   "\nSize: " + std::to_string(size) + "\nSHA256: " + package.sha256.hex() +
                   "\nDescription: mostly a hole";
  return package;
}

// Names in the order in which their payloads lie.
std::vector<PackageRecord> records() {
  return {record("a-small-first", small_size),
          record("aa-name-of-160", small_size, "pool/" + std::string(156, 'n') + ".deb"),
          record("ab-long-name", small_size, "pool/" + std::string(220, 'l') + "_1%3a2.0+dfsg~rc1-1_amd64.deb"),
          record("ac-odd-name", small_size, "pool/libstdc++-dev_1%3a2.0+dfsg~rc1-1_amd64.deb"),
          record("b-half", std::uint64_t{3} << 30U),
          record("c-edge", largest_extent),
          record("d-over", largest_extent + 1),
          record("e-large", (std::uint64_t{1} << 32U) + (std::uint64_t{64} << 20U) + 12345),
          record("f-small-last", small_size)};
}

bundle::TargetContent target(const std::string& id, const std::string& version, std::vector<PackageRecord> packages) {
  bundle::TargetContent content;
  content.plan.release = "distro";
  content.plan.target.id = id + "-" + version;
  content.plan.target.distro = id;
  content.plan.target.version = version;
  content.closure.packages = std::move(packages);
  return content;
}

// A text of 16 bytes that names the place, so that bytes of another place do not pass for these.
std::string text_for(const std::string& name, std::uint64_t offset) {
  std::string text = name.substr(0, 2) + std::to_string(offset);
  text.resize(16, '.');
  return text;
}

std::vector<Mark> marks_of(const std::string& name, std::uint64_t size) {
  std::vector<Mark> marks;
  if (size == small_size) {
    std::string text;
    while (text.size() < size) {
      text += text_for(name, text.size());
    }
    text.resize(size);
    return {{0, text}};
  }
  constexpr std::uint64_t around[] = {0, std::uint64_t{1} << 31U, largest_extent, std::uint64_t{1} << 32U};
  for (const std::uint64_t place : around) {
    for (const std::uint64_t offset : {place - std::min<std::uint64_t>(place, 16), place}) {
      if (offset + 16 <= size && (marks.empty() || offset >= marks.back().offset + 16)) {
        marks.push_back({offset, text_for(name, offset)});
      }
    }
  }
  const std::uint64_t last = std::max(size - 16, marks.back().offset + 16);
  if (last < size) {
    marks.push_back({last, text_for(name, last).substr(0, size - last)});
  }
  return marks;
}

Result<FileDescriptor> create(const std::filesystem::path& path, std::uint64_t size) {
  FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    return fail(system_error(Stage::bundle, "cannot make a sparse file", path, errno));
  }
  return fd;
}

Result<Done> write_marks(int fd, const SparseMember& member, std::uint64_t begin, const std::filesystem::path& path) {
  for (const Mark& mark : member.marks) {
    if (auto done = write_at(Stage::bundle, fd, begin + mark.offset, mark.text, path); !done) {
      return done;
    }
  }
  return Done{};
}

SparseBundle describe(const bundle::BundleLayout& layout) {
  SparseBundle sparse{.file_size = layout.file_size};
  for (const bundle::Member& member : layout.members) {
    SparseMember described{.offset = member.offset, .size = member.size};
    for (const bundle::ManifestTarget& target : layout.manifest.targets) {
      for (const bundle::ManifestPackage& package : target.packages) {
        if (package.sha256 == member.sha256) {
          described.name = package.id.name;
          described.paths.push_back(package.path);
        }
      }
    }
    described.marks = marks_of(described.name, described.size);
    sparse.members.push_back(std::move(described));
  }
  return sparse;
}

}  // namespace

const SparseMember& SparseBundle::member(const std::string& name) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const SparseMember& member) { return member.name == name; });
  if (found == members.end()) {
    throw std::out_of_range("the sparse bundle has no member " + name);
  }
  return *found;
}

Result<SparseBundle> write_sparse_bundle(const std::filesystem::path& image) {
  const std::vector<PackageRecord> all = records();
  bundle::BundleRequest request;
  request.targets = {target("debian", "13", all), target("ubuntu", "24.04", {all.end() - 2, all.end()})};
  request.stub_template = tiny_stub();
  request.runner = "#!/bin/sh\nexit 0\n";
  request.source_date = 1764500000;
  const auto layout = bundle::compute_layout(request);
  if (!layout) {
    return fail(layout.error());
  }
  SparseBundle sparse = describe(*layout);
  const auto fd = create(image, layout->file_size);
  if (!fd) {
    return fail(fd.error());
  }
  for (const bundle::FixedPart& part : layout->fixed_parts) {
    if (auto done = write_at(Stage::bundle, fd->get(), part.offset, part.bytes, image); !done) {
      return fail(std::move(done).error());
    }
  }
  for (const SparseMember& member : sparse.members) {
    if (auto done = write_marks(fd->get(), member, member.offset, image); !done) {
      return fail(std::move(done).error());
    }
  }
  return sparse;
}

Result<Done> write_sparse_member(const SparseMember& member, const std::filesystem::path& file) {
  const auto fd = create(file, member.size);
  if (!fd) {
    return fail(fd.error());
  }
  return write_marks(fd->get(), member, 0, file);
}

}  // namespace rocm_offline::test
