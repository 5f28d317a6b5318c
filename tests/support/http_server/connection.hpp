// A connected socket of the test server, plain or TLS.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace rocm_offline::test {

// Key and self-signed certificate, made at construction.
class TlsIdentity {
 public:
  TlsIdentity();
  ~TlsIdentity();
  [[nodiscard]] std::string certificate_pem() const;
  [[nodiscard]] std::string key_pem() const;
  // From now on handshakes fail without a client certificate that `trusted_pem` is or has signed.
  void require_client(const std::string& trusted_pem);
  [[nodiscard]] void* context() const;  // SSL_CTX*

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

class Connection {
 public:
  // Takes over the socket. With an identity the TLS handshake is made; ok() is false when it failed.
  Connection(int socket, const TlsIdentity* identity);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] bool ok() const { return m_ok; }
  // False when the peer has gone.
  bool send(std::string_view data);
  // Up to and including the blank line; empty when the peer has gone.
  std::string receive_head();
  // Waits until the peer closes, or the socket is shut down by the server.
  void wait_for_close();

 private:
  long read_some(char* buffer, std::size_t size);
  int m_socket;
  void* m_tls = nullptr;  // SSL*
  bool m_ok = true;
  std::string m_pending;
};

}  // namespace rocm_offline::test
