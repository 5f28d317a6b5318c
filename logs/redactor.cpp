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

bool is_scheme_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+';
}

std::size_t scheme_begin(std::string_view text, std::size_t colon, std::size_t least) {
  while (colon > least && is_scheme_character(text[colon - 1])) {
    --colon;
  }
  return colon;
}

// Where the address whose "://" is at `at` ends. Commas may be part of a password, so only blanks, quotes and the next
// address of a list end it.
std::size_t address_end(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_of(" \t\n\r\"'<>", at), text.size());
  for (auto next = text.find("://", at + 3); next < end; next = text.find("://", next + 3)) {
    const std::size_t begin = scheme_begin(text, next, at + 3);
    if (begin < next && (text[begin - 1] == ',' || text[begin - 1] == ';' || text[begin - 1] == '|')) {
      return begin - 1;
    }
  }
  return end;
}

// Every address in the text, by the one rule of redact_url.
std::string without_url_credentials(std::string_view text) {
  std::string clean;
  std::size_t done = 0;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", done)) {
    const std::size_t begin = scheme_begin(text, at, done);
    const std::size_t end = address_end(text, at);
    clean += text.substr(done, begin - done);
    clean += redact_url(text.substr(begin, end - begin));
    done = end;
  }
  return clean + std::string(text.substr(done));
}

// A proxy may be given without a scheme: `https_proxy=user:secret@host:3128`.
void hide_proxy_user(std::string& text) {
  constexpr std::string_view word = "_proxy=";
  for (auto at = find_ignoring_case(text, word, 0); at != std::string::npos;
       at = find_ignoring_case(text, word, at + word.size())) {
    const std::size_t begin = at + word.size();
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    if (const auto user_end = text.rfind('@', end); user_end != std::string::npos && user_end >= begin) {
      text.replace(begin, user_end - begin, hidden);
    }
  }
}

// How a secret follows the word that announces it.
enum class Announced {
  header,      // "Authorization:" and the rest of the line
  word,        // "password x", "password=x", "password: x"
  named,       // "passwd=x", "passwd: x"; but "passwd x" and "/etc/passwd: x" speak of the file or the package
  assignment,  // "TOKEN=x" only: the word alone is plain English
};

std::size_t secret_end(const std::string& text, std::size_t begin, Announced how) {
  if (how == Announced::header) {
    return std::min(text.find_first_of("\r\n", begin), text.size());
  }
  const char before = text[begin - 1];
  const bool quoted = before == '"' || before == '\'';
  return std::min(quoted ? text.find(before, begin) : text.find_first_of(" \t\r\n\"", begin), text.size());
}

void hide_after(std::string& text, std::string_view word, Announced how) {
  for (auto at = find_ignoring_case(text, word, 0); at != std::string::npos;
       at = find_ignoring_case(text, word, at + word.size())) {
    const std::size_t word_end = at + word.size();
    const std::size_t begin = std::min(text.find_first_not_of(" \t=:\"'", word_end), text.size());
    const bool assigned = word_end < text.size() && (text[word_end] == '=' || text[word_end] == ':');
    // "passwords" and "mypassword is" are words of their own; "mypassword=" still announces a secret.
    const bool whole = begin > word_end && (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0);
    const bool announces = how == Announced::header       ? true
                           : how == Announced::named      ? assigned && (at == 0 || text[at - 1] != '/')
                           : how == Announced::assignment ? word_end < text.size() && text[word_end] == '='
                                                          : assigned || whole;
    if (announces && begin < text.size()) {
      text.replace(begin, secret_end(text, begin, how) - begin, hidden);
    }
  }
}

std::string percent_encoded(std::string_view text, std::string_view digits) {
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
  for (const std::string& form :
       {std::string(secret), percent_decoded(secret), percent_encoded(secret, "0123456789ABCDEF"),
        percent_encoded(secret, "0123456789abcdef")}) {
    if (form.size() >= least_secret && std::find(m_secrets.begin(), m_secrets.end(), form) == m_secrets.end()) {
      m_secrets.push_back(form);
    }
  }
  // A longer secret may hold a shorter one.
  std::sort(m_secrets.begin(), m_secrets.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Redactor::redact(std::string_view text) const {
  std::string clean(text);
  // Literals first: one with a blank would hide the end of an address.
  for (const std::string& secret : m_secrets) {
    replace_all(clean, secret);
  }
  clean = without_url_credentials(clean);
  hide_proxy_user(clean);
  for (const std::string_view word : {"authorization:", "cookie:", "x-api-key:"}) {
    hide_after(clean, word, Announced::header);
  }
  hide_after(clean, "passwd", Announced::named);
  for (const std::string_view word : {"password", "passphrase"}) {
    hide_after(clean, word, Announced::word);
  }
  for (const std::string_view word : {"token", "secret", "access_key", "api_key", "apikey", "signature"}) {
    hide_after(clean, word, Announced::assignment);
  }
  return clean;
}

}  // namespace rocm_offline::logs
