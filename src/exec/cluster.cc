#include "exec/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/control.h"
#include "exec/paths.h"
#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

constexpr std::uint32_t kMaxRounds = 16;  ///< turns of every block before other clusters get theirs

bool ended(const Block& block) { return block.live_threads == 0; }

/// Wherever all threads that live have arrived, those that wait go on.
void complete_if_all_arrived(Block& block) {
  std::uint32_t arrived = 0, live = 0;
  for (const Block* peer : block.peers) arrived += peer->cluster_arrivals, live += peer->live_threads;
  if (arrived == 0 || arrived < live) return;
  for (Block* peer : block.peers) {
    peer->cluster_arrivals = 0;
    peer->progress = true;
    for (const auto& warp : peer->warps) {
      warp->cluster_passed |= warp->cluster_arrived;
      GroupMask waiting = 0;
      for (const Path& p : warp->paths)
        if (p.state == PathState::kBarrier && p.barrier == kClusterBarrier) waiting |= p.mask;
      warp->cluster_passed &= ~waiting;
      warp->cluster_arrived = 0;
      release_barrier(*warp, kClusterBarrier);
    }
  }
}

bool may_go_on(const Warp& w) {
  if (w.alive == 0) return false;
  if (w.active != 0) return true;
  return std::any_of(w.paths.begin(), w.paths.end(), [](const Path& p) { return p.state != PathState::kBarrier; });
}

/// Everybody waits at barriers. False when somebody does not.
bool raise_deadlock(const std::vector<std::unique_ptr<Block>>& blocks) {
  Warp* warp = nullptr;
  const Path* waiting = nullptr;
  std::uint32_t arrived = 0, live = 0;
  for (const auto& block : blocks) {
    arrived += block->cluster_arrivals, live += block->live_threads;
    for (const auto& w : block->warps) {
      if (may_go_on(*w)) return false;
      for (const Path& p : w->paths)
        if (!waiting && p.barrier == kClusterBarrier) warp = w.get(), waiting = &p;
    }
  }
  if (!waiting) return false;
  const XOp* op = &warp->worker->program->ops[waiting->op];
  set_active(*warp, waiting->mask);
  raise(
      *warp, op, Outcome::kHang, "D612",
      fmt::format("deadlock: {} of {} threads of the cluster have arrived at its barrier, the others wait elsewhere",
                  arrived, live),
      "every thread of every block of the cluster must reach cluster.sync(); is it inside an if that only some take?");
  return true;
}

template <typename T>
const XOp* map_address(Warp& w, const XOp* op) {
  constexpr std::uint64_t kRankBits = std::uint64_t{0xff} << code::kRankShift;
  const T* a = w.src<T>(op->a);
  const std::uint32_t* rank = w.src<std::uint32_t>(op->b);
  T* d = w.dst<T>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    d[l] = static_cast<T>((a[l] & ~static_cast<T>(kRankBits)) | static_cast<T>((rank[l] & 0xffu) << code::kRankShift));
  }
  return op + 1;
}

template <typename T>
const XOp* rank_of_address(Warp& w, const XOp* op) {
  const T* a = w.src<T>(op->a);
  std::uint32_t* d = w.dst<std::uint32_t>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    d[l] = static_cast<std::uint32_t>(a[l] >> code::kRankShift) & 0xffu;
  }
  return op + 1;
}

}  // namespace

BlockState run_cluster(std::vector<std::unique_ptr<Block>>& blocks, Worker& worker, bool& moved) {
  moved = false;
  if (blocks.size() == 1) {
    const BlockState state = run_block(*blocks[0], worker);
    moved = blocks[0]->moved;
    return state;
  }
  for (std::uint32_t round = 0;; ++round) {
    bool changed = false, alive = false;
    for (const auto& block : blocks) {
      if (ended(*block)) continue;
      const BlockState state = run_block(*block, worker);
      if (state == BlockState::kFault) return state;
      if (state == BlockState::kStalled) alive = true;
      changed = changed || block->moved || state == BlockState::kDone;
    }
    if (!alive) return BlockState::kDone;
    moved = moved || changed;
    if (!changed) return raise_deadlock(blocks) ? BlockState::kFault : BlockState::kStalled;
    for (const auto& block : blocks) block->vain_waits = 0;
    if (round >= kMaxRounds) return BlockState::kStalled;
  }
}

