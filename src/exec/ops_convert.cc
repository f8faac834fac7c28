// cvt in all directions (PTX ISA, "cvt"): one general path per lane, and vectorised ones for what programs use most.
//
// Float to integer saturates. Not-a-number gives 0 from f32 to at most 32 bits and only the sign bit otherwise
// (measured on an H200: tests/counters/examples/conversions_h200.txt). Registers may be wider than the types: results
// are extended to the register, by sign for signed types. .ftz of a conversion to f16 flushes nothing (H200).
#include "exec/convert_math.h"
#include "exec/op_table.h"
#include "exec/small_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using code::Rounding;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

HalfRounding half_rounding(Rounding r) {
  return r == Rounding::kZero   ? HalfRounding::kZero
         : r == Rounding::kDown ? HalfRounding::kDown
         : r == Rounding::kUp   ? HalfRounding::kUp
                                : HalfRounding::kNearest;
}

double round_integral(double v, Rounding r) {
  switch (r) {
    case Rounding::kZero:
      return std::trunc(v);
    case Rounding::kDown:
      return std::floor(v);
    case Rounding::kUp:
      return std::ceil(v);
    case Rounding::kNearest:
      break;
  }
  return std::nearbyint(v);  // MXCSR is in nearest-even here
}

/// A double to float in any rounding mode.
float narrow(double v, Rounding r) {
  float f = static_cast<float>(v);
  if (r == Rounding::kNearest || v != v) return f;
  const double back = static_cast<double>(f);
  const bool too_big = back > v, too_small = back < v;
  if (r == Rounding::kDown && too_big) f = std::nextafter(f, -std::numeric_limits<float>::infinity());
  if (r == Rounding::kUp && too_small) f = std::nextafter(f, std::numeric_limits<float>::infinity());
  if (r == Rounding::kZero && std::fabs(back) > std::fabs(v)) f = std::nextafter(f, 0.0f);
  return f;
}

/// An integer to double in any rounding mode. `negative` values come as their magnitude.
double integer_to_double(std::uint64_t magnitude, bool negative, Rounding r) {
  double d = static_cast<double>(magnitude);
  if (r != Rounding::kNearest) {
    const bool exact = d < 0x1p64 && static_cast<std::uint64_t>(d) == magnitude;
    const bool too_big = !exact && (d >= 0x1p64 || static_cast<std::uint64_t>(d) > magnitude);
    const bool want_up = r == Rounding::kUp ? !negative : r == Rounding::kDown ? negative : false;
    if (!exact && too_big && !want_up) d = std::nextafter(d, 0.0);
    if (!exact && !too_big && want_up) d = std::nextafter(d, std::numeric_limits<double>::infinity());
  }
  return negative ? -d : d;
}

/// Integer to float: through double, correctly rounded once (round to odd keeps nearest exact).
float integer_to_float(std::uint64_t magnitude, bool negative, Rounding r) {
  if (r == Rounding::kNearest) {
    const float f = static_cast<float>(magnitude);
    return negative ? -f : f;
  }
  return narrow(integer_to_double(magnitude, negative, r), r);  // the same direction twice rounds once
}

struct Lane {
  bool is_float = false;
  double f = 0;
  std::uint64_t u = 0;  ///< integers, sign-extended where signed
  bool is_signed = false;
};

