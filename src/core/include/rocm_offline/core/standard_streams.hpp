// Standard output as a place where a write can fail, and the signals that end a run.
#pragma once

#include <string_view>

#include "rocm_offline/core/error.hpp"
#include "rocm_offline/core/ports.hpp"

namespace rocm_offline {

// Takes descriptors 0 to 2 where the caller closed them, so that no file opened later gets the number of standard
// output. Using them still fails, as it should. First thing in main; SIGPIPE is ignored from then on.
void hold_standard_streams();

// All of `text`, or no_space (exit 8, as of any write): a full disk, but also closed, or a reader that has gone.
[[nodiscard]] Result<Done> write_standard_output(std::string_view text);

// A terminal's Ctrl-C reaches a program twice when a shell script in front of it passes signals on.
enum class SecondSignal { ends_at_once, is_ignored };

// SIGINT, SIGTERM and SIGHUP (unless nohup(1) has it ignored) set the token's flag; a run ends at the next place from
// which it can be resumed.
[[nodiscard]] CancelToken install_signal_handlers(SecondSignal second);

}  // namespace rocm_offline
