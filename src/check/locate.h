// Which source line of a kernel a metric comes from, for annotations.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "diff/kernel_group.h"
#include "report/report.h"

namespace muscope::check {

struct Culprit {
  SourceLocation at;   ///< empty file: no line information
  std::string cause;   ///< why that line costs more than it could; may be empty
  std::string advice;  ///< "[A101] what to change": the best that the report has about the line; may be empty
};

/// The line with most of a count; of a quotient the line with most waste among those that have it; of an attribute of
/// the launch the kernel's first line. Code of system headers counts for the line that called it. `metric` may be null.
Culprit culprit_of(const report::Report& report, const diff::KernelGroup& group, const report::MetricRow* metric);

}  // namespace muscope::check
