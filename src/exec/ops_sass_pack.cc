// Conversions that pack several small values in a register: F2FP, F2IP, I2IP; and I2I, their single form.
#include "exec/half_math.h"
#include "exec/op_table.h"
#include "exec/sass_convert.h"
#include "exec/small_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::FloatFormat;
using sass::Instruction;
using sass::Opcode;
using sass::Packing;
using std::uint16_t;
using std::uint32_t;

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
  const bool nearest = op->sass->floating.rounding == sass::Rounding::kNearest, relu = op->sass->floating.relu;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const uint32_t u = b[l], magnitude = u & 0x7fffffffu;
    const uint32_t rounded = (u + (nearest ? 0xfffu + ((u >> 13) & 1u) : 0u)) & 0xffffe000u;
    if (magnitude > 0x7f800000u) return 0x7fffe000u;
    if (relu && u >> 31) return 0;
    return magnitude == 0x7f800000u ? u : rounded;
  });
  return op + 1;
}

// ---- formats of 8 bits

template <FloatFormat kTo>
uint32_t small_bits(float v, bool relu) {
  return to_small(relu_of(v, relu), kTo == FloatFormat::kE4m3 ? kSmallE4m3 : kSmallE5m2);
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
  const Small& format = kFrom == FloatFormat::kE5m2 ? kSmallE5m2 : kSmallE4m3;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const auto one = [&](unsigned at) -> uint32_t {
      return nearest_half(relu_of(from_small((b[l] >> (shift + at)) & 0xffu, format), relu));
    };
    return one(8) << 16 | one(0);
  });
  return op + 1;
}

// ---- integers

const XOp* clamp(Warp& w, const XOp* op) {
  const std::int32_t* a = w.src<std::int32_t>(op->a);
  const SmallInteger to(op->sass->floating.to_bits, op->sass->floating.to_signed);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return to(a[l]); });
  return op + 1;
}

const XOp* pack_integers(Warp& w, const XOp* op) {
  const std::int32_t *a = w.src<std::int32_t>(op->a), *b = w.src<std::int32_t>(op->b);
  const uint32_t* c = w.src<uint32_t>(op->c);
  const unsigned bits = op->sass->floating.to_bits;
  const SmallInteger to(bits, op->sass->floating.to_signed);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) { return packed_integers(to, bits, a[l], b[l], c[l]); });
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
      return form.finite ? nullptr : to_tf32;
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
