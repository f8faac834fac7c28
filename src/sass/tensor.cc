// Matrix instructions of a warp.
//
//   LDSM STSM        shared address of one row of 16 bytes per lane; dst or a: 1, 2 or 4 registers; memory.mode: 0
//   .M88,
//                    1 .MT88 (transposed)
//   MOVM             dst, a: transposes a matrix of 8 by 8 halves
//   HMMA IMMA BMMA DMMA   dst = a * b + c, each with the .words of its fragment. memory.mode: shape (kShapes). p0:
//   kNone,
//                    or a uniform predicate. memory.second: register with the metadata of a sparse a (kNone when
//                    dense), memory.second_offset: its selector HMMA: memory.type 0 F16, 1 BF16, 2 TF32 factors;
//                    memory.bytes 4 or 2: sums of F32 or F16 IMMA: memory.type bit 0: a is signed, bit 1: b is signed;
//                    memory.ftz: never; integer.wrap: not .SAT DMMA: floating.rounding
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

struct Shape {
  Opcode opcode;
  unsigned code;  ///< HMMA: bits 73, 75, 78; IMMA: 72, 75, 85, 86; BMMA: 75, 76; DMMA: 76, 77
  std::string_view text;
  std::uint8_t a, b, c;  ///< registers of the fragments, 16-bit factors and 32-bit sums of HMMA
};

constexpr std::array<Shape, 20> kShapes{
    {{Opcode::kHMMA, 0, ".1688", 2, 1, 4},      {Opcode::kHMMA, 2, ".16816", 4, 2, 4},
     {Opcode::kHMMA, 4, ".1684", 1, 1, 4},      {Opcode::kHMMA, 1, ".SP.1688", 1, 1, 4},
     {Opcode::kHMMA, 3, ".SP.16816", 2, 2, 4},  {Opcode::kHMMA, 7, ".SP.16832", 4, 4, 4},
     {Opcode::kIMMA, 0, ".8816", 1, 1, 2},      {Opcode::kIMMA, 8, ".16816", 2, 1, 4},
     {Opcode::kIMMA, 10, ".16832", 4, 2, 4},    {Opcode::kIMMA, 5, ".SP.8832", 1, 2, 2},
     {Opcode::kIMMA, 11, ".SP.16832", 2, 2, 4}, {Opcode::kIMMA, 13, ".SP.16864", 4, 4, 4},
     {Opcode::kBMMA, 0, ".88128", 1, 1, 2},     {Opcode::kBMMA, 1, ".168128", 2, 1, 4},
     {Opcode::kBMMA, 2, ".168256", 4, 2, 4},    {Opcode::kDMMA, 0, ".8x8x4", 2, 2, 4},
     {Opcode::kDMMA, 1, ".16x8x4", 4, 2, 8},    {Opcode::kDMMA, 2, ".16x8x8", 8, 4, 8},
     {Opcode::kDMMA, 3, ".16x8x16", 16, 8, 8},  {Opcode::kInvalid, 0, "", 0, 0, 0}}};

unsigned shape_code(const Word& word, Opcode opcode) {
  const auto bit = [&word](unsigned position, unsigned to) { return word.bit(position) ? 1u << to : 0u; };
  switch (opcode) {
    case Opcode::kHMMA:
      return bit(73, 0) | bit(75, 1) | bit(78, 2);
    case Opcode::kIMMA:
      return bit(72, 0) | bit(75, 1) | bit(85, 2) | bit(86, 3);
    case Opcode::kBMMA:
      return bit(75, 0) | bit(76, 1);
    default:
      return bit(76, 0) | bit(77, 1);
  }
}

bool decode_product(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  std::size_t shape = 0;
  while (shape < kShapes.size() &&
         !(kShapes[shape].opcode == out.opcode && kShapes[shape].code == shape_code(word, out.opcode)))
    ++shape;
  if (shape == kShapes.size() || word.bit(91)) return false;
  memory.mode = static_cast<std::uint8_t>(shape);
  unsigned a = kShapes[shape].a, b = kShapes[shape].b, c = kShapes[shape].c;
  bool sparse = false;
  switch (out.opcode) {
    case Opcode::kHMMA:
      sparse = word.bit(73);
      memory.type = static_cast<std::uint8_t>(word.bits(82, 2));
      memory.bytes = word.bit(76) ? 4 : 2;
      if (memory.type == 3 || word.bit(72) || word.bit(63)) return false;
      if (memory.bytes == 2) c = 2;
      if (memory.type == 2) a *= 2, b *= 2;
      break;
    case Opcode::kIMMA:
      sparse = word.bit(72);
      memory.type = static_cast<std::uint8_t>(word.bits(76, 1) | word.bits(78, 1) << 1);
      out.integer.wrap = !word.bit(82);
      if (word.bit(73) || !word.bit(74) || word.bit(77) || word.bit(79) || word.bits(83, 2) != 0) return false;
      break;
    case Opcode::kBMMA:
      if (word.bit(73) || !word.bit(74) || word.bits(77, 2) != 2 || !word.bit(80)) return false;
      break;
    default: {
      static constexpr std::array<Rounding, 4> kRoundings{Rounding::kNearest, Rounding::kDown, Rounding::kUp,
                                                          Rounding::kZero};
      out.floating.rounding = kRoundings[static_cast<std::size_t>(word.bits(78, 2))];
      if (word.bits(62, 2) != 0 || word.bits(72, 4) != 0) return false;
    }
  }
  out.dst = wide_register(word, 16, c);
  out.a = wide_register(word, 24, a);
  out.b = wide_register(word, 32, b);
  out.c = wide_register(word, 64, c);
  Operand only = predicate_operand(word, 87, 90);
  only.kind = OperandKind::kUniformPredicate;
  only.index ^= kPt;  // the field is inverted: zeros are UPT
  if (only.index != kPt || only.invert) out.p0 = only;
  if (sparse) {
    memory.second = register_operand(word, 40);
    memory.second_offset = static_cast<std::int32_t>(word.bits(48, 2));
    if (word.bit(81)) return false;
  }
  return true;
}

