// Branches, calls, convergence of warps, and instructions without operands.
//
//   BRA              memory.target; p0: branch only where it holds (kNone: always). memory.mode bits 0 and 1: 0 plain,
//                    1 .U (the warp goes as a whole; p1: uniform predicate that must hold too), 2 .DIV (branch when the
//                    active lanes are not the mask in uniform register a; a inverted: ~), 3 .CONV (when they are);
//                    bit 2: .ANY; bits 3 and 4: 1 .INC, 2 .DEC
//   BRX BRXU         a: register pair (uniform of BRXU). Goes to a + memory.target
//   JMX              a: register pair. Goes to the absolute address a + memory.target
//   JMP              memory.target: absolute, or b: constant
//   CALL RET         memory.mode bit 0: .ABS; bit 1: .NOINC, .NODEC. a: register pair or kNone. Goes to a +
//   memory.target,
//                    which is an offset in the section, or absolute with .ABS. CALL.ABS b: constant with the address
//   BSSY             a: convergence barrier; memory.target: where its lanes meet (BSYNC)
//   BSYNC BREAK      a: convergence barrier; p0: only where it holds
//   EXIT KILL YIELD  p0: only where it holds. EXIT: memory.mode 1 .KEEPREFCOUNT, 2 .PREEMPTED, bit 2 .NO_ATEXIT
//   WARPSYNC         a: register or (before 9.0) immediate with the mask, kNone with .ALL. memory.mode 1: .EXCLUSIVE,
//   2: .COLLECTIVE (the lanes of
//                    the mask meet here, run the code up to ENDCOLLECTIVE, and each goes on at memory.target)
//   BMOV             between a barrier and a register: dst and a, one of them kBarrier. memory.mode bit 0: .CLEAR
//   RPCMOV           between a register and half of the return address: memory.mode 0 .LO, 1 .HI; dst, a (kNone: the
//                    return address)
//   NANOSLEEP        b: nanoseconds, immediate or register; p0
//   BPT PMTRIG       b: immediate
//
// Every relative target is a byte offset in the code section: that of the next instruction plus the displacement.
#include <fmt/format.h>

#include "sass/memory_family.h"

namespace muscope::sass {
namespace {

/// The displacement of branches, in bytes: bits 34 to 81 are units of 4; from 9.0 on units of 1024, and bits 16 to 23
/// units of 4.
std::int64_t displacement(const Word& word, Encoding encoding) {
  const auto units = static_cast<std::uint64_t>(signed_bits(word, 34, 48));
  return static_cast<std::int64_t>(encoding == Encoding::kHopper ? units << 10 | word.bits(16, 8) << 2 : units << 2);
}

/// That of BSSY: bits 34 to 63 are units of 4.
std::int64_t short_displacement(const Word& word) { return signed_bits(word, 34, 30) * 4; }

std::int64_t next(const Instruction& instruction) { return static_cast<std::int64_t>(instruction.pc) + 16; }

Operand barrier_operand(const Word& word, unsigned first) {
  Operand out;
  out.kind = OperandKind::kBarrier;
  out.index = static_cast<std::uint8_t>(word.bits(first, 4));
  return out;
}

Operand immediate(const Word& word, unsigned first, unsigned count) {
  Operand out;
  out.kind = OperandKind::kImmediate;
  out.value = static_cast<std::uint32_t>(word.bits(first, count));
  return out;
}

bool decode_branch(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const auto kind = static_cast<unsigned>(word.bits(32, 2));
  const auto counter = static_cast<unsigned>(word.bits(85, 2));
  const bool uniform_predicate = word.opcode() == 0x547;
  if (counter == 3 || (uniform_predicate && kind != 1)) return false;
  memory.target = next(out) + displacement(word, out.encoding);
  memory.mode = static_cast<std::uint8_t>(kind | (kind == 1 && word.bit(84) ? 4u : 0u) | counter << 3);
  out.p0 = condition(word);
  if (uniform_predicate) {
    out.p1 = predicate_operand(word, 24, 27);
    out.p1.kind = OperandKind::kUniformPredicate;
    return word.bit(91);
  }
  if (!word.bit(91)) return true;
  out.a = uniform_operand(word, 24);
  out.a.invert = word.bit(30);
  return kind >= 2;
}

std::string branch_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kKinds{"", ".U", ".DIV", ".CONV"};
  static constexpr std::array<std::string_view, 4> kCounters{"", ".INC", ".DEC", ""};
  const unsigned mode = instruction.memory.mode;
  return fmt::format("BRA{}{}{} {}{}{}{}", kCounters[mode >> 3 & 3], kKinds[mode & 3], mode & 4 ? ".ANY" : "",
                     listed(instruction.p0), listed(instruction.p1), listed(instruction.a),
                     signed_hex(instruction.memory.target));
}

bool decode_indirect(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool absolute = out.opcode == Opcode::kJMX;
  const auto counter = static_cast<unsigned>(word.bits(85, 2));
  if (counter == 3) return false;
  memory.mode = static_cast<std::uint8_t>(counter << 3);
  memory.target = displacement(word, out.encoding) + (absolute ? 0 : next(out));
  out.p0 = condition(word);
  if (out.opcode == Opcode::kBRXU) {
    out.a = uniform_pair(word, 24);
    return word.bits(32, 2) == 0 && word.bit(91);
  }
  out.a = wide_register(word, 24, 2);
  return !word.bit(91);
}

std::string indirect_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kCounters{"", ".INC", ".DEC", ""};
  const bool absolute = instruction.opcode == Opcode::kJMX;
  const std::int64_t shown = instruction.memory.target - (absolute ? 0 : next(instruction));
  std::string out = fmt::format("{}{} {}{}", name(instruction.opcode), kCounters[instruction.memory.mode >> 3 & 3],
                                listed(instruction.p0), operand_text(instruction.a));
  return shown == 0 ? out : out + " " + signed_hex(shown);
}

