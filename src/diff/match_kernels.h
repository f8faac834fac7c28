// Which kernel of one report is which of another: by name, by name without parameters, without template arguments, and
// by similarity.
#pragma once

#include <string_view>
#include <vector>

#include "diff/kernel_group.h"

namespace muscope::diff {

enum class MatchedBy {
  kName,        ///< the same, parameters included
  kParameters,  ///< the same but for the parameters
  kTemplate,    ///< the same but for parameters and template arguments
  kSimilarity,  ///< the most similar one of those that are left: renamed
  kNothing,     ///< only one side has it
};

struct KernelPair {
  const KernelGroup* before = nullptr;  ///< null: new
  const KernelGroup* after = nullptr;   ///< null: gone
  MatchedBy by = MatchedBy::kNothing;
  double similarity = 0;  ///< 0 to 1, of the names' pairs of letters
};

/// Each kernel of both sides once: in the order of `after`, then those that are gone.
std::vector<KernelPair> match_kernels(const std::vector<KernelGroup>& before, const std::vector<KernelGroup>& after);

/// Dice's coefficient of the pairs of neighbouring characters: 1 for equal texts, 0 for texts without a common pair.
double similarity(std::string_view a, std::string_view b);

}  // namespace muscope::diff
