// Signing keys that the catalogue pins by address and fingerprint, for owners whose keys no package of the host
// carries.
#pragma once

#include <filesystem>
#include <vector>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/events.hpp"
#include "rocm_offline/core/ports.hpp"
#include "rocm_offline/core/values.hpp"
#include "rocm_offline/fetch/downloader.hpp"

namespace rocm_offline::index {

struct VendorKeyOptions {
  std::filesystem::path cache_dir{};  // <cache>/keys/<fingerprint>: what was accepted last
  // Take the cached key where there is one (--locked: the file comes out the same). Else the owner is always asked:
  // vendors extend a key's life under the same fingerprint.
  bool prefer_cached = false;
};

// Fills the data of every keyring that has only addresses, each address asked once, whatever it is pinned for. Only the
// key of the pinned fingerprint is taken, whatever else stands beside it. Errors: key_unknown (another key, or none;
// details expected, actual, url), and those of Downloader: web_page, size_mismatch (more than 1 MiB), transfer_failed,
// ...
[[nodiscard]] Result<Done> fetch_vendor_keys(std::vector<ReleasePlan>& plans, const VendorKeyOptions& options,
                                             fetch::Downloader& downloader, const Clock& clock, EventSink& events);

}  // namespace rocm_offline::index
