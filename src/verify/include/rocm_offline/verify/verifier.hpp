// Checks every byte of a bundle: payload and files by digest, everything else regenerated and compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::verify {

struct Finding {
  std::string what{};                    // "package hipcc: digest differs", "3 bytes after the end"
  std::string path{};                    // inside the image, or empty
  std::uint64_t offset = 0;
  bool operator==(const Finding&) const = default;
};

struct VerifyReport {
  std::string bundle_id{};
  std::uint64_t bytes_checked = 0;
  std::uint64_t files_checked = 0;
  std::vector<Finding> findings{};       // empty: sound
  bool operator==(const VerifyReport&) const = default;
};

struct VerifyOptions {
  std::optional<Sha256Digest> expected_file_digest{};   // --sha256
  std::optional<std::string> only_target{};             // install: the members that will be used, and all that is no payload
  unsigned threads = 2;
};

// Error only where the bundle cannot be read at all; damage is findings (the caller exits 6).
[[nodiscard]] Result<VerifyReport> verify_bundle(const bundle::BundleReader& reader, const VerifyOptions& options,
                                                 EventSink& events, CancelToken cancel);

// The findings as one bundle_damaged error.
[[nodiscard]] Error damage_error(const VerifyReport& report);

}  // namespace rocm_offline::verify
