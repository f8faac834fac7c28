// Packed halves of machine code. Each register holds two values; an operand may take one of its halves twice.
//
// Everything is computed in float with what is lost kept in a last bit that is odd, and rounded once to 11 or 8 bits.
#include "exec/half_math.h"
#include "exec/op_table.h"
#include "exec/sass_float.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Compare;
using sass::Instruction;
using sass::Opcode;
using std::uint32_t;

/// A source: which half goes where, and the signs.
struct Halves {
  const uint32_t* in;
  unsigned low_shift = 0, high_shift = 16;
  uint32_t keep = 0xffffffffu, flip = 0;
  Halves(const Warp& w, uint32_t place, const sass::Operand& operand) : in(w.src<uint32_t>(place)) {
    if (operand.half == 2) high_shift = 0;
    if (operand.half == 3) low_shift = 16;
    if (operand.absolute) keep = 0x7fff7fffu;
    if (operand.negate) flip = 0x80008000u;
  }
  uint32_t operator()(unsigned l) const {
    const uint32_t v = in[l];
    return ((((v >> low_shift) & 0xffffu) | ((v >> high_shift) << 16)) & keep) ^ flip;
  }
};

struct Half : F16 {
  static void widen(const uint32_t* in, float* low, float* high) { widen_halves(in, low, high); }
  static float value(uint32_t v) { return half_value(v); }
  static uint32_t nearest(float v) { return nearest_half(v); }
  static constexpr uint32_t kOne = 0x3c00;
};
struct Brain : BF16 {
  static void widen(const uint32_t* in, float* low, float* high) { widen_bfloats(in, low, high); }
  static float value(uint32_t v) { return std::bit_cast<float>(v << 16); }
  static uint32_t nearest(float v) { return nearest_bfloat(v); }
  static constexpr uint32_t kOne = 0x3f80;
};

/// What comes before and after the sum or product.
struct Modes {
  bool ftz = false, saturate = false, relu = false;
  explicit Modes(const sass::FloatForm& form) : ftz(form.ftz), saturate(form.saturate), relu(form.relu) {}
};

template <typename F>
[[gnu::always_inline]] inline float flush(float v) {
  return std::fabs(v) < F::kMinNormal ? std::copysign(0.0f, v) : v;
}

/// A source as floats: the low halves, then the high ones.
template <typename F, bool kModes>
struct Floats {
  alignas(64) float value[2 * kGroupLanes];
  Floats(const Halves& source, const Modes& modes) {
    alignas(64) uint32_t packed[kGroupLanes];
    for (unsigned l = 0; l < kGroupLanes; ++l) packed[l] = source(l);
    F::widen(packed, value, value + kGroupLanes);
    if (kModes && modes.ftz)
      for (float& v : value) v = flush<F>(v);
  }
};

template <typename F, bool kModes>
void write_halves(Warp& w, const XOp* op, float* r, const Modes& modes) {
  if constexpr (kModes) {
    for (unsigned k = 0; k < 2 * kGroupLanes; ++k) {
      float v = r[k];
      v = modes.saturate ? saturate(v) : v;
      v = modes.relu ? (v > 0 || v != v ? v : 0.0f) : v;
      // What is below the smallest normal number when rounded to full precision: half a unit in its last place decides
      // (H200).
      r[k] = modes.ftz && std::fabs(v) < F::kMinNormal * (1 - 0x1p-12f) ? std::copysign(0.0f, v) : v;
    }
  }
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return F::nearest(r[l]) | F::nearest(r[l + kGroupLanes]) << 16; });
}

template <typename F, bool kModes>
const XOp* add(Warp& w, const XOp* op) {
  const Modes modes(op->sass->floating);
  const Floats<F, kModes> a(Halves(w, op->a, op->sass->a), modes), b(Halves(w, op->b, op->sass->b), modes);
  alignas(64) float r[2 * kGroupLanes];
  for (unsigned k = 0; k < 2 * kGroupLanes; ++k) r[k] = a.value[k] + b.value[k];
  write_halves<F, kModes>(w, op, r, modes);
  return op + 1;
}

