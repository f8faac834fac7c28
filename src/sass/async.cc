// Asynchronous copies, barriers in shared memory (mbarrier), and the tensor memory accelerator.
//
//   LDGSTS           global address as of LDG; shared address memory.second + memory.second_offset; memory.bytes. p0:
//                    lanes where it does not hold read nothing and get zeros. memory.mode bit 0, .ZFILL: the bits of
//                    the global address below memory.bytes are how many bytes at the lane's end are zeros; bit 1:
//                    .BYPASS
//   ARRIVES          memory address (shared) of an mbarrier; memory.mode: 0 plain, 1 .ARVCNT, 2 .TRANSCNT
//   SYNCS            memory.mode: 0 .EXCH.64 (dst, a: uniform pairs), 1 .PHASECHK.TRANS64 (pdst0; a: parity, or the
//   state),
//                    2 the same with .TRYWAIT, 3 .ARRIVE.TRANS64 (dst: pair with the state, a; memory.atomic: bit 0
//                    .TMASK, 1 .RED, 2 .OPTOUT; memory.type: 0 none, 1 .A1T0, 2 .A0T1, 3 .A0TR, 4 .A0TX, 5 .ART0), 4
//                    .CCTL.IV; memory address (shared)
//   STAS REDAS       64-bit address base (pair: shared address, address of the mbarrier); a: the value; REDAS:
//                    memory.atomic, memory.type as of REDG
//   UBLKCP UBLKRED   memory.base: destination, memory.second: source (uniform), a: size. memory.mode: bit 0 destination
//   in
//                    shared memory, bit 1 source, bit 2 .MULTICAST. UBLKRED: memory.atomic, memory.type raw
//   UBLKPF           memory.base: address, a: size
//   UTMALDG UTMASTG UTMAREDG UTMAPF   memory.base, memory.second: uniform registers; a: kNone or uniform.
//   memory.dimensions 1 to 5; memory.mode
//                    bit 0 .IM2COL, bit 1 .MULTICAST; UTMAREDG: memory.atomic
//   UTMACCTL         memory.base; memory.mode: 0 .IV, 1 .PF
//   UTMACMDFLUSH     no operands
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

constexpr std::array<std::string_view, 4> kPrefetch{"", ".LTC64B", ".LTC128B", ".LTC256B"};
constexpr std::array<std::string_view, 8> kOperations{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"};

bool decode_copy(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const auto width = static_cast<unsigned>(word.bits(73, 3));
  const auto order = word.bits(77, 4);
  memory.extended = true;
  decode_order(word, true, memory);
  if (!word.bit(91) || width < 4 || width > 6 || (order != 0 && order != 4)) return false;
  if (!global_address(word, 64, word.bit(76), word.bit(70), memory)) return false;
  memory.offset = static_cast<std::int32_t>(signed_bits(word, 32, 12));
  memory.bytes = static_cast<std::uint8_t>(1u << (width - 2));
  memory.second = register_operand(word, 16);
  memory.second_offset = static_cast<std::int32_t>(signed_bits(word, 44, 20));
  memory.mode = static_cast<std::uint8_t>((word.bit(82) ? 1u : 0u) | (word.bit(81) ? 0u : 2u));
  out.p0 = condition(word);
  return memory.eviction < 6;
}

std::string copy_text(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  std::string target = memory.second.index == kRz && memory.second_offset != 0 ? "" : operand_text(memory.second);
  if (memory.second_offset != 0) target += (target.empty() ? "" : "+") + signed_hex(memory.second_offset);
  const std::string out =
      fmt::format("LDGSTS.E{}{}{}{}{}{} [{}], {}", memory.mode & 2 ? ".BYPASS" : "", eviction_text(instruction),
                  kPrefetch[modifier(instruction, 71, 2)],
                  memory.bytes == 4   ? ""
                  : memory.bytes == 8 ? ".64"
                                      : ".128",
                  memory.mode & 1 ? ".ZFILL" : "", order_text(instruction, true), target, address_text(instruction));
  return instruction.p0.exists() ? out + ", " + operand_text(instruction.p0) : out;
}

/// Shared address with a uniform register in bits 64 to 69.
void mbarrier_address(const Word& word, MemoryForm& memory) {
  shared_address(word, true, 64, memory);
  memory.scale = 0;
}

bool decode_syncs(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  memory.bytes = 8;
  if (!word.bit(91)) return false;
  mbarrier_address(word, memory);
  switch (word.opcode()) {
    case 0x5b2:
      memory.uniform = uniform_operand(word, 24);
      memory.base = register_operand(Word{kRz, 0}, 0);
      out.dst = uniform_pair(word, 16);
      out.a = uniform_pair(word, 32);
      memory.mode = 0;
      make_guard_uniform(out);
      return word.bits(72, 2) == 1;
    case 0x5a7:
      memory.mode = word.bit(72) ? 2 : 1;
      out.pdst0 = predicate_result(word, 81);
      out.a = register_operand(word, 32);
      return word.bits(70, 2) == 1;
    case 0x9a7:
      memory.mode = 3;
      memory.atomic = static_cast<std::uint8_t>(word.bits(73, 3));
      memory.type = static_cast<std::uint8_t>(word.bits(84, 3));
      out.dst = wide_register(word, 16, 2);
      out.a = register_operand(word, 32);
      return word.bits(70, 2) == 0 && (memory.atomic & 3) != 3 && memory.type < 6;
    default:
      memory.mode = 4;
      return word.bits(72, 2) == 0;
  }
}

std::string syncs_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 6> kCounts{"", ".A1T0", ".A0T1", ".A0TR", ".A0TX", ".ART0"};
  const MemoryForm& memory = instruction.memory;
  switch (memory.mode) {
    case 0:
      return fmt::format("SYNCS.EXCH.64 {}, {}, {}", operand_text(instruction.dst), address_text(instruction),
                         operand_text(instruction.a));
    case 1:
    case 2:
      return fmt::format("SYNCS.PHASECHK.TRANS64{} {}, {}, {}", memory.mode == 2 ? ".TRYWAIT" : "",
                         operand_text(instruction.pdst0), address_text(instruction), operand_text(instruction.a));
    case 3:
      return fmt::format("SYNCS.ARRIVE.TRANS64{}{}{}{} {}, {}, {}", memory.atomic & 1 ? ".TMASK" : "",
                         memory.atomic & 2 ? ".RED" : "", memory.atomic & 4 ? ".OPTOUT" : "", kCounts[memory.type],
                         operand_text(instruction.dst), address_text(instruction), operand_text(instruction.a));
    default:
      return "SYNCS.CCTL.IV " + address_text(instruction);
  }
}

