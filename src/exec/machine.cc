#include "exec/machine.h"

#include <fmt/format.h>

#include <bit>

#include "exec/cluster.h"
#include "exec/control.h"
#include "exec/launch_context.h"
#include "exec/paths.h"
#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

const XOp* ops_of(const Warp& w) { return w.worker->program->ops.data(); }

std::uint32_t index_of(const Warp& w, const XOp* op) { return static_cast<std::uint32_t>(op - ops_of(w)); }

unsigned lowest(GroupMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

std::uint32_t* barrier_of(const Warp& w, std::size_t number) {
  return reinterpret_cast<std::uint32_t*>(w.registers + (code::kBarrierSlots + number) * code::kSlotBytes);
}

void put_barrier(const Warp& w, std::size_t number, GroupMask mask) {
  std::uint32_t* words = barrier_of(w, number);
  for (unsigned l = 0; l < kGroupLanes; ++l) words[l] = mask;
}

const XOp* set_barrier(Warp& w, const XOp* op) {
  put_barrier(w, static_cast<std::size_t>(op->offset), w.active);
  return op + 1;
}

const XOp* move_barrier(Warp& w, const XOp* op) {
  put_barrier(w, static_cast<std::size_t>(op->offset), w.src<std::uint32_t>(op->a)[lowest(w.active)]);
  return op + 1;
}

/// Number under which a path waits for a convergence barrier; WARPSYNC has none.
constexpr std::uint32_t waiting_for(std::size_t number) { return 0x100 + static_cast<std::uint32_t>(number); }

GroupMask waiting_lanes(const Warp& w, std::uint32_t waiting) {
  GroupMask lanes = 0;
  for (const Path& p : w.paths)
    if (p.state == PathState::kSync && p.barrier == waiting) lanes |= p.mask;
  return lanes;
}

/// Waiting paths of these lanes go on, those at the same place together: behind their instruction, or with it once
/// more.
void release(Warp& w, std::uint32_t waiting, GroupMask members, bool again) {
  for (Path& p : w.paths)
    if (p.state == PathState::kSync && p.barrier == waiting && (p.mask & members) != 0) {
      p.state = PathState::kReady;
      p.barrier = 0;
      p.op = again ? w.worker->program->kernel->blocks[ops_of(w)[p.op].block].enter : p.op + 1;
      p.members = 1;  // released now
    }
  for (std::size_t i = 0; i < w.paths.size(); ++i) {
    if (w.paths[i].members != 1 || w.paths[i].state != PathState::kReady) continue;
    for (std::size_t j = w.paths.size(); j-- > i + 1;)
      if (w.paths[j].members == 1 && w.paths[j].state == PathState::kReady && w.paths[j].op == w.paths[i].op) {
        w.paths[i].mask |= w.paths[j].mask;
        w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(j));
      }
    w.paths[i].members = 0;
  }
}

const XOp* wait_barrier(Warp& w, const XOp* op) {
  const auto number = static_cast<std::size_t>(op->offset);
  const GroupMask members = *barrier_of(w, number) & w.alive;
  if ((w.active & members) == 0 || w.active == members) return op + 1;
  save_path(w, index_of(w, op), PathState::kSync, waiting_for(number));
  set_active(w, 0);
  if ((members & ~waiting_lanes(w, waiting_for(number))) == 0) release(w, waiting_for(number), members, false);
  return next_path(w);
}

const XOp* leave_barrier(Warp& w, const XOp* op) {
  const auto number = static_cast<std::size_t>(op->offset);
  put_barrier(w, number, *barrier_of(w, number) & ~w.active);
  release_converged(w);
  return op + 1;
}

/// Leaves active those lanes that hold the same mask as the lowest one; the others issue the instruction once more.
void part_by_mask(Warp& w, const XOp* op) {
  const std::uint32_t* mask = w.src<std::uint32_t>(op->a);
  const std::uint32_t mine = mask[lowest(w.active)];
  GroupMask same = 0;
  for (GroupMask m = w.active; m; m &= m - 1)
    if (mask[lowest(m)] == mine) same |= m & (0u - m);
  if (same == w.active) return;
  set_active(w, w.active & ~same);
  save_path(w, w.worker->program->kernel->blocks[op->block].enter, PathState::kReady);
  set_active(w, same);
}

