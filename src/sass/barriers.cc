// Barriers of the block and of the cluster, fences and cache control.
//
//   BAR              memory.mode: 0 .SYNC, 1 .ARV, 2 .RED.POPC, 3 .RED.AND, 4 .RED.OR, 5 .SCAN. a: barrier number, an
//                    immediate (also in memory.barrier) or a register; b: thread count, an immediate, a register, or
//                    kNone (the whole block). a and b the SAME register: number in its bits 0 to 3, count in bits 16 to
//                    27. p0: what .RED and .SCAN combine; their result is read by B2R.RESULT after it
//   B2R              memory.mode 1: .RESULT, of the warp's last BAR.RED: dst (.POPC: the count; else all ones or zero)
//                    and pdst0 (.AND, .OR). 2: .WARP. 0: state of barrier b
//   MEMBAR           memory.mode: 0 .SC, 1 .ALL, 2 plain, 3 .MMIO; memory.scope: 0 CTA, 1 SM, 2 GPU, 3 SYS, 5 VC
//   CCTL             memory.mode: 0 PF1, 1 PF2, 2 WB, 3 IV, 4 IVALL, 5 RS, 6 IVALLP, 7 WBALL, 8 WBALLP, 9 PML2, 10
//   DML2,
//                    11 RML2; memory address
//   DEPBAR           memory.mode 0: waits for the scoreboards of the mask b; 1: .LE, until scoreboard a (immediate) has
//   at
//                    most memory.offset operations left, and for the scoreboards of b
//   ERRBAR CGAERRBAR LDGDEPBAR UCGABAR_ARV UCGABAR_WAIT FENCE   no operands (FENCE.VIEW.ASYNC memory.mode 0 .S, 1 .G)
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

Operand immediate(std::uint64_t value) {
  Operand out;
  out.kind = OperandKind::kImmediate;
  out.value = static_cast<std::uint32_t>(value);
  return out;
}

bool decode_bar(const Word& word, Instruction& out) {
  const unsigned form = static_cast<unsigned>(word.bits(9, 3));
  const bool number_register = form == 1 || form == 2, count_register = form == 1 || form == 4;
  out.a = number_register ? register_operand(word, 32) : immediate(word.bits(54, 4));
  if (!number_register) out.memory.barrier = static_cast<std::uint8_t>(out.a.value);
  if (count_register)
    out.b = register_operand(word, 32);
  else if (word.bits(42, 12) != 0)
    out.b = immediate(word.bits(42, 12));
  const auto kind = static_cast<unsigned>(word.bits(77, 2)), reduction = static_cast<unsigned>(word.bits(74, 2));
  if (word.bit(79) || word.bit(91) || (kind == 2 && reduction == 3)) return false;
  out.memory.mode = static_cast<std::uint8_t>(kind == 2 ? 2 + reduction : kind == 3 ? 5 : kind);
  if (kind >= 2) out.p0 = predicate_operand(word, 87, 90);
  return !(word.bit(80) && (kind == 1 || kind == 3));
}

std::string bar_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 6> kModes{".SYNC", ".ARV", ".RED.POPC", ".RED.AND", ".RED.OR", ".SCAN"};
  std::string out = fmt::format("BAR{}{} {}", kModes[instruction.memory.mode],
                                modifier(instruction, 80, 1) ? ".DEFER_BLOCKING" : "", operand_text(instruction.a));
  if (instruction.b.exists()) out += ", " + operand_text(instruction.b);
  return instruction.p0.exists() ? out + ", " + operand_text(instruction.p0) : out;
}

bool decode_result(const Word& word, Instruction& out) {
  out.memory.mode = static_cast<std::uint8_t>(word.bits(78, 2));
  out.dst = register_operand(word, 16);
  if (out.memory.mode == 1) out.pdst0 = optional_result(word, 81);
  if (out.memory.mode == 0) out.b = immediate(word.bits(54, 4));
  return out.memory.mode != 3;
}

std::string result_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 3> kModes{"", ".RESULT", ".WARP"};
  std::string out = fmt::format("B2R{} {}", kModes[instruction.memory.mode], operand_text(instruction.dst));
  if (instruction.b.exists()) out += ", " + operand_text(instruction.b);
  return instruction.pdst0.exists() ? out + ", " + operand_text(instruction.pdst0) : out;
}

bool decode_membar(const Word& word, Instruction& out) {
  out.memory.mode = static_cast<std::uint8_t>(word.bits(79, 2));
  out.memory.scope = static_cast<std::uint8_t>(word.bits(76, 3));
  return !word.bit(73) && out.memory.scope != 4 && out.memory.scope != 7;
}

