#include "support/fake_process/fake_process.hpp"

#include "rocm_offline/core/text.hpp"

namespace rocm_offline::test {

Result<ProcessOutcome> FakeProcessRunner::run(const ProcessRequest& request) {
  m_requests.push_back(request);
  auto outcome = m_answer(request);
  if (outcome && request.on_line) {
    for (const std::string& line : split(outcome->output, '\n')) {
      if (!line.empty()) {
        request.on_line(line);
      }
    }
  }
  return outcome;
}

std::vector<std::string> FakeProcessRunner::commands() const {
  std::vector<std::string> lines;
  for (const ProcessRequest& request : m_requests) {
    lines.push_back(join(request.argv, " "));
  }
  return lines;
}

}  // namespace rocm_offline::test
