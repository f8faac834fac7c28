// Conversions between formats and to whole numbers, and the special functions.
#include "sass/float_parts.h"

namespace muscope::sass {
namespace {

/// The one source, in the middle field. `floating`: with signs and, for values of 16 bits, which half.
bool one_source(const Word& word, Instruction& out, bool floating, unsigned bits) {
  TwoSources sources;
  if (!two_sources(word, kSecondForms, sources)) return false;
  out.dst = register_operand(word, 16);
  out.a = sources.middle;
  out.a.words = bits == 64 ? 2 : 1;
  if (!floating || out.a.kind == OperandKind::kImmediate) return true;
  out.a.negate = word.bit(63);
  out.a.absolute = word.bit(62);
  if (bits == 16) {
    const auto half = word.bits(60, 2);
    if (half > 1) return false;
    out.a.half = half == 1 ? 3 : 0;
  }
  return true;
}

/// Formats as conversions number them.
FloatFormat float_format(std::uint64_t code) {
  static constexpr FloatFormat kFormats[8] = {FloatFormat::kNone, FloatFormat::kF16,  FloatFormat::kF32,
                                              FloatFormat::kF64,  FloatFormat::kBf16, FloatFormat::kNone,
                                              FloatFormat::kNone, FloatFormat::kNone};
  return kFormats[code & 7];
}
unsigned bits_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::kF16:
    case FloatFormat::kBf16:
      return 16;
    case FloatFormat::kF64:
      return 64;
    default:
      return 32;
  }
}
constexpr std::uint64_t integer_bits(std::uint64_t code) { return 8u << (code & 3); }

/// Opcodes come in pairs: for up to 32 bits, and with a 64-bit value on either side.
bool float_to_float(const Word& word, Instruction& out, bool wide) {
  FloatForm& form = out.floating;
  form.to = float_format(word.bits(75, 3));
  form.from = float_format(word.bits(84, 3));
  form.ftz = word.bit(80);
  form.rounding = rounding_field(word, 78);
  if (form.to == FloatFormat::kNone || form.from == FloatFormat::kNone) return false;
  if ((form.to == FloatFormat::kF64 || form.from == FloatFormat::kF64) != wide) return false;
  if ((form.to == form.from) != (out.opcode == Opcode::kFRND)) return false;
  if (!one_source(word, out, true, bits_of(form.from))) return false;
  if (form.to == FloatFormat::kF64) out.dst.words = 2;
  return true;
}

bool float_to_integer(const Word& word, Instruction& out, bool wide) {
  FloatForm& form = out.floating;
  form.to_bits = static_cast<std::uint8_t>(integer_bits(word.bits(75, 2)));
  form.nan_to_zero = word.bit(77);
  form.to_signed = word.bit(72);
  form.from = float_format(word.bits(84, 3));
  form.ftz = word.bit(80);
  form.rounding = rounding_field(word, 78);
  if (form.from == FloatFormat::kNone) return false;
  if ((form.to_bits == 64 || form.from == FloatFormat::kF64) != wide) return false;
  if (!one_source(word, out, true, bits_of(form.from))) return false;
  if (form.to_bits == 64) out.dst.words = 2;
  return true;
}

bool integer_to_float(const Word& word, Instruction& out, bool wide) {
  FloatForm& form = out.floating;
  form.to = float_format(word.bits(75, 3));
  form.from_bits = static_cast<std::uint8_t>(integer_bits(word.bits(84, 2)));
  form.from_signed = word.bit(74);
  form.rounding = rounding_field(word, 78);
  if (form.to == FloatFormat::kNone) return false;
  if ((form.from_bits == 64 || form.to == FloatFormat::kF64) != wide) return false;
  // Bytes of a word: bits 60 and 61 say which.
  if (word.bits(60, 2) != 0 && static_cast<AluForm>(word.bits(9, 3)) != AluForm::kImmediateSecond) return false;
  if (!one_source(word, out, false, form.from_bits)) return false;
  if (form.to == FloatFormat::kF64) out.dst.words = 2;
  return true;
}

