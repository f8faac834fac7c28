// The pages of `muscope gpu`: the list, and one GPU's memory hierarchy with the source of every number.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu_spec.h"

namespace muscope::cli {

/// Boards in a table, then the bare compute capabilities.
std::string gpu_list_text(const std::vector<arch::GpuSpec>& gpus);

/// Hierarchy, limits, rules, notes, sources. At most 120 columns wide.
std::string gpu_text(const arch::GpuSpec& gpu);

}  // namespace muscope::cli
