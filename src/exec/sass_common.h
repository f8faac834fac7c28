// What the op families of machine code share: operands with their signs. Included by files that are compiled once per
// instruction set level.
#pragma once

#include "exec/ops_common.h"
#include "sass/instruction.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// Words between the lanes of one register of a value and those of its next register.
inline constexpr unsigned kNextRegister = kGroupLanes;

/// The sign operations of a float operand as masks: (bits & keep) ^ flip.
struct FloatSign {
  std::uint32_t keep = 0xffffffffu, flip = 0;
  explicit FloatSign(const sass::Operand& operand)
      : keep(operand.absolute ? 0x7fffffffu : 0xffffffffu), flip(operand.negate ? 0x80000000u : 0) {}
  std::uint32_t operator()(std::uint32_t bits) const { return (bits & keep) ^ flip; }
};

/// Negation of an integer operand: (value ^ flip) - flip.
struct IntegerSign {
  std::uint32_t flip = 0;
  explicit IntegerSign(const sass::Operand& operand) : flip(operand.negate ? 0xffffffffu : 0) {}
  std::uint32_t operator()(std::uint32_t value) const { return (value ^ flip) - flip; }
};

/// A 64-bit value out of two registers.
[[gnu::always_inline]] inline std::uint64_t wide_value(const std::uint32_t* low, unsigned lane) {
  return low[lane] | std::uint64_t{low[lane + kNextRegister]} << 32;
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
