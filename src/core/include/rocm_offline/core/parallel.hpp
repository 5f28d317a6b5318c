// A loop whose rounds run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "rocm_offline/core/error.hpp"

namespace rocm_offline {

// Calls fn(i) -> Result<Done> for 0 <= i < count on up to `threads` threads, the calling one included, in no fixed
// order. After an error no new round begins; one of the errors is returned. fn must not throw.
template <class Function>
[[nodiscard]] Result<Done> for_each_in_parallel(std::size_t count, unsigned threads, const Function& fn) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  Result<Done> outcome = Done{};
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      Result<Done> done = fn(i);
      if (!done) {
        const std::lock_guard<std::mutex> lock(mutex);
        outcome = std::move(done);
        failed = true;
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // a machine at its limit of threads: fewer do the same work
    }
  }
  work();
  for (std::thread& other : others) {
    other.join();
  }
  return outcome;
}

}  // namespace rocm_offline
