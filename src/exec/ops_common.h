// What the op families share. Included by files that are compiled once per instruction set level, in the namespace
// MUSCOPE_ISA; only plain loops, so that the compiler can vectorise them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "exec/warp.h"

#ifndef MUSCOPE_ISA
#define MUSCOPE_ISA isa_v2
#endif

namespace muscope::exec::MUSCOPE_ISA {
namespace {

/// d[l] = f(l) for the active lanes. f must be harmless for inactive lanes.
template <typename D, typename F>
[[gnu::always_inline]] inline void for_lanes(Warp& w, D* d, F f) {
  if (w.active == kAllLanes) {
#pragma GCC ivdep
    for (unsigned l = 0; l < kGroupLanes; ++l) d[l] = f(l);
  } else {
    const std::int32_t* on = w.lanes;
#pragma GCC ivdep
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const D r = f(l);
      d[l] = on[l] ? r : d[l];
    }
  }
}

/// Packs f(l) != 0 into a mask.
template <typename F>
[[gnu::always_inline]] inline GroupMask mask_of(F f) {
  alignas(64) std::uint8_t bits[kGroupLanes];
#pragma GCC ivdep
  for (unsigned l = 0; l < kGroupLanes; ++l) bits[l] = f(l) ? 1 : 0;
  GroupMask m = 0;
  for (unsigned g = 0; g < 4; ++g) {
    std::uint64_t eight;
    std::memcpy(&eight, bits + g * 8, 8);
    // Gathers the low bit of each byte, first byte lowest.
    m |= static_cast<GroupMask>((eight * 0x0102040810204080ull) >> 56) << (g * 8);
  }
  return m;
}

/// Writes a predicate for the active lanes.
[[gnu::always_inline]] inline void write_predicate(Warp& w, std::uint32_t place, GroupMask value) {
  std::uint32_t* p = w.dst<std::uint32_t>(place);
  *p = (*p & ~w.active) | (value & w.active);
}

[[gnu::always_inline]] inline GroupMask read_predicate(const Warp& w, std::uint32_t place, bool negated) {
  const GroupMask p = *w.src<std::uint32_t>(place);
  return negated ? ~p : p;
}

template <typename D, typename A, typename F>
struct Unary {
  static const XOp* run(Warp& w, const XOp* op) {
    const A* a = w.src<A>(op->a);
    for_lanes(w, w.dst<D>(op->dst), [=](unsigned l) { return F::apply(a[l]); });
    return op + 1;
  }
};

template <typename D, typename A, typename B, typename F>
struct Binary {
  static const XOp* run(Warp& w, const XOp* op) {
    const A* a = w.src<A>(op->a);
    const B* b = w.src<B>(op->b);
    for_lanes(w, w.dst<D>(op->dst), [=](unsigned l) { return F::apply(a[l], b[l]); });
    return op + 1;
  }
};

template <typename D, typename A, typename B, typename C, typename F>
struct Ternary {
  static const XOp* run(Warp& w, const XOp* op) {
    const A* a = w.src<A>(op->a);
    const B* b = w.src<B>(op->b);
    const C* c = w.src<C>(op->c);
    for_lanes(w, w.dst<D>(op->dst), [=](unsigned l) { return F::apply(a[l], b[l], c[l]); });
    return op + 1;
  }
};

}  // namespace
}  // namespace muscope::exec::MUSCOPE_ISA
