// The floating-point family as text.
#include <bit>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sass/float_parts.h"

namespace muscope::sass {
namespace {

/// What an immediate is read as.
enum class Shown : std::uint8_t { kInteger, kFloat, kDouble, kHalves, kBrainHalves, kHalf, kBrainHalf };

/// Numbers from a thousand million on with an exponent, others as short as they come; 20 digits.
std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "-INF " : "+INF ";
  if (value == 0) return std::signbit(value) ? "-0.0 " : "0";
  return std::fabs(value) >= 1e9 ? fmt::format("{:.20e}", value) : fmt::format("{:.20g}", value);
}
std::string not_a_number(bool negative, bool signaling) {
  return fmt::format("{}{}NAN ", negative ? '-' : '+', signaling ? 'S' : 'Q');
}

std::string float_number(std::uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  return std::isnan(value) ? not_a_number(bits >> 31, false) : number(value);
}
std::string double_number(std::uint32_t high) {
  const double value = std::bit_cast<double>(std::uint64_t{high} << 32);
  return std::isnan(value) ? not_a_number(high >> 31, (high & 0x80000u) == 0) : number(value);
}
std::string half_number(std::uint32_t bits, bool brain) {
  if (brain) return float_number(bits << 16);
  const std::uint32_t exponent = (bits >> 10) & 31, fraction = bits & 0x3ffu;
  const bool negative = (bits & 0x8000u) != 0;
  if (exponent == 31 && fraction != 0) return not_a_number(negative, false);
  const double magnitude = exponent == 31  ? HUGE_VAL
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return number(negative ? -magnitude : magnitude);
}

std::string immediate(std::uint32_t value, Shown shown) {
  switch (shown) {
    case Shown::kInteger:
      return fmt::format("{:#x}", value);
    case Shown::kFloat:
      return float_number(value);
    case Shown::kDouble:
      return double_number(value);
    case Shown::kHalf:
    case Shown::kBrainHalf:
      return half_number(value & 0xffffu, shown == Shown::kBrainHalf);
    case Shown::kHalves:
    case Shown::kBrainHalves:
      break;
  }
  const bool brain = shown == Shown::kBrainHalves;
  return half_number(value >> 16, brain) + ", " + half_number(value & 0xffffu, brain);
}

/// `scalar`: one half is chosen with .H1. `parted`: the instruction could choose a part of the source, which the
/// disassembler shows by a space in constants and by where it writes the bars.
std::string show(const Operand& operand, Shown shown, bool scalar, bool parted, const char* after = "") {
  if (operand.kind == OperandKind::kImmediate) return immediate(operand.value, shown);
  Operand bare = operand;
  bare.half = 0, bare.negate = false, bare.absolute = false;
  std::string text = operand_text(bare);
  const bool constant = operand.kind == OperandKind::kConstant;
  if (constant && parted) text.insert(text.find(']') + 1, " ");
  const char* const part = operand.half == 3 ? (scalar ? ".H1" : ".H1_H1") : operand.half == 2 ? ".H0_H0" : "";
  const bool inside = scalar || constant;
  if (inside) text += part;
  if (operand.absolute) text = "|" + text + "|";
  if (!inside) text += part;
  text += after;
  return operand.negate ? "-" + text : text;
}

const char* compare_name(Compare compare, bool is_double) {
  static constexpr const char* kNames[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                           "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
  if (is_double && compare == Compare::kF) return "MIN";
  if (is_double && compare == Compare::kT) return "MAX";
  return kNames[static_cast<std::size_t>(compare)];
}
const char* combine_name(Combine combine) {
  static constexpr const char* kNames[] = {"AND", "OR", "XOR"};
  return kNames[static_cast<std::size_t>(combine)];
}
const char* rounding_name(Rounding rounding) {
  static constexpr const char* kNames[] = {"", ".RM", ".RP", ".RZ"};
  return kNames[static_cast<std::size_t>(rounding)];
}
const char* whole_name(Rounding rounding) {
  static constexpr const char* kNames[] = {"", ".FLOOR", ".CEIL", ".TRUNC"};
  return kNames[static_cast<std::size_t>(rounding)];
}
const char* format_name(FloatFormat format) {
  static constexpr const char* kNames[] = {"", ".F16", ".F32", ".F64", ".BF16", ".TF32", ".E5M2", ".E4M3"};
  return kNames[static_cast<std::size_t>(format)];
}
const char* packing_name(Packing packing) {
  static constexpr const char* kNames[] = {".PACK_AB",  ".MERGE_C",          ".PACK_B",
                                           ".UNPACK_B", ".UNPACK_B_MERGE_C", ".PACK_AB_MERGE_C"};
  return kNames[static_cast<std::size_t>(packing)];
}
std::string integer_name(bool is_signed, unsigned bits) { return fmt::format(".{}{}", is_signed ? 'S' : 'U', bits); }

/// Modifiers of conversions, and how their immediate is read.
struct Conversion {
  std::string modifiers;
  Shown shown = Shown::kFloat;
};

Shown shown_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::kF64:
      return Shown::kDouble;
    case FloatFormat::kF16:
      return Shown::kHalf;
    case FloatFormat::kBf16:
      return Shown::kBrainHalf;
    default:
      return Shown::kFloat;
  }
}