bool special_function(const Word& word, Instruction& out) {
  FloatForm& form = out.floating;
  const auto format = word.bits(72, 2);
  if (format == 3) return false;
  form.from = form.to = format == 1 ? FloatFormat::kF16 : format == 2 ? FloatFormat::kBf16 : FloatFormat::kF32;
  form.function = static_cast<std::uint8_t>(word.bits(74, 4));
  const bool of_double = form.function == 6 || form.function == 7;  // RCP64H, RSQ64H
  if (form.function > 9 || (of_double && format != 0)) return false;
  return one_source(word, out, true, bits_of(form.from));
}

bool packed_integer_to_float(const Word& word, Instruction& out) {
  FloatForm& form = out.floating;
  if (word.bits(75, 3) != 2 || word.bits(84, 2) != 2) return false;
  form.to = FloatFormat::kF32;
  form.from_signed = word.bit(74);
  form.rounding = rounding_field(word, 78);
  if (form.rounding != Rounding::kNearest && form.rounding != Rounding::kZero) return false;
  return one_source(word, out, false, 32);
}

/// Two values to one register of a smaller format, and back.
bool packed_float_to_float(const Word& word, Instruction& out) {
  static constexpr FloatFormat kFrom[] = {FloatFormat::kF32, FloatFormat::kF16, FloatFormat::kE5m2, FloatFormat::kE4m3};
  FloatForm& form = out.floating;
  form.from = kFrom[word.bits(73, 2)];
  switch (word.bits(76, 1) | word.bits(86, 2) << 1) {
    case 0:
      form.to = FloatFormat::kF16;
      break;
    case 1:
      form.to = FloatFormat::kBf16;
      break;
    case 3:
      form.to = FloatFormat::kTf32;
      break;
    case 4:
      form.to = FloatFormat::kE5m2;
      break;
    case 5:
      form.to = FloatFormat::kE4m3;
      break;
    default:
      return false;
  }
  const bool small_to = form.to == FloatFormat::kE5m2 || form.to == FloatFormat::kE4m3;
  const bool small_from = form.from == FloatFormat::kE5m2 || form.from == FloatFormat::kE4m3;
  const bool from_f32 = form.from == FloatFormat::kF32;
  bool fits = false;
  switch (word.bits(78, 1) | word.bits(89, 2) << 1) {
    case 0:
      form.packing = Packing::kPackAb;
      fits = from_f32 && !small_to && form.to != FloatFormat::kTf32;
      break;
    case 1:
      form.packing = Packing::kMergeC;
      fits = from_f32 && !small_to && form.to != FloatFormat::kTf32;
      break;
    case 2:
      form.packing = Packing::kUnpackB;
      fits = small_from && form.to == FloatFormat::kF16;
      break;
    case 3:
      form.packing = Packing::kPackB;
      fits = from_f32 && form.to == FloatFormat::kTf32;
      break;
    case 4:
      form.packing = Packing::kUnpackBMergeC;
      fits = form.from == FloatFormat::kF16 && small_to;
      break;
    case 5:
      form.packing = Packing::kPackAbMergeC;
      fits = from_f32 && small_to;
      break;
    default:
      break;
  }
  TwoSources sources;
  if (!fits || !two_sources(word, kSecondForms, sources)) return false;
  form.relu = word.bit(75);
  form.finite = word.bit(77);
  if (form.finite && form.packing == Packing::kUnpackB) return false;
  const auto rounding = word.bits(79, 3);
  if (rounding != 0 && rounding != 3) return false;
  form.rounding = static_cast<Rounding>(rounding);
  out.dst = register_operand(word, 16);
  if (form.packing == Packing::kPackAb || form.packing == Packing::kPackAbMergeC) out.a = sources.a;
  out.b = sources.middle;
  if (form.packing == Packing::kUnpackB && word.bit(88)) out.b.half = 3;
  if (form.packing == Packing::kMergeC || form.packing == Packing::kPackAbMergeC ||
      form.packing == Packing::kUnpackBMergeC) {
    out.c = sources.last;
    if (word.bit(72)) out.c.half = 3;
  }
  return true;
}

