#include "printable.hpp"
#include "rocm_offline/ui/terminal.hpp"

namespace rocm_offline::ui {

std::string render_failure(const Failure& failure, bool color) {
  std::string text;
  if (failure.lost_records) {
    text += (color ? "\x1b[1;33mwarning:\x1b[0m " : "warning: ") + printable(failure.lost_records->message) + ": " +
            printable(failure.lost_records->reason) + "\n";
  }
  text += render_error(failure.error, color);
  for (const std::filesystem::path& path : failure.logs) {
    text += "log: " + printable(path.string()) + "\n";
  }
  return text;
}

}  // namespace rocm_offline::ui