std::string membar_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kModes{".SC", ".ALL", "", ".MMIO"};
  static constexpr std::array<std::string_view, 8> kScopes{".CTA", ".SM", ".GPU",         ".SYS",
                                                           "",     ".VC", ".CTA.PARTIAL", ""};
  return fmt::format("MEMBAR{}{}", kModes[instruction.memory.mode], kScopes[instruction.memory.scope]);
}

bool without_address(unsigned mode) { return mode == 4 || (mode >= 6 && mode <= 8); }

bool decode_cache_control(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  memory.extended = word.bit(72);
  memory.mode = static_cast<std::uint8_t>(word.bits(87, 4));
  if (memory.mode > 11 || word.bit(80) || word.bit(91)) return false;
  if (without_address(memory.mode)) return !memory.extended;
  plain_address(word, memory.extended, memory);
  memory.offset = static_cast<std::int32_t>(word.bits(32, 32));
  return true;
}

std::string cache_control_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kCaches{"", ".U", ".C", ".I"};
  static constexpr std::array<std::string_view, 12> kModes{".PF1",    ".PF2",   ".WB",     ".IV",   ".IVALL", ".RS",
                                                           ".IVALLP", ".WBALL", ".WBALLP", ".PML2", ".DML2",  ".RML2"};
  std::string out = fmt::format("CCTL{}{}{}", instruction.memory.extended ? ".E" : "",
                                kCaches[modifier(instruction, 78, 2)], kModes[instruction.memory.mode]);
  return without_address(instruction.memory.mode) ? out : out + " " + address_text(instruction);
}

bool decode_scoreboard(const Word& word, Instruction& out) {
  out.memory.mode = word.bit(47) ? 1 : 0;
  out.b = immediate(word.bits(32, 6));
  if (out.memory.mode == 0) return word.bits(38, 9) == 0;
  out.a = immediate(word.bits(44, 3));
  out.memory.offset = static_cast<std::int32_t>(word.bits(38, 6));
  return true;
}

std::string scoreboard_text(const Instruction& instruction) {
  std::string mask;
  for (unsigned bit = 6; bit-- > 0;)
    if (instruction.b.value >> bit & 1) mask += fmt::format("{}{}", mask.empty() ? "" : ",", bit);
  if (!mask.empty()) mask = "{" + mask + "}";
  if (instruction.memory.mode == 0) return "DEPBAR" + (mask.empty() ? "" : " " + mask);
  return fmt::format("DEPBAR.LE SB{}, {:#x}{}", instruction.a.value, instruction.memory.offset,
                     mask.empty() ? "" : ", " + mask);
}

}  // namespace

bool decode_barrier(const Word& word, Instruction& out) {
  const auto as = [&](Opcode opcode) {
    keep_bits(word, opcode, out);
    return true;
  };
  switch (word.opcode()) {
    case 0x31d:
    case 0x51d:
    case 0x91d:
    case 0xb1d:
      return as(Opcode::kBAR) && decode_bar(word, out);
    case 0x31c:
      return as(Opcode::kB2R) && decode_result(word, out);
    case 0x992:
      return as(Opcode::kMEMBAR) && decode_membar(word, out);
    case 0x98f:
      return as(Opcode::kCCTL) && decode_cache_control(word, out);
    case 0x91a:
      return as(Opcode::kDEPBAR) && decode_scoreboard(word, out);
    case 0x9ab:
      return as(Opcode::kERRBAR);
    case 0x5ab:
      return as(Opcode::kCGAERRBAR);
    case 0x9af:
      return as(Opcode::kLDGDEPBAR);
    case 0x9c7:
      make_guard_uniform(out);
      return as(Opcode::kUCGABAR_ARV) && word.bit(91) && !word.bit(72);
    case 0xdc7:
      make_guard_uniform(out);
      return as(Opcode::kUCGABAR_WAIT) && word.bit(91);
    case 0x3c6:
      out.memory.mode = word.bit(72) ? 1 : 0;
      return as(Opcode::kFENCE) && !word.bit(91);
    default:
      return false;
  }
}

std::string barrier_text(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kBAR:
      return bar_text(instruction);
    case Opcode::kB2R:
      return result_text(instruction);
    case Opcode::kMEMBAR:
      return membar_text(instruction);
    case Opcode::kCCTL:
      return cache_control_text(instruction);
    case Opcode::kDEPBAR:
      return scoreboard_text(instruction);
    case Opcode::kERRBAR:
    case Opcode::kCGAERRBAR:
    case Opcode::kLDGDEPBAR:
    case Opcode::kUCGABAR_ARV:
    case Opcode::kUCGABAR_WAIT:
      return name(instruction.opcode);
    case Opcode::kFENCE:
      return instruction.memory.mode == 1 ? "FENCE.VIEW.ASYNC.G" : "FENCE.VIEW.ASYNC.S";
    default:
      return {};
  }
}

}  // namespace muscope::sass
