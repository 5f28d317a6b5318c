// generate_events_doc SOURCE_DIR: writes the generated pages of docs/.
#include <cstdio>

#include "generated_documents.hpp"
#include "rocm_offline/core/posix.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: generate_events_doc SOURCE_DIR\n", stderr);
    return 2;
  }
  for (const auto& document : rocm_offline::docs::generated_documents()) {
    const auto path = std::filesystem::path(argv[1]) / document.path;
    if (const auto written = rocm_offline::write_file_atomically(rocm_offline::Stage::logs, path, document.content);
        !written) {
      std::fputs((written.error().message + ": " + written.error().reason + "\n").c_str(), stderr);
      return 2;
    }
  }
  return 0;
}
