// What a machine or an image says of itself.
#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <system_error>

#include "rocm_offline/distros/distro.hpp"
#include "rooted_file.hpp"

namespace rocm_offline::distros {
namespace {

// Programs that every supported distribution has; /bin/sh is often a link.
constexpr std::array programs = {"usr/bin/env", "usr/bin/sh", "bin/sh"};

// The machine that the programs of an image are built for, by e_machine of their ELF header (System V ABI).
std::string machine_of_image(const std::filesystem::path& root) {
  constexpr std::size_t header_bytes = 20;
  for (const char* program : programs) {
    const Result<std::string> header = read_start_in_root(root, program, header_bytes);
    if (!header || header->size() < header_bytes || !header->starts_with("\177ELF")) {
      continue;
    }
    const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>((*header)[at])); };
    const bool big_endian = byte(5) == 2;
    const unsigned machine = big_endian ? byte(18) * 256 + byte(19) : byte(19) * 256 + byte(18);
    switch (machine) {
      case 62:
        // 32-bit class with this number is the x32 ABI, another userland.
        return byte(4) == 2 ? "x86_64" : "x32";
      case 3:
        return "i686";
      case 183:
        return "aarch64";
      case 21:
        return "ppc64le";
      case 243:
        return "riscv64";
      default:
        return "ELF machine " + std::to_string(machine);
    }
  }
  return {};
}

bool exists(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0;
}

// As systemd-detect-virt tells containers, and a chroot by the root of process 1 (readable for root only).
bool in_container_or_chroot() {
  if (exists("/run/.containerenv") || exists("/.dockerenv") || exists("/run/systemd/container")) {
    return true;
  }
  struct stat here {};
  struct stat first {};
  return ::stat("/", &here) == 0 && ::stat("/proc/1/root/.", &first) == 0 &&
         (here.st_dev != first.st_dev || here.st_ino != first.st_ino);
}

bool is_host_root(const std::filesystem::path& root) {
  std::error_code failure;
  return root.empty() || std::filesystem::equivalent(root, "/", failure);
}

}  // namespace

MachineFacts read_machine_facts(const std::filesystem::path& root) {
  MachineFacts facts;
  const bool host = is_host_root(root);
  Result<OsRelease> os_release = read_os_release(host ? std::filesystem::path("/") : root);
  if (os_release) {
    facts.os_release = std::move(*os_release);
  } else {
    facts.os_release_error = os_release.error().message + ": " + os_release.error().reason;
  }
  if (!host) {
    facts.machine = machine_of_image(root);
    facts.container_or_chroot = true;
    return facts;
  }
  utsname names{};
  if (uname(&names) == 0) {
    facts.machine = names.machine;
    facts.kernel = names.release;
  }
  facts.container_or_chroot = in_container_or_chroot();
  return facts;
}

}  // namespace rocm_offline::distros
