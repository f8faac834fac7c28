// F2F, FRND, F2I, I2F, I2FP of machine code.
//
// What is not a number (H200): conversions with a double on either side keep sign and payload, quiet; those among 32
// and 16 bits give the canonical pattern; F2I gives 0 with .NTZ, only the sign bit set without.
#include <bit>

#include "exec/convert_math.h"
#include "exec/op_table.h"
#include "exec/sass_convert.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::FloatFormat;
using sass::Instruction;
using sass::Opcode;
using std::int32_t;
using std::int64_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// The value of a float source. The sign is applied to the bits.
template <FloatFormat kFormat>
struct Source {
  const uint32_t* in;
  unsigned shift = 0;
  FloatSign sign;
  uint32_t half_keep = 0xffffu, half_flip = 0;
  Source(const Warp& w, const XOp* op) : in(w.src<uint32_t>(op->a)), sign(op->sass->a) {
    if (op->sass->a.half == 3) shift = 16;
    if (op->sass->a.absolute) half_keep = 0x7fffu;
    if (op->sass->a.negate) half_flip = 0x8000u;
  }
  auto operator()(unsigned l) const {
    if constexpr (kFormat == FloatFormat::kF64) {
      return std::bit_cast<double>(in[l] | uint64_t{sign(in[l + kNextRegister])} << 32);
    } else if constexpr (kFormat == FloatFormat::kF32) {
      return std::bit_cast<float>(sign(in[l]));
    } else {
      const auto h = static_cast<uint16_t>((((in[l] >> shift) & half_keep) ^ half_flip));
      return kFormat == FloatFormat::kF16 ? half_to_float(h) : bfloat_to_float(h);
    }
  }
};

// ---- float to float

/// 64 bits to 32: MXCSR rounds; payloads survive.
const XOp* double_to_float(Warp& w, const XOp* op) {
  const Source<FloatFormat::kF64> a(w, op);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return static_cast<float>(a(l)); });
  return op + 1;
}

template <FloatFormat kFrom>
const XOp* to_double(Warp& w, const XOp* op) {
  const Source<kFrom> a(w, op);
  write_wide(w, op, [&](unsigned l) { return std::bit_cast<uint64_t>(static_cast<double>(a(l))); });
  return op + 1;
}

template <FloatFormat kFrom, FloatFormat kTo>
const XOp* to_half_format(Warp& w, const XOp* op) {
  const Source<kFrom> a(w, op);
  const HalfRounding r = half_rounding(op->sass->floating.rounding);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const double v = static_cast<double>(a(l));
    constexpr int kMantissa = kTo == FloatFormat::kF16 ? 10 : 7;
    if (kFrom == FloatFormat::kF64 && v != v) return narrow_nan<kMantissa>(v);
    return kTo == FloatFormat::kF16 ? to_half(v, r) : to_bfloat(v, r);
  });
  return op + 1;
}

Handler float_to_float(const Instruction& i) {
  using enum FloatFormat;
  const sass::FloatForm& form = i.floating;
  if (form.ftz) return nullptr;
  const auto is = [&](FloatFormat to, FloatFormat from) { return form.to == to && form.from == from; };
  if (is(kF32, kF64)) return controlled_sass<double_to_float>;
  if (is(kF64, kF32)) return to_double<kF32>;
  if (is(kF64, kF16)) return to_double<kF16>;
  if (is(kF64, kBf16)) return to_double<kBf16>;
  if (is(kF16, kF32)) return to_half_format<kF32, kF16>;
  if (is(kBf16, kF32)) return to_half_format<kF32, kBf16>;
  if (is(kF16, kF64)) return to_half_format<kF64, kF16>;
  if (is(kBf16, kF64)) return to_half_format<kF64, kBf16>;
  if (is(kBf16, kF16)) return to_half_format<kF16, kBf16>;
  if (is(kF16, kBf16)) return to_half_format<kBf16, kF16>;
  return nullptr;
}

// ---- to a whole number of the same format

const XOp* whole_float(Warp& w, const XOp* op) {
  const Source<FloatFormat::kF32> a(w, op);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return canonical(std::nearbyint(a(l))); });
  return op + 1;
}
const XOp* whole_double(Warp& w, const XOp* op) {
  const Source<FloatFormat::kF64> a(w, op);
  write_wide(w, op, [&](unsigned l) { return std::bit_cast<uint64_t>(std::nearbyint(a(l))); });
  return op + 1;
}
template <FloatFormat kFormat>
const XOp* whole_half(Warp& w, const XOp* op) {
  const Source<kFormat> a(w, op);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const double v = std::nearbyint(double{a(l)});  // exact in the format
    return kFormat == FloatFormat::kF16 ? to_half(v) : to_bfloat(v);
  });
  return op + 1;
}

Handler whole(const Instruction& i) {
  switch (i.floating.from) {
    case FloatFormat::kF32:
      return controlled_sass<whole_float>;
    case FloatFormat::kF64:
      return i.floating.ftz ? nullptr : controlled_sass<whole_double>;
    case FloatFormat::kF16:
      return i.floating.ftz ? nullptr : controlled_sass<whole_half<FloatFormat::kF16>>;
    case FloatFormat::kBf16:
      return i.floating.ftz ? nullptr : controlled_sass<whole_half<FloatFormat::kBf16>>;
    default:
      return nullptr;
  }
}

// ---- float to integer

