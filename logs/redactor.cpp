#include <algorithm>
#include <array>
#include <cctype>

#include "rocm_offline/core/text.hpp"
#include "rocm_offline/logs/logger.hpp"

namespace rocm_offline::logs {

namespace {

constexpr std::string_view hidden = "***";
constexpr std::size_t least_secret = 4;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::size_t find_ignoring_case(std::string_view text, std::string_view word, std::size_t from) {
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(std::min(from, text.size())), text.end(),
                                 word.begin(), word.end(), [](char a, char b) { return lower(a) == lower(b); });
  return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

void replace_all(std::string& text, std::string_view what) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + hidden.size())) {
    text.replace(at, what.size(), hidden);
  }
}

// Every address in the text, by the one rule of redact_url.
std::string without_url_credentials(std::string_view text) {
  constexpr std::string_view url_end = " \t\n\r\"'<>,;)";
  std::string clean;
  std::size_t done = 0;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", done)) {
    std::size_t begin = at;
    while (begin > done && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '+')) {
      --begin;
    }
    const std::size_t end = std::min(text.find_first_of(url_end, at), text.size());
    clean += text.substr(done, begin - done);
    clean += redact_url(text.substr(begin, end - begin));
    done = end;
  }
  return clean + std::string(text.substr(done));
}

// The value that follows a word: up to the end of the line, or one blank-separated word.
enum class Extent { line, word };

void hide_after(std::string& text, std::string_view word, Extent extent) {
  for (auto at = find_ignoring_case(text, word, 0); at != std::string::npos;
       at = find_ignoring_case(text, word, at + word.size())) {
    // "password" inside a longer word is part of that word.
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) {
      continue;
    }
    std::size_t begin = at + word.size();
    while (begin < text.size() &&
           (text[begin] == ' ' || text[begin] == '=' || text[begin] == ':' || text[begin] == '"')) {
      ++begin;
    }
    if (begin == at + word.size()) {
      continue;
    }
    const std::size_t end =
        std::min(text.find_first_of(extent == Extent::line ? "\r\n" : " \t\r\n\",;", begin), text.size());
    text.replace(begin, end - begin, hidden);
  }
}

std::string percent_encoded(std::string_view text) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(digits[byte >> 4U]);
      encoded.push_back(digits[byte & 0x0fU]);
    }
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
                        std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0;
    if (escape) {
      decoded.push_back(static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace

void Redactor::add_secret(std::string_view secret) {
  for (const std::string& form : {std::string(secret), percent_decoded(secret), percent_encoded(secret)}) {
    if (form.size() >= least_secret && std::find(m_secrets.begin(), m_secrets.end(), form) == m_secrets.end()) {
      m_secrets.push_back(form);
    }
  }
  // A longer secret may hold a shorter one.
  std::sort(m_secrets.begin(), m_secrets.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Redactor::redact(std::string_view text) const {
  std::string clean = without_url_credentials(text);
  for (const std::string& secret : m_secrets) {
    replace_all(clean, secret);
  }
  hide_after(clean, "authorization:", Extent::line);
  for (const std::string_view word : {"password", "passwd", "passphrase"}) {
    hide_after(clean, word, Extent::word);
  }
  return clean;
}

}  // namespace rocm_offline::logs
