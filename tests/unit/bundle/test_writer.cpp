#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <mutex>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/bundle/writer.hpp"
#include "rocm_offline/core/posix.hpp"
#include "support/bundle_builder/bundle_builder.hpp"

using namespace rocm_offline;
using bundle::BundleReader;
using bundle::BundleWriter;
using test::FakeBundle;
namespace fs = std::filesystem;

namespace {

class RecordingSink final : public EventSink {
 public:
  void event(const Event& event) noexcept override {
    const std::lock_guard<std::mutex> lock(m_mutex);
    names.push_back(event.name);
  }
  void progress(const Progress&) noexcept override {}
  [[nodiscard]] long count(const std::string& name) const { return std::count(names.begin(), names.end(), name); }
  std::vector<std::string> names{};

 private:
  std::mutex m_mutex{};
};

FakeBundle three_packages() {
  FakeBundle content;
  content.targets.resize(1);
  for (const char* name : {"alpha", "beta", "gamma"}) {
    content.targets[0].packages.push_back({.id = {name, "1.0", "amd64"}, .payload = std::string(10000, *name)});
  }
  return content;
}

std::string slurp(const fs::path& path) {
  return read_file(Stage::bundle, path, std::uint64_t{1} << 30U).value();
}

Result<Done> receive(BundleWriter& writer, const FakeBundle& content, const bundle::BundleLayout& layout,
                     std::size_t member) {
  const std::string payload = test::payloads_of(content).at(layout.members[member].sha256);
  ByteSink& sink = writer.sink(member);
  // Two pieces, the first begun twice as after a broken transfer.
  REQUIRE(sink.begin(0));
  REQUIRE(sink.write(0, payload.substr(0, 100)));
  REQUIRE(sink.begin(0));
  REQUIRE(sink.write(0, payload.substr(0, 5000)));
  REQUIRE(sink.write(5000, payload.substr(5000)));
  return writer.mark_complete(member);
}

struct Workplace {
  TemporaryDirectory directory =
      TemporaryDirectory::create(Stage::bundle, fs::temp_directory_path(), "bundle-test").value();
  fs::path output = directory.path() / "out.run";
  fs::path part = directory.path() / "out.run.part";
  fs::path journal = directory.path() / "out.run.part.journal";
};

}  // namespace

TEST_CASE("a published bundle is whole, executable, and has a checksum file that sha256sum understands") {
  const Workplace place;
  const auto finished = test::build_bundle(three_packages(), place.output, place.directory.path());
  REQUIRE(finished);
  const std::string bytes = slurp(place.output);
  CHECK(bytes.size() == finished->size_bytes);
  CHECK(bytes.size() % bundle::alignment == 0);
  CHECK(sha256_of(bytes) == finished->sha256);
  CHECK(slurp(place.output.string() + ".sha256") == finished->sha256.hex() + "  out.run\n");
  struct stat status {};
  REQUIRE(::stat(place.output.c_str(), &status) == 0);
  CHECK((status.st_mode & 0700U) == 0700U);
  CHECK_FALSE(fs::exists(place.part));
  CHECK_FALSE(fs::exists(place.journal));
}

TEST_CASE("the bytes do not depend on the order in which members arrive") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  std::vector<std::string> results;
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    NullEventSink events;
    auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    REQUIRE(writer);
    REQUIRE(writer->missing().size() == 3);
    for (const std::size_t member : order) {
      REQUIRE(receive(*writer, content, *layout, member));
    }
    REQUIRE(writer->publish());
    results.push_back(slurp(place.output));
    fs::remove(place.output);
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("a second create on the same output is refused at once and names the holder") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  {
    auto first = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    REQUIRE(first);
    const auto second = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::output_busy);
    CHECK(exit_status(second.error().code) == 2);
    CHECK(second.error().details.at("pid") == std::to_string(::getpid()));
  }
  CHECK(BundleWriter::open({.output = place.output}, *layout, events, CancelToken()));
}

TEST_CASE("an output is claimed before anything is known of the bundle, and let go without a trace") {
  const Workplace place;
  {
    const auto first = bundle::OutputClaim::take(place.output);
    REQUIRE(first);
    const auto second = bundle::OutputClaim::take(place.output);
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::output_busy);
    CHECK(second.error().details.at("pid") == std::to_string(::getpid()));
  }
  CHECK_FALSE(fs::exists(place.part));
  std::ofstream(place.part) << "of an earlier run";
  REQUIRE(bundle::OutputClaim::take(place.output));
  CHECK(slurp(place.part) == "of an earlier run");
}

