// What launches had to say, each finding once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "report/report.h"

namespace muscope::report {

/// The same finding of a kernel in several launches.
struct RepeatedFinding {
  Diagnostic diagnostic;
  std::string first_place;  ///< "reduce, launch #3"
  std::size_t launches = 0;
};

/// In order of the launches. Faults, which end launches, are not among them.
std::vector<RepeatedFinding> findings_of(const Report& report);

}  // namespace muscope::report