/// x * y + z in float with lost bits kept in the last one. Exact for halves; for bfloat16 where `fits` says so.
[[gnu::always_inline]] inline float fused_float(float x, float y, float z) {
  const float p = x * y;  // exact
  const float s = p + z, t = s - p, lost = (p - (s - t)) + (z - t);
  const uint32_t u = bits(s);
  const bool inexact = (lost != 0) & (lost == lost) & (s - s == 0);
  const uint32_t toward = u - static_cast<uint32_t>((lost < 0) != (s < 0));
  return std::bit_cast<float>(choose(mask_if(inexact), toward | 1u, u));
}
/// The product is a float without loss, and nothing overflows.
[[gnu::always_inline]] inline bool fits(float x, float y, float z) {
  const float p = std::fabs(x * y);
  return (p <= 0x1p120f) & (std::fabs(z) <= 0x1p120f) & ((p >= 0x1p-90f) | (x == 0) | (y == 0));
}
/// The general way for bfloat16: a double holds the product, and what is cut off it down to a float is kept in the last
/// bit where the result is normal; below, the rounding is done here.
float fused_brain(float x, float y, float z) {
  const double r = fused(x, y, z);
  if (!(std::fabs(r) < 0x1p128) || std::fabs(r) < 0x1p-126) return bfloat_to_float(to_bfloat(r));
  const std::uint64_t u = bits(r), rest = u & 0x1fffffffu;
  return static_cast<float>(std::bit_cast<double>((u - rest) | (rest != 0 ? 0x20000000u : 0u)));
}

/// x * y + z, or x * y when there is no third source. The sum with -0 leaves every product as it is.
template <typename F, bool kModes, bool kSum>
const XOp* fused_multiply(Warp& w, const XOp* op) {
  const Modes modes(op->sass->floating);
  Halves second(w, op->b, op->sass->b);
  if (op->sass->floating.negate_high) second.flip ^= 0x80000000u;
  const Floats<F, kModes> a(Halves(w, op->a, op->sass->a), modes), b(second, modes);
  alignas(64) float r[2 * kGroupLanes], z[2 * kGroupLanes];
  if constexpr (kSum) {
    const Floats<F, kModes> c(Halves(w, op->c, op->sass->c), modes);
    std::memcpy(z, c.value, sizeof z);
  } else {
    for (float& v : z) v = -0.0f;
  }
  for (unsigned k = 0; k < 2 * kGroupLanes; ++k) r[k] = fused_float(a.value[k], b.value[k], z[k]);
  if constexpr (std::is_same_v<F, Brain>) {
    uint32_t rare = 0;
    for (unsigned k = 0; k < 2 * kGroupLanes; ++k) rare |= static_cast<uint32_t>(!fits(a.value[k], b.value[k], z[k]));
    for (unsigned k = 0; rare && k < 2 * kGroupLanes; ++k)
      if (!fits(a.value[k], b.value[k], z[k])) r[k] = fused_brain(a.value[k], b.value[k], z[k]);
  }
  write_halves<F, kModes>(w, op, r, modes);
  return op + 1;
}

/// HADD2.F32: one half as a float.
const XOp* to_single(Warp& w, const XOp* op) {
  const Halves a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return canonical_bits(Half::value(a(l)) + Half::value(b(l))); });
  return op + 1;
}

/// HMNMX2: the smaller value where the predicate holds, the larger one elsewhere.
template <typename F>
const XOp* min_max(Warp& w, const XOp* op) {
  const Halves a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  const sass::FloatForm& form = op->sass->floating;
  const bool ftz = form.ftz, nan = form.nan, xor_sign = form.xor_sign;
  const GroupMask smaller = read_predicate(w, op->d, op->sass->p0.invert);
  Halves signs_a = a, signs_b = b;
  signs_a.keep = signs_b.keep = 0xffffffffu;
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t x = a(l), y = b(l), sign = (signs_a(l) ^ signs_b(l)) & 0x80008000u;
    const bool min = (smaller >> l) & 1;
    const auto one = [&](unsigned shift) -> uint32_t {
      uint32_t u = (x >> shift) & 0xffffu, v = (y >> shift) & 0xffffu;
      float f = F::value(u), g = F::value(v);
      if (ftz && std::fabs(f) < F::kMinNormal) u &= 0x8000u, f = F::value(u);
      if (ftz && std::fabs(g) < F::kMinNormal) v &= 0x8000u, g = F::value(v);
      uint32_t r = (f < g) == min ? u : v;
      r = f == g ? (min ? u | v : u & v) : r;
      r = f != f ? v : g != g ? u : r;
      const bool neither = (f != f && g != g) || (nan && (f != f || g != g));
      if (xor_sign) r = (r & 0x7fffu) | ((sign >> shift) & 0x8000u);
      return neither ? F::kNan : r;
    };
    return one(0) | one(16) << 16;
  });
  return op + 1;
}

