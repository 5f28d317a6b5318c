// A Release file (Debian repository format): what a suite says of itself, and the digests of its indexes. Only text
// that was taken out of a verified signature comes here. CR LF line ends are accepted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::index {

struct ListedFile {
  std::uint64_t size = 0;
  Sha256Digest sha256;
  bool operator==(const ListedFile&) const = default;
};

struct ReleaseFile {
  std::string origin, label, suite, codename;
  UnixTime date = 0;
  std::optional<UnixTime> valid_until;
  std::vector<std::string> components, architectures;
  bool acquire_by_hash = false;
  bool packages_hold_arch_all = true;       // binary-<arch>/Packages has the packages of `all`, too
  std::map<std::string, ListedFile> files;  // path below the suite -> SHA256 section
};

// Errors: metadata_invalid (format, missing Date, hostile path), digest_missing (no SHA256 section).
[[nodiscard]] Result<ReleaseFile> parse_release(std::string_view text);

}  // namespace rocm_offline::index
