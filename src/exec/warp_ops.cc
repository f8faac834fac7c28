#include "exec/warp_ops.h"

#include <bit>
#include <cstring>

#include "exec/paths.h"
#include "exec/program.h"

namespace muscope::exec {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

/// The lanes that the active ones name in their member masks (place op->d): groups with masks of their own may be here.
GroupMask named(const Warp& w, const XOp* op) {
  const std::uint32_t* mask = w.src<std::uint32_t>(op->d);
  GroupMask all = 0;
  for (GroupMask m = w.active; m; m &= m - 1) all |= mask[std::countr_zero(m)];
  return all;
}

/// Brings the lanes named by the member masks together. False: run `next` instead.
bool gather(Warp& w, const XOp* op, const XOp** next) {
  const bool alone = op->d == kNoPlace || w.paths.empty();
  const GroupMask members = alone ? 0 : named(w, op);
  if ((members & w.alive & ~w.active) == 0) {
    w.forced_sync = false;
    return true;
  }
  return rendezvous(w, op, members, next);
}

/// Runs `body` for each group of lanes with the same member mask, with the group alone active (PTX ISA: threads wait
/// for those "with the same qualifiers and same membermask").
template <typename Body>
void by_mask(Warp& w, const XOp* op, const Body& body) {
  if (op->d == kNoPlace) return body();
  const GroupMask all = w.active;
  const std::uint32_t* mask = w.src<std::uint32_t>(op->d);
  for (GroupMask rest = all; rest;) {
    const std::uint32_t mine = mask[std::countr_zero(rest)];
    GroupMask same = 0;
    for (GroupMask m = rest; m; m &= m - 1)
      if (mask[std::countr_zero(m)] == mine) same |= m & (0u - m);
    if (same == all) return body();
    set_active(w, same);
    body();
    rest &= ~same;
  }
  set_active(w, all);
}

void write_mask(Warp& w, std::uint32_t place, GroupMask value) {
  std::uint32_t* p = w.dst<std::uint32_t>(place);
  *p = (*p & ~w.active) | (value & w.active);
}

enum ShuffleMode : std::uint8_t { kUp, kDown, kBfly, kIdx };

/// shfl (PTX ISA, "shfl.sync"): c holds the segment mask in bits 8-12 and the clamp in bits 0-4.
const XOp* shuffle(Warp& w, const XOp* op) {
  const XOp* next = op + 1;
  if (!gather(w, op, &next)) return next;
  alignas(64) std::uint32_t a[kGroupLanes];
  std::memcpy(a, w.src<std::uint32_t>(op->a), sizeof a);
  const std::uint32_t *b = w.src<std::uint32_t>(op->b), *c = w.src<std::uint32_t>(op->c);
  std::uint32_t* d = op->dst != kNoPlace ? w.dst<std::uint32_t>(op->dst) : nullptr;
  GroupMask in_range = 0;
  alignas(64) std::uint32_t from[kGroupLanes];
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) {
    const std::uint32_t amount = b[lane] & 31, segment = (c[lane] >> 8) & 31, clamp = c[lane] & 31;
    const std::uint32_t max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
    std::uint32_t source = lane;
    bool ok = true;
    switch (op->imm8) {
      case kUp:
        ok = static_cast<std::int32_t>(lane - amount) >= static_cast<std::int32_t>(max_lane);
        source = lane - amount;
        break;
      case kDown:
        source = lane + amount;
        ok = source <= max_lane;
        break;
      case kBfly:
        source = lane ^ amount;
        ok = source <= max_lane;
        break;
      default:
        source = min_lane | (amount & ~segment);
        ok = source <= max_lane;
    }
    from[lane] = ok ? source & 31 : lane;
    in_range |= static_cast<GroupMask>(ok) << lane;
  }
  if (d) {
    if (w.active == kAllLanes) {
      for (unsigned lane = 0; lane < kGroupLanes; ++lane) d[lane] = a[from[lane]];
    } else {
      for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = a[from[std::countr_zero(m)]];
    }
  }
  if (op->has_dst2) write_mask(w, op->dst2, in_range);
  return op + 1;
}

enum VoteMode : std::uint8_t { kAll, kAny, kUni, kBallot };
void vote_of_group(Warp& w, const XOp* op) {
  const GroupMask raw = *w.src<std::uint32_t>(op->a);
  GroupMask members = w.active;
  if (op->d != kNoPlace) members &= w.src<std::uint32_t>(op->d)[std::countr_zero(w.active)];
  const GroupMask p = (op->a_negated ? ~raw : raw) & members;
  switch (op->imm8) {
    case kBallot: {
      std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
      for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = p;
      break;
    }
    case kAll:
      write_mask(w, op->dst, p == members ? kAllLanes : 0);
      break;
    case kAny:
      write_mask(w, op->dst, p != 0 ? kAllLanes : 0);
      break;
    default:
      write_mask(w, op->dst, p == members || p == 0 ? kAllLanes : 0);
  }
}

const XOp* vote(Warp& w, const XOp* op) {
  const XOp* next = op + 1;
  if (!gather(w, op, &next)) return next;
  by_mask(w, op, [&] { vote_of_group(w, op); });
  return op + 1;
}

