// Textures and surfaces. All that ptxas writes for sm_90 take the texture object from a pair of uniform registers.
//
//   TEX TLD TLD4 TXD   dst: first and second of the components that memory.components names, in consecutive registers;
//                      memory.dst2: third and fourth. pdst0: kNone, or true where a sparse texel is not resident. a:
//                      coordinates, the layer first (an integer) when the texture is an array; b: what follows: bias or
//                      level of detail, then texel offsets, then the depth that is compared; TXD: the derivatives, x
//                      and y of the first coordinate, then of the next; kNone when there is nothing. memory.descriptor:
//                      uniform pair with the object; memory.offset: an immediate with it, 0
//                      memory.mode: TEX TLD: 0 plain, 1 .LZ (level 0), 2 .LB (bias), 3 .LL (level), 4 .LC, 5 .LB.LC,
//                      6 .LC.FDV. TLD4: component 0 to 3. memory.bytes: 4, or 2 where two components are packed (.F16)
//   TXQ                memory.mode: 0 dimension, 1 texture type, 2 sampler position; a, dst, dst2 as above
//   SULD SUST SURED    memory.base: coordinates (the layer last when an array), memory.descriptor: the object; dst or
//   a: the value.
//                      memory.mode: 0 .IGN (zero outside), 1 clamp, 2 .TRAP. x counts bytes
//                      (.BA).
//                      .D: raw bytes (memory.bytes); .P: converted to the surface's format (memory.components). SURED:
//                      memory.atomic, memory.type
//
// memory.dimensions: 1, 2, 3, 4 (cube); +8 for arrays.
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

constexpr std::array<std::string_view, 8> kDimensions{"1D",       "2D",       "3D", "CUBE",
                                                      "ARRAY_1D", "ARRAY_2D", "",   "ARRAY_CUBE"};
constexpr std::array<std::string_view, 8> kSurfaces{"1D", "1D_BUFFER", "1D_ARRAY", "2D", "2D_ARRAY", "3D", "", ""};
constexpr std::array<std::string_view, 4> kHalves{"", ".F16.RN", ".F16.RZ", ""};

unsigned set_bits(unsigned mask) {
  unsigned count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}

/// Coordinates of a texture of these dimensions.
unsigned coordinates(unsigned dimensions) {
  const unsigned kind = dimensions & 7;
  return (kind == 4 ? 3 : kind) + (dimensions & 8 ? 1 : 0);
}

void decode_handle(const Word& word, MemoryForm& memory) {
  memory.descriptor = uniform_pair(word, 40);
  memory.offset = static_cast<std::int32_t>(word.bits(46, 8));
}

void decode_results(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  memory.components = static_cast<std::uint8_t>(word.bits(72, 4));
  memory.bytes = out.opcode != Opcode::kTXQ && word.bits(79, 2) != 0 ? 2 : 4;
  const unsigned count = set_bits(memory.components), registers = memory.bytes == 2 ? (count + 1) / 2 : count;
  out.dst = wide_register(word, 16, registers > 1 ? 2 : 1);
  memory.dst2 = wide_register(word, 64, registers > 3 ? 2 : 1);
}

/// Registers that source b has.
unsigned further(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  unsigned count = (memory.texel_offset ? 1u : 0u) + (memory.depth_compare ? 1u : 0u) + (memory.multisample ? 1u : 0u);
  if (instruction.opcode == Opcode::kTXD) return count + 2 * (memory.dimensions & 3u);
  if (instruction.opcode == Opcode::kTLD4) return count;
  return count + (memory.mode >= 2 ? 1 : 0) + (memory.mode == 5 ? 1 : 0);
}

