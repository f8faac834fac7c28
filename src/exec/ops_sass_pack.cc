// Conversions that pack several small values in a register: F2FP, F2IP, I2IP; and I2I, their single form.
#include "exec/half_math.h"
#include "exec/op_table.h"
#include "exec/sass_convert.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::FloatFormat;
using sass::Instruction;
using sass::Opcode;
using sass::Packing;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;

inline float relu_of(float v, bool relu) { return relu && v <= 0 ? 0.0f : v; }

// ---- halves

/// a to the upper half, b to the lower one. kNearestOnly: the vectorised way.
template <FloatFormat kTo, bool kNearestOnly, bool kUpper>
const XOp* pack_halves(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
  const HalfRounding r = half_rounding(op->sass->floating.rounding);
  const bool relu = op->sass->floating.relu;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const auto one = [=](float v) -> uint32_t {
      v = relu_of(v, relu);
      if constexpr (kNearestOnly) return kTo == FloatFormat::kF16 ? nearest_half(v) : nearest_bfloat(v);
      return kTo == FloatFormat::kF16 ? to_half(v, r) : to_bfloat(v, r);
    };
    if constexpr (kUpper) return one(a[l]) << 16 | one(b[l]);
    return one(b[l]);
  });
  return op + 1;
}

template <FloatFormat kTo, bool kUpper>
Handler pack_handler(const Instruction& i) {
  return i.floating.rounding == sass::Rounding::kNearest ? pack_halves<kTo, true, kUpper>
                                                         : pack_halves<kTo, false, kUpper>;
}

// ---- TF32: a float with 10 bits of mantissa

const XOp* to_tf32(Warp& w, const XOp* op) {
  const uint32_t* b = w.src<uint32_t>(op->b);
  const bool nearest = op->sass->floating.rounding == sass::Rounding::kNearest;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t u = b[l], magnitude = u & 0x7fffffffu;
    const uint32_t rounded = (u + (nearest ? 0xfffu + ((u >> 13) & 1u) : 0u)) & 0xffffe000u;
    return magnitude > 0x7f800000u ? 0x7fffe000u : magnitude == 0x7f800000u ? u : rounded;
  });
  return op + 1;
}

// ---- formats of 8 bits

struct Small {
  int mantissa, bias;
  uint32_t largest;  ///< bits of the largest finite number
  double largest_value;
};
constexpr Small kE4m3{3, 7, 0x7e, 448.0};
constexpr Small kE5m2{2, 15, 0x7b, 57344.0};

/// Nearest, ties to even; what is too large becomes the largest finite number, what is none 0x7f.
uint32_t to_small(double v, const Small& f) {
  if (v != v) return 0x7f;
  const uint32_t sign = std::signbit(v) ? 0x80u : 0;
  const double m = std::fabs(v);
  if (m >= f.largest_value) return sign | f.largest;
  int exponent = m > 0 ? std::ilogb(m) : 1 - f.bias;
  exponent = exponent < 1 - f.bias ? 1 - f.bias : exponent;
  // Units of the last place; the carry into the exponent comes by itself.
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(m, f.mantissa - exponent)));
  const uint32_t r = (static_cast<uint32_t>(exponent + f.bias - 1) << f.mantissa) + units;
  return sign | (r > f.largest ? f.largest : r);
}
float from_small(uint32_t v, const Small& f, bool has_infinity) {
  const uint32_t magnitude = v & 0x7fu, one = 1u << f.mantissa, fraction = magnitude & (one - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  float r = exponent == 0 ? std::ldexp(static_cast<float>(fraction), 1 - f.bias - f.mantissa)
                          : std::ldexp(static_cast<float>(one + fraction), exponent - f.bias - f.mantissa);
  if (magnitude == 0x7f || (has_infinity && magnitude > 0x7c)) r = std::numeric_limits<float>::quiet_NaN();
  if (has_infinity && magnitude == 0x7c) r = std::numeric_limits<float>::infinity();
  return v & 0x80u ? -r : r;
}

template <FloatFormat kTo>
uint32_t small_bits(float v, bool relu) {
  return to_small(relu_of(v, relu), kTo == FloatFormat::kE4m3 ? kE4m3 : kE5m2);
}

template <FloatFormat kTo>
const XOp* floats_to_small(Warp& w, const XOp* op) {
  const float *a = w.src<float>(op->a), *b = w.src<float>(op->b);
  const bool relu = op->sass->floating.relu;
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return small_bits<kTo>(a[l], relu) << 8 | small_bits<kTo>(b[l], relu); });
  return op + 1;
}
template <FloatFormat kTo>
const XOp* halves_to_small(Warp& w, const XOp* op) {
  const uint32_t* b = w.src<uint32_t>(op->b);
  const bool relu = op->sass->floating.relu;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const float low = half_to_float(static_cast<uint16_t>(b[l])),
                high = half_to_float(static_cast<uint16_t>(b[l] >> 16));
    return small_bits<kTo>(high, relu) << 8 | small_bits<kTo>(low, relu);
  });
  return op + 1;
}
template <FloatFormat kFrom>
const XOp* small_to_halves(Warp& w, const XOp* op) {
  const uint32_t* b = w.src<uint32_t>(op->b);
  const unsigned shift = op->sass->b.half == 3 ? 16 : 0;
  const bool relu = op->sass->floating.relu;
  constexpr bool kHasInfinity = kFrom == FloatFormat::kE5m2;
  const Small& format = kHasInfinity ? kE5m2 : kE4m3;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const auto one = [&](unsigned at) -> uint32_t {
      return nearest_half(relu_of(from_small((b[l] >> (shift + at)) & 0xffu, format, kHasInfinity), relu));
    };
    return one(8) << 16 | one(0);
  });
  return op + 1;
}