template <typename T, bool kMatchAll>
void match_in_group(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  GroupMask members = w.active;
  if (op->d != kNoPlace) members &= w.src<std::uint32_t>(op->d)[std::countr_zero(w.active)];
  alignas(64) T value[kGroupLanes];
  std::memcpy(value, a, sizeof value);
  std::uint32_t* d = op->dst != kNoPlace ? w.dst<std::uint32_t>(op->dst) : nullptr;
  if constexpr (kMatchAll) {
    bool same = true;
    const T first = value[std::countr_zero(members ? members : w.active)];
    for (GroupMask m = members; m; m &= m - 1) same = same && value[std::countr_zero(m)] == first;
    if (d)
      for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = same ? members : 0;
    if (op->has_dst2) write_mask(w, op->dst2, same ? kAllLanes : 0);
  } else {
    for (GroupMask m = w.active; m && d; m &= m - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(m));
      GroupMask equal = 0;
      for (GroupMask k = members; k; k &= k - 1)
        if (value[std::countr_zero(k)] == value[lane]) equal |= k & (0u - k);
      d[lane] = equal;
    }
  }
}

template <typename T, bool kMatchAll>
const XOp* match(Warp& w, const XOp* op) {
  const XOp* next = op + 1;
  if (!gather(w, op, &next)) return next;
  by_mask(w, op, [&] { match_in_group<T, kMatchAll>(w, op); });
  return op + 1;
}

enum ReduceMode : std::uint8_t { kRAdd, kRMin, kRMax, kRAnd, kROr, kRXor };
template <typename T>
void reduce_group(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  GroupMask members = w.active;
  if (op->d != kNoPlace) members &= w.src<std::uint32_t>(op->d)[std::countr_zero(w.active)];
  if (members == 0) members = w.active;
  T r = a[std::countr_zero(members)];
  for (GroupMask m = members & (members - 1); m; m &= m - 1) {
    const T v = a[std::countr_zero(m)];
    switch (op->imm8) {
      case kRAdd:
        r = static_cast<T>(static_cast<std::uint32_t>(r) + static_cast<std::uint32_t>(v));
        break;
      case kRMin:
        r = v < r ? v : r;
        break;
      case kRMax:
        r = v > r ? v : r;
        break;
      case kRAnd:
        r &= v;
        break;
      case kROr:
        r |= v;
        break;
      default:
        r ^= v;
    }
  }
  T* d = w.dst<T>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = r;
}

template <typename T>
const XOp* reduce(Warp& w, const XOp* op) {
  const XOp* next = op + 1;
  if (!gather(w, op, &next)) return next;
  by_mask(w, op, [&] { reduce_group<T>(w, op); });
  return op + 1;
}

const XOp* active_mask(Warp& w, const XOp* op) {
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = w.active;
  return op + 1;
}

/// bar.warp.sync: waits for the lanes of the mask at any bar.warp.sync with that mask (PTX ISA, "bar.warp.sync").
const XOp* warp_barrier(Warp& w, const XOp* op) {
  // Groups with masks of their own, all of them complete.
  if ((named(w, op) & w.alive & ~w.active) == 0) {
    w.forced_sync = false;
    return op + 1;
  }
  const GroupMask members = w.src<std::uint32_t>(op->d)[std::countr_zero(w.active)];
  const auto waits = [&](const Path& p) {
    return p.state == PathState::kSync && p.members == members && w.worker->program->ops[p.op].run == warp_barrier;
  };
  GroupMask here = w.active;
  for (const Path& p : w.paths)
    if (waits(p)) here |= p.mask;
  if ((members & w.alive & ~here) != 0 && !w.forced_sync) {
    save_path(w, static_cast<std::uint32_t>(op - w.worker->program->ops.data()), PathState::kSync, 0, members);
    return next_path(w);
  }
  w.forced_sync = false;
  for (std::size_t i = 0; i < w.paths.size(); ++i) {
    Path& p = w.paths[i];
    if (!waits(p)) continue;
    p.state = PathState::kReady;
    p.members = 0;
    ++p.op;
    if (p.op != static_cast<std::uint32_t>(op + 1 - w.worker->program->ops.data()) || !same_stack(w, p)) continue;
    set_active(w, w.active | p.mask);
    w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(i--));
  }
  return op + 1;
}

const XOp* elect(Warp& w, const XOp* op) {
  const XOp* next = op + 1;
  if (!gather(w, op, &next)) return next;
  by_mask(w, op, [&] {
    const unsigned leader = static_cast<unsigned>(std::countr_zero(w.active));
    if (op->dst != kNoPlace) {
      std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
      for (GroupMask m = w.active; m; m &= m - 1) d[std::countr_zero(m)] = leader;
    }
    if (op->has_dst2) write_mask(w, op->dst2, 1u << leader);
  });
  return op + 1;
}

}  // namespace

Handler find_warp(const code::Op& op) {
  const ptx::Instruction& i = *op.source;
  switch (op.opcode) {
    case Opcode::k_shfl:
      return shuffle;
    case Opcode::k_vote:
      return vote;
    case Opcode::k_match:
      if (ptx::size_of(op.type) == 8)
        return i.has(Mod::k_all) ? match<std::uint64_t, true> : match<std::uint64_t, false>;
      return i.has(Mod::k_all) ? match<std::uint32_t, true> : match<std::uint32_t, false>;
    case Opcode::k_redux:
      if (op.type == Type::kF32) return nullptr;
      return op.type == Type::kS32 ? reduce<std::int32_t> : reduce<std::uint32_t>;
    case Opcode::k_activemask:
      return active_mask;
    case Opcode::k_elect:
      return elect;
    case Opcode::k_bar:
      return i.has(Mod::k_warp) ? warp_barrier : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace muscope::exec
