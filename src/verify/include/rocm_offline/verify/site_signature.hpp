// --verify-key: is the bundle signed by the site's own key? (ADR 6)
#pragma once

#include "rocm_offline/bundle/reader.hpp"
#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/site_signature.hpp"

namespace rocm_offline::verify {

// Done when the manifest carries a right signature of exactly this key. signature_invalid: not signed, or the signature
// is not of this manifest; key_unknown: signed by another key. Payloads are the manifest's business: verify_bundle.
[[nodiscard]] Result<Done> check_site_signature(const bundle::BundleReader& reader, const SitePublicKey& key);

}  // namespace rocm_offline::verify
