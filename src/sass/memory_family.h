// What the parts of the memory family share: memory.cc (loads, stores, constants), atomics.cc, control.cc, texture.cc,
// async.cc, tensor.cc. Each part decodes its own opcodes (false for others) and prints them (empty for others).
#pragma once

#include <string_view>

#include "sass/alu_operands.h"
#include "sass/instruction.h"

namespace muscope::sass {

bool decode_access(const Word& word, Instruction& out);
bool decode_atomic(const Word& word, Instruction& out);
bool decode_control(const Word& word, Instruction& out);
bool decode_barrier(const Word& word, Instruction& out);
bool decode_texture(const Word& word, Instruction& out);
bool decode_async(const Word& word, Instruction& out);
bool decode_tensor(const Word& word, Instruction& out);
std::string access_text(const Instruction& instruction);
std::string atomic_text(const Instruction& instruction);
std::string control_text(const Instruction& instruction);
std::string barrier_text(const Instruction& instruction);
std::string texture_text(const Instruction& instruction);
std::string async_text(const Instruction& instruction);
std::string tensor_text(const Instruction& instruction);

/// `count` bits from `first` on as a signed number.
constexpr std::int64_t signed_bits(const Word& word, unsigned first, unsigned count) {
  return static_cast<std::int64_t>(word.bits(first, count) << (64 - count)) >> (64 - count);
}

/// "0x10", "-0x10".
std::string signed_hex(std::int64_t value);

/// A register of `words` registers.
Operand wide_register(const Word& word, unsigned first, unsigned words);
Operand uniform_pair(const Word& word, unsigned first);
/// The predicate in bits 87 to 89, negated by bit 90; kNone when it is plainly true.
Operand condition(const Word& word);
/// A predicate result; kNone when it is PT.
Operand optional_result(const Word& word, unsigned first);
/// "P0, ", or nothing for kNone.
std::string listed(const Operand& operand);
/// Guards of instructions of the uniform datapath are uniform predicates.
void make_guard_uniform(Instruction& out);

/// Bits `first` on, of those that `modifiers` keeps (64 to 95).
constexpr unsigned modifier(const Instruction& instruction, unsigned first, unsigned count) {
  return (instruction.memory.modifiers >> (first - 64)) & ((1u << count) - 1);
}
/// The same of `modifiers2` (32 to 63).
constexpr unsigned modifier2(const Instruction& instruction, unsigned first, unsigned count) {
  return (instruction.memory.modifiers2 >> (first - 32)) & ((1u << count) - 1);
}

/// Strength, scope and eviction from bits 77 to 80 and 84 to 86. `load`: code 4 is .CONSTANT.
void decode_order(const Word& word, bool load, MemoryForm& out);
std::string_view order_text(const Instruction& instruction, bool load);
std::string_view eviction_text(const Instruction& instruction);

/// Base (bits 24 to 31) and a 24-bit offset (bits 40 to 63), no uniform register.
void plain_address(const Word& word, bool is_64, MemoryForm& out);
/// Base and offset as above; the uniform register at `uniform_first` is a descriptor, or added to a register that is a
/// pair or one register. False when the combination does not exist.
bool global_address(const Word& word, unsigned uniform_first, bool descriptor, bool pair, MemoryForm& out);
/// Base and offset as above, scale in bits 78 and 79, and a uniform register (32 bits).
void shared_address(const Word& word, bool has_uniform, unsigned uniform_first, MemoryForm& out);
/// "[R2.64+UR4+0x10]".
std::string address_text(const Instruction& instruction);

/// Puts what every instruction of the family keeps of the word.
void keep_bits(const Word& word, Opcode opcode, Instruction& out);

}  // namespace muscope::sass
