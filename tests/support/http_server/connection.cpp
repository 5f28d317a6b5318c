#include "support/http_server/connection.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace rocm_offline::test {

struct TlsIdentity::State {
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  SSL_CTX* context = nullptr;
  ~State() {
    SSL_CTX_free(context);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

namespace {

void add_extension(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) {
    throw std::runtime_error("test server: no certificate extension");
  }
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* self_signed(EVP_PKEY* key) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_sign(certificate, key, EVP_sha256());
  return certificate;
}

}  // namespace

TlsIdentity::TlsIdentity() : m_state(std::make_unique<State>()) {
  m_state->key = EVP_EC_gen("P-256");
  m_state->certificate = self_signed(m_state->key);
  m_state->context = SSL_CTX_new(TLS_server_method());
  if (m_state->context == nullptr || SSL_CTX_use_certificate(m_state->context, m_state->certificate) != 1 ||
      SSL_CTX_use_PrivateKey(m_state->context, m_state->key) != 1) {
    throw std::runtime_error("test server: no TLS context");
  }
}

TlsIdentity::~TlsIdentity() = default;

std::string TlsIdentity::certificate_pem() const {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(memory, m_state->certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

std::string TlsIdentity::key_pem() const {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, m_state->key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

void TlsIdentity::require_client(const std::string& trusted_pem) {
  BIO* memory = BIO_new_mem_buf(trusted_pem.data(), static_cast<int>(trusted_pem.size()));
  X509* trusted = PEM_read_bio_X509(memory, nullptr, nullptr, nullptr);
  BIO_free(memory);
  if (trusted == nullptr || X509_STORE_add_cert(SSL_CTX_get_cert_store(m_state->context), trusted) != 1) {
    throw std::runtime_error("test server: no client certificate to trust");
  }
  X509_free(trusted);
  SSL_CTX_set_verify(m_state->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

void* TlsIdentity::context() const {
  return m_state->context;
}

Connection::Connection(int socket, const TlsIdentity* identity) : m_socket(socket) {
  if (identity != nullptr) {
    SSL* tls = SSL_new(static_cast<SSL_CTX*>(identity->context()));
    SSL_set_fd(tls, socket);
    m_tls = tls;
    m_ok = SSL_accept(tls) == 1;
  }
}

Connection::~Connection() {
  if (m_tls != nullptr) {
    SSL_free(static_cast<SSL*>(m_tls));
  }
  ::close(m_socket);
}

bool Connection::send(std::string_view data) {
  while (!data.empty()) {
    const long sent = m_tls != nullptr ? SSL_write(static_cast<SSL*>(m_tls), data.data(), static_cast<int>(data.size()))
                                       : ::send(m_socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    data.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

long Connection::read_some(char* buffer, std::size_t size) {
  return m_tls != nullptr ? SSL_read(static_cast<SSL*>(m_tls), buffer, static_cast<int>(size))
                          : ::recv(m_socket, buffer, size, 0);
}

std::string Connection::receive_head() {
  std::array<char, 4096> buffer{};
  for (;;) {
    if (const auto end = m_pending.find("\r\n\r\n"); end != std::string::npos) {
      std::string head = m_pending.substr(0, end + 4);
      m_pending.erase(0, end + 4);
      return head;
    }
    const long got = read_some(buffer.data(), buffer.size());
    // 0x16 begins a TLS handshake: no plain server would wait for more of it.
    if (got <= 0 || m_pending.size() > 65536 || (m_pending.empty() && buffer[0] == 0x16)) {
      return {};
    }
    m_pending.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void Connection::wait_for_close() {
  std::array<char, 512> buffer{};
  while (read_some(buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace rocm_offline::test
