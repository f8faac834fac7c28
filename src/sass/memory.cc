// Loads, stores and constant loads, and where the memory family is put together.
//
//   LDG LD LDS LDL   dst, memory address; p0: lanes load only where it holds (kNone: all); pdst0: kNone, or a fault
//   flag STG ST STS STL   memory address, a: what is stored LDC ULDC         dst, b: c[index][value], value being a
//   signed byte offset; memory.base: index register added to the
//                    offset, kNone without. memory.mode: 0 none, 1 .IL, 2 .IS, 3 .ISL
//
// Address: base (scaled) + uniform + offset, in 64 bits when memory.extended, else in 32. A base that is one register
// is extended with zeros. memory.descriptor is never part of it. dst.words and a.words follow memory.bytes.
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

constexpr std::array<std::string_view, 8> kSizes{".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ""};

/// Width from bits 73 to 75: false for the code that is none.
bool decode_width(const Word& word, MemoryForm& out) {
  static constexpr std::array<std::uint8_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 0};
  const auto code = static_cast<std::size_t>(word.bits(73, 3));
  out.bytes = kBytes[code];
  out.is_signed = code == 1 || code == 3;
  return out.bytes != 0;
}

unsigned words_of(const MemoryForm& memory) { return memory.bytes > 4 ? memory.bytes / 4u : 1u; }

/// The 32-bit offset of generic accesses without a uniform register.
void long_offset(const Word& word, MemoryForm& out) { out.offset = static_cast<std::int32_t>(word.bits(32, 32)); }

bool decode_global_load(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool has_uniform = word.bit(91);
  const bool generic = out.opcode == Opcode::kLD;
  memory.extended = word.bit(72);
  decode_order(word, true, memory);
  if (has_uniform) {
    if (!global_address(word, 32, word.bit(76), word.bit(90), memory)) return false;
  } else {
    if (!generic && word.opcode() != 0x381) return false;
    plain_address(word, memory.extended, memory);
    if (generic) long_offset(word, memory);
  }
  if (has_uniform && word.opcode() == 0x381) return false;
  out.dst = wide_register(word, 16, words_of(memory));
  Operand only = predicate_operand(word, 64, 67);
  only.index ^= kPt;  // the field is inverted: zeros are PT
  if (only.index != kPt || only.invert) out.p0 = only;
  if (!generic) out.pdst0 = optional_result(word, 81);
  return memory.eviction < 6;
}

bool decode_global_store(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool has_uniform = word.bits(9, 3) == 4;
  if (word.bit(91) != has_uniform) return false;
  memory.extended = word.bit(72);
  decode_order(word, false, memory);
  out.a = wide_register(word, 32, words_of(memory));
  if (has_uniform) return global_address(word, 64, word.bit(76), word.bit(90), memory) && memory.eviction < 6;
  plain_address(word, memory.extended, memory);
  if (out.opcode == Opcode::kST) {
    long_offset(word, memory);
    out.a = wide_register(word, 64, words_of(memory));
  }
  return memory.eviction < 6;
}

bool decode_near(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool store = out.opcode == Opcode::kSTS || out.opcode == Opcode::kSTL;
  const bool shared = out.opcode == Opcode::kLDS || out.opcode == Opcode::kSTS;
  const bool has_uniform = word.bit(91);
  if (store && has_uniform != (word.bits(9, 3) == 4)) return false;
  if (word.bit(76) && has_uniform && !shared) return false;
  shared_address(word, has_uniform, store ? 64 : 32, memory);
  if (shared) {
    memory.eviction = 1;
  } else {
    memory.scale = 0;
    memory.eviction = static_cast<std::uint8_t>(word.bits(84, 3));
  }
  (store ? out.a : out.dst) = wide_register(word, store ? 32 : 16, words_of(memory));
  return memory.eviction < 6;
}

bool decode_constant(const Word& word, Instruction& out) {
  const bool is_uniform = out.opcode == Opcode::kULDC;
  if (out.memory.bytes == 16) return false;
  out.dst = is_uniform ? uniform_operand(word, 16) : register_operand(word, 16);
  out.dst.words = static_cast<std::uint8_t>(words_of(out.memory));
  out.b = constant_operand(word);
  out.b.words = out.dst.words;
  out.b.value = static_cast<std::uint32_t>(signed_bits(word, 38, 16));
  out.memory.mode = static_cast<std::uint8_t>(word.bits(78, 2));
  if (is_uniform) make_guard_uniform(out);
  switch (word.opcode()) {
    case 0xab9:
      if (word.bit(91)) {
        out.b.value &= 0xffffu;
        out.b.index = static_cast<std::uint8_t>(word.bits(24, 6));
      }
      if (is_uniform) out.memory.mode = 0;
      return true;
    case 0xabb:
      out.b.uniform_bank = false;
      out.b.index = static_cast<std::uint8_t>(word.bits(54, 5));
      out.memory.base = uniform_operand(word, 24);
      out.memory.mode = 0;
      return word.bit(91);
    case 0xb82:
      out.memory.base = register_operand(word, 24);
      return !word.bit(91);
    case 0x582:
      out.b.index = static_cast<std::uint8_t>(word.bits(24, 6));
      out.memory.base = register_operand(word, 64);
      return word.bit(91);
    default:
      return false;
  }
}

