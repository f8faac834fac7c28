// What holds for a whole report and is said once.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace muscope::report {

/// From launches and GPU, in a fixed order.
std::vector<std::string> notes_of(const Report& report);

}  // namespace muscope::report
