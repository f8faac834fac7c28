// One line on stderr that says what the run is doing, where stderr is a terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/run_directory.h"

namespace muscope::cli {

/// The process whose launch has been running longest, for at least kQuietSeconds; null when there is none.
const ProcessStatus* longest_launch(const std::vector<ProcessStatus>& statuses);

/// The line about that launch, without colour, at most `width` columns. `finished`: launches of the run that have
/// ended. `busy_seconds`: how long one short launch has followed another; 0 for a long one.
std::string progress_line(const ProcessStatus& status, std::uint32_t finished, std::size_t width,
                          double busy_seconds = 0);

/// Launches shorter than this leave the terminal to the program's own output.
inline constexpr double kQuietSeconds = 1.0;

/// Whether the run spends its time in launches that are each too short for a line.
class ShortLaunches {
 public:
  /// Takes a look at the run at a time in seconds. The process to tell of: one that is in a launch, once launches have
  /// followed each other for kQuietSeconds without a pause of kPauseSeconds; else null.
  const ProcessStatus* look(const std::vector<ProcessStatus>& statuses, double now);
  double seconds() const { return last_ - since_; }
  static constexpr double kPauseSeconds = 0.5;

 private:
  std::uint64_t finished_ = 0;
  double since_ = 0, last_ = -kPauseSeconds;
};

/// Draws and erases the line. Does nothing where stderr is no terminal, or is a dumb one.
class Progress {
 public:
  Progress(RunDirectory& run, bool wanted);
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Looks at the run and draws what has changed.
  void update();
  void erase();

 private:
  RunDirectory& run_;
  bool active_ = false;
  std::string drawn_;  ///< the line on the terminal, as far as we know
  std::string stem_;   ///< the process that it is about
  ShortLaunches short_launches_;
};

/// Columns of the terminal behind `fd`; 0 when it is none.
std::size_t terminal_width(int fd);

/// May output to `fd` be coloured? A terminal that is not dumb, and NO_COLOR (no-color.org) unset or empty.
bool may_colour(int fd);

}  // namespace muscope::cli
