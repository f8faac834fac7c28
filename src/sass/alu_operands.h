// Where ALU instructions keep their operands. Bits 9 to 11 say which of the last two sources is not a register.
#pragma once

#include "sass/instruction.h"

namespace muscope::sass {

/// What the middle field (bits 32 to 63) holds, and which source it is.
enum class AluForm : std::uint8_t {
  kRegister = 1,        ///< a, b, c: registers
  kImmediateThird = 2,  ///< c is an immediate
  kConstantThird = 3,
  kImmediateSecond = 4,  ///< b is an immediate
  kConstantSecond = 5,
  kUniformSecond = 6,
  kUniformThird = 7,
};

Operand register_operand(const Word& word, unsigned first);
Operand uniform_operand(const Word& word, unsigned first);
/// 3 bits of number, 1 bit of negation elsewhere.
Operand predicate_operand(const Word& word, unsigned first, unsigned invert_bit);
Operand predicate_result(const Word& word, unsigned first);
/// c[bank][offset] in bits 38 to 58, or a bank by uniform register (bit 91).
Operand constant_operand(const Word& word);

struct AluSources {
  Operand a, b, c;
};
/// The three sources by form, without modifiers. False when the form bits are 0.
bool alu_sources(const Word& word, AluSources& out);
/// Adds the negate and absolute bits to the three sources, as floating-point and integer add use them: source a bits 72
/// and 73, the middle field bits 63 and 62, the field at 64 bits 75 and 74.
void alu_signs(const Word& word, AluSources& sources);

/// Text of one operand: "R2", "-R3", "|R4|", "c[0x0][0x210]", "!P0", "UR4", "0x10". Immediates as hexadecimal.
std::string operand_text(const Operand& operand);

// The families. Each decodes its opcodes and leaves others alone (false), and prints them.
bool decode_integer(const Word& word, Instruction& out);
bool decode_float(const Word& word, Instruction& out);
bool decode_memory(const Word& word, Instruction& out);    ///< memory, texture, synchronisation, control, tensor
std::string integer_text(const Instruction& instruction);  ///< empty when the opcode is not of this family
std::string float_text(const Instruction& instruction);
std::string memory_text(const Instruction& instruction);

}  // namespace muscope::sass
