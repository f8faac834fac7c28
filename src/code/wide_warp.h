// What a kernel takes for granted that holds for warps of 32 lanes only: for GPUs whose warps are wider (Moore Threads'
// mp_21 and mp_22 have 128 lanes). Found in the PTX, before anything runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "code/kernel.h"
#include "views/records.h"

namespace muscope::code {

/// The text of a source line; empty when it cannot be read.
using SourceLine = std::function<std::string(const std::string& file, int line)>;

/// Findings about the code, each place once, in the order of the code:
///   D630  a shuffle over all of the warp without a width. PTX does not tell a width of 32 from none (ISA 9.7.9.6: both
///   are the mask
///         0x1f), so the source line is asked; a line that cannot be read counts as one without
///   D631  a vote, match or mask of active lanes, whose result has 32 bits
///   D632  32 written into the code: threadIdx.x & 31, >> 5, / 32, compared with 32; or %laneid
///   D633  volatile shared memory written and read again with no barrier between: it relies on lanes in step
std::vector<views::Finding> wide_warp_findings(const Kernel& kernel, const SourceLine& source_line);

/// Findings about one launch:
///   D634  threads of a block that do not fill its last warp
///   D635  more shared memory than a block may have without opt-in
std::vector<views::Finding> wide_launch_findings(const arch::GpuSpec& gpu, std::uint32_t threads,
                                                 std::uint64_t static_shared, std::uint64_t dynamic_shared);

/// Whether a line calls a shuffle and gives it a fourth argument.
bool gives_shuffle_width(const std::string& line);

}  // namespace muscope::code
