// Preloaded into a program under test (LD_PRELOAD): its wall clock, and that of every program it starts, is off by
// ROCM_TEST_CLOCK_SHIFT seconds. The monotonic clock is left alone, so that time-outs work as ever.
#include <dlfcn.h>
#include <sys/time.h>

#include <cstdlib>
#include <ctime>

namespace {

std::time_t shift() {
  const char* text = std::getenv("ROCM_TEST_CLOCK_SHIFT");
  return text == nullptr ? 0 : static_cast<std::time_t>(std::strtoll(text, nullptr, 10));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) {
    now->tv_sec += shift();
  }
  return result;
}

std::time_t time(std::time_t* now) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) {
    *now = precise.tv_sec;
  }
  return precise.tv_sec;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

}  // extern "C"
