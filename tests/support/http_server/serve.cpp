// test_serve FOLDER [BYTES_PER_SECOND]: the test server as a command. Prints its address and serves until standard
// input ends; each answer is sent at no more than that rate.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/http_server/http_server.hpp"

using namespace rocm_offline::test;

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: test_serve FOLDER [BYTES_PER_SECOND]\n", stderr);
    return 2;
  }
  try {
    HttpServer server(argv[1]);
    if (argc == 3) {
      server.set_fault("*", {.kind = FaultKind::slow, .bytes_per_second = std::strtoull(argv[2], nullptr, 10)});
    }
    std::printf("%s\n", server.url().c_str());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "test_serve: %s\n", problem.what());
    return 1;
  }
  return 0;
}
