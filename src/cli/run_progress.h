// One line on stderr that says what the run is doing, where stderr is a terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/run_directory.h"

namespace muscope::cli {

/// The line, without colour, at most `width` columns; empty when there is nothing worth saying: no launch has been
/// running for kQuietSeconds.
std::string progress_line(const std::vector<ProcessStatus>& statuses, std::size_t width);

/// Launches shorter than this leave the terminal to the program's own output.
inline constexpr double kQuietSeconds = 1.0;

/// Draws and erases the line. Does nothing where stderr is no terminal, or is a dumb one.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::vector<ProcessStatus>& statuses);
  void erase();
  bool active() const { return active_; }

 private:
  bool active_ = false;
  std::string drawn_;
};

/// Columns of the terminal behind `fd`; 0 when it is none.
std::size_t terminal_width(int fd);

/// May output to `fd` be coloured? A terminal that is not dumb, and NO_COLOR (no-color.org) unset or empty.
bool may_colour(int fd);

}  // namespace muscope::cli
