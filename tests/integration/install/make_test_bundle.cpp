// Writes a small bundle for debian-13: make_test_bundle OUTPUT SCRATCH STUB RUNNER
// Two packages: rocm-test-app, requested, needs rocm-test-lib.
#include <iostream>
#include <string>

#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

namespace {

using namespace rocm_offline;

// Files on the target steer the scripts: /test-slow makes the installation take long, /test-broken makes it fail.
test::FakeBundle small_bundle() {
  const test::DebContent library{.name = "rocm-test-lib",
                                 .version = "1.0-1",
                                 .control_lines = {},
                                 .scripts = {{"postinst", "#!/bin/sh\n[ ! -e /test-slow ] || sleep 60\n"}},
                                 .files = {{"usr/share/rocm-test/library", "library\n"}}};
  const test::DebContent app{.name = "rocm-test-app",
                             .version = "2.0-1",
                             .control_lines = {"Depends: rocm-test-lib (>= 1.0)"},
                             .scripts = {{"postinst", "#!/bin/sh\n[ ! -e /test-broken ]\n"}},
                             .files = {{"usr/bin/rocm-test-app", "#!/bin/sh\necho app\n"}}};
  test::FakeTarget target;
  target.packages = {test::fake_package(library), test::fake_package(app)};
  target.packages[0].reason = ReasonKind::dependency;
  test::FakeBundle bundle;
  bundle.targets = {target};
  return bundle;
}

int run(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: make_test_bundle OUTPUT SCRATCH STUB RUNNER\n";
    return 2;
  }
  test::FakeBundle content = small_bundle();
  const auto stub = read_file(Stage::bundle, argv[3], 32768);
  const auto runner = read_file(Stage::bundle, argv[4], 1ULL << 30U);
  if (!stub || !runner) {
    std::cerr << "cannot read stub or runner\n";
    return 1;
  }
  content.stub_template = *stub;
  content.runner = *runner;
  const auto finished = test::build_bundle(content, argv[1], argv[2]);
  if (!finished) {
    std::cerr << finished.error().message << ": " << finished.error().reason << "\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}