std::string product_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kFactors{"", ".BF16", ".TF32", ""};
  static constexpr std::array<std::string_view, 4> kRoundings{"", ".RM", ".RP", ".RZ"};
  const MemoryForm& memory = instruction.memory;
  std::string out = name(instruction.opcode);
  out += kShapes[memory.mode].text;
  bool ordered = false;
  switch (instruction.opcode) {
    case Opcode::kHMMA:
      out += memory.bytes == 4 ? ".F32" : ".F16";
      out += kFactors[memory.type];
      break;
    case Opcode::kIMMA:
      out += memory.type & 1 ? ".S8" : ".U8";
      out += memory.type & 2 ? ".S8" : ".U8";
      if (!instruction.integer.wrap) out += ".SAT";
      ordered = true;
      break;
    case Opcode::kBMMA:
      out += ".AND.POPC";
      ordered = true;
      break;
    default:
      out += kRoundings[static_cast<std::size_t>(instruction.floating.rounding)];
  }
  out += fmt::format(" {}, {}{}, {}{}, {}", operand_text(instruction.dst), operand_text(instruction.a),
                     ordered ? ".ROW" : "", operand_text(instruction.b), ordered ? ".COL" : "",
                     operand_text(instruction.c));
  if (instruction.p0.exists()) out += ", " + operand_text(instruction.p0);
  if (memory.second.exists()) out += fmt::format(", {}, {:#x}", operand_text(memory.second), memory.second_offset);
  return out;
}

bool decode_matrix_access(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool store = out.opcode == Opcode::kSTSM;
  const auto size = static_cast<unsigned>(word.bits(72, 2));
  memory.mode = word.bit(78) ? 1 : 0;
  memory.bytes = 16;
  shared_address(word, word.bit(91), store ? 64 : 32, memory);
  memory.scale = 0;
  (store ? out.a : out.dst) = wide_register(word, store ? 32 : 16, 1u << size);
  return size != 3 && word.bits(74, 4) == 0 && !word.bit(79);
}

std::string matrix_access_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 3> kCounts{"", ".2", ".4"};
  const bool store = instruction.opcode == Opcode::kSTSM;
  const std::string out =
      fmt::format("{}.16.{}{} ", name(instruction.opcode), instruction.memory.mode == 1 ? "MT88" : "M88",
                  kCounts[modifier(instruction, 72, 2)]);
  return store ? out + address_text(instruction) + ", " + operand_text(instruction.a)
               : out + operand_text(instruction.dst) + ", " + address_text(instruction);
}

}  // namespace

bool decode_tensor(const Word& word, Instruction& out) {
  const auto as = [&](Opcode opcode) {
    keep_bits(word, opcode, out);
    return true;
  };
  switch (word.opcode()) {
    case 0x83b:
      return as(Opcode::kLDSM) && decode_matrix_access(word, out);
    case 0x844:
      return as(Opcode::kSTSM) && decode_matrix_access(word, out);
    case 0x23a:
      out.dst = register_operand(word, 16);
      out.a = register_operand(word, 24);
      return as(Opcode::kMOVM) && word.bits(75, 5) == 0 && !word.bit(91);
    case 0x23c:
      return as(Opcode::kHMMA) && decode_product(word, out);
    case 0x237:
      return as(Opcode::kIMMA) && decode_product(word, out);
    case 0x23d:
      return as(Opcode::kBMMA) && decode_product(word, out);
    case 0x23f:
      return as(Opcode::kDMMA) && decode_product(word, out);
    default:
      return false;
  }
}

std::string tensor_text(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kLDSM:
    case Opcode::kSTSM:
      return matrix_access_text(instruction);
    case Opcode::kMOVM:
      return "MOVM.16.MT88 " + operand_text(instruction.dst) + ", " + operand_text(instruction.a);
    case Opcode::kHMMA:
    case Opcode::kIMMA:
    case Opcode::kBMMA:
    case Opcode::kDMMA:
      return product_text(instruction);
    default:
      return {};
  }
}

}  // namespace muscope::sass