bool conversion(const Instruction& instruction, Conversion& out) {
  const FloatForm& form = instruction.floating;
  const char* const ftz = form.ftz ? ".FTZ" : "";
  const auto unless_f32 = [](FloatFormat f) { return f == FloatFormat::kF32 ? "" : format_name(f); };
  const auto unless_s32 = [](bool is_signed, unsigned bits) {
    return is_signed && bits == 32 ? std::string() : integer_name(is_signed, bits);
  };
  switch (instruction.opcode) {
    case Opcode::kMUFU: {
      static constexpr const char* kFunctions[] = {"COS", "SIN",    "EX2",    "LG2",  "RCP",
                                                   "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH"};
      out = {fmt::format(".{}{}", kFunctions[form.function], unless_f32(form.from)),
             form.function == 6 || form.function == 7 ? Shown::kDouble : shown_of(form.from)};
      return true;
    }
    case Opcode::kF2F:
      out = {fmt::format("{}{}{}{}", ftz, format_name(form.to), format_name(form.from), rounding_name(form.rounding)),
             shown_of(form.from)};
      return true;
    case Opcode::kFRND:
      out = {fmt::format("{}{}{}", ftz, unless_f32(form.from), whole_name(form.rounding)), shown_of(form.from)};
      return true;
    case Opcode::kF2I:
      out = {fmt::format("{}{}{}{}{}", ftz, unless_s32(form.to_signed, form.to_bits), unless_f32(form.from),
                         whole_name(form.rounding), form.nan_to_zero ? ".NTZ" : ""),
             shown_of(form.from)};
      return true;
    case Opcode::kI2F:
      out = {fmt::format("{}{}{}", unless_f32(form.to), unless_s32(form.from_signed, form.from_bits),
                         rounding_name(form.rounding)),
             Shown::kInteger};
      return true;
    case Opcode::kI2FP:
      out = {fmt::format(".F32{}{}", integer_name(form.from_signed, form.from_bits), rounding_name(form.rounding)),
             Shown::kInteger};
      return true;
    case Opcode::kF2FP:
      out = {
          fmt::format("{}{}{}{}{}{}", form.finite ? ".SATFINITE" : "", form.relu ? ".RELU" : "", format_name(form.to),
                      format_name(form.from), packing_name(form.packing), rounding_name(form.rounding)),
          Shown::kFloat};
      return true;
    case Opcode::kF2IP:
      out = {fmt::format("{}.F32{}.NTZ", integer_name(form.to_signed, form.to_bits), whole_name(form.rounding)),
             Shown::kFloat};
      return true;
    case Opcode::kI2I:
    case Opcode::kI2IP:
      out = {integer_name(form.to_signed, form.to_bits) + ".S32.SAT", Shown::kInteger};
      return true;
    default:
      return false;
  }
}

std::string arithmetic_modifiers(const Instruction& instruction) {
  static constexpr const char* kScales[] = {".D8", ".D4", ".D2", "", ".M2", ".M4", ".M8"};
  const FloatForm& form = instruction.floating;
  const char* const ftz = form.ftz ? ".FTZ" : "";
  const char* const brain = form.bf16 ? ".BF16_V2" : "";
  switch (instruction.opcode) {
    case Opcode::kFADD:
    case Opcode::kFMUL:
    case Opcode::kFFMA:
    case Opcode::kDADD:
    case Opcode::kDMUL:
    case Opcode::kDFMA:
      return fmt::format("{}{}{}{}", ftz, kScales[form.scale + 3], rounding_name(form.rounding),
                         form.saturate ? ".SAT" : "");
    case Opcode::kFSWZADD:
      return fmt::format("{}{}{}", ftz, rounding_name(form.rounding), form.nan ? ".NDV" : "");
    case Opcode::kFMNMX:
    case Opcode::kHMNMX2:
      return fmt::format("{}{}{}{}", brain, ftz, form.nan ? ".NAN" : "", form.xor_sign ? ".XORSIGN" : "");
    case Opcode::kFSET:
    case Opcode::kFSETP:
    case Opcode::kDSETP:
    case Opcode::kHSET2:
    case Opcode::kHSETP2:
      return fmt::format("{}{}.{}{}{}.{}", brain, form.boolean_float ? ".BF" : "",
                         compare_name(form.compare, instruction.opcode == Opcode::kDSETP),
                         form.both_halves ? ".H_AND" : "", ftz, combine_name(form.combine));
    case Opcode::kHADD2:
    case Opcode::kHMUL2:
    case Opcode::kHFMA2:
      return fmt::format("{}{}{}{}{}{}", form.mma ? ".MMA" : "", form.f32_sum ? ".F32" : "", brain, ftz,
                         form.saturate ? ".SAT" : "", form.relu ? ".RELU" : "");
    default:
      return ftz;
  }
}