std::string constant_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kModes{"", ".IL", ".IS", ".ISL"};
  const Operand& base = instruction.memory.base;
  const auto offset = static_cast<std::int32_t>(instruction.b.value);
  std::string index;
  if (base.exists() && (base.kind == OperandKind::kUniform || base.index != kRz || offset == 0))
    index = operand_text(base);
  if (offset != 0 || index.empty()) index += (index.empty() ? "" : "+") + signed_hex(offset);
  Operand bank_register;
  bank_register.kind = OperandKind::kUniform;
  bank_register.index = instruction.b.index;
  const std::string bank = instruction.b.uniform_bank ? fmt::format("cx[{}]", operand_text(bank_register))
                                                      : fmt::format("c[{:#x}]", instruction.b.index);
  return fmt::format("{}{}{} {}, {}[{}]", name(instruction.opcode), kSizes[modifier(instruction, 73, 3)],
                     kModes[instruction.memory.mode], operand_text(instruction.dst), bank, index);
}

std::string load_store_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kPrefetch{"", ".LTC64B", ".LTC128B", ".LTC256B"};
  const MemoryForm& memory = instruction.memory;
  const bool global = instruction.opcode == Opcode::kLDG || instruction.opcode == Opcode::kLD ||
                      instruction.opcode == Opcode::kSTG || instruction.opcode == Opcode::kST;
  const bool load = instruction.dst.exists();
  std::string out = name(instruction.opcode);
  if (memory.extended) out += ".E";
  out += eviction_text(instruction);
  if (global && load) out += kPrefetch[memory.mode];
  out += kSizes[modifier(instruction, 73, 3)];
  if (global) out += order_text(instruction, load);
  out += " ";
  if (!load) return out + address_text(instruction) + ", " + operand_text(instruction.a);
  out += listed(instruction.pdst0) + operand_text(instruction.dst) + ", " + address_text(instruction);
  return instruction.p0.exists() ? out + ", " + operand_text(instruction.p0) : out;
}

Opcode access_opcode(unsigned bits) {
  switch (bits) {
    case 0x381:
    case 0x981:
      return Opcode::kLDG;
    case 0x980:
      return Opcode::kLD;
    case 0x983:
      return Opcode::kLDL;
    case 0x984:
      return Opcode::kLDS;
    case 0x385:
    case 0x985:
      return Opcode::kST;
    case 0x386:
    case 0x986:
      return Opcode::kSTG;
    case 0x387:
    case 0x987:
      return Opcode::kSTL;
    case 0x388:
    case 0x988:
      return Opcode::kSTS;
    case 0xab9:
    case 0xabb:
      return Opcode::kULDC;
    case 0xb82:
    case 0x582:
      return Opcode::kLDC;
    default:
      return Opcode::kInvalid;
  }
}

}  // namespace

bool decode_access(const Word& word, Instruction& out) {
  const Opcode opcode = access_opcode(word.opcode());
  if (opcode == Opcode::kInvalid) return false;
  keep_bits(word, opcode, out);
  if (!decode_width(word, out.memory)) return false;
  switch (opcode) {
    case Opcode::kLDG:
    case Opcode::kLD:
      out.memory.mode = static_cast<std::uint8_t>(word.bits(68, 2));
      return decode_global_load(word, out);
    case Opcode::kSTG:
    case Opcode::kST:
      return decode_global_store(word, out);
    case Opcode::kLDC:
    case Opcode::kULDC:
      return decode_constant(word, out);
    default:
      return decode_near(word, out);
  }
}

std::string access_text(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kLDC:
    case Opcode::kULDC:
      return constant_text(instruction);
    case Opcode::kLDG:
    case Opcode::kLD:
    case Opcode::kLDL:
    case Opcode::kLDS:
    case Opcode::kSTG:
    case Opcode::kST:
    case Opcode::kSTL:
    case Opcode::kSTS:
      return load_store_text(instruction);
    default:
      return {};
  }
}

bool decode_memory(const Word& word, Instruction& out) {
  for (const auto part :
       {decode_access, decode_control, decode_barrier, decode_atomic, decode_texture, decode_async, decode_tensor}) {
    Instruction mine = out;
    if (part(word, mine)) {
      out = mine;
      return true;
    }
  }
  return false;
}

std::string memory_text(const Instruction& instruction) {
  for (const auto part : {access_text, control_text, barrier_text, atomic_text, texture_text, async_text, tensor_text})
    if (std::string text = part(instruction); !text.empty()) return text;
  return {};
}

}  // namespace muscope::sass
