// Names as small numbers, given in the order in which they are first seen. An index of a distribution has 100,000 of
// them: one array of places instead of a node for each.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace rocm_offline::resolve {

class NameTable {
 public:
  void reserve(std::size_t count) {
    m_names.reserve(count);
    m_hashes.reserve(count);
    if (m_places.size() < 2 * count) {
      spread(std::bit_ceil(2 * count + 2));
    }
  }
  // The name's number; a new one when it is new. The characters outlive the table.
  std::uint32_t intern(std::string_view name) {
    reserve_one_more();
    const std::uint32_t hash = hash_of(name);
    std::uint32_t& place = m_places[find_place(name, hash)];
    if (place == 0) {
      m_names.push_back(name);
      m_hashes.push_back(hash);
      place = static_cast<std::uint32_t>(m_names.size());
    }
    return place - 1;
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const {
    if (m_places.empty()) {
      return std::nullopt;
    }
    const std::uint32_t place = m_places[find_place(name, hash_of(name))];
    return place == 0 ? std::nullopt : std::optional(place - 1);
  }
  [[nodiscard]] std::size_t size() const { return m_names.size(); }
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const { return m_names[number]; }

 private:
  static std::uint32_t hash_of(std::string_view name) {
    const std::uint64_t hash = std::hash<std::string_view>()(name);
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  }
  [[nodiscard]] std::size_t find_place(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = m_places.size() - 1;
    std::size_t at = hash & mask;
    while (m_places[at] != 0 && (m_hashes[m_places[at] - 1] != hash || m_names[m_places[at] - 1] != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void reserve_one_more() {
    if (m_places.size() < 2 * (m_names.size() + 1)) {
      spread(std::bit_ceil(4 * (m_names.size() + 1)));
    }
  }
  void spread(std::size_t places) {
    m_places.assign(places, 0);
    const std::size_t mask = places - 1;
    for (std::uint32_t i = 0; i < m_names.size(); ++i) {
      std::size_t at = m_hashes[i] & mask;
      while (m_places[at] != 0) {
        at = (at + 1) & mask;
      }
      m_places[at] = i + 1;
    }
  }

  std::vector<std::string_view> m_names{};
  std::vector<std::uint32_t> m_hashes{};
  std::vector<std::uint32_t> m_places{};  // a power of two, at most half used: 1 + number, 0 where free
};

}  // namespace rocm_offline::resolve
