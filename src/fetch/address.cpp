#include "address.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <memory>

namespace rocm_offline::fetch {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) {
    return {};
  }
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::optional<Address> parse_address(const std::string& url) {
  const Url parsed(curl_url());
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return std::nullopt;
  }
  Address address;
  address.scheme = lower(part(parsed.get(), CURLUPART_SCHEME));
  address.host = lower(part(parsed.get(), CURLUPART_HOST));
  if (address.scheme == "file") {
    address.path = part(parsed.get(), CURLUPART_PATH, CURLU_URLDECODE);
    return address.path.empty() ? std::nullopt : std::optional(address);
  }
  if ((address.scheme != "http" && address.scheme != "https") || address.host.empty()) {
    return std::nullopt;
  }
  address.port = part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  address.path = part(parsed.get(), CURLUPART_PATH);
  return address;
}

std::string with_credentials_of(const std::string& from, const std::string& to) {
  const auto source = parse_address(from);
  const auto target = parse_address(to);
  const Url parsed(curl_url());
  const Url other(curl_url());
  if (!source || !target || source->origin() != target->origin() || !parsed || !other ||
      curl_url_set(parsed.get(), CURLUPART_URL, from.c_str(), 0) != CURLUE_OK ||
      curl_url_set(other.get(), CURLUPART_URL, to.c_str(), 0) != CURLUE_OK) {
    return to;
  }
  const std::string user = part(parsed.get(), CURLUPART_USER);
  const std::string password = part(parsed.get(), CURLUPART_PASSWORD);
  if (user.empty() || !part(other.get(), CURLUPART_USER).empty()) {
    return to;
  }
  curl_url_set(other.get(), CURLUPART_USER, user.c_str(), 0);
  if (!password.empty()) {
    curl_url_set(other.get(), CURLUPART_PASSWORD, password.c_str(), 0);
  }
  return part(other.get(), CURLUPART_URL);
}

}  // namespace rocm_offline::fetch