const XOp* run_cluster_arrive(Warp& w, const XOp* op) {
  Block& block = *w.block;
  if ((w.active & (w.cluster_arrived | w.cluster_passed)) != 0)
    note(w, op, "D620", "threads arrive at the cluster's barrier a second time without having waited",
         "each barrier.cluster.arrive needs its barrier.cluster.wait before the next one");
  const GroupMask fresh = w.active & ~w.cluster_arrived;
  w.cluster_arrived |= fresh;
  w.cluster_passed &= ~w.active;
  block.cluster_arrivals += static_cast<std::uint32_t>(std::popcount(fresh));
  w.progress = true;
  complete_if_all_arrived(block);
  return op + 1;
}

const XOp* run_cluster_wait(Warp& w, const XOp* op) {
  const GroupMask waits = w.active & w.cluster_arrived, passes = w.active & w.cluster_passed;
  if ((waits | passes) != w.active)
    note(w, op, "D620", "threads wait at the cluster's barrier without having arrived",
         "barrier.cluster.wait comes after barrier.cluster.arrive, in every thread");
  w.cluster_passed &= ~w.active;
  if (waits == 0) return op + 1;
  save_path(w, static_cast<std::uint32_t>(op - w.worker->program->ops.data()), PathState::kBarrier, kClusterBarrier);
  w.progress = true;
  return next_path(w);
}

void leave_cluster(Warp& w, GroupMask gone) {
  const auto arrived = static_cast<std::uint32_t>(std::popcount(gone & w.cluster_arrived));
  w.block->cluster_arrivals -= std::min(arrived, w.block->cluster_arrivals);
  w.cluster_arrived &= ~gone;
  w.cluster_passed &= ~gone;
  complete_if_all_arrived(*w.block);
}

bool waits_for_cluster(const Block& block) {
  if (std::all_of(block.peers.begin(), block.peers.end(),
                  [&](const Block* peer) { return peer == &block || ended(*peer); }))
    return false;
  for (const auto& w : block.warps)
    for (const Path& p : w->paths)
      if (p.state == PathState::kBarrier && p.barrier == kClusterBarrier) return true;
  return false;
}

Handler find_cluster_address(const code::Op& op) {
  const bool wide = ptx::size_of(op.type) == 8;
  if (op.opcode == ptx::Opcode::k_mapa) return wide ? map_address<std::uint64_t> : map_address<std::uint32_t>;
  if (op.opcode == ptx::Opcode::k_getctarank)
    return wide ? rank_of_address<std::uint64_t> : rank_of_address<std::uint32_t>;
  return nullptr;
}

void touch_other_block(Warp& w, const XOp* op, const Block& other) {
  if (!ended(other)) return;
  note(w, op, "D621", "shared memory of another block of the cluster is used after that block has ended",
       "on a GPU it may be gone, or another block's: let all blocks of the cluster wait for each other at their end "
       "(cluster.sync())");
}

void fault_no_block(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, bool any) {
  // Errors as an H200 gives them.
  const std::uint64_t rank = address >> code::kRankShift;
  if (any)
    raise(w, op, Outcome::kTrap, "D622",
          fmt::format("shared address {:#x} is of block {} of the cluster, which has {}", address, rank,
                      w.block->peers.size()),
          "ranks go from 0 to the number of blocks in the cluster; was the kernel launched with a cluster size?");
  else
    raise(
        w, op, Outcome::kIllegalInstruction, "D622",
        fmt::format("shared address {:#x} is of block {} of the cluster, the instruction reaches only the own one, {}",
                    address, rank, w.block->rank),
        "other blocks' memory needs .shared::cluster or a generic address (cluster.map_shared_rank())");
  w.worker->fault.lane = lane;
}

}  // namespace muscope::exec