TEST_CASE("a checksum that cannot be written leaves no bundle that looks finished") {
  const FakeBundle content = three_packages();
  const Workplace place;
  fs::create_directory(place.output.string() + ".sha256");
  const auto finished = test::build_bundle(content, place.output, place.directory.path());
  REQUIRE_FALSE(finished);
  CHECK_FALSE(fs::exists(place.output));
  CHECK(fs::exists(place.part));
}

TEST_CASE("a line break in the name of a bundle stays one line of its checksum") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const fs::path output = place.directory.path() / "a\nb\\c.run";
  const auto finished = test::build_bundle(content, output, place.directory.path());
  REQUIRE(finished);
  CHECK(slurp(output.string() + ".sha256") == "\\" + finished->sha256.hex() + "  a\\nb\\\\c.run\n");
}

TEST_CASE("an interrupted create continues with what was complete") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  RecordingSink events;
  {
    auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    REQUIRE(writer);
    REQUIRE(receive(*writer, content, *layout, 1));
    REQUIRE(writer->sink(2).begin(0));
    REQUIRE(writer->sink(2).write(0, "half of it"));
  }
  CHECK(fs::exists(place.part));
  CHECK_FALSE(fs::exists(place.output));
  // The journal's last line may have been cut short by the kill.
  std::ofstream(place.journal, std::ios::app) << "done 0123";
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing() == std::vector<std::size_t>{0, 2});
  CHECK(events.count("bundle.part.resumed") == 1);
  REQUIRE(receive(*writer, content, *layout, 0));
  REQUIRE(receive(*writer, content, *layout, 2));
  const auto finished = writer->publish();
  REQUIRE(finished);
  const auto fresh = test::build_bundle(content, place.directory.path() / "fresh.run", place.directory.path());
  REQUIRE(fresh);
  CHECK(finished->sha256 == fresh->sha256);
}

TEST_CASE("a killed create holds nothing: the next one names it while it lives, and continues after it") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  int ready[2] = {-1, -1};
  REQUIRE(::pipe(ready) == 0);
  RecordingSink events;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    const std::string payload = test::payloads_of(content).at(layout->members[0].sha256);
    const bool written = writer && writer->sink(0).begin(0) && writer->sink(0).write(0, payload) &&
                         writer->mark_complete(0) && ::write(ready[1], "x", 1) == 1;
    while (written) {
      ::pause();
    }
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = '\0';
  const ssize_t got = ::read(ready[0], &byte, 1);
  ::close(ready[0]);
  const auto busy = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(got == 1);
  REQUIRE_FALSE(busy);
  CHECK(busy.error().code == ErrorCode::output_busy);
  CHECK(busy.error().details.at("pid") == std::to_string(child));
  const auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing() == std::vector<std::size_t>{1, 2});
}

TEST_CASE("a journal's claims are hashed before they are believed") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  RecordingSink events;
  {
    auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
    REQUIRE(writer);
    REQUIRE(receive(*writer, content, *layout, 0));
    REQUIRE(receive(*writer, content, *layout, 1));
  }
  const bundle::Member& damaged = layout->members[1];
  {
    std::fstream part(place.part, std::ios::in | std::ios::out | std::ios::binary);
    part.seekp(static_cast<std::streamoff>(damaged.offset + 77));
    part.put('!');
    // Padding that somebody wrote into must not survive either.
    part.seekp(static_cast<std::streamoff>(damaged.offset + damaged.size + 3));
    part.put('!');
  }
  std::ofstream(place.journal, std::ios::app) << "done " << layout->members[2].sha256.hex() << " "
                                              << layout->members[2].offset << " " << layout->members[2].size << "\n";
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing() == std::vector<std::size_t>{1, 2});
  CHECK(events.count("bundle.member.claim_rejected") == 2);
  REQUIRE(receive(*writer, content, *layout, 1));
  REQUIRE(receive(*writer, content, *layout, 2));
  const auto finished = writer->publish();
  REQUIRE(finished);
  const auto fresh = test::build_bundle(content, place.directory.path() / "fresh.run", place.directory.path());
  REQUIRE(fresh);
  CHECK(finished->sha256 == fresh->sha256);
}

