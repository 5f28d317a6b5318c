// The pages of docs/ that are made from tables of the code.
#pragma once

#include <string>
#include <vector>

namespace rocm_offline::docs {

struct GeneratedDocument {
  std::string path;  // relative to the source tree
  std::string content;
};
[[nodiscard]] std::vector<GeneratedDocument> generated_documents();

}  // namespace rocm_offline::docs