bool decode_remote(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool reduction = out.opcode == Opcode::kREDAS;
  memory.extended = true;
  plain_address(word, true, memory);
  if (!word.bit(91) || word.bits(64, 6) != kUrz || word.bits(77, 4) != 0) return false;
  if (reduction) {
    static constexpr std::array<std::uint8_t, 3> kTypes{0, 1, 2};
    const auto width = static_cast<std::size_t>(word.bits(73, 3));
    if (width >= kTypes.size() || word.bit(90) || !word.bit(72)) return false;
    memory.atomic = static_cast<std::uint8_t>(word.bits(87, 3));
    memory.type = kTypes[width];
    memory.bytes = width == 2 ? 8 : 4;
  } else {
    const auto width = static_cast<unsigned>(word.bits(73, 3));
    if (width < 4 || width > 6 || !word.bit(90)) return false;
    memory.bytes = static_cast<std::uint8_t>(1u << (width - 2));
  }
  out.a = wide_register(word, 32, memory.bytes / 4u);
  return true;
}

std::string remote_text(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  std::string address = operand_text(memory.base) + ".64";
  if (memory.offset != 0) address += "+" + signed_hex(memory.offset);
  std::string out = name(instruction.opcode);
  if (instruction.opcode == Opcode::kREDAS) {
    static constexpr std::array<std::string_view, 3> kTypes{"", ".S32", ".64"};
    out += kOperations[memory.atomic];
    out += kTypes[memory.type];
  } else if (memory.bytes > 4) {
    out += memory.bytes == 8 ? ".64" : ".128";
  }
  return out + " [" + address + "], " + operand_text(instruction.a);
}

constexpr std::array<std::string_view, 9> kBulkTypes{"",        ".S32",        ".U64",    ".S64",    ".F16.RN",
                                                     ".F32.RN", ".F32.FTZ.RN", ".F64.RN", ".BF16.RN"};

bool decode_bulk(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  make_guard_uniform(out);
  if (!word.bit(91) || word.bit(76)) return false;
  const bool prefetch = out.opcode == Opcode::kUBLKPF;
  memory.base = uniform_operand(word, prefetch ? 24 : 32);
  if (!prefetch) memory.second = uniform_operand(word, 24);
  out.a = uniform_operand(word, 64);
  memory.mode = static_cast<std::uint8_t>(word.bits(73, 3));
  if (out.opcode == Opcode::kUBLKRED) {
    memory.atomic = static_cast<std::uint8_t>(word.bits(87, 3));
    memory.type = static_cast<std::uint8_t>(word.bits(81, 4));
    memory.mode &= 3;
    return memory.type < kBulkTypes.size() && (memory.mode & 2) != 0;
  }
  return !word.bit(83);
}

std::string bulk_text(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  const std::string base = "[" + operand_text(memory.base) + "], ";
  if (instruction.opcode == Opcode::kUBLKPF) return "UBLKPF.L2 " + base + operand_text(instruction.a);
  std::string out =
      fmt::format("{}.{}.{}", name(instruction.opcode), memory.mode & 1 ? "S" : "G", memory.mode & 2 ? "S" : "G");
  if (instruction.opcode == Opcode::kUBLKRED) {
    out += kOperations[memory.atomic];
    out += kBulkTypes[memory.type];
  } else {
    if (memory.mode & 4) out += ".MULTICAST";
    out += kPrefetch[modifier(instruction, 81, 2)];
  }
  return out + " " + base + "[" + operand_text(memory.second) + "], " + operand_text(instruction.a);
}

