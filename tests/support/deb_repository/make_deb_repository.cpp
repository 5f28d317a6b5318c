// test_make_deb_repository DIR [SPEC.json...]: see README.md.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

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
  if (argc < 2) {
    std::fputs("usage: test_make_deb_repository DIR [SPEC.json...]\n", stderr);
    return 2;
  }
  try {
    std::vector<std::string> texts;
    for (int i = 2; i < argc; ++i) {
      texts.push_back(content_of(argv[i]));
    }
    if (texts.empty()) {
      texts.emplace_back("{}");
    }
    const bool expired = std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
      return text.find("\"expired\"") != std::string::npos;
    });
    const SigningKey key(expired ? KeyKind::expired : KeyKind::valid);
    for (const std::string& text : texts) {
      build_deb_repository(argv[1], spec_from_json(text), &key);
    }
    std::ofstream(std::filesystem::path(argv[1]) / "key.asc") << key.public_key();
    std::printf("%s\n", key.fingerprint().c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "test_make_deb_repository: %s\n", problem.what());
    return 1;
  }
  return 0;
}
