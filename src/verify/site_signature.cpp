#include "rocm_offline/verify/site_signature.hpp"

namespace rocm_offline::verify {

namespace {

Error distrust(ErrorCode code, const bundle::BundleReader& reader, std::string reason, std::string help) {
  return {.code = code,
          .stage = Stage::verify,
          .message = "the bundle is not signed by the key given with --verify-key",
          .reason = std::move(reason),
          .details = {{"path", reader.path().string()}, {"bundle_id", reader.bundle_id()}},
          .help = std::move(help)};
}

}  // namespace

Result<Done> check_site_signature(const bundle::BundleReader& reader, const SitePublicKey& key) {
  const auto& named = reader.manifest().signing_key;
  if (!named) {
    return fail(distrust(ErrorCode::signature_invalid, reader, "it carries no signature",
                         "use a bundle that was made with --sign-key; do not install this one"));
  }
  if (*named != key) {
    Error error =
        distrust(ErrorCode::key_unknown, reader, "it is signed by another key",
                 "compare the two keys with who made the bundle; do not install it before they are explained");
    error.details["expected"] = key.hex();
    error.details["actual"] = named->hex();
    return fail(std::move(error));
  }
  if (!reader.signature_fits()) {
    return fail(distrust(ErrorCode::signature_invalid, reader,
                         "its signature does not fit its manifest: the bundle was changed or damaged",
                         "copy the file again from where it was made; do not install this one"));
  }
  return Done{};
}

}  // namespace rocm_offline::verify
