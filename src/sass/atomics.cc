// Atomics and reductions.
//
//   ATOM ATOMG       pdst0, dst, memory address, a: the operand. ATOM (generic) gives in pdst0 whether the operation
//   was
//                    done: where the address is not global it is not (code after it does it otherwise). The ATOMG
//                    that ptxas writes have PT there.
//   ATOMS            dst, memory address (shared), a
//   RED, REDG        memory address, a. No result
//   CAS              a: value compared with, b: value written when equal; memory.spin: see MemoryForm (CAST.SPIN may
//   also
//                    fail although they were equal; to succeed always is a legal execution)
//   ATOMS.POPC.INC   memory address; no operand: adds the number of active lanes to the word, dst as of ADD
//   QSPC             pdst0: whether the generic address is in the space of memory.mode: 0 global (.G), 1 local (.L),
//                    2 shared (.S), 3 distributed shared (.D). dst gets nothing when RZ
//
// memory.atomic, type, vector and ftz say what is done; memory.bytes is the width of all values of a lane.
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

constexpr std::uint8_t kCas = 9, kPopcInc = 10;

struct Type {
  std::string_view text;
  std::uint8_t type, vector, bytes;
  bool ftz;
};

constexpr std::array<Type, 5> kIntegerTypes{{{"", 0, 1, 4, false},
                                             {".S32", 1, 1, 4, false},
                                             {".64", 2, 1, 8, false},
                                             {".S64", 3, 1, 8, false},
                                             {".128", 8, 1, 16, false}}};

/// Before 9.0 one opcode is for integers and sums of floating-point numbers.
constexpr std::array<Type, 7> kAmpereTypes{{{"", 0, 1, 4, false},
                                            {".S32", 1, 1, 4, false},
                                            {".64", 2, 1, 8, false},
                                            {".F32.FTZ.RN", 4, 1, 4, true},
                                            {".F16x2.RN", 6, 1, 4, false},
                                            {".S64", 3, 1, 8, false},
                                            {".F64.RN", 5, 1, 8, false}}};

constexpr std::array<Type, 16> kFloatTypes{{{".F16x2.RN", 6, 1, 4, false},
                                            {".F16x4.RN", 6, 2, 8, false},
                                            {".F16x8.RN", 6, 4, 16, false},
                                            {".BF16x2.RN", 7, 1, 4, false},
                                            {".BF16x4.RN", 7, 2, 8, false},
                                            {".BF16x8.RN", 7, 4, 16, false},
                                            {"", 0, 0, 0, false},
                                            {"", 0, 0, 0, false},
                                            {"", 0, 0, 0, false},
                                            {".F32.FTZ.RN", 4, 1, 4, true},
                                            {".F32x2.FTZ.RN", 4, 2, 8, true},
                                            {".F32x4.FTZ.RN", 4, 4, 16, true},
                                            {".F32.RN", 4, 1, 4, false},
                                            {".F32x2.RN", 4, 2, 8, false},
                                            {".F32x4.RN", 4, 4, 16, false},
                                            {".F64.RN", 5, 1, 8, false}}};

/// What the opcode bits say.
struct Shape {
  Opcode opcode = Opcode::kInvalid;
  bool shared = false, is_float = false, cas = false, result = true, has_uniform = false;
};

Shape shape_of(unsigned bits) {
  switch (bits) {
    case 0x38a:
      return {Opcode::kATOM};
    case 0x38b:
      return {.opcode = Opcode::kATOM, .cas = true};
    case 0x98a:
      return {.opcode = Opcode::kATOM, .has_uniform = true};
    case 0x9a2:
      return {.opcode = Opcode::kATOM, .is_float = true, .has_uniform = true};
    case 0x3a8:
      return {Opcode::kATOMG};
    case 0x3a9:
      return {.opcode = Opcode::kATOMG, .cas = true};
    case 0x9a3:
      return {.opcode = Opcode::kATOMG, .is_float = true, .has_uniform = true};
    case 0x9a8:
      return {.opcode = Opcode::kATOMG, .has_uniform = true};
    case 0x38c:
      return {.opcode = Opcode::kATOMS, .shared = true};
    case 0x38d:
      return {.opcode = Opcode::kATOMS, .shared = true, .cas = true};
    case 0x98c:
    case 0xf8c:
      return {.opcode = Opcode::kATOMS, .shared = true, .has_uniform = true};
    case 0x98e:
      return {.opcode = Opcode::kREDG, .result = false, .has_uniform = true};
    case 0x9a6:
      return {.opcode = Opcode::kREDG, .is_float = true, .result = false, .has_uniform = true};
    default:
      return {};
  }
}

bool is_float(const Type& type) { return type.type >= 4 && type.type <= 7; }

const Type* ampere_type(const Word& word, const Shape& shape) {
  const auto code = static_cast<std::size_t>(word.bits(73, 3));
  if (shape.is_float || code >= kAmpereTypes.size() || word.bit(76)) return nullptr;
  const Type& type = kAmpereTypes[code];
  const auto operation = word.bits(87, shape.result ? 4 : 3);
  return is_float(type) && operation != 0 ? nullptr : &type;
}

const Type* type_of(const Word& word, const Shape& shape, Encoding encoding) {
  if (encoding == Encoding::kAmpere && !shape.shared && !shape.cas) return ampere_type(word, shape);
  if (shape.is_float) return &kFloatTypes[static_cast<std::size_t>(word.bits(73, 4))];
  const auto code = static_cast<std::size_t>(word.bits(73, 3));
  const bool s64 = shape.opcode != Opcode::kATOMS && !shape.cas;
  if (code >= kIntegerTypes.size() || (code == 3 && !s64) || (code == 4 && !shape.result)) return nullptr;
  return &kIntegerTypes[code];
}

