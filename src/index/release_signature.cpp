#include "rocm_offline/index/release_signature.hpp"

#include "signature.hpp"

namespace rocm_offline::index {

namespace {

// A Release is signed some time after its date.
constexpr UnixTime signing_delay = 24 * 3600;

}  // namespace

Result<SignedRelease> verify_release_signature(const ReleaseSignatureRequest& request) {
  SignatureVerifier verifier(request.work_folder, request.as_of + signing_delay);
  const SignatureRequest question{request.keyrings, request.detached_signature ? "Release" : "InRelease", "NAME"};
  auto text = request.detached_signature
                  ? verifier.verify_detached(request.release, *request.detached_signature, question)
                  : verifier.verify_clearsigned(request.release, question);
  if (!text) {
    return fail(std::move(text).error());
  }
  return SignedRelease{std::move(text->text), std::move(text->signed_by)};
}

}  // namespace rocm_offline::index
