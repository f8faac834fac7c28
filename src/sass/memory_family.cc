// Addresses, memory order and the other things that several parts of the memory family decode and print.
#include "sass/memory_family.h"

#include <fmt/format.h>

namespace muscope::sass {

std::string signed_hex(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? fmt::format("-{:#x}", 0 - bits) : fmt::format("{:#x}", bits);
}

Operand wide_register(const Word& word, unsigned first, unsigned words) {
  Operand out = register_operand(word, first);
  out.words = static_cast<std::uint8_t>(words);
  return out;
}

Operand uniform_pair(const Word& word, unsigned first) {
  Operand out = uniform_operand(word, first);
  out.words = 2;
  return out;
}

Operand condition(const Word& word) {
  const Operand out = predicate_operand(word, 87, 90);
  return out.index == kPt && !out.invert ? Operand{} : out;
}

Operand optional_result(const Word& word, unsigned first) {
  const Operand out = predicate_result(word, first);
  return out.index == kPt ? Operand{} : out;
}

std::string listed(const Operand& operand) { return operand.exists() ? operand_text(operand) + ", " : std::string{}; }

void make_guard_uniform(Instruction& out) {
  if (out.guard.exists()) out.guard.kind = OperandKind::kUniformPredicate;
}

void decode_order(const Word& word, bool load, MemoryForm& out) {
  struct Order {
    std::uint8_t strength, scope;
  };
  static constexpr std::array<Order, 16> kOrders{{{0, 0},
                                                  {1, 0},
                                                  {1, 0},
                                                  {1, 0},
                                                  {1, 0},
                                                  {2, 1},
                                                  {2, 2},
                                                  {2, 2},
                                                  {3, 2},
                                                  {1, 1},
                                                  {2, 3},
                                                  {1, 1},
                                                  {3, 3},
                                                  {1, 3},
                                                  {1, 3},
                                                  {1, 2}}};
  const auto code = static_cast<std::size_t>(word.bits(77, 4));
  out.strength = code == 4 && !load ? 2 : kOrders[code].strength;
  out.scope = code == 4 && !load ? 1 : kOrders[code].scope;
  out.constant = code == 4 && load;
  out.eviction = static_cast<std::uint8_t>(word.bits(84, 3));
}

std::string_view order_text(const Instruction& instruction, bool load) {
  static constexpr std::array<std::string_view, 16> kTexts{
      "",          ".CONSTANT.PRIVATE", ".CONSTANT.CTA",        ".CONSTANT.CTA.PRIVATE",
      ".CONSTANT", ".STRONG.SM",        ".STRONG.GPU.PRIVATE",  ".STRONG.GPU",
      ".MMIO.GPU", ".CONSTANT.SM",      ".STRONG.SYS",          ".CONSTANT.SM.PRIVATE",
      ".MMIO.SYS", ".CONSTANT.VC",      ".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU"};
  const unsigned code = modifier(instruction, 77, 4);
  return code == 4 && !load ? ".STRONG.SM.PRIVATE" : kTexts[code];
}

std::string_view eviction_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 8> kTexts{".EF", "",    ".EL",       ".LU",
                                                          ".EU", ".NA", ".INVALID6", ".INVALID7"};
  return kTexts[instruction.memory.eviction];
}

void plain_address(const Word& word, bool is_64, MemoryForm& out) {
  out.base = wide_register(word, 24, is_64 ? 2 : 1);
  out.address_64 = is_64;
  out.offset = static_cast<std::int32_t>(signed_bits(word, 40, 24));
}

bool global_address(const Word& word, unsigned uniform_first, bool descriptor, bool pair, MemoryForm& out) {
  plain_address(word, descriptor || pair, out);
  if (descriptor) {
    out.descriptor = uniform_pair(word, uniform_first);
    return pair && out.extended;
  }
  out.uniform = uniform_pair(word, uniform_first);
  out.uniform_64 = true;
  return out.extended && !(pair && out.base.index == kRz);
}

void shared_address(const Word& word, bool has_uniform, unsigned uniform_first, MemoryForm& out) {
  plain_address(word, false, out);
  const auto scale = static_cast<std::uint8_t>(word.bits(78, 2));
  out.scale = scale == 0 ? 0 : static_cast<std::uint8_t>(scale + 1);
  if (has_uniform) out.uniform = uniform_operand(word, uniform_first);
}

std::string address_text(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  std::string out;
  const auto add = [&out](const std::string& part) { out += out.empty() ? part : "+" + part; };
  const bool suffixed = memory.descriptor.exists() || memory.uniform_64;
  const bool zero = memory.base.index == kRz;
  const bool scaled_zero = zero && memory.scale != 0 && memory.uniform.exists();
  if (!zero || suffixed || scaled_zero || (!memory.uniform.exists() && memory.offset == 0)) {
    std::string base = operand_text(memory.base);
    if (suffixed) base += memory.address_64 ? ".64" : ".U32";
    if (memory.scale != 0 && (!zero || scaled_zero)) base += fmt::format(".X{}", 1 << memory.scale);
    add(base);
  }
  if (memory.uniform.exists()) add(operand_text(memory.uniform));
  if (memory.offset != 0) add(signed_hex(memory.offset));
  return "[" + out + "]";
}

void keep_bits(const Word& word, Opcode opcode, Instruction& out) {
  out.opcode = opcode;
  out.memory.form = word.opcode();
  out.memory.modifiers = static_cast<std::uint32_t>(word.bits(64, 32));
  out.memory.modifiers2 = static_cast<std::uint32_t>(word.bits(32, 32));
}

}  // namespace muscope::sass
