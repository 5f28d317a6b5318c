// NAME.run.part.journal: which members of the .part are said to be complete. Text, one line each:
//   rocm-offline-journal 1
//   bundle <bundle id> <file size>
//   holder <process id>
//   done <sha256> <offset> <size>
// Nothing in it is believed without hashing; a line that a kill has cut short is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::bundle {

struct JournalClaim {
  Sha256Digest sha256{};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool operator==(const JournalClaim&) const = default;
};

struct JournalContent {
  std::string bundle_id{};
  std::uint64_t file_size = 0;
  std::vector<JournalClaim> claims{};
};

// nullopt when there is none, or it is no journal.
[[nodiscard]] std::optional<JournalContent> read_journal(const std::filesystem::path& path);
// Process id, above 0; only for words: what it names may be gone.
[[nodiscard]] std::optional<long> read_journal_holder(const std::filesystem::path& path);

class Journal {
 public:
  // Replaces the journal by one of this process with these claims.
  [[nodiscard]] static Result<Journal> begin(const std::filesystem::path& path, const JournalContent& content);
  // Adds a claim; from any thread.
  [[nodiscard]] Result<Done> append(const JournalClaim& claim);

 private:
  Journal(FileDescriptor fd, std::filesystem::path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

  FileDescriptor m_fd;
  std::filesystem::path m_path;
};

}  // namespace rocm_offline::bundle
