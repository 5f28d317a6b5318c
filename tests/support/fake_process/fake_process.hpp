// A ProcessRunner that answers from a function and remembers what it was asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rocm_offline/core/ports.hpp"

namespace rocm_offline::test {

class FakeProcessRunner : public ProcessRunner {
 public:
  using Answer = std::function<Result<ProcessOutcome>(const ProcessRequest&)>;
  explicit FakeProcessRunner(Answer answer) : m_answer(std::move(answer)) {}
  // Lines of the answer also go to on_line, as the real one does.
  [[nodiscard]] Result<ProcessOutcome> run(const ProcessRequest& request) override;
  [[nodiscard]] const std::vector<ProcessRequest>& requests() const { return m_requests; }
  // Command lines joined by spaces.
  [[nodiscard]] std::vector<std::string> commands() const;

 private:
  Answer m_answer;
  std::vector<ProcessRequest> m_requests;
};

class FixedClock final : public Clock {
 public:
  [[nodiscard]] UnixTime now() const override { return 1764500000; }
};

}  // namespace rocm_offline::test
