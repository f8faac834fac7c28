// The integer and logic handlers of machine code, split over several files; each finds the handlers of its opcodes and
// returns null for others and for forms that it does not know.
#pragma once

#include "exec/sass_common.h"
#include "exec/warp.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_sass_product(const sass::Instruction& instruction);  ///< IMAD
Handler find_sass_compare(const sass::Instruction& instruction);  ///< ISETP, minima
Handler find_sass_video(const sass::Instruction& instruction);    ///< VI..., VABSDIFF, IDP
Handler find_sass_shift(const sass::Instruction& instruction);    ///< SHF
Handler find_sass_bits(const sass::Instruction& instruction);     ///< PRMT, FLO, POPC, BREV, SGXT, BMSK
Handler find_sass_lanes(const sass::Instruction& instruction);    ///< SHFL, VOTE, MATCH, REDUX, R2UR, ELECT

namespace {

/// A source as it enters an addition: v ^ flip, and `add` more where it is negated (not where it is inverted).
struct Addend {
  std::uint32_t flip, add;
  explicit Addend(const sass::Operand& operand)
      : flip(operand.negate || operand.invert ? 0xffffffffu : 0), add(operand.negate ? 1 : 0) {}
};

/// 1 in the lanes of a mask.
struct LaneBits {
  GroupMask mask;
  std::uint32_t operator()(unsigned lane) const { return (mask >> lane) & 1u; }
};

/// No lane, when the instruction has no such predicate source.
[[gnu::always_inline]] inline GroupMask carry_in(const Warp& w, std::uint32_t place, const sass::Operand& predicate) {
  return predicate.exists() ? read_predicate(w, place, predicate.invert) : 0;
}

inline bool written(const sass::Operand& predicate) { return predicate.exists() && predicate.index != sass::kPt; }

/// A 64-bit result for the active lanes into two registers.
template <typename F>
[[gnu::always_inline]] inline void for_lanes_wide(Warp& w, std::uint32_t* low, F f) {
  std::uint32_t* high = low + kNextRegister;
  if (w.active == kAllLanes) {
#pragma GCC ivdep
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const std::uint64_t r = f(l);
      low[l] = static_cast<std::uint32_t>(r);
      high[l] = static_cast<std::uint32_t>(r >> 32);
    }
  } else {
    const std::int32_t* on = w.lanes;
#pragma GCC ivdep
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const std::uint64_t r = f(l);
      low[l] = on[l] ? static_cast<std::uint32_t>(r) : low[l];
      high[l] = on[l] ? static_cast<std::uint32_t>(r >> 32) : high[l];
    }
  }
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