Shown arithmetic_shown(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kDADD:
    case Opcode::kDMUL:
    case Opcode::kDFMA:
    case Opcode::kDSETP:
      return Shown::kDouble;
    case Opcode::kHADD2:
      if (instruction.floating.f32_sum) return instruction.floating.bf16 ? Shown::kBrainHalf : Shown::kHalf;
      [[fallthrough]];
    case Opcode::kHMUL2:
    case Opcode::kHFMA2:
    case Opcode::kHSET2:
    case Opcode::kHSETP2:
    case Opcode::kHMNMX2:
      return instruction.floating.bf16 ? Shown::kBrainHalves : Shown::kHalves;
    default:
      return Shown::kFloat;
  }
}

bool is_arithmetic(Opcode opcode) {
  switch (opcode) {
    case Opcode::kFADD:
    case Opcode::kFFMA:
    case Opcode::kFMUL:
    case Opcode::kFMNMX:
    case Opcode::kFSEL:
    case Opcode::kFSET:
    case Opcode::kFSETP:
    case Opcode::kFCHK:
    case Opcode::kFSWZADD:
    case Opcode::kDADD:
    case Opcode::kDFMA:
    case Opcode::kDMUL:
    case Opcode::kDSETP:
    case Opcode::kHADD2:
    case Opcode::kHFMA2:
    case Opcode::kHMUL2:
    case Opcode::kHMNMX2:
    case Opcode::kHSET2:
    case Opcode::kHSETP2:
      return true;
    default:
      return false;
  }
}

/// What neighbours contribute to FSWZADD, two lanes a code.
std::string swizzle(std::uint32_t value) {
  static constexpr const char* kPairs[] = {"PP", "PN", "NP", "ZP"};
  std::string text;
  for (int k = 3; k >= 0; --k) text += kPairs[(value >> (2 * k)) & 3];
  return text;
}

/// .24 and .28: how many bits of c I2IP keeps.
const char* kept_bits(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kI2IP) return "";
  return instruction.floating.to_bits == 4 ? ".24" : instruction.floating.to_bits == 2 ? ".28" : "";
}

}  // namespace

std::string float_text(const Instruction& instruction) {
  std::string modifiers;
  Shown shown = Shown::kFloat;
  Conversion convert;
  const bool converts = conversion(instruction, convert);
  if (converts) {
    modifiers = convert.modifiers, shown = convert.shown;
  } else if (is_arithmetic(instruction.opcode)) {
    modifiers = arithmetic_modifiers(instruction), shown = arithmetic_shown(instruction);
  } else {
    return {};
  }
  std::string text = name(instruction.opcode) + modifiers;
  const char* separator = " ";
  const auto add = [&](const std::string& part) {
    text += separator + part;
    separator = ", ";
  };
  for (const Operand* o : {&instruction.dst, &instruction.pdst0, &instruction.pdst1})
    if (o->exists()) add(operand_text(*o));
  const bool parted =
      !instruction.floating.mma && ((shown != Shown::kFloat && shown != Shown::kDouble && shown != Shown::kInteger) ||
                                    (instruction.opcode == Opcode::kI2F && instruction.floating.from_bits < 32) ||
                                    instruction.floating.packing == Packing::kUnpackB);
  if (instruction.a.exists()) add(show(instruction.a, shown, converts, parted));
  if (instruction.b.exists())
    add(show(instruction.b, shown, converts, parted, instruction.floating.negate_high ? ".H0_NH1" : ""));
  if (instruction.c.exists())
    add(instruction.opcode == Opcode::kFSWZADD ? swizzle(instruction.c.value)
                                               : show(instruction.c, shown, converts, parted, kept_bits(instruction)));
  if (instruction.p0.exists()) add(operand_text(instruction.p0));
  while (text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace muscope::sass
