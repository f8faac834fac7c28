// Packed bytes and halves of machine code: IDP, VABSDIFF, VABSDIFF4, and the .16x2 forms of VIADD and of the minima.
#include <algorithm>

#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::int32_t;
using std::uint32_t;

template <typename T>
[[gnu::always_inline]] inline int32_t part(uint32_t v, unsigned k) {
  return static_cast<T>(v >> (k * sizeof(T) * 8));
}

template <typename A, typename B>
const XOp* dot_of_bytes(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const IntegerSign sign(op->sass->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    uint32_t sum = sign(c[l]);
    for (unsigned k = 0; k < 4; ++k) sum += static_cast<uint32_t>(part<A>(a[l], k) * part<B>(b[l], k));
    return sum;
  });
  return op + 1;
}

/// Two halves of a by two bytes of b, from byte kFirst on.
template <typename A, typename B, unsigned kFirst>
const XOp* dot_of_halves(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const IntegerSign sign(op->sass->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    uint32_t sum = sign(c[l]);
    for (unsigned k = 0; k < 2; ++k) sum += static_cast<uint32_t>(part<A>(a[l], k) * part<B>(b[l], k + kFirst));
    return sum;
  });
  return op + 1;
}

template <typename B8>
Handler dot_handler(const sass::IntegerForm& form) {
  using std::int16_t, std::int8_t, std::uint16_t, std::uint8_t;
  switch (form.mode) {
    case 0:
      return form.is_unsigned ? dot_of_bytes<uint8_t, B8> : dot_of_bytes<int8_t, B8>;
    case 1:
      return form.is_unsigned ? dot_of_halves<uint16_t, B8, 0> : dot_of_halves<int16_t, B8, 0>;
    default:
      return form.is_unsigned ? dot_of_halves<uint16_t, B8, 2> : dot_of_halves<int16_t, B8, 2>;
  }
}

template <typename T>
const XOp* difference(Warp& w, const XOp* op) {
  const T *a = w.src<T>(op->a), *b = w.src<T>(op->b);
  const uint32_t* c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const auto x = static_cast<uint32_t>(a[l]), y = static_cast<uint32_t>(b[l]);
    return (a[l] < b[l] ? y - x : x - y) + c[l];
  });
  return op + 1;
}

/// kSum: the four differences are added to c; else they are the bytes of the result.
template <typename T, bool kSum>
const XOp* differences_of_bytes(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    uint32_t result = kSum ? c[l] : 0;
    for (unsigned k = 0; k < 4; ++k) {
      const int32_t x = part<T>(a[l], k), y = part<T>(b[l], k);
      const auto distance = static_cast<uint32_t>(x < y ? y - x : x - y);
      result += kSum ? distance : distance << (8 * k);
    }
    return result;
  });
  return op + 1;
}

[[gnu::always_inline]] inline uint32_t pair(uint32_t low, uint32_t high) { return (low & 0xffffu) | high << 16; }

template <bool kNegate>
const XOp* add_halves(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const uint32_t low = kNegate ? a[l] - b[l] : a[l] + b[l];
    const uint32_t high = kNegate ? (a[l] >> 16) - (b[l] >> 16) : (a[l] >> 16) + (b[l] >> 16);
    return pair(low, high);
  });
  return op + 1;
}

enum class Sources : std::uint8_t { kTwo, kSumAndThird, kThree };

template <typename T, Sources kSources, bool kRelu>
[[gnu::always_inline]] inline uint32_t minimum_of(bool smaller, uint32_t a, uint32_t b, uint32_t c) {
  const auto choose = [smaller](T x, T y) { return smaller ? std::min(x, y) : std::max(x, y); };
  T r;
  if constexpr (kSources == Sources::kTwo)
    r = choose(static_cast<T>(a), static_cast<T>(b));
  else if constexpr (kSources == Sources::kThree)
    r = choose(choose(static_cast<T>(a), static_cast<T>(b)), static_cast<T>(c));
  else
    r = choose(static_cast<T>(a + b), static_cast<T>(c));
  if constexpr (kRelu) r = std::max(r, T{0});
  return static_cast<uint32_t>(r);
}

