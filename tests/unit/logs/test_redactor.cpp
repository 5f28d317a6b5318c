#include <catch2/catch.hpp>

#include "rocm_offline/logs/logger.hpp"

using rocm_offline::logs::Redactor;

TEST_CASE("a secret is hidden at every door", "[logs]") {
  const std::string text = GENERATE(
      as<std::string>(),  //
      "https://alice:tops3cret@repo.example/debian", "http://tops3cret@repo.example/",
      "http://a,http://alice:tops3cret@b/x", "http://alice:tops,tops3cret@b/x",
      "https://repo.example/x?token=tops3cret&X-Amz-Signature=tops3cret",
      "https_proxy=http://alice:tops3cret@proxy.example:3128", "HTTPS_PROXY=alice:tops3cret@proxy.example:3128",
      "machine repo.example login alice password tops3cret",
      "machine repo.example login alice password \"tops3cret tops3cret\"", "Authorization: Bearer tops3cret tops3cret",
      "Authorization:tops3cret", "> Proxy-Authorization: Basic tops3cret", "Cookie: id=tops3cret",
      "REPO_TOKEN=tops3cret", "AWS_SECRET_ACCESS_KEY=tops3cret", "mypassword=tops3cret",
      "{\"password\": \"tops3cret\"}", "PASSWORD: tops3cret", "mysql_passwd=tops3cret", "passwd: tops3cret",
      "E: Failed to fetch http://alice:tops3cret@repo.example/x.deb  401  Unauthorized");
  const std::string clean = Redactor().redact(text);
  INFO(clean);
  CHECK(clean.find("tops3cret") == std::string::npos);
}

TEST_CASE("literal secrets are hidden plain and percent-encoded", "[logs]") {
  Redactor redactor;
  redactor.add_secret("p@ss/ w0rd");
  for (const std::string form : {"p@ss/ w0rd", "p%40ss%2F%20w0rd", "p%40ss%2f%20w0rd"}) {
    CHECK(redactor.redact("seen " + form + " here") == "seen *** here");
  }
  Redactor encoded;
  encoded.add_secret("p%40ss%2Fw0rd");
  CHECK(encoded.redact("p@ss/w0rd") == "***");
}

TEST_CASE("a very short literal is no secret", "[logs]") {
  Redactor redactor;
  redactor.add_secret("a");
  CHECK(redactor.redact("a package") == "a package");
}

TEST_CASE("text without a secret stays as it is", "[logs]") {
  for (const std::string text : {"Setting up libc6 (2.41-12) ...", "https://repo.example/pool/a+b_1%3a2.deb",
                                 "see (https://repo.example/x), and http://b/", "the signature of rocm is good",
                                 "package base-passwd 3.6.7 (debian/trixie)", "running getent passwd ann",
                                 "chown: /etc/passwd: Permission denied"}) {
    CHECK(Redactor().redact(text) == text);
  }
}
