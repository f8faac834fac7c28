// Exchanges between lanes of machine code: SHFL, VOTE, VOTEU, MATCH, REDUX, R2UR, ELECT. They act on the running lanes;
// the code has brought those together that are meant to take part.
#include <bit>

#include "exec/sass_integer.h"

namespace muscope::exec::MUSCOPE_ISA {
namespace {

using sass::Instruction;
using sass::Opcode;
using std::uint32_t;

enum ShuffleMode : std::uint8_t { kIndex, kUp, kDown, kButterfly };

/// Each lane reads another one's a (PTX ISA, "shfl.sync": bits 8 to 12 of c are the segment mask, 0 to 4 the clamp).
/// Lanes that do not run give 0 (H200; the manual leaves it open).
template <ShuffleMode kMode>
const XOp* shuffle(Warp& w, const XOp* op) {
  const uint32_t *b = w.src<uint32_t>(op->b), *c = w.src<uint32_t>(op->c);
  alignas(64) uint32_t a[kGroupLanes], from[kGroupLanes];
  std::memcpy(a, w.src<uint32_t>(op->a), sizeof a);
  for (unsigned l = 0; l < kGroupLanes; ++l) a[l] &= static_cast<uint32_t>(w.lanes[l]);
  alignas(64) std::uint8_t inside[kGroupLanes];
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    const uint32_t lane = b[l] & 31, segment = (c[l] >> 8) & 31, clamp = c[l] & 31;
    const uint32_t last = (l & segment) | (clamp & ~segment);
    uint32_t source;
    bool ok;
    if constexpr (kMode == kUp) {
      source = l - lane;
      ok = static_cast<std::int32_t>(source) >= static_cast<std::int32_t>(last);
    } else {
      if constexpr (kMode == kDown)
        source = l + lane;
      else if constexpr (kMode == kButterfly)
        source = l ^ lane;
      else
        source = (l & segment) | (lane & ~segment);
      ok = source <= last;
    }
    from[l] = ok ? source & 31 : l;
    inside[l] = ok ? 1 : 0;
  }
  for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return a[from[l]]; });
  write_predicate(w, op->dst2, mask_of([&](unsigned l) { return inside[l]; }));
  return op + 1;
}

/// The value for all lanes of a uniform register, whichever of them run.
[[gnu::always_inline]] inline void write_uniform(Warp& w, std::uint32_t place, uint32_t value) {
  uint32_t* d = w.dst<uint32_t>(place);
  for (unsigned l = 0; l < kGroupLanes; ++l) d[l] = value;
}

[[gnu::always_inline]] inline unsigned leader(const Warp& w) {
  return static_cast<unsigned>(std::countr_zero(w.active));
}

enum VoteMode : std::uint8_t { kAll, kAny, kEqual };

/// The running lanes where the predicate holds, and whether those are all, any, or all or none.
template <VoteMode kMode, bool kUniform>
const XOp* vote(Warp& w, const XOp* op) {
  const GroupMask ballot = read_predicate(w, op->d, op->sass->p0.invert) & w.active;
  bool result = ballot != 0;
  if constexpr (kMode == kAll) result = ballot == w.active;
  if constexpr (kMode == kEqual) result = ballot == w.active || ballot == 0;
  const GroupMask predicate = result ? kAllLanes : 0;
  if constexpr (kUniform) {
    write_uniform(w, op->dst, ballot);
    *w.dst<uint32_t>(op->dst2) = predicate;
  } else {
    for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned) { return ballot; });
    write_predicate(w, op->dst2, predicate);
  }
  return op + 1;
}

template <bool kUniform>
Handler vote_handler(std::uint8_t mode) {
  switch (mode) {
    case kAll:
      return vote<kAll, kUniform>;
    case kAny:
      return vote<kAny, kUniform>;
    case kEqual:
      return vote<kEqual, kUniform>;
    default:
      return nullptr;
  }
}