Lane read_lane(Type type, unsigned lane_bytes, const std::uint8_t* slot, unsigned l, bool ftz) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, slot + std::size_t{l} * lane_bytes, lane_bytes);
  Lane v;
  switch (type) {
    case Type::kF64:
      v.is_float = true, v.f = std::bit_cast<double>(raw);
      break;
    case Type::kF32:
    case Type::kTF32: {
      float x = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
      if (ftz && std::fabs(x) < std::numeric_limits<float>::min()) x = std::copysign(0.0f, x);
      v.is_float = true, v.f = x;
      break;
    }
    case Type::kF16:
      v.is_float = true, v.f = half_to_float(static_cast<std::uint16_t>(raw));
      break;
    case Type::kBF16:
      v.is_float = true, v.f = bfloat_to_float(static_cast<std::uint16_t>(raw));
      break;
    default: {
      const unsigned bits = static_cast<unsigned>(ptx::size_of(type)) * 8;
      v.is_signed = ptx::is_signed(type);
      const std::uint64_t kept = bits >= 64 ? raw : raw & ((std::uint64_t{1} << bits) - 1);
      v.u = v.is_signed && bits < 64
                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(kept << (64 - bits)) >> (64 - bits))
                : kept;
    }
  }
  return v;
}

std::uint64_t clamp_integer(const Lane& v, bool is_signed, unsigned bits) {
  const auto s = static_cast<std::int64_t>(v.u);
  const bool negative = v.is_signed && s < 0;
  if (is_signed) {
    const std::int64_t high = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
    if (!negative && v.u > static_cast<std::uint64_t>(high)) return static_cast<std::uint64_t>(high);
    if (negative && s < -high - 1) return static_cast<std::uint64_t>(-high - 1);
    return v.u;
  }
  if (negative) return 0;
  const std::uint64_t high = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return v.u > high ? high : v.u;
}

double clamp01(double v) { return v > 0 ? (v < 1 ? v : 1) : 0; }

/// The general path: any type to any type.
const XOp* general(Warp& w, const XOp* op) {
  const code::Op& source = *op->source;
  const Type to = source.type, from = source.type2;
  const bool to_float = ptx::is_float(to);
  const unsigned to_bits = static_cast<unsigned>(ptx::size_of(to)) * 8;
  const std::uint8_t* in = w.src<std::uint8_t>(op->a);
  std::uint8_t* out = w.dst<std::uint8_t>(op->dst);
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    if (!((w.active >> l) & 1)) continue;
    const Lane v = read_lane(from, source.a_lane_bytes, in, l, source.ftz && to != Type::kF16);
    std::uint64_t result = 0;
    if (to_float) {
      double d = v.f;
      if (v.is_float && source.integer_rounding) d = round_integral(d, source.rounding);
      const bool negative = !v.is_float && v.is_signed && static_cast<std::int64_t>(v.u) < 0;
      const std::uint64_t magnitude = negative ? 0 - v.u : v.u;
      const Rounding r = source.integer_rounding ? Rounding::kNearest : source.rounding;
      if (to == Type::kF64) {
        d = v.is_float ? d : integer_to_double(magnitude, negative, r);
        if (source.sat) d = clamp01(d);
        if (source.ftz && d != d) d = std::bit_cast<double>(0x7fffffffe0000000ull);  // H200
        result = std::bit_cast<std::uint64_t>(d);
      } else if (to == Type::kF32) {
        float f = v.is_float ? narrow(d, r) : integer_to_float(magnitude, negative, r);
        if (source.sat) f = static_cast<float>(clamp01(f));
        // Flushed is what is below the smallest normal float at full precision, although it would be rounded up to it
        // among denormal numbers (H200): seen at a scale without them.
        if (source.ftz && std::fabs(f) <= std::numeric_limits<float>::min() &&
            (v.is_float ? std::fabs(narrow(d * 0x1p60, r)) < 0x1p-66f : std::fabs(f) < 0x1p-126f))
          f = std::copysign(0.0f, f);
        // Payloads of not-a-number survive except in conversions that are arithmetic (H200).
        const bool keep = f == f || from == Type::kF64 || from == Type::kBF16;
        result = keep ? std::bit_cast<std::uint32_t>(f) : 0x7fffffffu;
      } else {
        if (!v.is_float) d = integer_to_sticky(magnitude, negative);
        if (source.sat) d = clamp01(d);
        if (source.source->has(Mod::k_relu) && !(d > 0) && d == d) d = 0;
        result = to == Type::kF16 ? to_half(d, half_rounding(r)) : to_bfloat(d, half_rounding(r));
        if (d != d && from == Type::kF64 && to == Type::kF16) result = narrow_nan<10>(d);
        if (d != d && from == Type::kF64 && to == Type::kBF16) result = narrow_nan<7>(d);
      }
    } else {
      const bool is_signed = ptx::is_signed(to);
      if (v.is_float)
        result = saturate_to_integer(
            round_integral(v.f, source.rounding), is_signed, to_bits,
            to_bits == 64 || from == Type::kF64 ? std::uint64_t{1} << (to_bits - 1) : std::uint64_t{0});
      else
        result = source.sat ? clamp_integer(v, is_signed, to_bits) : v.u;
      if (to_bits < 64) {
        result &= (std::uint64_t{1} << to_bits) - 1;
        if (is_signed)
          result = static_cast<std::uint64_t>(static_cast<std::int64_t>(result << (64 - to_bits)) >> (64 - to_bits));
      }
    }
    std::memcpy(out + std::size_t{l} * source.dst_lane_bytes, &result, source.dst_lane_bytes);
  }
  return op + 1;
}

