// Starts the program of a run, waits for it, and ends it when the user or the clock says so.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/run_directory.h"

namespace muscope::cli {

struct ChildCommand {
  std::string path;                      ///< of the program, already looked up
  std::vector<std::string> argv;         ///< argv[0] included
  std::vector<std::string> environment;  ///< complete
  double timeout_seconds = 0;            ///< 0: none
  bool stdout_to_stderr = false;         ///< its stdout is the caller's stderr
  /// Is that child process one of the caller's own helpers, which other threads started and wait for? They are none of
  /// the run's processes. Null: there are none.
  std::function<bool(pid_t)> is_helper;
};

struct ChildResult {
  int exit_code = 0;      ///< 128 + n when signal n ended it
  std::string exit_text;  ///< "exited with 0", "killed by SIGSEGV"
  bool timed_out = false;
  int interrupted_by = 0;                   ///< SIGINT, SIGTERM or SIGHUP that muscope got; 0: none
  bool forced = false;                      ///< had to be killed after the grace
  std::vector<std::int64_t> still_running;  ///< other processes of the run that live on
};

/// Runs it with the caller's stdin, stdout and stderr, in the caller's process group. `tick` is called some ten times a
/// second. Stopping (by signal or timeout) sets the stop flags of the run, so that the launch in progress is recorded,
/// then signals the program, and kills what is left of its processes after kGraceSeconds. Throws Error D123 when it
/// cannot be started.
ChildResult run_child(const ChildCommand& command, RunDirectory& run, const std::function<void()>& tick);

inline constexpr double kGraceSeconds = 2.0;

/// "SIGSEGV", "signal 42".
std::string signal_text(int signal);

}  // namespace muscope::cli
