// Runs one command and writes what it took, as one line of words, to a file:
//   seconds  peak KiB  bytes written  exit status
// measure OUTPUT COMMAND [ARGUMENTS...]
// Peak memory is the largest resident set of the command or any process it waited for (getrusage(2)); bytes written are
// those that the command and its children sent towards a disk (write_bytes of proc(5), read while it is a zombie).
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

unsigned long long written_by(pid_t child) {
  std::ifstream io("/proc/" + std::to_string(child) + "/io");
  std::string key;
  unsigned long long value = 0;
  while (io >> key >> value) {
    if (key == "write_bytes:") {
      return value;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: measure OUTPUT COMMAND [ARGUMENTS...]\n", stderr);
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("fork");
    return 1;
  }
  if (child == 0) {
    ::execvp(argv[2], argv + 2);
    std::perror(argv[2]);
    ::_exit(127);
  }
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0) {
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const unsigned long long written = written_by(child);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  rusage all{};
  ::getrusage(RUSAGE_CHILDREN, &all);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ofstream(argv[1]) << took.count() << ' ' << all.ru_maxrss << ' ' << written << ' ' << code << '\n';
  return code;
}
