// test_make_sparse_bundle IMAGE: writes it and prints what is in it, for shell tests:
//   size PATH BYTES
//   mark PATH OFFSET TEXT          (the first 16 bytes of each mark)
#include <cstdio>

#include "support/sparse_bundle/sparse_bundle.hpp"

using namespace rocm_offline;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: test_make_sparse_bundle IMAGE\n", stderr);
    return 2;
  }
  const auto sparse = test::write_sparse_bundle(argv[1]);
  if (!sparse) {
    std::fprintf(stderr, "%s: %s\n", sparse.error().message.c_str(), sparse.error().reason.c_str());
    return 1;
  }
  for (const test::SparseMember& member : sparse->members) {
    for (const std::string& path : member.paths) {
      std::printf("size %s %llu\n", path.c_str(), static_cast<unsigned long long>(member.size));
      for (const test::Mark& mark : member.marks) {
        std::printf("mark %s %llu %s\n", path.c_str(), static_cast<unsigned long long>(mark.offset),
                    mark.text.substr(0, 16).c_str());
      }
    }
  }
  return 0;
}