bool decode_jump(const Word& word, Instruction& out) {
  out.p0 = condition(word);
  if (word.bit(91) || word.bits(84, 3) != 0 || word.bits(32, 2) != 0) return false;
  if (word.opcode() == 0xb4a) {
    out.b = constant_operand(word);
    out.b.words = 2;
  } else {
    out.memory.target = displacement(word, out.encoding);
    if (word.bit(81)) return false;
  }
  return true;
}

bool decode_call(const Word& word, Instruction& out) {
  MemoryForm& memory = out.memory;
  const bool is_return = out.opcode == Opcode::kRET;
  const unsigned bits = word.opcode();
  const bool absolute = is_return ? word.bit(85) : bits == 0x343 || bits == 0x943 || bits == 0xb43;
  memory.mode = static_cast<std::uint8_t>((absolute ? 1u : 0u) | (word.bit(86) ? 2u : 0u));
  out.p0 = condition(word);
  if (word.bit(91)) return false;
  if (bits == 0xb43) {
    out.b = constant_operand(word);
    out.b.words = 2;
    return true;
  }
  memory.target = displacement(word, out.encoding) + (absolute ? 0 : next(out));
  if (is_return || bits == 0x343 || bits == 0x344) out.a = wide_register(word, 24, 2);
  return true;
}

std::string call_text(const Instruction& instruction) {
  const unsigned mode = instruction.memory.mode;
  const bool absolute = mode & 1;
  const std::string_view uncounted = instruction.opcode == Opcode::kRET ? ".NODEC" : ".NOINC";
  std::string out = fmt::format("{}{}{} {}", name(instruction.opcode), absolute ? ".ABS" : ".REL",
                                mode & 2 ? uncounted : "", listed(instruction.p0));
  if (instruction.b.exists()) return out + operand_text(instruction.b);
  if (!instruction.a.exists()) return out + signed_hex(instruction.memory.target);
  out += operand_text(instruction.a);
  return absolute && instruction.memory.target == 0 ? out : out + " " + signed_hex(instruction.memory.target);
}

bool decode_warpsync(const Word& word, Instruction& out) {
  out.p0 = condition(word);
  out.memory.mode = static_cast<std::uint8_t>(word.bits(85, 2));
  if (out.encoding == Encoding::kAmpere) {
    out.a = word.opcode() == 0x348 ? register_operand(word, 32) : immediate(word, 32, 32);
    if (out.memory.mode == 2)
      out.memory.mode = 1;  // .EXCLUSIVE
    else if (out.memory.mode != 0)
      return false;
    return !word.bit(91);
  }
  if (word.opcode() == 0x348) out.a = register_operand(word, 24);
  if (out.memory.mode == 2) out.memory.target = next(out) + displacement(word, out.encoding);
  return out.memory.mode != 3 && !(out.memory.mode == 1 && !out.a.exists()) && !word.bit(91);
}

