#include <catch2/catch.hpp>
#include <fstream>

#include "journal.hpp"

using namespace rocm_offline;

namespace {

struct Folder {
  TemporaryDirectory folder = TemporaryDirectory::create(Stage::bundle, "/tmp", "rocm-test-journal-").value();
  [[nodiscard]] std::filesystem::path journal(const std::string& holder) const {
    const std::filesystem::path path = folder.path() / "x.run.part.journal";
    std::ofstream(path, std::ios::trunc) << "rocm-offline-journal 1\nbundle 5eb1aa58246bde20 4096\nholder " << holder
                                         << "\n";
    return path;
  }
};

}  // namespace

TEST_CASE_METHOD(Folder, "the holder of a journal is a process id", "[bundle]") {
  CHECK(bundle::read_journal_holder(journal("4711")) == 4711);
  for (const char* odd : {"0", "-5", "", "x", "99999999999999999999", "4711 1"}) {
    INFO(odd);
    CHECK_FALSE(bundle::read_journal_holder(journal(odd)).has_value());
  }
}
