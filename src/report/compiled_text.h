// What ptxas made of a source line, in words.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace muscope::report {

/// "4 global loads of 4 bytes became 1 of 16"
std::string text_of(const views::CodeChange& change);

/// "19 spill stores (76 bytes)", with how often warps executed them.
std::string spill_text(const CodeChangeReport& change);

/// The changes of one line with its call sites.
std::vector<const CodeChangeReport*> changes_of(const LaunchReport& launch, const LineReport& line);

}  // namespace muscope::report
