#include "relation.hpp"

#include <algorithm>

#include "rocm_offline/core/deb_version.hpp"

namespace rocm_offline::resolve {
namespace {

constexpr std::size_t k_max_name_bytes = 256;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Capitals and "_" are against policy 5.6.1, but real vendors' indices have them and apt reads them.
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
         c == '.' || c == '_';
}

class FieldReader {
 public:
  explicit FieldReader(std::string_view field) : m_rest(field) {}

  void skip_blanks() {
    while (!m_rest.empty() && is_blank(m_rest.front())) {
      m_rest.remove_prefix(1);
    }
  }
  [[nodiscard]] bool at_end() const { return m_rest.empty(); }
  bool take(char wanted) {
    if (m_rest.empty() || m_rest.front() != wanted) {
      return false;
    }
    m_rest.remove_prefix(1);
    return true;
  }
  template <class Predicate>
  std::string_view take_while(Predicate predicate) {
    const auto end = std::find_if_not(m_rest.begin(), m_rest.end(), predicate);
    const auto word = m_rest.substr(0, static_cast<std::size_t>(end - m_rest.begin()));
    m_rest.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view m_rest;
};

std::optional<VersionOperator> operator_of(std::string_view text) {
  if (text == "<<") {
    return VersionOperator::earlier;
  }
  if (text == "<=" || text == "<") {
    return VersionOperator::earlier_equal;
  }
  if (text == "=" || text == "==") {
    return VersionOperator::equal;
  }
  if (text == ">=" || text == ">") {
    return VersionOperator::later_equal;
  }
  if (text == ">>") {
    return VersionOperator::later;
  }
  return std::nullopt;
}

bool read_version(FieldReader& reader, Relation& relation) {
  reader.skip_blanks();
  const auto op = operator_of(reader.take_while([](char c) { return c == '<' || c == '>' || c == '='; }));
  reader.skip_blanks();
  relation.version = reader.take_while([](char c) { return !is_blank(c) && c != ')'; });
  reader.skip_blanks();
  if (!op || !is_deb_version(relation.version) || !reader.take(')')) {
    return false;
  }
  relation.op = *op;
  return true;
}

bool read_relation(FieldReader& reader, Relation& relation) {
  reader.skip_blanks();
  relation.name = reader.take_while(is_name_character);
  if (relation.name.empty() || relation.name.size() > k_max_name_bytes) {
    return false;
  }
  if (reader.take(':')) {
    relation.qualifier = reader.take_while(is_name_character);
    if (relation.qualifier.empty()) {
      return false;
    }
  }
  reader.skip_blanks();
  if (reader.take('(') && !read_version(reader, relation)) {
    return false;
  }
  reader.skip_blanks();
  return true;
}

}  // namespace

std::string_view operator_text(VersionOperator op) {
  switch (op) {
    case VersionOperator::none:
      return "";
    case VersionOperator::earlier:
      return "<<";
    case VersionOperator::earlier_equal:
      return "<=";
    case VersionOperator::equal:
      return "=";
    case VersionOperator::later_equal:
      return ">=";
    case VersionOperator::later:
      return ">>";
  }
  return "";
}

bool version_fulfils(std::string_view version, VersionOperator op, std::string_view wanted) {
  if (op == VersionOperator::none) {
    return true;
  }
  const int order = compare_deb_versions(version, wanted);
  switch (op) {
    case VersionOperator::none:
      return true;
    case VersionOperator::earlier:
      return order < 0;
    case VersionOperator::earlier_equal:
      return order <= 0;
    case VersionOperator::equal:
      return order == 0;
    case VersionOperator::later_equal:
      return order >= 0;
    case VersionOperator::later:
      return order > 0;
  }
  return false;
}

std::string relation_text(const Relation& relation) {
  std::string text(relation.name);
  if (!relation.qualifier.empty()) {
    text.append(":").append(relation.qualifier);
  }
  if (relation.op != VersionOperator::none) {
    text.append(" (").append(operator_text(relation.op)).append(" ").append(relation.version).append(")");
  }
  return text;
}

std::string group_text(const OrGroup& group) {
  std::string text;
  for (const Relation& relation : group) {
    text.append(text.empty() ? "" : " | ").append(relation_text(relation));
  }
  return text;
}

std::optional<std::vector<OrGroup>> parse_relations(std::string_view field) {
  std::vector<OrGroup> groups;
  FieldReader reader(field);
  for (;;) {
    reader.skip_blanks();
    if (reader.at_end()) {
      return groups;
    }
    if (reader.take(',')) {
      continue;
    }
    OrGroup group;
    do {
      if (!read_relation(reader, group.emplace_back())) {
        return std::nullopt;
      }
    } while (reader.take('|'));
    groups.push_back(std::move(group));
    if (!reader.at_end() && !reader.take(',')) {
      return std::nullopt;
    }
  }
}

}  // namespace rocm_offline::resolve
