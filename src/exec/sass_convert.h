// What the conversions of machine code share. Included by files that are compiled once per instruction set level.
#pragma once

#include "exec/half.h"
#include "exec/sass_float.h"

namespace muscope::exec::MUSCOPE_ISA {

/// F2FP, F2IP, I2I, I2IP; find_sass_convert asks it.
Handler find_sass_pack(const sass::Instruction& instruction);

namespace {

inline HalfRounding half_rounding(sass::Rounding r) {
  return r == sass::Rounding::kZero   ? HalfRounding::kZero
         : r == sass::Rounding::kDown ? HalfRounding::kDown
         : r == sass::Rounding::kUp   ? HalfRounding::kUp
                                      : HalfRounding::kNearest;
}

/// A result of two registers. Sources may overlap it, so all lanes are read before any is written.
template <typename F>
void write_wide(Warp& w, const XOp* op, F f) {
  alignas(64) std::uint32_t low[kGroupLanes], high[kGroupLanes];
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    const std::uint64_t r = f(l);
    low[l] = static_cast<std::uint32_t>(r);
    high[l] = static_cast<std::uint32_t>(r >> 32);
  }
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  for_lanes(w, d, [&](unsigned l) { return low[l]; });
  for_lanes(w, d + kNextRegister, [&](unsigned l) { return high[l]; });
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
