// The addresses of a memory op's lanes, classified once: uniform, affine or scattered. Included by files that are
// compiled once per instruction set level.
#pragma once

#include <bit>

#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using trace::Shape;

struct Addresses {
  Shape shape = Shape::kUniform;
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  std::uint64_t low = 0, high = 0;  ///< lowest and highest address of an active lane
  std::uint64_t bits = 0;           ///< or of all of them (at least their lower words), for alignment
  alignas(64) std::uint64_t each[kGroupLanes];
};

/// Classifies 32- or 64-bit address registers plus a constant offset.
template <typename A>
[[gnu::always_inline]] inline void classify(const Warp& w, const A* a, std::int64_t offset, Addresses& out) {
  const auto add = static_cast<A>(offset);
  if (w.active == kAllLanes) {
    const A step = static_cast<A>(a[1] - a[0]);
    A different = 0;
    for (unsigned l = 0; l + 1 < kGroupLanes; ++l) different |= static_cast<A>((a[l + 1] - a[l]) ^ step);
    if (different == 0) {
      const A first = static_cast<A>(a[0] + add), last = static_cast<A>(a[kGroupLanes - 1] + add);
      out.base = first;
      out.stride = static_cast<std::int64_t>(static_cast<std::make_signed_t<A>>(step));
      out.shape = step == 0 ? Shape::kUniform : Shape::kAffine;
      out.bits = first | step;
      const bool down = out.stride < 0;
      out.low = down ? last : first;
      out.high = down ? first : last;
      // A register that wraps around its width is not affine.
      if (out.base + static_cast<std::uint64_t>(out.stride) * (kGroupLanes - 1) == last) return;
    }
    out.shape = Shape::kScattered;
    A low = static_cast<A>(a[0] + add), high = low, all = 0;
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const A v = static_cast<A>(a[l] + add);
      out.each[l] = v;
      low = v < low ? v : low;
      high = v > high ? v : high;
      all |= v;
    }
    out.low = low, out.high = high, out.bits = all;
    return;
  }
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.active));
  const GroupMask rest = w.active & (w.active - 1);
  std::int64_t stride = 0;
  bool affine = true;
  const std::uint64_t base = static_cast<A>(a[first] + add);
  if (rest != 0) {
    const unsigned second = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t gap =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<A>(a[second] + add)) - base);
    const std::int64_t lanes = static_cast<std::int64_t>(second - first);
    stride = lanes == 1 ? gap : gap / lanes;
    affine = stride * lanes == gap;
  }
  const std::uint64_t zero = base - static_cast<std::uint64_t>(stride) * first;  // lane 0's address
  std::uint64_t low = base, high = base, all = 0;
  for (GroupMask left = w.active; left; left &= left - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t v = static_cast<A>(a[l] + add);
    out.each[l] = v;
    low = v < low ? v : low;
    high = v > high ? v : high;
    all |= v;
    affine = affine && v == zero + static_cast<std::uint64_t>(stride) * l;
  }
  out.low = low, out.high = high, out.bits = all;
  out.shape = !affine ? Shape::kScattered : stride == 0 ? Shape::kUniform : Shape::kAffine;
  out.base = zero;
  out.stride = stride;
}

