// Relationship fields of a stanza: Depends, Conflicts, Provides, ... Source: Debian policy chapter 7, deb822(5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocm_offline::resolve {

enum class VersionOperator { none, earlier, earlier_equal, equal, later_equal, later };

// "<<", "<=", "=", ">=", ">>"; empty for none.
[[nodiscard]] std::string_view operator_text(VersionOperator op);
// Does `version` fulfil `op wanted`? With none: always.
[[nodiscard]] bool version_fulfils(std::string_view version, VersionOperator op, std::string_view wanted);

// One alternative: "libc6:any (>= 2.38)". The views point into the field.
struct Relation {
  std::string_view name{};
  std::string_view qualifier{};  // "any", "native", an architecture, or empty
  VersionOperator op = VersionOperator::none;
  std::string_view version{};
};
using OrGroup = std::vector<Relation>;

// "libc6:any (>= 2.38)", spelled as policy spells it whatever the index wrote.
[[nodiscard]] std::string relation_text(const Relation& relation);
[[nodiscard]] std::string group_text(const OrGroup& group);

// The groups of a field. Read liberally, as apt does: blanks and line breaks anywhere between words, none before "(" or
// around "|", empty entries and trailing commas, the operators "<" and ">" of old (they mean <= and >=).
// nullopt when the field is malformed: bad name, bad version, unknown operator, architecture list or build profile
// (policy allows neither in a binary package), or an empty alternative.
[[nodiscard]] std::optional<std::vector<OrGroup>> parse_relations(std::string_view field);

}  // namespace rocm_offline::resolve
