// The framing of a clear-signed file: what decides, before gpg is asked, that nothing stands outside the signed part.
#include "fuzz_target.hpp"
#include "signature.hpp"

using namespace rocm_offline;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const bool is_one = index::is_one_clearsigned_message(text);
  fuzz::require(!is_one || (text.starts_with("-----BEGIN PGP SIGNED MESSAGE-----") &&
                            text.find("-----END PGP SIGNATURE-----") != std::string_view::npos));
  // Another message before or after it is two.
  fuzz::require(!is_one || !index::is_one_clearsigned_message(std::string(text) + "\n" + std::string(text)));
  fuzz::require(index::unverified_text_of(text).size() <= text.size() + 1);
  return 0;
}