/// Which operation: false when the code is none.
bool decode_operation(const Word& word, const Shape& shape, Encoding encoding, MemoryForm& memory) {
  if (word.opcode() == 0xf8c) {
    memory.atomic = kPopcInc;
    return word.bits(87, 4) == (encoding == Encoding::kAmpere ? 10 : 11) && word.bits(73, 3) == 0;
  }
  if (shape.cas) {
    memory.atomic = kCas;
    if (shape.opcode == Opcode::kATOMG) return true;
    const auto kind = word.bits(87, 2);
    memory.spin = kind == 3;
    return kind != 1;
  }
  if (shape.is_float) {
    memory.atomic = static_cast<std::uint8_t>(word.bits(88, 2));
    return memory.atomic < 3 && !word.bit(87);
  }
  memory.atomic = static_cast<std::uint8_t>(word.bits(87, shape.result ? 4 : 3));
  return memory.atomic <= 8;
}

bool decode_space_query(const Word& word, Instruction& out) {
  keep_bits(word, Opcode::kQSPC, out);
  const bool uniform = word.opcode() == 0x9aa;
  if (word.bit(91) != uniform) return false;
  out.memory.extended = word.bit(72);
  plain_address(word, out.memory.extended && !uniform, out.memory);
  if (uniform) {
    out.memory.uniform = uniform_pair(word, 32);
    out.memory.uniform_64 = true;
    if (out.memory.base.index != kRz) return false;
  }
  out.memory.mode = static_cast<std::uint8_t>(word.bits(73, 2));
  out.pdst0 = predicate_result(word, 81);
  out.dst = register_operand(word, 16);
  return !word.bit(75);
}

std::string space_query_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kSpaces{".G", ".L", ".S", ".D"};
  return fmt::format("QSPC{}{} {}, {}, {}", instruction.memory.extended ? ".E" : "", kSpaces[instruction.memory.mode],
                     operand_text(instruction.pdst0), operand_text(instruction.dst), address_text(instruction));
}

std::string operation_text(const Instruction& instruction, const Shape& shape) {
  static constexpr std::array<std::string_view, 11> kOperations{".ADD", ".MIN", ".MAX",  ".INC", ".DEC",        ".AND",
                                                                ".OR",  ".XOR", ".EXCH", ".CAS", ".POPC.INC.32"};
  const MemoryForm& memory = instruction.memory;
  std::string out{memory.spin ? ".CAST.SPIN" : kOperations[memory.atomic]};
  if (memory.atomic == kPopcInc) return out;
  if (!shape.shared) out += eviction_text(instruction);
  const bool ampere = instruction.encoding == Encoding::kAmpere && !shape.shared && !shape.cas;
  out += ampere           ? kAmpereTypes[modifier(instruction, 73, 3)].text
         : shape.is_float ? kFloatTypes[modifier(instruction, 73, 4)].text
                          : kIntegerTypes[modifier(instruction, 73, 3)].text;
  return out;
}

}  // namespace

bool decode_atomic(const Word& word, Instruction& out) {
  if (word.opcode() == 0x3aa || word.opcode() == 0x9aa) return decode_space_query(word, out);
  Shape shape = shape_of(word.opcode());
  if (shape.opcode == Opcode::kREDG) shape.has_uniform = word.bit(91);
  if (shape.opcode == Opcode::kInvalid || word.bit(91) != shape.has_uniform) return false;
  keep_bits(word, shape.opcode, out);
  MemoryForm& memory = out.memory;
  const Type* type = type_of(word, shape, out.encoding);
  if (type == nullptr || type->bytes == 0 || !decode_operation(word, shape, out.encoding, memory)) return false;
  memory.type = type->type;
  memory.vector = type->vector;
  memory.bytes = type->bytes;
  memory.ftz = type->ftz;
  const unsigned words = memory.bytes / 4;
  if (shape.shared) {
    shared_address(word, shape.has_uniform, 64, memory);
  } else {
    memory.extended = word.bit(72);
    decode_order(word, false, memory);
    if (memory.eviction > 5) return false;
    if (!shape.has_uniform)
      plain_address(word, memory.extended, memory);
    else if (!global_address(word, 64, word.bit(71), shape.result ? word.bit(70) : word.bit(90), memory))
      return false;
    if (shape.result) out.pdst0 = predicate_result(word, 81);
  }
  if (shape.result) out.dst = wide_register(word, 16, words);
  if (memory.spin) out.dst.words = 1;
  if (memory.atomic != kPopcInc) out.a = wide_register(word, 32, words);
  if (shape.cas) out.b = wide_register(word, 64, words);
  return true;
}

std::string atomic_text(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kQSPC) return space_query_text(instruction);
  const Shape shape = shape_of(instruction.memory.form);
  if (shape.opcode == Opcode::kInvalid || shape.opcode != instruction.opcode) return {};
  const bool old_name = instruction.opcode == Opcode::kREDG && instruction.encoding == Encoding::kAmpere;
  std::string out = old_name ? "RED" : name(instruction.opcode);
  if (instruction.memory.extended) out += ".E";
  out += operation_text(instruction, shape);
  if (!shape.shared) out += order_text(instruction, false);
  out += " ";
  if (shape.result && !shape.shared) out += operand_text(instruction.pdst0) + ", ";
  if (shape.result) out += operand_text(instruction.dst) + ", ";
  out += address_text(instruction);
  if (instruction.a.exists()) out += ", " + operand_text(instruction.a);
  if (instruction.b.exists()) out += ", " + operand_text(instruction.b);
  return out;
}

}  // namespace muscope::sass