std::string warpsync_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kModes{"", ".EXCLUSIVE", ".COLLECTIVE", ""};
  std::string out = fmt::format("WARPSYNC{}{}", kModes[instruction.memory.mode], instruction.a.exists() ? "" : ".ALL");
  std::string separator = " ";
  const auto add = [&](const std::string& part) {
    out += separator + part;
    separator = ", ";
  };
  if (instruction.p0.exists()) add(operand_text(instruction.p0));
  if (instruction.a.exists()) add(operand_text(instruction.a));
  if (instruction.memory.target != -1) add(signed_hex(instruction.memory.target));
  return out;
}

bool decode_barrier_move(const Word& word, Instruction& out) {
  out.memory.mode = static_cast<std::uint8_t>((word.bit(84) ? 1u : 0u) | (word.bit(85) ? 2u : 0u));
  const Operand barrier = barrier_operand(word, 24);
  if (word.bits(28, 4) != 0 || word.bit(91)) return false;
  const bool to_register = word.opcode() == 0x355;
  out.dst = to_register ? register_operand(word, 16) : barrier;
  out.a = to_register ? barrier : register_operand(word, 32);
  return !word.bit(85) && (to_register || !word.bit(84));
}

bool decode_return_move(const Word& word, Instruction& out) {
  const bool to_register = word.opcode() == 0x353;
  out.memory.mode = word.bit(31) ? 1 : 0;
  if (to_register)
    out.dst = register_operand(word, 16);
  else
    out.a = register_operand(word, 32);
  return word.bits(72, 3) == 0 && word.bits(24, 7) == 0;
}

bool decode_sleep(const Word& word, Instruction& out) {
  out.p0 = condition(word);
  out.memory.mode = static_cast<std::uint8_t>(word.bits(84, 3));
  out.b = word.opcode() == 0x35d ? register_operand(word, 32) : immediate(word, 32, 32);
  return !word.bit(83) && !word.bit(91);
}

std::string conditional_text(const Instruction& instruction, std::string out) {
  return instruction.p0.exists() ? out + " " + operand_text(instruction.p0) : out;
}

std::string exit_text(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 4> kModes{"", ".KEEPREFCOUNT", ".PREEMPTED", ".INVALID3"};
  const unsigned mode = instruction.memory.mode;
  return conditional_text(instruction, fmt::format("EXIT{}{}", kModes[mode & 3], mode & 4 ? ".NO_ATEXIT" : ""));
}

std::string sleep_text(const Instruction& instruction) {
  const unsigned mode = instruction.memory.mode;
  return fmt::format("NANOSLEEP{}{}{} {}{}", mode & 1 ? ".SYNCS" : "", mode & 2 ? ".WARP" : "", mode & 4 ? ".RAND" : "",
                     listed(instruction.p0), operand_text(instruction.b));
}

std::string barrier_move_text(const Instruction& instruction) {
  return fmt::format("BMOV.32{} {}, {}", instruction.memory.mode & 1 ? ".CLEAR" : "", operand_text(instruction.dst),
                     operand_text(instruction.a));
}

std::string return_move_text(const Instruction& instruction) {
  const std::string half = instruction.memory.mode == 1 ? "Rpc.HI" : "Rpc.LO";
  return "RPCMOV.32 " + (instruction.dst.exists() ? operand_text(instruction.dst) + ", " + half
                                                  : half + ", " + operand_text(instruction.a));
}

}  // namespace