bool decode_tma(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  make_guard_uniform(out);
  const auto dimensions = static_cast<unsigned>(word.bits(79, 3));
  if (!word.bit(91) || word.bit(76) || dimensions > 4) return false;
  const bool with_third = word.opcode() == 0x3b4, plain = word.opcode() == 0x5b4 || word.opcode() == 0x5b8;
  memory.dimensions = static_cast<std::uint8_t>(dimensions + 1);
  memory.base = uniform_operand(word, 32);
  memory.second = uniform_operand(word, 24);
  if (!plain) memory.mode = word.bit(82) ? 1 : 0;
  if (with_third) {
    if (word.bit(75)) memory.mode |= 2;
    out.a = uniform_operand(word, 64);
  }
  if (out.opcode == Opcode::kUTMAREDG) memory.atomic = static_cast<std::uint8_t>(word.bits(87, 3));
  return true;
}

std::string tma_text(const Instruction& instruction) {
  const MemoryForm& memory = instruction.memory;
  const std::string out = fmt::format(
      "{}{}.{}D{}{}{} [{}], [{}]", name(instruction.opcode), instruction.opcode == Opcode::kUTMAPF ? ".L2" : "",
      memory.dimensions, memory.mode & 1 ? ".IM2COL" : "",
      instruction.opcode == Opcode::kUTMAREDG ? kOperations[memory.atomic] : "", memory.mode & 2 ? ".MULTICAST" : "",
      operand_text(memory.base), operand_text(memory.second));
  return instruction.a.exists() ? out + ", " + operand_text(instruction.a) : out;
}

bool decode_arrives(const Word& word, Instruction& out) {
  out.memory.bytes = 8;
  mbarrier_address(word, out.memory);
  out.memory.mode = static_cast<std::uint8_t>(word.bits(70, 2));
  return word.bit(91) && out.memory.mode != 3 && word.bits(72, 4) == 10;
}

}  // namespace

bool decode_async(const Word& word, Instruction& out) {
  const auto as = [&](Opcode opcode) {
    keep_bits(word, opcode, out);
    return true;
  };
  switch (word.opcode()) {
    case 0xfae:
      return as(Opcode::kLDGSTS) && decode_copy(word, out);
    case 0x9b0:
      return as(Opcode::kARRIVES) && decode_arrives(word, out);
    case 0x5a7:
    case 0x5b2:
    case 0x9a7:
    case 0x9b1:
      return as(Opcode::kSYNCS) && decode_syncs(word, out);
    case 0xdbd:
      return as(Opcode::kSTAS) && decode_remote(word, out);
    case 0xdbe:
      return as(Opcode::kREDAS) && decode_remote(word, out);
    case 0x3ba:
      return as(Opcode::kUBLKCP) && decode_bulk(word, out);
    case 0x3bb:
      return as(Opcode::kUBLKRED) && decode_bulk(word, out);
    case 0x3bc:
      return as(Opcode::kUBLKPF) && decode_bulk(word, out);
    case 0x3b4:
    case 0x5b4:
      return as(Opcode::kUTMALDG) && decode_tma(word, out);
    case 0x3b5:
      return as(Opcode::kUTMASTG) && decode_tma(word, out);
    case 0x3b6:
      return as(Opcode::kUTMAREDG) && decode_tma(word, out);
    case 0x5b8:
      return as(Opcode::kUTMAPF) && decode_tma(word, out);
    case 0x9b9:
      out.memory.base = uniform_operand(word, 24);
      out.memory.mode = word.bit(82) ? 1 : 0;
      make_guard_uniform(out);
      return as(Opcode::kUTMACCTL) && word.bit(91);
    case 0x9b7:
      return as(Opcode::kUTMACMDFLUSH);
    default:
      return false;
  }
}

std::string async_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 3> kCounts{"", ".ARVCNT", ".TRANSCNT"};
  switch (instruction.opcode) {
    case Opcode::kLDGSTS:
      return copy_text(instruction);
    case Opcode::kARRIVES:
      return fmt::format("ARRIVES.LDGSTSBAR.64{} {}", kCounts[instruction.memory.mode], address_text(instruction));
    case Opcode::kSYNCS:
      return syncs_text(instruction);
    case Opcode::kSTAS:
    case Opcode::kREDAS:
      return remote_text(instruction);
    case Opcode::kUBLKCP:
    case Opcode::kUBLKRED:
    case Opcode::kUBLKPF:
      return bulk_text(instruction);
    case Opcode::kUTMALDG:
    case Opcode::kUTMASTG:
    case Opcode::kUTMAREDG:
    case Opcode::kUTMAPF:
      return tma_text(instruction);
    case Opcode::kUTMACCTL:
      return fmt::format("UTMACCTL.{} [{}]", instruction.memory.mode == 1 ? "PF" : "IV",
                         operand_text(instruction.memory.base));
    case Opcode::kUTMACMDFLUSH:
      return name(instruction.opcode);
    default:
      return {};
  }
}

}  // namespace muscope::sass