const XOp* warp_sync(Warp& w, const XOp* op) {
  if (op->offset != 0) part_by_mask(w, op);
  const GroupMask members = op->a == kNoPlace ? kAllLanes : w.src<std::uint32_t>(op->a)[lowest(w.active)];
  const GroupMask needed = members & w.alive;
  const std::uint32_t index = index_of(w, op);
  for (std::size_t i = 0; i < w.paths.size();) {
    Path& p = w.paths[i];
    if (p.op == index && p.state == PathState::kSync && p.members == members) {
      set_active(w, w.active | p.mask);
      w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if ((w.active & needed) == needed || w.forced_sync) {
    w.forced_sync = false;
    return op + 1;
  }
  save_path(w, index, PathState::kSync, 0, members);
  return next_path(w);
}

/// The lanes of a mask come together for some instructions and go on apart, as they came.
const XOp* begin_collective(Warp& w, const XOp* op) {
  const std::uint32_t index = index_of(w, op);
  const GroupMask mine = w.active;
  std::vector<GroupMask> groups;
  for (const Path& p : w.paths)
    if (p.op == index && p.state == PathState::kSync) groups.push_back(p.mask);
  const XOp* next = warp_sync(w, op);
  if (next != op + 1) return next;
  w.collective.clear();
  if (mine != w.active) {
    w.collective.push_back(mine);
    for (const GroupMask group : groups)
      if ((group & w.active) == group) w.collective.push_back(group);
  }
  w.collective_target = op->target;
  return next;
}

const XOp* end_collective(Warp& w, const XOp*) {
  const GroupMask all = w.active;
  for (std::size_t g = 1; g < w.collective.size(); ++g) {
    set_active(w, w.collective[g] & w.alive);
    if (w.active != 0) save_path(w, w.collective_target, PathState::kReady);
  }
  set_active(w, w.collective.empty() ? all : w.collective[0]);
  w.collective.clear();
  return ops_of(w) + w.collective_target;
}

const XOp* jump_indirect(Warp& w, const XOp* op) {
  const std::uint32_t* low = w.src<std::uint32_t>(op->a);
  const bool pair = op->bytes == 8;
  const auto target_of = [&](unsigned lane) {
    const std::uint64_t value =
        pair ? low[lane] | std::uint64_t{low[lane + kGroupLanes]} << 32
             : static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(low[lane])));
    // Absolute addresses are those that LEPC and the constant bank give; the others count from the section's start.
    return value >= code::kFunctionWindow ? value : code::kCodeWindow + value + static_cast<std::uint64_t>(op->offset);
  };
  const std::uint64_t mine = target_of(lowest(w.active));
  GroupMask same = 0;
  for (GroupMask m = w.active; m; m &= m - 1)
    if (target_of(lowest(m)) == mine) same |= m & (0u - m);
  const auto& targets = w.worker->program->kernel->code_targets;
  const auto found = targets.find(mine);
  if (found == targets.end())
    return raise(w, op, Outcome::kInvalidPc, "D606", fmt::format("jump to {:#x}, where no code begins", mine),
                 "function pointers must be taken in device code; a host function's address is not one");
  if (same != w.active) {
    const GroupMask rest = w.active & ~same;
    set_active(w, rest);
    // From the start of the block, which is this instruction: hardware issues it once for each target.
    save_path(w, w.worker->program->kernel->blocks[op->block].enter, PathState::kReady);
    set_active(w, same);
  }
  return ops_of(w) + found->second;
}

const XOp* branch_if_diverged(Warp& w, const XOp* op) {
  const GroupMask expected = w.src<std::uint32_t>(op->a)[lowest(w.active)];
  const bool if_converged = op->offset != 0;
  if ((w.active == expected) != if_converged) return ops_of(w) + op->target2;
  if (op->b == kNoPlace) return ops_of(w) + op->target;
  // Under a guard, which is looked at lane by lane; that lanes are missing is not.
  const GroupMask p = *w.src<std::uint32_t>(op->b);
  return part(w, op, (op->b_negated ? ~p : p) & w.active);
}

