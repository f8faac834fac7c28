// What is done with the findings of all rules for one launch: one remedy for one access, one word for one cause,
// nothing that would gain next to nothing, the best first.
#pragma once

#include <vector>

#include "report/report.h"

namespace muscope::advice {

class Context;

/// Share of what a launch asks of its memories (sectors, wavefronts, constant requests) below which a change is not
/// worth a word.
inline constexpr double kNegligible = 0.01;

/// Puts the findings in order, best first: by what they save, then by code and place. Drops remedies that a stronger
/// one covers and changes that gain less than `kNegligible`, joins findings of one rule that ask for the same change,
/// and names the header's function that a line calls where the access stands in it.
void put_in_order(const Context& context, std::vector<report::AdviceReport>& found);

}  // namespace muscope::advice
