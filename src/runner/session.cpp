#include "session.hpp"

#include <unistd.h>

namespace rocm_offline::runner {

namespace {

bool writes_log(Word word) {
  return word == Word::install || word == Word::uninstall;
}

std::string operation(const CommandLine& line) {
  return line.word == Word::uninstall ? "uninstall"
         : writes_log(line.word)      ? "install"
                                      : std::string(word_name(line.word));
}

}  // namespace

Session::Session(const CommandLine& line, const std::string& bundle_id, CancelToken cancel)
    : m_line(line),
      m_cancel(cancel),
      m_logger({.operation = operation(line), .level = line.log_level}, m_clock),
      m_console({.json = line.json, .quiet = line.quiet, .verbose = line.verbose, .color = line.color}, m_logger),
      m_tee({&m_logger, &m_console.messages()}) {
  m_logger.set_bundle_id(bundle_id);
  m_logger.run_started("rocm-offline-install", line.arguments);
}

std::filesystem::path Session::log_directory() const {
  return m_line.log_dir ? *m_line.log_dir : logs::default_log_directory(m_line.root);
}

Result<Done> Session::open_log() {
  if (!m_line.log_dir && !writes_log(m_line.word)) {
    m_logger.discard();
    return Done{};
  }
  auto opened = m_logger.open(log_directory());
  if (!opened && !m_line.log_dir && ::geteuid() != 0) {
    // Who may not install has often no folder for logs either (a service user): the refusal that follows says more.
    m_logger.discard();
    return Done{};
  }
  if (!opened) {
    return fail(in_context(std::move(opened).error(), "opening the log"));
  }
  return Done{};
}

}  // namespace rocm_offline::runner