TEST_CASE("an unfinished file of another selection is started over, and that is said") {
  const FakeBundle content = three_packages();
  FakeBundle other = content;
  other.targets[0].packages.pop_back();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  const auto other_layout = test::lay_out(other, place.directory.path());
  REQUIRE(layout);
  REQUIRE(other_layout);
  RecordingSink events;
  {
    auto writer = BundleWriter::open({.output = place.output}, *other_layout, events, CancelToken());
    REQUIRE(writer);
    REQUIRE(receive(*writer, content, *other_layout, 0));
  }
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing().size() == 3);
  CHECK(events.count("bundle.part.discarded") == 1);
}

TEST_CASE("the previous bundle is taken over and stays until the new one is complete") {
  const FakeBundle content = three_packages();
  const Workplace place;
  FakeBundle older = content;
  older.targets[0].packages.pop_back();
  REQUIRE(test::build_bundle(older, place.output, place.directory.path()));
  const std::string before = slurp(place.output);
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  RecordingSink events;
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing() == std::vector<std::size_t>{2});
  CHECK(events.count("bundle.members.reused") == 1);
  CHECK(slurp(place.output) == before);
  REQUIRE(receive(*writer, content, *layout, 2));
  CHECK(slurp(place.output) == before);
  REQUIRE(writer->publish());
  CHECK(slurp(place.output) != before);
}

TEST_CASE("members are taken from a folder of packages only when their digest is right") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const fs::path folder = place.directory.path() / "debs";
  fs::create_directories(folder / "deep");
  std::ofstream(folder / "deep" / "a.deb") << content.targets[0].packages[0].payload;
  std::ofstream(folder / "b.deb") << std::string(10000, 'X');
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  auto writer = BundleWriter::open({.output = place.output, .reuse = {folder}}, *layout, events, CancelToken());
  REQUIRE(writer);
  CHECK(writer->missing() == std::vector<std::size_t>{1, 2});
}

TEST_CASE("something to reuse that does not exist is an error") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  const auto writer = BundleWriter::open({.output = place.output, .reuse = {place.directory.path() / "none.run"}},
                                         *layout, events, CancelToken());
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == ErrorCode::file_missing);
}

TEST_CASE("a bundle that does not fit is refused before anything is received") {
  const FakeBundle content = three_packages();
  const Workplace place;
  auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  layout->file_size = std::uint64_t{1} << 50U;
  NullEventSink events;
  const auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == ErrorCode::no_space);
  CHECK(writer.error().details.at("need") == std::to_string(layout->file_size));
  CHECK_FALSE(fs::exists(place.part));
}

TEST_CASE("an incomplete bundle is never published") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  REQUIRE(receive(*writer, content, *layout, 0));
  CHECK_FALSE(writer->mark_complete(1));
  CHECK_FALSE(writer->publish());
  CHECK_FALSE(fs::exists(place.output));
}

TEST_CASE("a transfer cannot write outside of its member") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE(writer);
  ByteSink& sink = writer->sink(0);
  REQUIRE(sink.begin(0));
  CHECK_FALSE(sink.write(0, std::string(10001, 'x')));
  CHECK_FALSE(sink.write(5, "hole"));
  CHECK_FALSE(sink.begin(10));
}

TEST_CASE("an output that is a folder, or in a folder that is not there, is refused") {
  const FakeBundle content = three_packages();
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  NullEventSink events;
  const auto folder = BundleWriter::open({.output = place.directory.path()}, *layout, events, CancelToken());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == ErrorCode::usage);
  const auto nowhere =
      BundleWriter::open({.output = place.directory.path() / "none" / "x.run"}, *layout, events, CancelToken());
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == ErrorCode::file_missing);
}

TEST_CASE("a local file that changed after it was verified stops the create") {
  FakeBundle content = three_packages();
  content.targets[0].trust = {{"debian/InRelease", "signed\n"}};
  const Workplace place;
  const auto layout = test::lay_out(content, place.directory.path());
  REQUIRE(layout);
  std::ofstream(place.directory.path() / "trust-debian-13" / "debian" / "InRelease") << "forged\n";
  NullEventSink events;
  const auto writer = BundleWriter::open({.output = place.output}, *layout, events, CancelToken());
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == ErrorCode::digest_mismatch);
  CHECK_FALSE(fs::exists(place.output));
}
