// Whether a kernel became better or worse: one answer for text, Markdown, JSON and the page.
#pragma once

#include <string>
#include <vector>

#include "diff/compare.h"
#include "report/html.h"

namespace muscope::diff {

/// Decides by what the memory system has to move: sectors of global and local memory, textures' requests, shared
/// wavefronts, replays of constant loads, added up one for one. Shared wavefronts count where both sides use shared
/// memory; where one does not, only the bank conflicts do, for moving data there is how traffic is saved. Constant
/// loads that replay nothing do not count (parameters of the kernel are such loads). What got worse by less than a
/// quarter of what got better does not make a kernel mixed, nor the reverse. Where nothing of this moved, occupancy,
/// registers and instructions decide.
Verdict verdict_of(const std::vector<AccessChange>& accesses, const std::vector<Change>& launch,
                   const std::vector<Change>& hardware);

/// "better", "mixed: local load sectors worse", "gone"
std::string verdict_text(const KernelChange& kernel);

/// For the page that shows both reports.
std::vector<report::PageVerdict> page_verdicts(const Difference& difference);

}  // namespace muscope::diff
