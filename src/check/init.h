// A first budget file, made of what a run measured.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace muscope::check {

/// The text of a muscope.toml with comments: ratchets for all kernels, and the limits that the run just holds. Read
/// back by read_budgets(), the run holds all of it. `command` is what `muscope check` shall run (may be empty),
/// `baseline` the name of the baseline file as seen from the budget file.
std::string initial_budgets(const report::Report& report, const std::vector<std::string>& command,
                            const std::string& baseline);

}  // namespace muscope::check
