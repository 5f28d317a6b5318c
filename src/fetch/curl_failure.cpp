#include "curl_failure.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::fetch {
namespace {

constexpr const char* kMirrorHelp = "try again later, or use another mirror with --mirror";

Failure unreachable(Error error) {
  return {std::move(error), Next::retry, true, std::nullopt};
}

Failure never(Error error) {
  return {std::move(error), Next::next_address, true, std::nullopt};
}

std::string host_of(const Transfer& transfer) {
  const auto address = transfer.address();
  return address ? address->host : "the host";
}

Failure connect_failure(const CurlEnd& end, const Transfer& transfer) {
  // curl names the peer that it could not reach; where that is not the address's host, it is a proxy's.
  if (end.proxy_given || end.text.find(host_of(transfer)) == std::string::npos) {
    return unreachable(transfer.error(ErrorCode::transfer_failed, "cannot connect to the proxy: " + end.text,
                                      "check --proxy and the variables http_proxy, https_proxy and no_proxy"));
  }
  return unreachable(transfer.error(ErrorCode::transfer_failed,
                                    "cannot connect to " + host_of(transfer) + ": " + end.text,
                                    "check the address and the network; behind a proxy give --proxy"));
}

Failure timeout_failure(const CurlEnd& end, const Transfer& transfer) {
  if (!end.connected) {
    return unreachable(transfer.error(ErrorCode::transfer_failed,
                                      "no connection to " + host_of(transfer) + " within the time allowed",
                                      "check the network and firewall; behind a proxy give --proxy"));
  }
  return {transfer.error(ErrorCode::transfer_stalled, "the server stopped sending", kMirrorHelp), Next::retry, false,
          std::nullopt};
}

Failure broken_failure(const CurlEnd& end, const Transfer& transfer) {
  if (end.connect_status == 407) {
    return never(transfer.error(ErrorCode::transfer_failed, "the proxy wants a user name and password",
                                "give them with --proxy http://user:password@host:port"));
  }
  if (end.connect_status >= 400) {
    return never(transfer.error(ErrorCode::transfer_failed,
                                "the proxy refuses the connection with status " + std::to_string(end.connect_status),
                                "check --proxy and the variables http_proxy, https_proxy and no_proxy"));
  }
  return {transfer.error(ErrorCode::transfer_failed,
                         "the connection broke after " + std::to_string(transfer.received()) + " bytes: " + end.text,
                         kMirrorHelp),
          Next::retry, false, std::nullopt};
}

Failure short_failure(const Transfer& transfer) {
  Error error = transfer.error(ErrorCode::short_body,
                               "the server closed the connection after " + std::to_string(transfer.received()) +
                                   " of " + std::to_string(transfer.known_size()) + " bytes",
                               kMirrorHelp);
  error.details["expected"] = std::to_string(transfer.known_size());
  error.details["actual"] = std::to_string(transfer.received());
  return {std::move(error), Next::retry, false, std::nullopt};
}

}  // namespace

Failure failure_of(const CurlEnd& end, const Transfer& transfer) {
  switch (end.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return unreachable(
          transfer.error(ErrorCode::transfer_failed, "the name of host " + host_of(transfer) + " cannot be resolved",
                         "check the address and this machine's DNS; --mirrors-from-host takes the addresses that this "
                         "machine's own package manager uses; behind a proxy give --proxy"));
    case CURLE_COULDNT_RESOLVE_PROXY:
      return unreachable(transfer.error(ErrorCode::transfer_failed, "the name of the proxy cannot be resolved",
                                        "check --proxy and the variables http_proxy, https_proxy and no_proxy"));
    case CURLE_COULDNT_CONNECT:
      return connect_failure(end, transfer);
    case CURLE_OPERATION_TIMEDOUT:
      return timeout_failure(end, transfer);
    case CURLE_PEER_FAILED_VERIFICATION:
      return never(transfer.error(
          ErrorCode::transfer_failed, "the certificate of " + host_of(transfer) + " is not trusted: " + end.text,
          "check this machine's clock and certificates (package ca-certificates); for a site's own give --cacert"));
    case CURLE_SSL_CACERT_BADFILE:
      return never(transfer.error(ErrorCode::transfer_failed, "the file of trusted certificates cannot be read",
                                  "check --cacert and the package ca-certificates"));
    case CURLE_SSL_CERTPROBLEM:
      return never(transfer.error(ErrorCode::transfer_failed, "the client certificate cannot be used: " + end.text,
                                  "check --client-cert: a PEM file with certificate and key"));
    case CURLE_SSL_CONNECT_ERROR:
      return unreachable(transfer.error(ErrorCode::transfer_failed,
                                        "no TLS connection to " + host_of(transfer) + ": " + end.text,
                                        "check that the address is an https one; a firewall may stand in between"));
    case CURLE_PARTIAL_FILE:
      return short_failure(transfer);
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return never(transfer.error(ErrorCode::transfer_failed, "the address cannot be used: " + end.text,
                                  "give an address that begins with http://, https:// or file:///"));
    default:
      return broken_failure(end, transfer);
  }
}

}  // namespace rocm_offline::fetch
