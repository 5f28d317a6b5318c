#include "journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::bundle {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t journal_cap = std::uint64_t{64} << 20U;
constexpr std::string_view first_line = "rocm-offline-journal 1";

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// The words of each whole line; empty when the file is no journal.
std::vector<std::vector<std::string>> read_lines(const fs::path& path) {
  const auto text = read_file(Stage::bundle, path, journal_cap);
  if (!text) {
    return {};
  }
  std::vector<std::string> lines = split(*text, '\n');
  lines.pop_back();  // what follows the last newline was cut short
  if (lines.empty() || lines.front() != first_line) {
    return {};
  }
  std::vector<std::vector<std::string>> words;
  for (const std::string& line : lines) {
    words.push_back(split(line, ' '));
  }
  return words;
}

std::optional<JournalClaim> to_claim(const std::vector<std::string>& words) {
  const auto digest = Sha256Digest::from_hex(words[1]);
  const auto offset = to_number<std::uint64_t>(words[2]);
  const auto size = to_number<std::uint64_t>(words[3]);
  if (!digest || !offset || !size) {
    return std::nullopt;
  }
  return JournalClaim{*digest, *offset, *size};
}

std::string claim_line(const JournalClaim& claim) {
  return "done " + claim.sha256.hex() + " " + std::to_string(claim.offset) + " " + std::to_string(claim.size) + "\n";
}

}  // namespace

std::optional<JournalContent> read_journal(const fs::path& path) {
  JournalContent content;
  for (const auto& words : read_lines(path)) {
    if (words.size() == 3 && words[0] == "bundle") {
      content.bundle_id = words[1];
      content.file_size = to_number<std::uint64_t>(words[2]).value_or(0);
    } else if (words.size() == 4 && words[0] == "done") {
      if (const auto claim = to_claim(words)) {
        content.claims.push_back(*claim);
      }
    }
  }
  return content.bundle_id.empty() ? std::nullopt : std::optional(std::move(content));
}

std::optional<long> read_journal_holder(const fs::path& path) {
  for (const auto& words : read_lines(path)) {
    if (words.size() == 2 && words[0] == "holder") {
      const auto process = to_number<long>(words[1]);
      return process && *process > 0 ? process : std::nullopt;
    }
  }
  return std::nullopt;
}

Result<Journal> Journal::begin(const fs::path& path, const JournalContent& content) {
  std::string text = std::string(first_line) + "\nbundle " + content.bundle_id + " " +
                     std::to_string(content.file_size) + "\nholder " + std::to_string(::getpid()) + "\n";
  for (const JournalClaim& claim : content.claims) {
    text += claim_line(claim);
  }
  if (auto done = write_file_atomically(Stage::bundle, path, text); !done) {
    return fail(std::move(done).error());
  }
  FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) {
    return fail(system_error(Stage::bundle, "cannot write the journal", path, errno));
  }
  return Journal(std::move(fd), path);
}

Result<Done> Journal::append(const JournalClaim& claim) {
  const std::string line = claim_line(claim);
  // One write(2) with O_APPEND: whole lines, whichever threads write.
  const ssize_t written = ::write(m_fd.get(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    return fail(system_error(Stage::bundle, "cannot write the journal", m_path, written < 0 ? errno : ENOSPC));
  }
  return Done{};
}

}  // namespace rocm_offline::bundle