// ---- integers

/// Clamps a signed word to a smaller integer.
struct Clamp {
  int64_t low, high;
  Clamp(unsigned bits, bool is_signed)
      : low(is_signed ? -(int64_t{1} << (bits - 1)) : 0),
        high(is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1) {}
  uint32_t operator()(std::int32_t v) const {
    return static_cast<uint32_t>(v < low ? low : v > high ? high : int64_t{v});
  }
};

const XOp* clamp(Warp& w, const XOp* op) {
  const std::int32_t* a = w.src<std::int32_t>(op->a);
  const Clamp to(op->sass->floating.to_bits, op->sass->floating.to_signed);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return to(a[l]); });
  return op + 1;
}

/// c moved up by two values, then a, then b lowest (PTX ISA, "cvt.pack").
const XOp* pack_integers(Warp& w, const XOp* op) {
  const std::int32_t *a = w.src<std::int32_t>(op->a), *b = w.src<std::int32_t>(op->b);
  const uint32_t* c = w.src<uint32_t>(op->c);
  const unsigned bits = op->sass->floating.to_bits;
  const Clamp to(bits, op->sass->floating.to_signed);
  const uint32_t mask = (1u << bits) - 1;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t rest = bits == 16 ? 0 : c[l] << (2 * bits);
    return rest | (to(a[l]) & mask) << bits | (to(b[l]) & mask);
  });
  return op + 1;
}

/// F2IP.U8 of one float.
const XOp* to_byte(Warp& w, const XOp* op) {
  const float* b = w.src<float>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const float v = std::nearbyint(b[l]);
    return static_cast<uint32_t>(v > 0.0f ? (v < 255.0f ? v : 255.0f) : 0.0f);
  });
  return op + 1;
}

bool reads_zero(const sass::Operand& o) { return o.kind == sass::OperandKind::kRegister && o.index == sass::kRz; }

Handler pack_floats(const Instruction& i) {
  using enum FloatFormat;
  const sass::FloatForm& form = i.floating;
  const bool nearest = form.rounding == sass::Rounding::kNearest;
  // How a result is merged with c was not seen but with c = 0.
  if (i.c.exists() && (!reads_zero(i.c) || i.c.half != 0)) return nullptr;
  switch (form.packing) {
    case Packing::kPackAb:
      if (form.finite) return nullptr;
      return form.to == kF16 ? pack_handler<kF16, true>(i) : pack_handler<kBf16, true>(i);
    case Packing::kMergeC:
      if (form.finite) return nullptr;
      return form.to == kF16 ? pack_handler<kF16, false>(i) : pack_handler<kBf16, false>(i);
    case Packing::kPackB:
      return form.finite || form.relu ? nullptr : to_tf32;
    case Packing::kUnpackB:
      return form.from == kE4m3 ? small_to_halves<kE4m3> : small_to_halves<kE5m2>;
    case Packing::kUnpackBMergeC:
      if (!form.finite || !nearest) return nullptr;
      return form.to == kE4m3 ? halves_to_small<kE4m3> : halves_to_small<kE5m2>;
    case Packing::kPackAbMergeC:
      if (!form.finite || !nearest) return nullptr;
      return form.to == kE4m3 ? floats_to_small<kE4m3> : floats_to_small<kE5m2>;
  }
  return nullptr;
}

}  // namespace

Handler find_sass_pack(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kF2FP:
      return pack_floats(i);
    case Opcode::kI2I:
      return clamp;
    case Opcode::kI2IP:
      return i.floating.to_bits == 16 && !reads_zero(i.c) ? nullptr : pack_integers;
    case Opcode::kF2IP:
      return i.floating.to_bits == 8 && reads_zero(i.a) && reads_zero(i.c) ? controlled_sass<to_byte> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
