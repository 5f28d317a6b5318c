#include "support/deb_repository/deb_repository.hpp"

#include <openssl/evp.h>

#include <array>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>

#include "rocm_offline/core/digest.hpp"
#include "support/deb_repository/compress.hpp"

namespace rocm_offline::test {

std::string control_of(const DebSpec& spec);

namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) {
    throw std::runtime_error("deb_repository: cannot write " + path.string());
  }
}

std::string md5_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_md5(), nullptr);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    std::array<char, 3> pair{};
    std::snprintf(pair.data(), pair.size(), "%02x", digest[i]);
    hex += pair.data();
  }
  return hex;
}

std::string release_date(std::int64_t time) {
  const std::time_t seconds = time;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S UTC", &parts);
  return text.data();
}

std::string without_epoch(const std::string& version) {
  const auto colon = version.find(':');
  return colon == std::string::npos ? version : version.substr(colon + 1);
}

std::string write_package(const fs::path& root, const DebSpec& package) {
  const std::string prefix = package.name.rfind("lib", 0) == 0 ? package.name.substr(0, 4) : package.name.substr(0, 1);
  const std::string filename = "pool/" + package.component + "/" + prefix + "/" + package.name + "/" + package.name +
                               "_" + without_epoch(package.version) + "_" + package.arch + ".deb";
  const std::string deb = build_deb(package);
  write_file(root / filename, deb);
  return control_of(package) + "Filename: " + filename + "\nSize: " + std::to_string(deb.size()) +
         "\nMD5sum: " + md5_of(deb) + "\nSHA256: " + sha256_of(deb).hex() + "\n\n";
}

std::string join_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

// Path below dists/<suite> to content, of everything that Release lists; false where the file is only listed.
struct ListedFile {
  std::string content;
  bool written = true;
};

class RepositoryBuilder {
 public:
  RepositoryBuilder(const fs::path& root, const DebRepositorySpec& spec)
      : m_root(root), m_spec(spec), m_dist(root / "dists" / spec.suite) {}

  BuiltDebRepository build(const SigningKey* key) {
    fs::remove_all(m_dist);
    for (const std::string& component : m_spec.components) {
      for (const std::string& arch : m_spec.architectures) {
        add_index(component, arch);
      }
    }
    for (const auto& [path, file] : m_files) {
      write_index(path, file);
    }
    const std::string release = release_text();
    write_release(release, key);
    return {m_root, release, m_dist};
  }

 private:
  std::string packages_of(const std::string& component, const std::string& arch) {
    std::string text;
    for (const DebSpec& package : m_spec.packages) {
      if (package.component == component && (package.arch == arch || package.arch == "all")) {
        text += write_package(m_root, package);
      }
    }
    if (component == m_spec.components.front() && arch == m_spec.architectures.front()) {
      text += m_spec.raw_stanzas;
      text = m_spec.raw_packages.value_or(text);
    }
    return text;
  }

  void add_index(const std::string& component, const std::string& arch) {
    const std::string text = packages_of(component, arch);
    const std::string path = component + "/binary-" + arch + "/Packages";
    if (m_spec.list_uncompressed) {
      m_files[path] = {text, false};
    }
    for (const std::string& how : m_spec.compressions) {
      m_files[how.empty() ? path : path + "." + how] = {compress(text, how), true};
    }
  }

  void write_index(const std::string& path, const ListedFile& file) const {
    if (!file.written) {
      return;
    }
    if (!m_spec.only_by_hash) {
      write_file(m_dist / path, file.content);
    }
    if (m_spec.by_hash) {
      write_file((m_dist / path).parent_path() / "by-hash" / "SHA256" / sha256_of(file.content).hex(), file.content);
    }
  }

  [[nodiscard]] std::string release_text() const {
    std::string text = "Origin: " + m_spec.origin + "\n";
    if (!m_spec.release_suite.empty()) {
      text += "Suite: " + m_spec.release_suite + "\n";
    }
    if (!m_spec.codename.empty()) {
      text += "Codename: " + m_spec.codename + "\n";
    }
    text += "Date: " + release_date(m_spec.date.value_or(std::time(nullptr))) + "\n";
    if (m_spec.valid_until) {
      text += "Valid-Until: " + release_date(*m_spec.valid_until) + "\n";
    }
    text += std::string(m_spec.by_hash ? "Acquire-By-Hash: yes\n" : "") +
            "Architectures: " + join_words(m_spec.architectures) + "\nComponents: " + join_words(m_spec.components) +
            "\n";
    for (const auto& [name, value] : m_spec.release_fields) {
      text += name + ": " + value + "\n";
    }
    text += m_spec.sha256 ? "SHA256:\n" : "MD5Sum:\n";
    for (const auto& [path, file] : m_files) {
      text += " " + (m_spec.sha256 ? sha256_of(file.content).hex() : md5_of(file.content)) + " " +
              std::to_string(file.content.size()) + " " + path + "\n";
    }
    return text;
  }

  void write_release(const std::string& release, const SigningKey* key) const {
    const ReleaseForm form = m_spec.form;
    if (form != ReleaseForm::in_release_only) {
      write_file(m_dist / "Release", release);
    }
    if (form == ReleaseForm::unsigned_release) {
      return;
    }
    if (key == nullptr) {
      throw std::runtime_error("deb_repository: a signed form needs a key");
    }
    if (form != ReleaseForm::detached) {
      write_file(m_dist / "InRelease", key->clearsign(release, m_spec.release_digest));
    }
    if (form != ReleaseForm::in_release_only) {
      write_file(m_dist / "Release.gpg", key->detached_signature(release));
    }
  }

  fs::path m_root;
  const DebRepositorySpec& m_spec;
  fs::path m_dist;
  std::map<std::string, ListedFile> m_files;
};

}  // namespace

BuiltDebRepository build_deb_repository(const fs::path& root, const DebRepositorySpec& spec, const SigningKey* key) {
  return RepositoryBuilder(root, spec).build(key);
}

}  // namespace rocm_offline::test
