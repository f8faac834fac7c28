// What the files of the integer family share. IntegerForm::mode is, by opcode:
//
//   LOP3, ULOP3   1: .PAND
//   PLOP3         1: of the signs of the registers a, b, c
//   VABSDIFF4     1: .ACC
//   MOV           mask of the lanes of each quad that write, 15 as a rule
//   PRMT          0 index, 1 .F4E, 2 .B4E, 3 .RC8, 4 .ECL, 5 .ECR, 6 .RC16
//   FLO, UFLO     1: .SH
//   P2R, R2P      byte of the register; UP2UR, UR2UP too
//   IDP           0 .4A, 1 .2A.LO, 3 .2A.HI; is_unsigned is of source a, source_signed of source b
//   SHFL          0 .IDX, 1 .UP, 2 .DOWN, 3 .BFLY
//   VOTE, VOTEU   0 .ALL, 1 .ANY, 2 .EQ
//   MATCH         0 .ALL, 1 .ANY; source_bits is the width of the value
//   REDUX         0 AND, 1 .OR, 2 .XOR, 3 .SUM, 4 .MIN, 5 .MAX
//   R2UR          1: .OR
//   ELECT         1: .IGNOREKILL
//
// Operands that are not where one looks for them:
//   IADD3, IMAD, LEA  with .X: p0 (and p1 of IADD3) are the carries in; `invert` of a source is ~, in place of `negate`
//   ISETP             p0 is combined with the comparison, p1 with .EX is the result for the low word
//   IMAD.WIDE, .HI    c has 64 bits (words is 2)
//   PLOP3, UPLOP3     the third source is c, a predicate
//   P2R, UP2UR        p0 is P0, the first of the predicates that are read; R2P, UR2UP: pdst0 is the first written
#pragma once

#include "sass/alu_operands.h"

namespace muscope::sass {

// Which of the forms (AluForm) an instruction has, as bits.
inline constexpr unsigned kFormRegister = 1u << 1;
inline constexpr unsigned kFormsSecond = 1u << 1 | 1u << 4 | 1u << 5 | 1u << 6;  ///< the second source is variable
inline constexpr unsigned kFormsThird = 1u << 2 | 1u << 3 | 1u << 7;             ///< the third one is
inline constexpr unsigned kFormsUniform = 1u << 1 | 1u << 4;                     ///< of the uniform datapath

/// Value sources of an instruction.
struct IntegerSources {
  Operand a, b, c;
  bool middle_is_third = false;
  AluForm form = AluForm::kRegister;
};

/// The sources when the form is one of `allowed` and bit 91 fits to it. In instructions of the uniform datapath all
/// registers are uniform.
bool integer_sources(const Word& word, unsigned allowed, bool uniform, IntegerSources& out);
/// Sets -, or ~ in extended-precision instructions, where the bit is set.
void negate_if(const Word& word, unsigned bit, bool extended, Operand& operand);

Operand predicate_of(const Word& word, unsigned first, unsigned invert_bit, bool uniform);
Operand predicate_result_of(const Word& word, unsigned first, bool uniform);
Operand destination(const Word& word, bool uniform);

// The parts of the family: each decodes its opcodes (bits 0 to 8) and leaves others alone (false).
bool decode_arithmetic(const Word& word, Instruction& out);
bool decode_minimum(const Word& word, Instruction& out);  ///< minima, video instructions
bool decode_logic(const Word& word, Instruction& out);    ///< logic, shifts, moves, bits
bool decode_lanes(const Word& word, Instruction& out);    ///< exchanges between lanes, special registers, predicates

}  // namespace muscope::sass