/// Register pairs whose lanes all share the upper word, which is nearly every access: low words that are affine without
/// wrapping, or whatever they are. False where the upper words differ, or lanes are off and the low words not affine.
/// The result is classify()'s.
[[gnu::always_inline]] inline bool classify_pairs(const Warp& w, const std::uint32_t* low, std::uint64_t extra,
                                                  Addresses& out) {
  const std::uint32_t *high = low + kGroupLanes, first = low[0], step = low[1] - first, upper = high[0];
  std::uint32_t other_upper = 0, other_step = 0;
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    other_upper |= high[l] ^ upper;
    other_step |= low[l] ^ (first + step * l);
  }
  if (other_upper != 0) return false;
  const std::uint64_t above = (std::uint64_t{upper} << 32) + extra;
  const auto stride = static_cast<std::int64_t>(static_cast<std::int32_t>(step));
  const std::int64_t last = std::int64_t{first} + stride * (kGroupLanes - 1);
  if (other_step == 0 && last >> 32 == 0) {
    const auto from = static_cast<std::int64_t>(std::countr_zero(w.active));
    const auto to = static_cast<std::int64_t>(std::bit_width(w.active)) - 1;
    out.stride = from == to ? 0 : stride;
    out.shape = out.stride == 0 ? Shape::kUniform : Shape::kAffine;
    const std::uint64_t a = above + static_cast<std::uint64_t>(first + stride * from);
    const std::uint64_t b = above + static_cast<std::uint64_t>(first + stride * to);
    out.base = out.stride == 0 ? a : above + first;
    out.low = stride < 0 ? b : a;
    out.high = stride < 0 ? a : b;
    out.bits = a | static_cast<std::uint64_t>(out.stride);
    if (w.active != kAllLanes) {  // only what the lanes use: they may leave out what is not aligned
      const auto add = static_cast<std::uint32_t>(extra);
      std::uint32_t bits = 0;
      for (unsigned l = 0; l < kGroupLanes; ++l) bits |= w.lanes[l] ? low[l] + add : 0;
      out.bits = bits;
    }
    return true;
  }
  if (w.active != kAllLanes) return false;
  std::uint32_t least = first, most = first;
  std::uint64_t bits = 0;
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    least = low[l] < least ? low[l] : least;
    most = low[l] > most ? low[l] : most;
  }
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    out.each[l] = above + low[l];
    bits |= out.each[l];
  }
  out.shape = Shape::kScattered;
  out.low = above + least, out.high = above + most, out.bits = bits;
  return true;
}

/// Machine code: a register pair, or a register, or none, plus a uniform register.
[[gnu::noinline]] inline void find_machine_addresses(const Warp& w, const XOp* op, Addresses& out) {
  const std::int64_t extra = op->offset + static_cast<std::int64_t>(uniform_part(w, op));
  if (!op->has_base) {
    out.shape = Shape::kUniform;
    out.base = out.low = out.high = out.bits = static_cast<std::uint64_t>(extra);
    out.stride = 0;
    return;
  }
  const std::uint32_t* low = w.src<std::uint32_t>(op->a);
  if (!(op->flags & (kAddressPair | kUniform64))) return classify(w, low, extra, out);
  if (w.active == 0) return;  // memory ops run with a lane at least; said here for the compiler
  alignas(64) std::uint64_t wide[kGroupLanes];
  if (op->flags & kAddressPair) {
    if (classify_pairs(w, low, static_cast<std::uint64_t>(extra), out)) return;
    for (unsigned l = 0; l < kGroupLanes; ++l) wide[l] = low[l] | std::uint64_t{low[l + kGroupLanes]} << 32;
  } else {
    for (unsigned l = 0; l < kGroupLanes; ++l) wide[l] = low[l];
  }
  classify(w, wide, extra, out);
}

[[gnu::always_inline]] inline void find_addresses(const Warp& w, const XOp* op, std::int64_t extra, Addresses& out) {
  if (op->flags & (kAddressPair | kUniform32 | kUniform64)) return find_machine_addresses(w, op, out);
  if (!op->has_base) {
    out.shape = Shape::kUniform;
    out.base = out.low = out.high = out.bits = static_cast<std::uint64_t>(op->offset + extra);
    out.stride = 0;
  } else if (op->flags & 1) {
    classify(w, w.src<std::uint64_t>(op->a), op->offset + extra, out);
  } else {
    classify(w, w.src<std::uint32_t>(op->a), op->offset + extra, out);
  }
}

inline void spread(Addresses& a) {
  if (a.shape == Shape::kScattered) return;
  for (unsigned l = 0; l < kGroupLanes; ++l)
    a.each[l] = a.base + static_cast<std::uint64_t>(a.stride * static_cast<std::int64_t>(l));
}

inline unsigned first_misaligned(const Warp& w, const Addresses& a, std::uint32_t bytes) {
  for (GroupMask left = w.active; left; left &= left - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t v = a.shape == Shape::kScattered
                                ? a.each[l]
                                : a.base + static_cast<std::uint64_t>(a.stride * static_cast<std::int64_t>(l));
    if (v & (bytes - 1)) return l;
  }
  return 0;
}

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