/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <bool kBrain>
const XOp* pack_two(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
  const HalfRounding r = half_rounding(op->source->rounding);
  const bool relu = op->source->source->has(Mod::k_relu);
  for_lanes(w, w.dst<std::uint32_t>(op->dst), [=](unsigned l) {
    const auto half = [=](float v) -> std::uint32_t {
      if (relu && v <= 0) v = 0;
      return kBrain ? to_bfloat(v, r) : to_half(v, r);
    };
    return (half(a[l]) << 16) | half(b[l]);
  });
  return op + 1;
}

/// cvt to e4m3x2 or e5m2x2: of two floats, a to the upper byte, or of two halves.
template <bool kHalves>
const XOp* to_small_pair(Warp& w, const XOp* op) {
  const Small& format = op->source->type == Type::kE4M3x2 ? kSmallE4m3 : kSmallE5m2;
  const bool relu = op->source->source->has(Mod::k_relu);
  const auto pair = [&](float upper, float lower) {
    return static_cast<std::uint16_t>(to_small(relu_of(upper, relu), format) << 8 |
                                      to_small(relu_of(lower, relu), format));
  };
  if constexpr (kHalves) {
    const std::uint32_t* a = w.src<std::uint32_t>(op->a);
    for_lanes(w, w.dst<std::uint16_t>(op->dst), [&](unsigned l) {
      return pair(half_to_float(static_cast<std::uint16_t>(a[l] >> 16)),
                  half_to_float(static_cast<std::uint16_t>(a[l])));
    });
  } else {
    const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
    for_lanes(w, w.dst<std::uint16_t>(op->dst), [&](unsigned l) { return pair(a[l], b[l]); });
  }
  return op + 1;
}

/// cvt.rn.f16x2 of e4m3x2 or e5m2x2.
const XOp* from_small_pair(Warp& w, const XOp* op) {
  const Small& format = op->source->type2 == Type::kE4M3x2 ? kSmallE4m3 : kSmallE5m2;
  const bool relu = op->source->source->has(Mod::k_relu);
  const std::uint16_t* a = w.src<std::uint16_t>(op->a);
  for_lanes(w, w.dst<std::uint32_t>(op->dst), [&](unsigned l) {
    const auto half = [&](std::uint32_t v) -> std::uint32_t { return to_half(relu_of(from_small(v, format), relu)); };
    return half(a[l] >> 8) << 16 | half(a[l] & 0xffu);
  });
  return op + 1;
}

