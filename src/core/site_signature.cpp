#include "rocm_offline/core/site_signature.hpp"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <new>
#include <utility>

#include "rocm_offline/core/digest.hpp"
#include "rocm_offline/core/posix.hpp"

namespace rocm_offline {

namespace {

constexpr std::uint64_t most_key_bytes = 64U << 10U;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context make_context() {
  Context context(EVP_MD_CTX_new());
  if (!context) {
    throw std::bad_alloc();
  }
  return context;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Error refuse(Stage stage, const std::filesystem::path& path, std::string reason, std::string help) {
  return {.code = ErrorCode::config_invalid,
          .stage = stage,
          .message = "cannot use the key file " + path.string(),
          .reason = std::move(reason),
          .details = {{"path", path.string()}},
          .help = std::move(help)};
}

// OpenSSL's own callback would ask on the terminal.
extern "C" int refuse_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

struct ReadKey {
  Key key{};
  bool encrypted = false;
};

ReadKey parse_key(std::string_view pem, bool is_private) {
  ReadKey read;
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) {
    throw std::bad_alloc();
  }
  read.key.reset(is_private ? PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse_passphrase, &read.encrypted)
                            : PEM_read_bio_PUBKEY(bio.get(), nullptr, refuse_passphrase, &read.encrypted));
  ERR_clear_error();
  return read;
}

std::string type_name(const EVP_PKEY* key) {
  const char* name = OBJ_nid2sn(EVP_PKEY_base_id(key));
  return name == nullptr ? "unknown" : name;
}

constexpr std::string_view make_private = "openssl genpkey -algorithm ed25519 -out KEY.pem makes one";
constexpr std::string_view make_public = "openssl pkey -in KEY.pem -pubout -out KEY.pub writes it from the private key";

Result<Key> accept_key(Stage stage, const std::filesystem::path& path, std::string_view pem, bool is_private) {
  ReadKey read = parse_key(pem, is_private);
  const std::string help(is_private ? make_private : make_public);
  if (read.encrypted) {
    return fail(refuse(stage, path, "it is protected by a passphrase, and this program never asks for one",
                       "openssl pkey -in " + path.string() +
                           " -out PLAIN.pem writes a plain one: keep it where only you can read it"));
  }
  if (!read.key) {
    const bool other_kind = pem.find(is_private ? "PUBLIC KEY-----" : "PRIVATE KEY-----") != std::string_view::npos;
    return fail(
        refuse(stage, path,
               other_kind ? (is_private ? "it holds a public key; signing needs the private one"
                                        : "it holds a private key; only the public one is needed here")
                          : (is_private ? "it holds no private key in PEM form" : "it holds no public key in PEM form"),
               help));
  }
  if (EVP_PKEY_base_id(read.key.get()) != EVP_PKEY_ED25519) {
    return fail(refuse(stage, path, "its key is of type " + type_name(read.key.get()) + ", not Ed25519", help));
  }
  return std::move(read.key);
}

SitePublicKey public_part(const EVP_PKEY* key) {
  SitePublicKey part;
  std::size_t size = part.bytes.size();
  if (EVP_PKEY_get_raw_public_key(key, part.bytes.data(), &size) != 1 || size != part.bytes.size()) {
    throw std::bad_alloc();  // the type was checked: only memory can be short
  }
  return part;
}

}  // namespace

std::string SitePublicKey::hex() const {
  return Sha256Digest{bytes}.hex();
}

std::optional<SitePublicKey> SitePublicKey::from_hex(std::string_view text) {
  const auto parsed = Sha256Digest::from_hex(text);  // 32 bytes as well
  if (!parsed || parsed->hex() != text) {
    return std::nullopt;
  }
  return SitePublicKey{parsed->bytes};
}

Result<SitePublicKey> SitePublicKey::read(Stage stage, const std::filesystem::path& path) {
  auto pem = read_file(stage, path, most_key_bytes);
  if (!pem) {
    return fail(in_context(std::move(pem).error(), "reading the public key"));
  }
  auto key = accept_key(stage, path, *pem, false);
  if (!key) {
    return fail(std::move(key).error());
  }
  return public_part(key->get());
}

bool site_signature_fits(const SitePublicKey& key, std::string_view text, std::string_view signature) {
  if (signature.size() != site_signature_size) {
    return false;
  }
  const Key raw(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const Context context = make_context();
  const bool fits =
      raw && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, raw.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text), text.size()) == 1;
  ERR_clear_error();
  return fits;
}

struct SiteSigningKey::State {
  Key key{};
  SitePublicKey public_key{};
  bool readable_by_others = false;
};

SiteSigningKey::SiteSigningKey(std::unique_ptr<State> state) : m_state(std::move(state)) {}
SiteSigningKey::SiteSigningKey(SiteSigningKey&&) noexcept = default;
SiteSigningKey& SiteSigningKey::operator=(SiteSigningKey&&) noexcept = default;
SiteSigningKey::~SiteSigningKey() = default;

Result<SiteSigningKey> SiteSigningKey::read(Stage stage, const std::filesystem::path& path) {
  auto pem = read_file(stage, path, most_key_bytes);
  if (!pem) {
    return fail(in_context(std::move(pem).error(), "reading the signing key"));
  }
  auto key = accept_key(stage, path, *pem, true);
  OPENSSL_cleanse(pem->data(), pem->size());
  if (!key) {
    return fail(std::move(key).error());
  }
  auto state = std::make_unique<State>();
  state->public_key = public_part(key->get());
  state->key = std::move(*key);
  struct stat status {};
  state->readable_by_others = ::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0;
  return SiteSigningKey(std::move(state));
}

const SitePublicKey& SiteSigningKey::public_key() const {
  return m_state->public_key;
}

bool SiteSigningKey::readable_by_others() const {
  return m_state->readable_by_others;
}

std::string SiteSigningKey::sign(std::string_view text) const {
  std::string signature(site_signature_size, '\0');
  std::size_t size = signature.size();
  const Context context = make_context();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, m_state->key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(text),
                     text.size()) != 1 ||
      size != signature.size()) {
    throw std::bad_alloc();  // a checked key signs any text: only memory can be short
  }
  return signature;
}

}  // namespace rocm_offline