/// To 32 bits from 32 or 16, .NTZ: what programs use most.
template <FloatFormat kFrom, typename D>
const XOp* to_word(Warp& w, const XOp* op) {
  const Source<kFrom> a(w, op);
  for_lanes(w, w.dst<D>(op->dst), [=](unsigned l) { return Truncate<D>::apply(std::nearbyint(a(l))); });
  return op + 1;
}

template <FloatFormat kFrom>
const XOp* to_integer(Warp& w, const XOp* op) {
  const Source<kFrom> a(w, op);
  const sass::FloatForm& form = op->sass->floating;
  const bool is_signed = form.to_signed;
  const unsigned bits = form.to_bits;
  const uint64_t none = form.nan_to_zero ? 0 : uint64_t{1} << (bits - 1);
  const auto value = [&](unsigned l) {
    const uint64_t r = saturate_to_integer(static_cast<double>(std::nearbyint(a(l))), is_signed, bits, none);
    return is_signed && bits < 64 ? static_cast<uint64_t>(static_cast<int64_t>(r << (64 - bits)) >> (64 - bits)) : r;
  };
  if (bits == 64)
    write_wide(w, op, value);
  else
    for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return static_cast<uint32_t>(value(l)); });
  return op + 1;
}

template <FloatFormat kFrom>
Handler to_integer_handler(const Instruction& i) {
  const sass::FloatForm& form = i.floating;
  if (form.ftz && kFrom != FloatFormat::kF32) return nullptr;
  if constexpr (kFrom != FloatFormat::kF64)
    if (form.to_bits == 32 && form.nan_to_zero)
      return form.to_signed ? controlled_sass<to_word<kFrom, int32_t>> : controlled_sass<to_word<kFrom, uint32_t>>;
  return controlled_sass<to_integer<kFrom>>;
}

// ---- integer to float

/// The integer source, extended to 64 bits.
struct IntegerSource {
  const uint32_t* in;
  unsigned bits;
  bool is_signed;
  IntegerSource(const Warp& w, const XOp* op)
      : in(w.src<uint32_t>(op->a)), bits(op->sass->floating.from_bits), is_signed(op->sass->floating.from_signed) {}
  uint64_t operator()(unsigned l) const {
    const uint64_t v = bits == 64 ? wide_value(in, l) : uint64_t{in[l]} << (64 - bits);
    if (bits == 64) return v;
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(v) >> (64 - bits)) : v >> (64 - bits);
  }
};

template <typename A>
const XOp* word_to_float(Warp& w, const XOp* op) {
  const A* a = w.src<A>(op->a);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return static_cast<float>(a[l]); });
  return op + 1;
}

/// MXCSR rounds each of these once.
template <typename T>
inline T as_float(uint64_t v, bool is_signed) {
  return is_signed ? static_cast<T>(static_cast<int64_t>(v)) : static_cast<T>(v);
}
const XOp* integer_to_float(Warp& w, const XOp* op) {
  const IntegerSource a(w, op);
  for_lanes(w, w.dst<float>(op->dst), [=](unsigned l) { return as_float<float>(a(l), a.is_signed); });
  return op + 1;
}
const XOp* integer_to_double(Warp& w, const XOp* op) {
  const IntegerSource a(w, op);
  write_wide(w, op, [&](unsigned l) { return std::bit_cast<uint64_t>(as_float<double>(a(l), a.is_signed)); });
  return op + 1;
}
template <FloatFormat kTo>
const XOp* integer_to_half(Warp& w, const XOp* op) {
  const IntegerSource a(w, op);
  const HalfRounding r = half_rounding(op->sass->floating.rounding);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) -> uint32_t {
    const uint64_t v = a(l);
    const bool negative = a.is_signed && static_cast<int64_t>(v) < 0;
    const double d = integer_to_sticky(negative ? 0 - v : v, negative);
    return kTo == FloatFormat::kF16 ? to_half(d, r) : to_bfloat(d, r);
  });
  return op + 1;
}

Handler integer_to_any(const Instruction& i) {
  const sass::FloatForm& form = i.floating;
  switch (form.to) {
    case FloatFormat::kF32:
      if (form.from_bits == 32 && form.rounding == sass::Rounding::kNearest)
        return form.from_signed ? word_to_float<int32_t> : word_to_float<uint32_t>;
      return controlled_sass<integer_to_float>;
    case FloatFormat::kF64:
      return controlled_sass<integer_to_double>;
    case FloatFormat::kF16:
      return integer_to_half<FloatFormat::kF16>;
    case FloatFormat::kBf16:
      return integer_to_half<FloatFormat::kBf16>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler find_sass_convert(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kF2F:
      return float_to_float(i);
    case Opcode::kFRND:
      return whole(i);
    case Opcode::kF2I:
      switch (i.floating.from) {
        case FloatFormat::kF32:
          return to_integer_handler<FloatFormat::kF32>(i);
        case FloatFormat::kF64:
          return to_integer_handler<FloatFormat::kF64>(i);
        case FloatFormat::kF16:
          return to_integer_handler<FloatFormat::kF16>(i);
        case FloatFormat::kBf16:
          return to_integer_handler<FloatFormat::kBf16>(i);
        default:
          return nullptr;
      }
    case Opcode::kI2F:
    case Opcode::kI2FP:
      return integer_to_any(i);
    default:
      return find_sass_pack(i);
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