/// cvt.pack.
const XOp* pack_integers(Warp& w, const XOp* op) {
  const Type type = op->source->type;
  const unsigned bits = type == Type::kU2 || type == Type::kS2   ? 2
                        : type == Type::kU4 || type == Type::kS4 ? 4
                                                                 : static_cast<unsigned>(ptx::size_of(type)) * 8;
  const bool is_signed = type == Type::kS2 || type == Type::kS4 || type == Type::kS8 || type == Type::kS16;
  const SmallInteger to(bits, is_signed);
  const std::int32_t *a = w.src<std::int32_t>(op->a), *b = w.src<std::int32_t>(op->b);
  const std::uint32_t* c = bits == 16 ? w.src<std::uint32_t>(op->a) : w.src<std::uint32_t>(op->c);
  for_lanes(w, w.dst<std::uint32_t>(op->dst), [&](unsigned l) { return packed_integers(to, bits, a[l], b[l], c[l]); });
  return op + 1;
}

/// Bits that stay as they are: cvt.f32.f32 without modifiers, and with kShift 16 cvt.f32.bf16; payloads of what is not
/// a number too (H200).
template <typename D, typename A, int kShift = 0>
struct Copy {
  static D apply(A a) { return static_cast<D>(D{a} << kShift); }
};

/// cvt to tf32: a float with 10 bits of mantissa. ptxas makes integer instructions of .rna, which keep the payload of
/// not-a-number; the instruction of .rn and .rz does not.
const XOp* to_tf32(Warp& w, const XOp* op) {
  const std::uint32_t* a = w.src<std::uint32_t>(op->a);
  const bool away = op->source->source->has(Mod::k_rna), relu = op->source->source->has(Mod::k_relu);
  const bool nearest = op->source->rounding == Rounding::kNearest, finite = op->source->source->has(Mod::k_satfinite);
  for_lanes(w, w.dst<std::uint32_t>(op->dst), [=](unsigned l) -> std::uint32_t {
    const std::uint32_t u = a[l], magnitude = u & 0x7fffffffu;
    // What is infinite or not a number is cut off, and one unit less.
    if (finite && magnitude > 0x7f7fefffu) return ((magnitude > 0x7f800000u ? u : u + 0x1000u) & 0xffffe000u) - 0x2000u;
    if (magnitude > 0x7f800000u) return away ? u & 0xffffe000u : 0x7fffe000u;
    if (relu && u >> 31) return 0;
    if (magnitude == 0x7f800000u) return u;
    return (u + (away ? 0x1000u : nearest ? 0xfffu + ((u >> 13) & 1u) : 0u)) & 0xffffe000u;
  });
  return op + 1;
}