const XOp* any_lane(Warp& w, const XOp* op) {
  const GroupMask p = *w.src<std::uint32_t>(op->a);
  const bool any = ((op->a_negated ? ~p : p) & w.active) != 0;
  auto* d = w.dst<std::uint32_t>(op->dst);
  *d = (*d & ~w.active) | (any ? w.active : 0);
  return op + 1;
}

}  // namespace

void release_converged(Warp& w) {
  std::uint32_t awaited = 0;  // barriers, as bits
  for (const Path& p : w.paths)
    if (p.state == PathState::kSync && p.barrier >= waiting_for(0)) awaited |= 1u << (p.barrier - waiting_for(0));
  for (; awaited != 0; awaited &= awaited - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(awaited));
    const GroupMask waiting = waiting_lanes(w, waiting_for(number));
    const GroupMask members = *barrier_of(w, number) & w.alive;
    // Lanes for which the last other one left, by BREAK or EXIT, issue their BSYNC once more (counters of an H200).
    if (waiting != 0 && (waiting & members) != 0 && (members & ~waiting) == 0)
      release(w, waiting_for(number), members, true);
  }
  // WARPSYNC looks again at who is alive.
  for (Path& p : w.paths)
    if (p.state == PathState::kSync && p.barrier == 0) p.state = PathState::kReady;
}

const XOp* run_uniform(Warp& w, const XOp* op) {
  const GroupMask running = w.active;
  if (running == kAllLanes) return op->body(w, op);
  set_active(w, kAllLanes);
  const XOp* next = op->body(w, op);
  set_active(w, running);
  return next;
}

const XOp* run_query_space(Warp& w, const XOp* op) {
  const std::uint32_t* low = op->has_base ? w.src<std::uint32_t>(op->a) : nullptr;
  GroupMask result = 0;
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = lowest(m);
    std::uint64_t address = static_cast<std::uint64_t>(op->offset) + uniform_part(w, op);
    if (low) address += low[l] | (op->flags & kAddressPair ? std::uint64_t{low[l + kGroupLanes]} << 32 : 0);
    const std::uint64_t in_window = address - code::kSharedWindow;
    const bool shared = in_window < code::kWindowBytes;
    const bool own = shared && in_window >> code::kRankShift == w.block->rank;
    const bool local = address - code::kLocalWindow < code::kWindowBytes;
    const bool inside = op->imm8 == 0 ? !shared && !local : op->imm8 == 1 ? local : op->imm8 == 2 ? own : shared;
    if (inside) result |= 1u << l;
  }
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  *d = (*d & ~w.active) | result;
  return op + 1;
}

const XOp* run_predicate_and(Warp& w, const XOp* op) {
  const GroupMask a = *w.src<std::uint32_t>(op->a), b = *w.src<std::uint32_t>(op->b);
  const GroupMask both = (op->a_negated ? ~a : a) & (op->b_negated ? ~b : b);
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  *d = (*d & ~w.active) | (both & w.active);
  return op + 1;
}

Handler find_machine(const code::Op& op) {
  switch (op.machine) {
    case code::MachineKind::kSetBarrier:
      return set_barrier;
    case code::MachineKind::kWaitBarrier:
      return wait_barrier;
    case code::MachineKind::kLeaveBarrier:
      return leave_barrier;
    case code::MachineKind::kMoveBarrier:
      return move_barrier;
    case code::MachineKind::kWarpSync:
      return warp_sync;
    case code::MachineKind::kCollective:
      return begin_collective;
    case code::MachineKind::kEndCollective:
      return end_collective;
    case code::MachineKind::kIndirect:
      return jump_indirect;
    case code::MachineKind::kDiverged:
      return branch_if_diverged;
    case code::MachineKind::kBuiltin:
      return run_builtin;
    case code::MachineKind::kCastSpin:
      return run_cast_spin;
    case code::MachineKind::kAnyLane:
      return any_lane;
    case code::MachineKind::kClusterArrive:
      return run_cluster_arrive;
    case code::MachineKind::kClusterWait:
      return run_cluster_wait;
    case code::MachineKind::kNone:
      break;
  }
  return nullptr;
}

}  // namespace muscope::exec