/// I2I: one value, saturated. I2IP: two values packed over the bits of c, whose width bits 72 and 73 say.
bool integer_to_integer(const Word& word, Instruction& out) {
  TwoSources sources;
  if (!two_sources(word, kSecondForms, sources)) return false;
  FloatForm& form = out.floating;
  const bool pack = out.opcode == Opcode::kI2IP;
  const auto to = word.bits(76, 3);
  form.to_signed = (to & 1) != 0;
  form.from_signed = true;
  static constexpr std::uint8_t kBits[] = {8, 16, 2, 4};
  form.to_bits = kBits[to >> 1];
  if (!pack && form.to_bits < 8) return false;
  out.dst = register_operand(word, 16);
  form.saturate = true;
  if (!pack) {
    out.a = sources.middle;
    return word.bits(72, 4) == 0;
  }
  if (word.bits(74, 2) != 1) return false;
  const auto width = word.bits(72, 2);
  if (width != (form.to_bits == 4 ? 2u : form.to_bits == 2 ? 3u : 0u)) return false;
  out.a = sources.a, out.b = sources.middle, out.c = sources.last;
  return true;
}

/// F2IP.U8.F32: two floats to two bytes. Only what ptxas writes for one value: a and c read zero.
bool packed_float_to_integer(const Word& word, Instruction& out) {
  TwoSources sources;
  if (!two_sources(word, 1u << 1, sources)) return false;
  FloatForm& form = out.floating;
  // Modifiers: bit 74 .NTZ, 78 and 79 rounding; all others 0.
  if (word.bits(72, 2) != 0 || !word.bit(74) || word.bits(75, 3) != 0 || word.bits(80, 12) != 0) return false;
  if (word.bits(58, 6) != 0) return false;
  form.from = FloatFormat::kF32;
  form.to_bits = 8;
  form.nan_to_zero = true;
  form.rounding = rounding_field(word, 78);
  if (form.rounding != Rounding::kNearest && form.rounding != Rounding::kZero) return false;
  out.dst = register_operand(word, 16);
  out.a = sources.a, out.b = sources.middle, out.c = sources.last;
  return true;
}

}  // namespace

bool decode_conversion(const Word& word, Instruction& out) {
  const auto is = [&](Opcode opcode) {
    out.opcode = opcode;
    return true;
  };
  switch (word.opcode() & 0x1ff) {
    case 0x104:
      return is(Opcode::kF2F) && float_to_float(word, out, false);
    case 0x110:
      return is(Opcode::kF2F) && float_to_float(word, out, true);
    case 0x105:
      return is(Opcode::kF2I) && float_to_integer(word, out, false);
    case 0x111:
      return is(Opcode::kF2I) && float_to_integer(word, out, true);
    case 0x106:
      return is(Opcode::kI2F) && integer_to_float(word, out, false);
    case 0x112:
      return is(Opcode::kI2F) && integer_to_float(word, out, true);
    case 0x107:
      return is(Opcode::kFRND) && float_to_float(word, out, false);
    case 0x113:
      return is(Opcode::kFRND) && float_to_float(word, out, true);
    case 0x108:
      return is(Opcode::kMUFU) && special_function(word, out);
    case 0x045:
      return is(Opcode::kI2FP) && packed_integer_to_float(word, out);
    case 0x03e:
      return is(Opcode::kF2FP) && packed_float_to_float(word, out);
    case 0x038:
      return is(Opcode::kI2I) && integer_to_integer(word, out);
    case 0x039:
      return is(Opcode::kI2IP) && integer_to_integer(word, out);
    case 0x043:
      return is(Opcode::kF2IP) && packed_float_to_integer(word, out);
    default:
      return false;
  }
}

}  // namespace muscope::sass