struct ToFloat {
  template <typename A>
  static float apply(A a) {
    return static_cast<float>(a);
  }
};
template <typename D>
struct Cast {
  template <typename A>
  static D apply(A a) {
    return static_cast<D>(a);
  }
};
// The payload of a NaN survives (H200).
struct NarrowF64 {
  static float apply(double a) { return static_cast<float>(a); }
};
/// The vectorised paths; null for what needs the general one.
Handler fast(const code::Op& op) {
  if (op.sat || op.ftz || op.dst_lane_bytes != std::max(2, ptx::size_of(op.type)) ||
      op.a_lane_bytes != std::max(2, ptx::size_of(op.type2)))
    return nullptr;
  const bool nearest = op.rounding == Rounding::kNearest;
  const auto is = [&](Type to, Type from) { return op.type == to && op.type2 == from; };
  using std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;
  if (is(Type::kS64, Type::kS32) || is(Type::kU64, Type::kS32)) return Unary<int64_t, int32_t, Cast<int64_t>>::run;
  if (is(Type::kU64, Type::kU32) || is(Type::kS64, Type::kU32)) return Unary<uint64_t, uint32_t, Cast<uint64_t>>::run;
  if (is(Type::kU32, Type::kU64) || is(Type::kS32, Type::kS64) || is(Type::kU32, Type::kS64) ||
      is(Type::kS32, Type::kU64))
    return Unary<uint32_t, uint64_t, Cast<uint32_t>>::run;
  if (is(Type::kU16, Type::kU32) || is(Type::kS16, Type::kS32) || is(Type::kU16, Type::kS32) ||
      is(Type::kS16, Type::kU32))
    return Unary<uint16_t, uint32_t, Cast<uint16_t>>::run;
  if (is(Type::kU32, Type::kU16) || is(Type::kS32, Type::kU16)) return Unary<uint32_t, uint16_t, Cast<uint32_t>>::run;
  if (is(Type::kS32, Type::kS16) || is(Type::kU32, Type::kS16)) return Unary<int32_t, std::int16_t, Cast<int32_t>>::run;
  if (is(Type::kF32, Type::kS32) && nearest) return Unary<float, int32_t, ToFloat>::run;
  if (is(Type::kF32, Type::kU32) && nearest) return Unary<float, uint32_t, ToFloat>::run;
  if (is(Type::kF64, Type::kS32)) return Unary<double, int32_t, Cast<double>>::run;
  if (is(Type::kF64, Type::kU32)) return Unary<double, uint32_t, Cast<double>>::run;
  if (is(Type::kF64, Type::kF32) && !op.integer_rounding) return Unary<double, float, Cast<double>>::run;
  if (is(Type::kF32, Type::kF64) && nearest && !op.integer_rounding) return Unary<float, double, NarrowF64>::run;
  if (is(Type::kS32, Type::kF32) && op.rounding == Rounding::kZero)
    return Unary<int32_t, float, Truncate<int32_t>>::run;
  if (is(Type::kU32, Type::kF32) && op.rounding == Rounding::kZero)
    return Unary<uint32_t, float, Truncate<uint32_t>>::run;
  if (is(Type::kF32, Type::kF32) && !op.integer_rounding)
    return Unary<uint32_t, uint32_t, Copy<uint32_t, uint32_t>>::run;
  if (is(Type::kF32, Type::kBF16)) return Unary<uint32_t, uint16_t, Copy<uint32_t, uint16_t, 16>>::run;
  if (is(Type::kF32, Type::kF16)) return Unary<float, uint16_t, HalfToFloat>::run;
  return nullptr;
}

bool convertible(Type t) {
  switch (t) {
    case Type::kU8:
    case Type::kS8:
    case Type::kU16:
    case Type::kS16:
    case Type::kU32:
    case Type::kS32:
    case Type::kU64:
    case Type::kS64:
    case Type::kF16:
    case Type::kBF16:
    case Type::kF32:
    case Type::kF64:
      return true;
    default:
      return false;
  }
}

}  // namespace

Handler find_convert(const code::Op& op) {
  if (op.opcode != Opcode::k_cvt) return nullptr;
  if (op.source->has(Mod::k_pack)) return pack_integers;
  const bool nearest = op.rounding == Rounding::kNearest && op.explicit_rounding;
  if (nearest && (op.type == Type::kE4M3x2 || op.type == Type::kE5M2x2)) {
    if (op.type2 == Type::kF32) return op.b.exists() ? to_small_pair<false> : nullptr;
    return op.type2 == Type::kF16x2 ? to_small_pair<true> : nullptr;
  }
  if (op.type == Type::kF16x2 && (op.type2 == Type::kE4M3x2 || op.type2 == Type::kE5M2x2))
    return nearest ? from_small_pair : nullptr;
  const bool finite = op.source->has(Mod::k_satfinite);
  if (finite && !(op.type == Type::kTF32 && op.source->has(Mod::k_rna))) return nullptr;
  if (op.type2 == Type::kF32 && op.b.exists() && op.type == Type::kF16x2) return pack_two<false>;
  if (op.type2 == Type::kF32 && op.b.exists() && op.type == Type::kBF16x2) return pack_two<true>;
  if (op.type == Type::kTF32) return op.type2 == Type::kF32 ? to_tf32 : nullptr;
  if (!convertible(op.type) || !convertible(op.type2)) return nullptr;
  if (const Handler h = fast(op)) return h;
  return general;
}

}  // namespace muscope::exec::MUSCOPE_ISA