/// VIMNMX with predicates: whether the lower half of the result is that of a, then the upper one.
template <typename T, bool kRelu>
const XOp* minimum_with_origins(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b);
  const LaneBits smaller{read_predicate(w, op->d, op->sass->p0.invert)};
  const auto result = [=](unsigned l) {
    const bool least = smaller(l) != 0;
    return pair(minimum_of<T, Sources::kTwo, kRelu>(least, a[l], b[l], 0),
                minimum_of<T, Sources::kTwo, kRelu>(least, a[l] >> 16, b[l] >> 16, 0));
  };
  const GroupMask low = mask_of([=](unsigned l) { return ((result(l) ^ a[l]) & 0xffffu) == 0; });
  const GroupMask high = mask_of([=](unsigned l) { return (result(l) ^ a[l]) >> 16 == 0; });
  for_lanes(w, w.dst<uint32_t>(op->dst), result);
  write_predicate(w, op->dst2, low);
  write_predicate(w, op->dst3, high);
  return op + 1;
}

Handler origins_handler(const Instruction& i) {
  if (!i.integer.packed || !written(i.pdst0)) return nullptr;
  if (i.integer.is_unsigned) return i.integer.relu ? nullptr : minimum_with_origins<std::uint16_t, false>;
  return i.integer.relu ? minimum_with_origins<std::int16_t, true> : minimum_with_origins<std::int16_t, false>;
}

template <typename T, Sources kSources, bool kRelu, bool kNegate>
const XOp* minimum_of_halves(Warp& w, const XOp* op) {
  const uint32_t *a = w.src<uint32_t>(op->a), *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  const LaneBits smaller{read_predicate(w, op->d, op->sass->p0.invert)};
  for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned l) {
    const bool low = smaller(l) != 0;
    const uint32_t first = kNegate ? 0u - b[l] : b[l], second = kNegate ? 0u - (b[l] >> 16) : b[l] >> 16;
    return pair(minimum_of<T, kSources, kRelu>(low, a[l], first, c[l]),
                minimum_of<T, kSources, kRelu>(low, a[l] >> 16, second, c[l] >> 16));
  });
  return op + 1;
}

template <Sources kSources, bool kNegate>
Handler minimum_handler(const Instruction& i) {
  if (!i.integer.packed) return nullptr;
  if (i.integer.is_unsigned)
    return i.integer.relu ? nullptr : minimum_of_halves<std::uint16_t, kSources, false, kNegate>;
  return i.integer.relu ? minimum_of_halves<std::int16_t, kSources, true, kNegate>
                        : minimum_of_halves<std::int16_t, kSources, false, kNegate>;
}

}  // namespace

Handler find_sass_video(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  switch (i.opcode) {
    case Opcode::kIDP:
      return form.source_signed ? dot_handler<std::int8_t>(form) : dot_handler<std::uint8_t>(form);
    case Opcode::kVABSDIFF:
      if (written(i.pdst0)) return nullptr;
      return form.is_unsigned ? difference<uint32_t> : difference<int32_t>;
    case Opcode::kVABSDIFF4:
      if (written(i.pdst0)) return nullptr;
      if (form.mode != 0)
        return form.is_unsigned ? differences_of_bytes<std::uint8_t, true> : differences_of_bytes<std::int8_t, true>;
      // ptxas names a third source here too, which has no part in the result (H200).
      return form.is_unsigned ? differences_of_bytes<std::uint8_t, false> : differences_of_bytes<std::int8_t, false>;
    case Opcode::kVIADD:
      return i.b.negate ? add_halves<true> : add_halves<false>;
    case Opcode::kVIMNMX:
      if (written(i.pdst0) || written(i.pdst1)) return origins_handler(i);
      return minimum_handler<Sources::kTwo, false>(i);
    case Opcode::kVIADDMNMX:
      return i.b.negate ? minimum_handler<Sources::kSumAndThird, true>(i)
                        : minimum_handler<Sources::kSumAndThird, false>(i);
    case Opcode::kVIMNMX3:
      return minimum_handler<Sources::kThree, false>(i);
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
