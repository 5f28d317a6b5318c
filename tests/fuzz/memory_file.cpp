#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_target.hpp"

namespace rocm_offline::fuzz {

std::string memory_file(std::string_view bytes) {
  static const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(fd >= 0 && ::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0);
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    require(written > 0);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace rocm_offline::fuzz
