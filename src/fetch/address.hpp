// Parts of an address, by curl's own parser, so that what is checked is what is contacted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rocm_offline::fetch {

struct Address {
  std::string scheme;  // lower case
  std::string host;    // lower case, without user info; IPv6 in brackets
  std::string port;    // the scheme's own where none is given; empty for file
  std::string path;    // percent-decoded for file, else as given
  // "https://host:443": what a connection is made to.
  [[nodiscard]] std::string origin() const { return scheme + "://" + host + ":" + port; }
};

// nullopt: not an address with one of the schemes http, https, file.
[[nodiscard]] std::optional<Address> parse_address(const std::string& url);

// `to`, with the user and password of `from` where both have the same origin and `to` names none of its own.
[[nodiscard]] std::string with_credentials_of(const std::string& from, const std::string& to);

}  // namespace rocm_offline::fetch
