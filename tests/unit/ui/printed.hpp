// Runs something and gives back what it wrote to a standard stream.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "rocm_offline/core/posix.hpp"

namespace rocm_offline::tests {

// `stream` is STDOUT_FILENO or STDERR_FILENO.
template <class Action>
std::string printed(int stream, const Action& action) {
  const auto folder = TemporaryDirectory::create(Stage::ui, std::filesystem::temp_directory_path(), "printed").value();
  const auto file = folder.path() / "text";
  std::fflush(nullptr);
  const FileDescriptor before(::dup(stream));
  {
    const FileDescriptor capture(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ::dup2(capture.get(), stream);
  }
  action();
  std::fflush(nullptr);
  ::dup2(before.get(), stream);
  return read_file(Stage::ui, file, 1U << 20U).value();
}

}  // namespace rocm_offline::tests
