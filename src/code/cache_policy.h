// createpolicy: the 64 bits of a cache policy.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.h"

namespace muscope::code {

/// What ptxas 13.0 makes of the instruction for sm_90: kinds in the upper word, and from bit 52 on the sixteenths of
/// the lines that it is for, less one. None for createpolicy.range and .cvt, and for a fraction that is not a literal.
std::optional<std::uint64_t> fractional_policy(const ptx::Instruction& instruction);

/// createpolicy.range as ptxas 13.0 computes it for sm_90: the first of the primary range's blocks, how many there are
/// (both modulo 128 and at most 127), and the size of a block, a power of two from 4 KiB on that makes 128 of them hold
/// the total size. `logarithm`: of the total size, rounded up.
std::uint64_t range_policy(const ptx::Instruction& instruction, std::uint64_t address, std::uint32_t primary,
                           std::uint32_t total, std::int32_t logarithm);

}  // namespace muscope::code
