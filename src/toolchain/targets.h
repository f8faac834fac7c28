// Which GPUs a compiler can make code for, and which of them to take for a wanted one.
#pragma once

#include <string_view>
#include <vector>

#include "toolchain/flags.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {

/// Architectures in a compiler's own listing ("sm_75 sm_80 ... sm_90a"), ascending, suffixed ones ("90a") left out.
std::vector<int> architectures_in(std::string_view listing);

/// The oldest architecture that muscope's device headers serve: the first with shuffles and read-only loads.
inline constexpr int kOldestTarget = 35;

/// What this nvcc (--list-gpu-code) or clang (-print-supported-cpus) can target; empty when it does not say.
std::vector<int> supported_architectures(const Tool& compiler);

/// The newest supported architecture that is not newer than the wanted one, so that the code runs there; the oldest
/// supported one where all are newer. An empty list supports everything.
int nearest_architecture(const std::vector<int>& supported, int wanted);

}  // namespace muscope::toolchain