bool decode_control(const Word& word, Instruction& out) {
  const auto as = [&](Opcode opcode) { keep_bits(word, opcode, out); };
  switch (word.opcode()) {
    case 0x947:
    case 0x547:
      as(Opcode::kBRA);
      return decode_branch(word, out);
    case 0x949:
      as(Opcode::kBRX);
      return decode_indirect(word, out);
    case 0x958:
      as(Opcode::kBRXU);
      return decode_indirect(word, out);
    case 0x94c:
      as(Opcode::kJMX);
      return decode_indirect(word, out);
    case 0x94a:
    case 0xb4a:
      as(Opcode::kJMP);
      return decode_jump(word, out);
    case 0x343:
    case 0x344:
    case 0x943:
    case 0x944:
    case 0xb43:
      as(Opcode::kCALL);
      return decode_call(word, out);
    case 0x950:
      as(Opcode::kRET);
      return decode_call(word, out);
    case 0x945:
      as(Opcode::kBSSY);
      out.p0 = condition(word);
      out.a = barrier_operand(word, 16);
      out.memory.target = next(out) + short_displacement(word);
      return true;
    case 0x941:
    case 0x942:
      as(word.opcode() == 0x941 ? Opcode::kBSYNC : Opcode::kBREAK);
      out.p0 = condition(word);
      out.a = barrier_operand(word, 16);
      return true;
    case 0x94d:
      as(Opcode::kEXIT);
      out.p0 = condition(word);
      out.memory.mode = static_cast<std::uint8_t>(word.bits(84, 3));
      return true;
    case 0x95b:
      as(Opcode::kKILL);
      out.p0 = condition(word);
      return true;
    case 0x946:
      as(Opcode::kYIELD);
      out.p0 = condition(word);
      return true;
    case 0x91b:
      as(Opcode::kENDCOLLECTIVE);
      out.p0 = condition(word);
      return true;
    case 0x348:
    case 0x948:
      as(Opcode::kWARPSYNC);
      return decode_warpsync(word, out);
    case 0x355:
    case 0x356:
      as(Opcode::kBMOV);
      return decode_barrier_move(word, out);
    case 0x352:
    case 0x353:
      as(Opcode::kRPCMOV);
      return decode_return_move(word, out);
    case 0x35d:
    case 0x95d:
      as(Opcode::kNANOSLEEP);
      return decode_sleep(word, out);
    case 0x95c:
      as(Opcode::kBPT);
      out.b = immediate(word, 34, 3);
      out.memory.mode = static_cast<std::uint8_t>(word.bits(84, 3));
      return out.memory.mode == 3 || out.memory.mode == 4;
    case 0x801:
      as(Opcode::kPMTRIG);
      out.p0 = condition(word);
      out.b = immediate(word, 32, 16);
      return true;
    case 0x918:
      as(Opcode::kNOP);
      return true;
    case 0x82d:
      as(Opcode::kPREEXIT);
      return true;
    case 0x82e:
      as(Opcode::kACQBULK);
      return true;
    default:
      return false;
  }
}

std::string control_text(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kBRA:
      return branch_text(instruction);
    case Opcode::kBRX:
    case Opcode::kBRXU:
    case Opcode::kJMX:
      return indirect_text(instruction);
    case Opcode::kJMP:
      return "JMP " + listed(instruction.p0) +
             (instruction.b.exists() ? operand_text(instruction.b) : signed_hex(instruction.memory.target));
    case Opcode::kCALL:
    case Opcode::kRET:
      return call_text(instruction);
    case Opcode::kBSSY:
      return fmt::format("BSSY {}{}, {}", listed(instruction.p0), operand_text(instruction.a),
                         signed_hex(instruction.memory.target));
    case Opcode::kBSYNC:
    case Opcode::kBREAK:
      return fmt::format("{} {}{}", name(instruction.opcode), listed(instruction.p0), operand_text(instruction.a));
    case Opcode::kEXIT:
      return exit_text(instruction);
    case Opcode::kKILL:
    case Opcode::kYIELD:
    case Opcode::kENDCOLLECTIVE:
      return conditional_text(instruction, name(instruction.opcode));
    case Opcode::kWARPSYNC:
      return warpsync_text(instruction);
    case Opcode::kBMOV:
      return barrier_move_text(instruction);
    case Opcode::kRPCMOV:
      return return_move_text(instruction);
    case Opcode::kNANOSLEEP:
      return sleep_text(instruction);
    case Opcode::kBPT:
      return fmt::format("BPT.{}{}", instruction.memory.mode == 3 ? "TRAP" : "INT",
                         instruction.b.value == 0 ? "" : " " + operand_text(instruction.b));
    case Opcode::kPMTRIG:
      return "PMTRIG " + listed(instruction.p0) + operand_text(instruction.b);
    case Opcode::kNOP:
    case Opcode::kPREEXIT:
    case Opcode::kACQBULK:
      return name(instruction.opcode);
    default:
      return {};
  }
}

}  // namespace muscope::sass
