// MUFU.EX2 and MUFU.TANH of halves: the special function unit's single-precision result, cut off to the half's bits
// (held against an H200 by tests/conformance). Included by files that are compiled once per instruction set level.
#pragma once

#include "exec/half_math.h"
#include "exec/special_unit.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// F is F16 or BF16; kFunction one of special_unit.h. What is too large becomes infinite all the same.
template <typename F, std::uint32_t (*kFunction)(std::uint32_t)>
std::uint16_t half_special(float x) {
  const float r = special::Unit<kFunction>::apply(x);
  if (r != r) return F::kNan;
  constexpr bool kBrain = std::is_same_v<F, BF16>;
  const std::uint16_t nearest = F::out(r);
  if (F::in(nearest) == std::numeric_limits<float>::infinity()) return nearest;
  return kBrain ? to_bfloat(r, HalfRounding::kZero) : to_half(r, HalfRounding::kZero);
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
