// From the files that the processes of a run left behind to process records, ready for report::build_report().
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cli/run_directory.h"
#include "cli/run_request.h"
#include "views/records.h"

namespace muscope::cli {

struct RunRecords {
  std::vector<views::ProcessRecord> processes;  ///< in the order of their first CUDA calls; those without any left out
  std::vector<Diagnostic> diagnostics;          ///< what is missing from them, and why
  bool incomplete = false;                      ///< records were lost (full disk, damage), or D508 refused kernels
  std::uint32_t launches = 0;                   ///< that any process began, counted or not
  std::vector<std::uint32_t> launches_begun;    ///< the same by process, in the order of `processes`
  std::uint32_t recorded = 0;                   ///< launches in `processes`
  bool faulted = false;                         ///< a launch ended in a fault
};

/// How the run's program is called in messages, where its path says little.
struct ProgramName {
  std::string path;
  std::string name;
};

/// Applies --kernel and --launches; launches that faulted or were stopped stay whatever the selection says.
RunRecords gather_records(std::vector<ProcessFiles> files, const RunRequest& request, std::uint32_t lost_processes,
                          int lost_errno, const ProgramName& program = {});

/// The launch that was stopped, in words: "kernel spin(int*) (launch 3) at spin.cu:14"; empty when none was.
std::string stopped_launch_text(const std::vector<views::ProcessRecord>& processes);

}  // namespace muscope::cli
