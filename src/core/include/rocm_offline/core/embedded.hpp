// A file compiled into the executable (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>

namespace rocm_offline {

struct EmbeddedFile {
  std::string_view path;  // relative to the folder it was embedded from
  std::string_view data;
};

}  // namespace rocm_offline