/// For each running lane those that have the same value; with kAllEqual the running lanes when all have, else none.
template <bool kWide, bool kAllEqual>
const XOp* match(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  alignas(64) std::uint64_t value[kGroupLanes];
  alignas(64) uint32_t equal[kGroupLanes] = {};
  for (unsigned l = 0; l < kGroupLanes; ++l) value[l] = kWide ? wide_value(a, l) : a[l];
  for (GroupMask left = w.active; left != 0;) {
    const std::uint64_t mine = value[std::countr_zero(left)];
    const GroupMask same = mask_of([&](unsigned l) { return value[l] == mine; }) & left;
    for (GroupMask m = same; m; m &= m - 1) equal[std::countr_zero(m)] = same;
    left &= ~same;
  }
  if constexpr (kAllEqual) {
    const bool all = equal[leader(w)] == w.active;
    const GroupMask result = all ? w.active : 0;
    for_lanes(w, w.dst<uint32_t>(op->dst), [=](unsigned) { return result; });
    write_predicate(w, op->dst2, all ? kAllLanes : 0);
  } else {
    for_lanes(w, w.dst<uint32_t>(op->dst), [&](unsigned l) { return equal[l]; });
  }
  return op + 1;
}

enum Reduction : std::uint8_t { kAnd, kOr, kXor, kSum, kMin, kMax };

template <typename T, Reduction kReduction>
const XOp* reduce(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  T result = a[leader(w)];
  for (GroupMask m = w.active & (w.active - 1); m; m &= m - 1) {
    const T v = a[std::countr_zero(m)];
    if constexpr (kReduction == kAnd) result &= v;
    if constexpr (kReduction == kOr) result |= v;
    if constexpr (kReduction == kXor) result ^= v;
    if constexpr (kReduction == kSum) result = static_cast<T>(static_cast<uint32_t>(result) + static_cast<uint32_t>(v));
    if constexpr (kReduction == kMin) result = v < result ? v : result;
    if constexpr (kReduction == kMax) result = v > result ? v : result;
  }
  write_uniform(w, op->dst, static_cast<uint32_t>(result));
  return op + 1;
}

template <typename T>
Handler reduction_handler(std::uint8_t reduction) {
  switch (reduction) {
    case kAnd:
      return reduce<T, kAnd>;
    case kOr:
      return reduce<T, kOr>;
    case kXor:
      return reduce<T, kXor>;
    case kSum:
      return reduce<T, kSum>;
    case kMin:
      return reduce<T, kMin>;
    case kMax:
      return reduce<T, kMax>;
    default:
      return nullptr;
  }
}

const XOp* to_uniform(Warp& w, const XOp* op) {
  write_uniform(w, op->dst, w.src<uint32_t>(op->a)[leader(w)]);
  return op + 1;
}
/// The predicate says where the lane's own value is another one; .OR adds that to what it said.
const XOp* to_uniform_check(Warp& w, const XOp* op) {
  const uint32_t* a = w.src<uint32_t>(op->a);
  const uint32_t value = a[leader(w)];
  const GroupMask differs = mask_of([=](unsigned l) { return a[l] != value; });
  write_uniform(w, op->dst, value);
  const GroupMask before = op->sass->integer.mode != 0 ? *w.src<uint32_t>(op->dst2) : 0;
  write_predicate(w, op->dst2, differs | before);
  return op + 1;
}

/// The lowest of the running lanes where the predicate holds; all ones when there is none.
const XOp* elect(Warp& w, const XOp* op) {
  const GroupMask candidates = read_predicate(w, op->d, op->sass->p0.invert) & w.active;
  const GroupMask elected = candidates & (0u - candidates);
  write_uniform(w, op->dst, candidates ? static_cast<uint32_t>(std::countr_zero(candidates)) : 0xffffffffu);
  write_predicate(w, op->dst2, elected);
  return op + 1;
}

Handler shuffle_handler(std::uint8_t mode) {
  switch (mode) {
    case kIndex:
      return shuffle<kIndex>;
    case kUp:
      return shuffle<kUp>;
    case kDown:
      return shuffle<kDown>;
    default:
      return shuffle<kButterfly>;
  }
}

}  // namespace

Handler find_sass_lanes(const Instruction& i) {
  const sass::IntegerForm& form = i.integer;
  switch (i.opcode) {
    case Opcode::kSHFL:
      return shuffle_handler(form.mode);
    case Opcode::kVOTE:
      return vote_handler<false>(form.mode);
    case Opcode::kVOTEU:
      return vote_handler<true>(form.mode);
    case Opcode::kMATCH:
      if (form.source_bits == 64) return form.mode != 0 ? match<true, false> : match<true, true>;
      return form.mode != 0 ? match<false, false> : match<false, true>;
    case Opcode::kREDUX:
      return form.is_unsigned ? reduction_handler<uint32_t>(form.mode) : reduction_handler<std::int32_t>(form.mode);
    case Opcode::kR2UR:
      return written(i.pdst0) ? to_uniform_check : to_uniform;
    case Opcode::kELECT:
      return elect;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec::MUSCOPE_ISA