template <typename F, Compare kCompare>
GroupMask compared(const Halves& a, const Halves& b, const Modes& modes, unsigned shift) {
  const auto value = [&](const Halves& h, unsigned l) {
    const float v = F::value((h(l) >> shift) & 0xffffu);
    return modes.ftz ? flush<F>(v) : v;
  };
  return mask_of([&](unsigned l) { return holds<kCompare>(value(a, l), value(b, l)); });
}

/// HSET2: all ones or zero, or with .BF 1.0 or 0.0, in each half.
template <typename F, Compare kCompare>
const XOp* set_values(Warp& w, const XOp* op) {
  const Halves a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  const sass::FloatForm& form = op->sass->floating;
  const Modes modes(form);
  const GroupMask p = read_predicate(w, op->d, op->sass->p0.invert);
  const GroupMask low = combined(form.combine, compared<F, kCompare>(a, b, modes, 0), p);
  const GroupMask high = combined(form.combine, compared<F, kCompare>(a, b, modes, 16), p);
  const uint32_t yes = form.boolean_float ? F::kOne : 0xffffu;
  for_lanes(w, w.dst<uint32_t>(op->dst),
            [=](unsigned l) { return ((low >> l) & 1) * yes | ((high >> l) & 1) * (yes << 16); });
  return op + 1;
}

/// HSETP2: a predicate of each half.
template <typename F, Compare kCompare>
const XOp* set_predicates(Warp& w, const XOp* op) {
  const Halves a(w, op->a, op->sass->a), b(w, op->b, op->sass->b);
  const sass::FloatForm& form = op->sass->floating;
  const Modes modes(form);
  const GroupMask p = read_predicate(w, op->d, op->sass->p0.invert);
  const GroupMask low = compared<F, kCompare>(a, b, modes, 0), high = compared<F, kCompare>(a, b, modes, 16);
  write_predicate(w, op->dst2, combined(form.combine, low, p));
  write_predicate(w, op->dst3, combined(form.combine, high, p));
  return op + 1;
}

template <typename F>
Handler handler(const Instruction& i) {
  const sass::FloatForm& form = i.floating;
  const bool modes = form.ftz || form.saturate || form.relu;
  if (form.bf16 && form.ftz) return nullptr;  // ptxas does not write it
  switch (i.opcode) {
    case Opcode::kHADD2:
      return modes ? add<F, true> : add<F, false>;
    case Opcode::kHMUL2:
      return modes ? fused_multiply<F, true, false> : fused_multiply<F, false, false>;
    case Opcode::kHFMA2:
      return modes ? fused_multiply<F, true, true> : fused_multiply<F, false, true>;
    case Opcode::kHMNMX2:
      if (form.xor_sign && !(i.a.absolute && i.b.absolute && !i.a.negate && !i.b.negate)) return nullptr;
      return min_max<F>;
    case Opcode::kHSET2:
      return by_compare(form.compare, []<Compare kCompare>() -> Handler { return set_values<F, kCompare>; });
    case Opcode::kHSETP2:
      if (form.both_halves) return nullptr;  // not seen in use
      return by_compare(form.compare, []<Compare kCompare>() -> Handler { return set_predicates<F, kCompare>; });
    default:
      return nullptr;
  }
}

/// Which half of the source a conversion takes is plain.
bool one_half(const sass::Operand& o) {
  return o.half != 0 || o.kind == sass::OperandKind::kImmediate ||
         (o.kind == sass::OperandKind::kRegister && o.index == sass::kRz);
}

}  // namespace

Handler find_sass_half(const Instruction& i) {
  if (i.opcode == Opcode::kHADD2 && i.floating.f32_sum)
    return one_half(i.a) && one_half(i.b) && !i.floating.ftz ? to_single : nullptr;
  return i.floating.bf16 ? handler<Brain>(i) : handler<Half>(i);
}

}  // namespace muscope::exec::MUSCOPE_ISA
