#include "side_hasher.hpp"

#include <system_error>

namespace rocm_offline::fetch {

namespace {

// Below it, waking a thread costs more than it saves.
constexpr std::size_t least_shared = std::size_t{32} << 10U;

}  // namespace

SideHasher::~SideHasher() {
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_stopped = true;
  }
  m_changed.notify_all();
  if (m_thread.joinable()) {
    m_thread.join();
  }
}

void SideHasher::begin(Sha256& hash, std::string_view data) {
  if (data.size() >= least_shared && !m_thread.joinable()) {
    try {
      m_thread = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      // A machine at its limit of threads: the caller digests itself.
    }
  }
  if (data.size() < least_shared || !m_thread.joinable()) {
    hash.update(data);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_hash = &hash;
    m_data = data;
  }
  m_changed.notify_all();
}

void SideHasher::wait() {
  std::unique_lock<std::mutex> lock(m_mutex);
  m_changed.wait(lock, [this] { return m_hash == nullptr; });
}

void SideHasher::run() {
  std::unique_lock<std::mutex> lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_stopped || m_hash != nullptr; });
    if (m_hash == nullptr) {
      return;
    }
    lock.unlock();
    m_hash->update(m_data);
    lock.lock();
    m_hash = nullptr;
    m_changed.notify_all();
  }
}

}  // namespace rocm_offline::fetch
