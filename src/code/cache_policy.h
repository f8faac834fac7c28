// createpolicy.fractional: the 64 bits of a cache policy.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.h"

namespace muscope::code {

/// What ptxas 13.0 makes of the instruction for sm_90: kinds in the upper word, and from bit 52 on the sixteenths of
/// the lines that it is for, less one. None for createpolicy.range and .cvt, and for a fraction that is not a literal.
std::optional<std::uint64_t> fractional_policy(const ptx::Instruction& instruction);

}  // namespace muscope::code
