// test_make_deb_repository DIR [SPEC.json]: see README.md.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "support/deb_repository/deb_repository.hpp"

namespace {

using namespace rocm_offline::test;

std::string content_of(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw std::runtime_error(std::string("cannot read ") + path);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: test_make_deb_repository DIR [SPEC.json]\n", stderr);
    return 2;
  }
  try {
    const std::string text = argc == 3 ? content_of(argv[2]) : "{}";
    const SigningKey key(text.find("\"expired\"") != std::string::npos ? KeyKind::expired : KeyKind::valid);
    const BuiltDebRepository built = build_deb_repository(argv[1], spec_from_json(text), &key);
    std::ofstream(built.root / "key.asc") << key.public_key();
    std::printf("%s\n", key.fingerprint().c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "test_make_deb_repository: %s\n", problem.what());
    return 1;
  }
  return 0;
}
