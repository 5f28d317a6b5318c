#include "verified_repository.hpp"

#include <utility>

namespace rocm_offline::index {

VerifiedRepository::VerifiedRepository(std::unique_ptr<Data> data) : m_data(std::move(data)) {}
VerifiedRepository::VerifiedRepository(VerifiedRepository&&) noexcept = default;
VerifiedRepository& VerifiedRepository::operator=(VerifiedRepository&&) noexcept = default;
VerifiedRepository::~VerifiedRepository() = default;

const RepositoryDefinition& VerifiedRepository::definition() const {
  return m_data->definition;
}

const RepositoryEvidence& VerifiedRepository::evidence() const {
  return m_data->evidence;
}

const std::vector<DebPackage>& VerifiedRepository::packages() const {
  return m_data->packages;
}

const std::vector<TrustFile>& VerifiedRepository::trust_files() const {
  return m_data->trust_files;
}

const std::filesystem::path& VerifiedRepository::index_cache_key() const {
  return m_data->index_cache_key;
}

std::vector<std::string> VerifiedRepository::urls_of(const DebPackage& package) const {
  const auto& bases = m_data->definition.base_urls;
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    // The mirror whose index was read is the one most likely to have the package.
    urls.push_back(bases[(m_data->served_by + i) % bases.size()] + "/" + percent_encoded_path(package.filename));
  }
  return urls;
}

std::string percent_encoded_path(std::string_view path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

}  // namespace rocm_offline::index
