// What the files of the floating-point family share.
#pragma once

#include "sass/alu_operands.h"

namespace muscope::sass {

/// The operands of instructions with two value sources: the second is in the middle field (bits 32 to 63) in every
/// form.
struct TwoSources {
  Operand a, middle, last;
  bool middle_is_third = false;
  AluForm form = AluForm::kRegister;
};
/// False when the form bits are not among those of `allowed` (bit n: form n).
bool two_sources(const Word& word, unsigned allowed, TwoSources& out);

/// Whether the middle field's own bits are as its form wants them. Bit 91 belongs to uniform registers: set when one is
/// a source, clear in forms without.
bool middle_fits(const Word& word);

/// Forms with a register, immediate, constant or uniform register as second source.
inline constexpr unsigned kSecondForms = 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6;
/// The same, of instructions that count it as the third.
inline constexpr unsigned kThirdForms = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7;
inline constexpr unsigned kAllForms = 0xfeu;

inline Rounding rounding_field(const Word& word, unsigned first) { return static_cast<Rounding>(word.bits(first, 2)); }
/// 0 AND, 1 OR, 2 XOR; false for 3.
bool combine_field(const Word& word, unsigned first, Combine& out);

// The parts of the family.
bool decode_half(const Word& word, Instruction& out);
bool decode_conversion(const Word& word, Instruction& out);

}  // namespace muscope::sass
