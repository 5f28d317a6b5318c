#include <catch2/catch.hpp>

#include "address.hpp"
#include "response_head.hpp"

using namespace rocm_offline::fetch;

TEST_CASE("content ranges are read strictly", "[fetch]") {
  CHECK(parse_content_range("bytes 5-9/10") == ContentRange{5, 9, 10});
  CHECK(parse_content_range("bytes 5-9/*") == ContentRange{5, 9, std::nullopt});
  for (const char* wrong : {"", "bytes", "bytes */10", "bytes 9-5/10", "bytes 5-9", "bytes 5-9/", "bytes 5-9/x",
                            "bytes -9/10", "items 5-9/10", "bytes 5-99999999999999999999/10"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_content_range(wrong).has_value());
  }
}

TEST_CASE("the last response counts: a proxy's answer and 100 come before it", "[fetch]") {
  ResponseHead head;
  for (const char* line : {"HTTP/1.1 200 Connection established\r\n", "Content-Type: text/html\r\n", "\r\n",
                           "HTTP/2 206 \r\n", "content-length: 5\r\n", "Content-Range: bytes 5-9/10\r\n", "\r\n"}) {
    head.add_line(line);
  }
  CHECK(head.status == 206);
  CHECK(head.content_length == 5U);
  CHECK(head.content_range == ContentRange{5, 9, 10});
  CHECK_FALSE(head.says_html());
}

TEST_CASE("web pages are recognised by their beginning", "[fetch]") {
  CHECK(begins_as_html("<!DOCTYPE html>\n<html>"));
  CHECK(begins_as_html("\xEF\xBB\xBF \r\n <HTML lang=en>"));
  CHECK(begins_as_html("\n\n<!doctype HTML PUBLIC"));
  CHECK_FALSE(begins_as_html(""));
  CHECK_FALSE(begins_as_html("-----BEGIN PGP SIGNED MESSAGE-----\nDescription: <html>"));
  CHECK_FALSE(begins_as_html("<?xml version=\"1.0\"?><repomd/>"));
}

TEST_CASE("only http, https and file are addresses", "[fetch]") {
  CHECK(parse_address("HTTP://User:pw@Example.ORG/a")->origin() == "http://example.org:80");
  CHECK(parse_address("https://[::1]:8443/a")->origin() == "https://[::1]:8443");
  CHECK(parse_address("file:///a%20b/c")->path == "/a b/c");
  for (const char* wrong :
       {"ftp://example.org/a", "scp://example.org/a", "gopher://x/", "/etc/passwd", "", "http://"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_address(wrong).has_value());
  }
}

TEST_CASE("credentials follow a redirect to the same origin only", "[fetch]") {
  const std::string from = "https://user:pass@mirror.example/a";
  CHECK(with_credentials_of(from, "https://mirror.example/b") == "https://user:pass@mirror.example/b");
  CHECK(with_credentials_of(from, "https://other.example/b") == "https://other.example/b");
  CHECK(with_credentials_of(from, "http://mirror.example/b") == "http://mirror.example/b");
  CHECK(with_credentials_of(from, "https://mirror.example:444/b") == "https://mirror.example:444/b");
}
