// Integer instructions as the disassembler writes them.
#include <fmt/format.h>

#include "sass/integer_parts.h"
#include "sass/special_registers.h"

namespace muscope::sass {
namespace {

constexpr std::array kCompareNames{".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE"};
constexpr std::array kCombineNames{".AND", ".OR", ".XOR"};
constexpr std::array kPermuteNames{"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"};
constexpr std::array kShuffleNames{".IDX", ".UP", ".DOWN", ".BFLY"};
constexpr std::array kVoteNames{".ALL", ".ANY", ".EQ"};
constexpr std::array kReductionNames{"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"};
constexpr std::array kByteNames{"", ".B1", ".B2", ".B3"};
constexpr std::array kDotNames{".4A", ".2A.LO", "", ".2A.HI"};

std::string hexadecimal(std::int64_t value) {
  return value < 0 ? fmt::format("-{:#x}", std::uint64_t{0} - static_cast<std::uint64_t>(value))
                   : fmt::format("{:#x}", value);
}

/// Immediates of these are written with a sign.
bool has_signed_immediates(Opcode opcode) {
  switch (opcode) {
    case Opcode::kIADD3:
    case Opcode::kUIADD3:
    case Opcode::kIMAD:
    case Opcode::kUIMAD:
    case Opcode::kISETP:
    case Opcode::kUISETP:
    case Opcode::kIABS:
    case Opcode::kIMNMX:
    case Opcode::kVIMNMX:
      return true;
    default:
      return false;
  }
}

bool is_zero_register(const Operand& o) { return o.kind == OperandKind::kRegister && o.index == kRz; }

/// IMAD shows what it stands in for, unless a uniform register takes part.
std::string imad_purpose(const Instruction& i) {
  const IntegerForm& form = i.integer;
  if (i.opcode != Opcode::kIMAD || form.wide || form.high || form.extended || i.b.kind == OperandKind::kUniform ||
      i.c.kind == OperandKind::kUniform)
    return "";
  const bool immediate = i.b.kind == OperandKind::kImmediate;
  const bool c_is_zero = is_zero_register(i.c);
  if (is_zero_register(i.a) || is_zero_register(i.b) || (immediate && i.b.value == 0)) return ".MOV";
  if (!immediate) return "";
  if (i.b.value == 1) return c_is_zero ? ".MOV" : ".IADD";
  const bool power = (i.b.value & (i.b.value - 1)) == 0 && i.b.value != 0x80000000u;
  // A multiplication by 0x10000 has no other name.
  return power && c_is_zero && i.b.value != 0x10000 ? ".SHL" : "";
}

std::string vector_type(const IntegerForm& form) {
  std::string text;
  if (form.packed)
    text = form.is_unsigned ? ".U16x2" : ".S16x2";
  else if (form.is_unsigned)
    text = ".U32";
  return form.relu ? text + ".RELU" : text;
}

std::string modifiers(const Instruction& i) {
  const IntegerForm& form = i.integer;
  const char* u32 = form.is_unsigned ? ".U32" : "";
  const char* x = form.extended ? ".X" : "";
  switch (i.opcode) {
    case Opcode::kIADD3:
    case Opcode::kUIADD3:
      return x;
    case Opcode::kIMAD:
    case Opcode::kUIMAD:
      return imad_purpose(i) + (form.wide ? ".WIDE" : form.high ? ".HI" : "") + u32 + x;
    case Opcode::kLEA:
    case Opcode::kULEA:
      return fmt::format("{}{}{}", form.high ? ".HI" : "", x, form.sign_extended ? ".SX32" : "");
    case Opcode::kISETP:
    case Opcode::kUISETP:
      return fmt::format("{}{}{}{}",
                         form.compare == Compare::kT ? ".T" : kCompareNames[static_cast<std::size_t>(form.compare)],
                         u32, kCombineNames[static_cast<std::size_t>(form.combine)], form.extended ? ".EX" : "");
    case Opcode::kIMNMX:
    case Opcode::kVABSDIFF:
      return u32;
    case Opcode::kREDUX:
      return std::string(kReductionNames[form.mode]) + (form.is_unsigned ? "" : ".S32");
    case Opcode::kFLO:
    case Opcode::kUFLO:
      return std::string(u32) + (form.mode != 0 ? ".SH" : "");
    case Opcode::kSGXT:
    case Opcode::kUSGXT:
    case Opcode::kBMSK:
    case Opcode::kUBMSK:
      return std::string(form.wrap ? ".W" : "") + u32;
    case Opcode::kVIADD:
      return form.packed ? ".16x2" : "";
    case Opcode::kVIMNMX:
    case Opcode::kVIADDMNMX:
    case Opcode::kVIMNMX3:
      return vector_type(form);
    case Opcode::kVABSDIFF4:
      return std::string(form.is_unsigned ? ".U8" : "") + (form.mode != 0 ? ".ACC" : "");
    case Opcode::kIDP:
      return fmt::format("{}.{}{}.{}8", kDotNames[form.mode], form.is_unsigned ? "U" : "S", form.mode == 0 ? 8 : 16,
                         form.source_signed ? "S" : "U");
    case Opcode::kLOP3:
    case Opcode::kULOP3:
      return form.mode != 0 ? ".LUT.PAND" : ".LUT";
    case Opcode::kPLOP3:
    case Opcode::kUPLOP3:
      return ".LUT";
    case Opcode::kSHF:
    case Opcode::kUSHF:
      return fmt::format("{}{}.{}{}{}", form.right ? ".R" : ".L", form.wrap ? ".W" : "", form.source_signed ? "S" : "U",
                         form.source_bits, form.high ? ".HI" : "");
    case Opcode::kPRMT:
    case Opcode::kUPRMT:
      return kPermuteNames[form.mode];
    case Opcode::kP2R:
    case Opcode::kUP2UR:
      return kByteNames[form.mode];
    case Opcode::kSHFL:
      return kShuffleNames[form.mode];
    case Opcode::kVOTE:
    case Opcode::kVOTEU:
      return kVoteNames[form.mode];
    case Opcode::kMATCH:
      return std::string(form.mode != 0 ? ".ANY" : ".ALL") + (form.source_bits == 64 ? ".U64" : "");
    case Opcode::kR2UR:
      return form.mode != 0 ? ".OR" : "";
    case Opcode::kELECT:
      return form.mode != 0 ? ".IGNOREKILL" : "";
    case Opcode::kCS2R:
      return i.dst.words == 2 ? "" : ".32";
    default:
      return "";
  }
}

/// The operands of an instruction, added one after the other.
class Operands {
 public:
  explicit Operands(const Instruction& instruction)
      : i_(instruction), signed_immediates_(has_signed_immediates(instruction.opcode)) {}