bool decode_sample(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const auto shape = static_cast<unsigned>(word.bits(61, 3));
  if (kDimensions[shape].empty() || word.bits(79, 2) == 3 || !word.bit(91)) return false;
  memory.dimensions = static_cast<std::uint8_t>((shape & 3) + 1 + (shape & 4 ? 8 : 0));
  memory.eviction = static_cast<std::uint8_t>(word.bits(84, 3));
  memory.texel_offset = word.bit(76);
  memory.mode = static_cast<std::uint8_t>(word.bits(87, out.opcode == Opcode::kTLD4 ? 2 : 3));
  decode_handle(word, memory);
  decode_results(word, out);
  out.pdst0 = optional_result(word, 81);
  const bool cube = (memory.dimensions & 7) == 4;
  switch (out.opcode) {
    case Opcode::kTEX:
      memory.depth_compare = word.bit(78);
      if (memory.mode == 7) return false;
      break;
    case Opcode::kTLD4:
      memory.depth_compare = word.bit(78);
      if (word.bit(77) || (shape & 1) == 0) return false;
      break;
    case Opcode::kTLD:
      memory.multisample = word.bit(78);
      if (cube || (memory.mode != 1 && memory.mode != 3)) return false;
      break;
    default:
      if (cube || (memory.dimensions & 7) == 3 || memory.mode != 0 || word.bits(77, 2) != 0) return false;
  }
  out.a = wide_register(word, 24, coordinates(memory.dimensions));
  const unsigned more = further(out);
  out.b = wide_register(word, 32, more == 0 ? 1 : more);
  if (out.b.index == kRz && out.opcode != Opcode::kTEX && out.opcode != Opcode::kTXD) out.b = {};
  return memory.eviction < 6;
}

std::string sample_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 8> kLods{"", ".LZ", ".LB", ".LL", ".LC", ".LB.LC", ".LC.FDV", ""};
  static constexpr std::array<std::string_view, 4> kComponents{".R", ".G", ".B", ".A"};
  const MemoryForm& memory = instruction.memory;
  const bool gather = instruction.opcode == Opcode::kTLD4;
  const std::string_view half = kHalves[modifier(instruction, 79, 2)];
  std::string out = name(instruction.opcode);
  if (modifier2(instruction, 60, 1)) out += ".SCR";
  if (gather) out += kComponents[memory.mode];
  out += half;
  if (!gather && instruction.opcode != Opcode::kTXD) out += kLods[memory.mode];
  if (memory.texel_offset) out += ".AOFFI";
  if (memory.depth_compare) out += ".DC";
  out += eviction_text(instruction);
  if (memory.multisample) out += ".MS";
  if (modifier(instruction, 77, 1)) out += instruction.opcode == Opcode::kTLD ? ".CL" : ".NDV";
  if (modifier(instruction, 90, 1)) out += ".NODEP";
  out += fmt::format(" {}{}, {}, {}, ", listed(instruction.pdst0), operand_text(memory.dst2),
                     operand_text(instruction.dst), operand_text(instruction.a));
  out += listed(instruction.b) + fmt::format("{}, {:#x}, {}", operand_text(memory.descriptor), memory.offset,
                                             kDimensions[modifier2(instruction, 61, 3)]);
  return memory.components == 15 ? out : out + fmt::format(", {:#x}", memory.components);
}

bool decode_query(const Word& word, Instruction& out) {
  out.memory.mode = static_cast<std::uint8_t>(word.bits(62, 2));
  decode_handle(word, out.memory);
  decode_results(word, out);
  out.a = register_operand(word, 24);
  return word.bit(91) && out.memory.mode != 3;
}

std::string query_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kQueries{"TEX_HEADER_DIMENSION", "TEX_HEADER_TEXTURE_TYPE",
                                                            "TEX_HEADER_SAMPLER_POS", ""};
  const MemoryForm& memory = instruction.memory;
  const std::string out =
      fmt::format("TXQ{} {}, {}, {}, {}, {}, {:#x}", modifier(instruction, 90, 1) ? ".NODEP" : "",
                  operand_text(memory.dst2), operand_text(instruction.dst), operand_text(instruction.a),
                  kQueries[memory.mode], operand_text(memory.descriptor), memory.offset);
  return memory.components == 15 ? out : out + fmt::format(", {:#x}", memory.components);
}

constexpr std::array<std::uint8_t, 8> kSurfaceDimensions{1, 1, 9, 2, 10, 3, 0, 0};

