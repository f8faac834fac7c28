// CSV in the layout of `ncu --csv --page raw`: a row of column names, a row of units, then one row per launch.
//
//   "ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid
//   Size","Device","CC",...
//   "","","","","","","","","","","","sector",...
//   "0","0","app","127.0.0.1","copy(float*, const float*, int)","1","0","(256, 1, 1)","(64, 1,
//   1)","0","9.0","131072",...
//
// Numbers have no thousands separators. "Process ID" is the index of the process in the report, not its pid, so that
// output does not change from run to run.
#pragma once

#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/report.h"

namespace muscope::report {

/// `metrics`: the columns; when empty, every metric that some launch has, in the order of the metric table. Counts of
/// what did not occur are 0; ratios without a denominator are empty.
std::string to_csv(const Report& report, const std::vector<const MetricRow*>& metrics = {});

}  // namespace muscope::report
