// PTX of several files (nvcc -rdc=true) to one piece of machine code, as NVIDIA's driver does it: each is assembled by
// itself, then they are linked.
#pragma once

#include <vector>

#include "toolchain/assemble.h"

namespace muscope::toolchain {

/// nvlink beside that ptxas: both are of one CUDA toolkit.
std::optional<Tool> find_nvlink(const Tool& ptxas);

/// Assembles every part as relocatable code, for the architecture of the first, and links them in their order. What
/// each of the two steps makes is cached. Never throws for what the tools say. Thread-safe.
Assembled assemble_and_link(const Tool& ptxas, const Tool& nvlink, std::vector<AssembleRequest> parts, Cache* cache,
                            RunningProcesses* listed = nullptr);

}  // namespace muscope::toolchain