bool decode_surface(const Word& word, Instruction& out) {
  static constexpr std::array<std::uint8_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 0};
  MemoryForm& memory = out.memory;
  const auto shape = static_cast<std::size_t>(word.bits(61, 3));
  const auto width = static_cast<std::size_t>(word.bits(73, 3));
  const bool reduction = out.opcode == Opcode::kSURED, formatted = word.opcode() == 0xf9b;
  memory.dimensions = kSurfaceDimensions[shape];
  memory.mode = static_cast<std::uint8_t>(word.bits(59, 2));
  if (memory.dimensions == 0 || memory.mode == 3 || !word.bit(91)) return false;
  decode_order(word, out.opcode == Opcode::kSULD, memory);
  decode_handle(word, memory);
  memory.base = wide_register(word, 24, coordinates(memory.dimensions));
  if (formatted) {
    memory.components = static_cast<std::uint8_t>(word.bits(72, 4));
    if (memory.components != 1 && memory.components != 3 && memory.components != 15) return false;
    out.a = wide_register(word, 32, set_bits(memory.components));
  } else if (reduction) {
    static constexpr std::array<std::uint8_t, 8> kTypes{0, 1, 2, 4, 6, 3, 0, 0};
    if (width > 5) return false;
    memory.atomic = static_cast<std::uint8_t>(word.bits(87, 3));
    memory.type = kTypes[width];
    memory.ftz = width == 3;
    memory.bytes = width == 2 || width == 5 ? 8 : 4;
    out.a = wide_register(word, 32, memory.bytes / 4u);
  } else {
    memory.bytes = kBytes[width];
    memory.is_signed = width == 1 || width == 3;
    if (memory.bytes == 0) return false;
    const unsigned words = memory.bytes > 4 ? memory.bytes / 4u : 1u;
    if (out.opcode == Opcode::kSULD) {
      out.dst = wide_register(word, 16, words);
      out.pdst0 = optional_result(word, 81);
    } else {
      out.a = wide_register(word, 32, words);
    }
  }
  return memory.eviction < 6;
}

std::string surface_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kClamps{".IGN", "", ".TRAP", ""};
  static constexpr std::array<std::string_view, 8> kSizes{".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ""};
  static constexpr std::array<std::string_view, 8> kOperations{".ADD", ".MIN", ".MAX", ".INC",
                                                               ".DEC", ".AND", ".OR",  ".XOR"};
  static constexpr std::array<std::string_view, 8> kTypes{"",          ".S32", ".U64", ".F32.FTZ.RN",
                                                          ".F16x2.RN", ".S64", "",     ""};
  const MemoryForm& memory = instruction.memory;
  const bool load = instruction.opcode == Opcode::kSULD, formatted = memory.form == 0xf9b;
  const bool reduction = instruction.opcode == Opcode::kSURED;
  std::string out = name(instruction.opcode);
  out += formatted ? ".P" : ".D";
  if (!formatted && modifier(instruction, 72, 1)) out += ".BA";
  out += ".";
  out += kSurfaces[modifier2(instruction, 61, 3)];
  if (reduction) out += kOperations[memory.atomic];
  out += eviction_text(instruction);
  if (!formatted) out += (reduction ? kTypes : kSizes)[modifier(instruction, 73, 3)];
  out += order_text(instruction, load);
  if (formatted) out += memory.components == 1 ? ".R" : memory.components == 3 ? ".RG" : "";
  out += kClamps[memory.mode];
  const std::string address = "[" + operand_text(memory.base) + "]";
  out += load ? fmt::format(" {}{}, {}", listed(instruction.pdst0), operand_text(instruction.dst), address)
              : fmt::format(" {}, {}", address, operand_text(instruction.a));
  return out + fmt::format(", {}, {:#x}", operand_text(memory.descriptor), memory.offset);
}

}  // namespace

bool decode_texture(const Word& word, Instruction& out) {
  const auto as = [&](Opcode opcode) {
    keep_bits(word, opcode, out);
    return true;
  };
  switch (word.opcode()) {
    case 0xf60:
      return as(Opcode::kTEX) && decode_sample(word, out);
    case 0xf63:
      return as(Opcode::kTLD4) && decode_sample(word, out);
    case 0xf66:
      return as(Opcode::kTLD) && decode_sample(word, out);
    case 0xf6c:
      return as(Opcode::kTXD) && decode_sample(word, out);
    case 0xf6f:
      return as(Opcode::kTXQ) && decode_query(word, out);
    case 0xf99:
      return as(Opcode::kSULD) && decode_surface(word, out);
    case 0xf9b:
    case 0xf9d:
      return as(Opcode::kSUST) && decode_surface(word, out);
    case 0xf9f:
      return as(Opcode::kSURED) && decode_surface(word, out);
    default:
      return false;
  }
}

std::string texture_text(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kTEX:
    case Opcode::kTLD4:
    case Opcode::kTLD:
    case Opcode::kTXD:
      return sample_text(instruction);
    case Opcode::kTXQ:
      return query_text(instruction);
    case Opcode::kSULD:
    case Opcode::kSUST:
    case Opcode::kSURED:
      return surface_text(instruction);
    default:
      return {};
  }
}

}  // namespace muscope::sass