  Operands& text(const std::string& text) {
    text_ += (text_.empty() ? " " : ", ") + text;
    return *this;
  }
  Operands& add(const Operand& operand) {
    if (operand.kind == OperandKind::kImmediate && signed_immediates_)
      return text(hexadecimal(static_cast<std::int32_t>(operand.value)));
    return operand.exists() ? text(operand_text(operand)) : *this;
  }
  Operands& sign(const Operand& operand) { return text(operand_text(operand) + ".SIGN"); }
  /// A predicate result that is not written when nothing receives it.
  Operands& optional(const Operand& predicate) {
    return predicate.exists() && predicate.index != kPt ? add(predicate) : *this;
  }
  Operands& results() { return add(i_.dst).optional(i_.pdst0).optional(i_.pdst1); }
  Operands& sources() { return add(i_.a).add(i_.b).add(i_.c); }
  Operands& number(unsigned value) { return text(fmt::format("{:#x}", value)); }
  std::string take() const { return text_; }

 private:
  const Instruction& i_;
  bool signed_immediates_;
  std::string text_;
};

std::string vote_operands(const Instruction& i) {
  Operands o(i);
  const std::uint8_t nobody = i.opcode == Opcode::kVOTEU ? kUrz : kRz;
  if (i.dst.index != nobody) o.add(i.dst);
  return o.add(i.pdst0).add(i.p0).take();
}

std::string operands(const Instruction& i) {
  Operands o(i);
  switch (i.opcode) {
    case Opcode::kISETP:
    case Opcode::kUISETP:
      return o.add(i.pdst0).add(i.pdst1).sources().add(i.p0).add(i.p1).take();
    case Opcode::kLEA:
    case Opcode::kULEA:
      return o.results().sources().number(i.integer.shift).add(i.p0).take();
    case Opcode::kLOP3:
    case Opcode::kULOP3:
      return o.optional(i.pdst0).add(i.dst).sources().number(i.integer.lut).add(i.p0).take();
    case Opcode::kPLOP3:
      if (i.integer.mode != 0)
        return o.add(i.pdst0)
            .add(i.pdst1)
            .sign(i.a)
            .sign(i.b)
            .sign(i.c)
            .number(i.integer.lut)
            .number(i.integer.lut2)
            .take();
      [[fallthrough]];
    case Opcode::kUPLOP3:
      return o.add(i.pdst0)
          .add(i.pdst1)
          .add(i.p0)
          .add(i.p1)
          .add(i.c)
          .number(i.integer.lut)
          .number(i.integer.lut2)
          .take();
    case Opcode::kMOV:
      o.results().sources();
      return i.integer.mode == 15 ? o.take() : o.number(i.integer.mode).take();
    case Opcode::kVIMNMX:
      o.add(i.dst);
      if (i.pdst0.index != kPt) o.add(i.pdst0).add(i.pdst1);
      return o.sources().add(i.p0).take();
    case Opcode::kP2R:
      return o.add(i.dst).text("PR").sources().take();
    case Opcode::kUP2UR:
      return o.add(i.dst).text("UPR").sources().take();
    case Opcode::kR2P:
    case Opcode::kUR2UP:
      o.text(i.opcode == Opcode::kR2P ? "PR" : "UPR").text(operand_text(i.a) + kByteNames[i.integer.mode]);
      return i.b.kind == OperandKind::kImmediate && i.b.value == 0xff ? o.take() : o.add(i.b).take();
    case Opcode::kS2R:
    case Opcode::kS2UR:
    case Opcode::kCS2R:
      return o.add(i.dst).text(special_register_text(i.integer.special)).take();
    case Opcode::kSHFL:
    case Opcode::kELECT:
      return o.add(i.pdst0).add(i.dst).sources().add(i.p0).take();
    case Opcode::kVOTE:
    case Opcode::kVOTEU:
      return vote_operands(i);
    case Opcode::kMATCH:
      if (i.integer.mode == 0) o.add(i.pdst0);
      return o.add(i.dst).add(i.a).take();
    case Opcode::kR2UR:
      if (i.integer.mode != 0)
        o.add(i.pdst0);
      else
        o.optional(i.pdst0);
      return o.add(i.dst).add(i.a).take();
    case Opcode::kLEPC:
      if (i.encoding == Encoding::kAmpere) return o.add(i.dst).take();
      return o.add(i.dst).text(hexadecimal(i.memory.target)).take();
    default:
      return o.results().sources().add(i.p0).add(i.p1).take();
  }
}

bool is_integer(Opcode opcode) {
  switch (opcode) {
    case Opcode::kIADD3:
    case Opcode::kUIADD3:
    case Opcode::kIMAD:
    case Opcode::kUIMAD:
    case Opcode::kLEA:
    case Opcode::kULEA:
    case Opcode::kISETP:
    case Opcode::kUISETP:
    case Opcode::kIABS:
    case Opcode::kIMNMX:
    case Opcode::kVIADD:
    case Opcode::kVIMNMX:
    case Opcode::kVIADDMNMX:
    case Opcode::kVIMNMX3:
    case Opcode::kVABSDIFF:
    case Opcode::kVABSDIFF4:
    case Opcode::kIDP:
    case Opcode::kLOP3:
    case Opcode::kULOP3:
    case Opcode::kSHF:
    case Opcode::kUSHF:
    case Opcode::kSEL:
    case Opcode::kUSEL:
    case Opcode::kPRMT:
    case Opcode::kUPRMT:
    case Opcode::kSGXT:
    case Opcode::kUSGXT:
    case Opcode::kBMSK:
    case Opcode::kUBMSK:
    case Opcode::kFLO:
    case Opcode::kUFLO:
    case Opcode::kBREV:
    case Opcode::kUBREV:
    case Opcode::kPOPC:
    case Opcode::kUPOPC:
    case Opcode::kMOV:
    case Opcode::kUMOV:
    case Opcode::kP2R:
    case Opcode::kR2P:
    case Opcode::kUP2UR:
    case Opcode::kUR2UP:
    case Opcode::kPLOP3:
    case Opcode::kUPLOP3:
    case Opcode::kSHFL:
    case Opcode::kVOTE:
    case Opcode::kVOTEU:
    case Opcode::kMATCH:
    case Opcode::kREDUX:
    case Opcode::kR2UR:
    case Opcode::kELECT:
    case Opcode::kS2R:
    case Opcode::kS2UR:
    case Opcode::kCS2R:
    case Opcode::kLEPC:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string integer_text(const Instruction& instruction) {
  if (!is_integer(instruction.opcode)) return {};
  return name(instruction.opcode) + modifiers(instruction) + operands(instruction);
}

}  // namespace muscope::sass
