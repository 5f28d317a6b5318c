// Digests a piece on a second thread while the caller writes the same bytes: either takes about as long, and one
// thread that does both is what limits a fast network.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "rocm_offline/core/digest.hpp"

namespace rocm_offline::fetch {

class SideHasher {
 public:
  SideHasher() = default;
  ~SideHasher();
  SideHasher(const SideHasher&) = delete;
  SideHasher& operator=(const SideHasher&) = delete;

  // Both arguments stay as they are until wait() has returned. One piece at a time.
  void begin(Sha256& hash, std::string_view data);
  void wait();

 private:
  void run();

  std::mutex m_mutex{};
  std::condition_variable m_changed{};
  Sha256* m_hash = nullptr;  // what is being digested; null: nothing
  std::string_view m_data{};
  bool m_stopped = false;
  std::thread m_thread{};
};

}  // namespace rocm_offline::fetch
