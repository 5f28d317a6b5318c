// A bundle on a block device, as a CD or a stick written with dd.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/posix.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/verify/verifier.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
namespace fs = std::filesystem;

namespace {

// A read-only loop device over a file; invalid where this machine or user may not have one.
class LoopDevice {
 public:
  explicit LoopDevice(const fs::path& file) {
    const auto outcome = m_runner.run({.argv = {"losetup", "--read-only", "--find", "--show", file.string()}});
    if (outcome && outcome->exit_code == 0) {
      m_device = trim(outcome->output);
    } else {
      std::cerr << "skipped: no loop device for this user: " << (outcome ? outcome->output : "no losetup\n");
    }
  }
  ~LoopDevice() {
    if (valid()) {
      (void)m_runner.run({.argv = {"losetup", "--detach", m_device.string()}});
    }
  }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;
  [[nodiscard]] bool valid() const { return !m_device.empty(); }
  [[nodiscard]] const fs::path& path() const { return m_device; }

 private:
  PosixProcessRunner m_runner{};
  fs::path m_device{};
};

Result<verify::VerifyReport> check(const fs::path& path) {
  const auto reader = bundle::BundleReader::open(path);
  if (!reader) {
    return fail(reader.error());
  }
  CHECK(reader->is_block_device());
  NullEventSink events;
  return verify::verify_bundle(*reader, {}, events, CancelToken());
}

}  // namespace

TEST_CASE("zeros after the end of a block device are normal, anything else is damage") {
  const auto directory = TemporaryDirectory::create(Stage::verify, fs::temp_directory_path(), "device-test").value();
  const fs::path path = directory.path() / "a.run";
  test::FakeBundle content;
  content.targets.resize(1);
  content.targets[0].packages.push_back({.id = {"p", "1", "amd64"}, .payload = std::string(9000, 'p')});
  const auto finished = test::build_bundle(content, path, directory.path());
  REQUIRE(finished);
  std::ofstream(path, std::ios::app | std::ios::binary) << std::string(475648, '\0');
  {
    const LoopDevice device(path);
    if (!device.valid()) {
      return;
    }
    const auto report = check(device.path());
    REQUIRE(report);
    CHECK(report->findings.empty());
  }
  std::ofstream(path, std::ios::app | std::ios::binary) << std::string(512, 'x');
  const LoopDevice device(path);
  REQUIRE(device.valid());
  const auto report = check(device.path());
  REQUIRE(report);
  REQUIRE(report->findings.size() == 1);
  CHECK(report->findings[0].offset == finished->size_bytes + 475648);
}
