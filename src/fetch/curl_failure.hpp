// What curl's errors mean, in words, and whether another try may help.
#pragma once

#include <curl/curl.h>

#include <string>

#include "transfer.hpp"

namespace rocm_offline::fetch {

struct CurlEnd {
  CURLcode code = CURLE_OK;
  std::string text;         // curl's own words
  long connect_status = 0;  // a proxy's answer to CONNECT
  bool connected = false;
  bool proxy_given = false;  // by --proxy
};

[[nodiscard]] Failure failure_of(const CurlEnd& end, const Transfer& transfer);

}  // namespace rocm_offline::fetch
