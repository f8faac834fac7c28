// One run of a program, as `muscope run`, `check` and `diff` make it: compiled or found, executed, its records made a
// report.
#pragma once

#include "arch/gpu_spec.h"
#include "cli/run_request.h"
#include "report/report.h"

namespace muscope::cli {

struct RunOutcome {
  report::Report report;
  int exit_code = 0;  ///< of the program; 128 + n when signal n ended it
  bool interrupted = false, timed_out = false;
  bool faulted = false;     ///< a launch ended in a fault
  bool incomplete = false;  ///< records were lost, or kernels were refused (D508)
};

/// Runs what the request names. With `stdout_to_stderr` what the program prints goes to stderr: stdout is for a
/// machine. Throws Error where the program cannot be found, compiled or started.
RunOutcome execute_run(const RunRequest& request, const arch::GpuSpec& gpu, bool stdout_to_stderr);

/// What `muscope run` ends with after that.
int exit_code(const RunRequest& request, const RunOutcome& outcome);

}  // namespace muscope::cli
