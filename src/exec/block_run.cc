#include "exec/block_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/async.h"
#include "exec/cluster.h"
#include "exec/control.h"
#include "exec/paths.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

constexpr std::uint32_t kSharedGranularity = 128;  // bytes, compute capability 8.0 and later (cuda_occupancy.h)
constexpr std::size_t kAlignment = 128;
constexpr std::uint32_t kMaxRounds = 64;  ///< turns of every warp before other blocks get theirs
constexpr std::uint32_t kIdleRounds = 4;  ///< rounds without change before a block counts as stalled

template <typename T>
T* align(std::vector<T>& store) {
  const auto at = reinterpret_cast<std::uintptr_t>(store.data());
  return reinterpret_cast<T*>((at + kAlignment - 1) / kAlignment * kAlignment);
}

/// Room for recursion beyond what every launch of a recursive kernel has, in bytes of registers of a warp and of local
/// memory of a thread. Frames of an H200 take 16 bytes and more, usually about 64; here registers lie in them too.
struct MoreStack {
  std::uint32_t registers = 0, local = 0;
};
MoreStack more_stack(const code::Kernel& kernel, std::uint32_t stack_bytes) {
  constexpr std::uint32_t kFrame = 64, kMostRegisters = 8 << 20, kMostLocal = 512 << 10;
  if (kernel.machine_code) return {0, machine_stack_bytes(kernel, stack_bytes) - kernel.stack_bytes};
  if (!kernel.recursive) return {};
  std::uint64_t frame = 0;
  for (const code::Function& f : kernel.functions) frame = std::max<std::uint64_t>(frame, f.frame_bytes);
  const std::uint64_t registers = std::max(stack_bytes, 1024u) / kFrame * frame;
  return {static_cast<std::uint32_t>(std::min<std::uint64_t>(registers, kMostRegisters)),
          std::min(stack_bytes, kMostLocal)};
}

std::uint32_t round_up(std::uint32_t v, std::uint32_t to) { return (v + to - 1) / to * to; }

void fill_lanes(std::uint8_t* slot, std::uint32_t value) {
  auto* words = reinterpret_cast<std::uint32_t*>(slot);
  std::fill(words, words + kGroupLanes, value);
}

bool can_run(const Warp& w) {
  if (w.active != 0) return true;
  return std::any_of(w.paths.begin(), w.paths.end(),
                     [](const Path& p) { return p.state == PathState::kReady || p.state == PathState::kSpinning; });
}

bool finished(const Warp& w) { return w.alive == 0; }

void run_warp(Warp& w) {
  w.stop = Stop::kNone;
  const XOp* op = w.active != 0 ? &w.worker->program->ops[w.resume] : next_path(w);
  while (op) op = op->run(w, op);
}

void complete(Block& block, std::uint32_t id) {
  Barrier& barrier = block.barriers[id];
  const Worker& worker = *block.warps[0]->worker;
  if (worker.sink != nullptr)
    worker.sink->barrier(block.index,
                         static_cast<std::uint32_t>(barrier.first->source - worker.program->kernel->ops.data()),
                         barrier.plain && id == 0);
  for (const auto& warp : block.warps) {
    for (Path& p : warp->paths) {
      if (p.state != PathState::kBarrier || p.barrier != id) continue;
      const XOp& op = warp->worker->program->ops[p.op];
      if (op.dst == kNoPlace) continue;
      std::uint8_t* slot = warp->registers + p.frame_offset + op.dst;
      if (op.imm8 == 1) {  // popc
        for (GroupMask m = p.mask; m; m &= m - 1)
          reinterpret_cast<std::uint32_t*>(slot)[std::countr_zero(m)] = barrier.popc;
      } else {
        auto* predicate = reinterpret_cast<std::uint32_t*>(slot);
        const bool value = op.imm8 == 2 ? barrier.all : barrier.any;
        *predicate = (*predicate & ~p.mask) | (value ? p.mask : 0);
      }
    }
    release_barrier(*warp, id);
  }
  barrier = Barrier{};
  block.barriers_used &= ~(1u << id);
  block.progress = true;
}

bool is_complete(const Block& block, const Barrier& barrier) {
  return barrier.arrived >= (barrier.expected != 0 ? barrier.expected : block.live_threads);
}

/// Nobody can run: warps wait at barriers that cannot complete.
BlockState deadlock(Block& block) {
  for (const auto& w : block.warps)
    for (Path& p : w->paths)
      if (p.state == PathState::kSync) {
        // Lanes wait in a .sync instruction for lanes that stand at a barrier: let them go on without.
        p.state = PathState::kReady;
        w->forced_sync = true;
        note(*w, &w->worker->program->ops[p.op], "D611", "a .sync instruction names lanes that do not come to it",
             "pass __activemask() of a converged place, or make every named lane execute the same instruction");
        return BlockState::kStalled;
      }
  for (const auto& w : block.warps)
    for (const Path& p : w->paths) {
      if (p.barrier == kClusterBarrier) continue;
      const XOp* op = &w->worker->program->ops[p.op];
      const Barrier& barrier = block.barriers[p.barrier & 15];
      set_active(*w, p.mask);
      raise(*w, op, Outcome::kHang, "D612",
            fmt::format("deadlock: {} of {} threads wait at barrier {}, the others wait elsewhere", barrier.arrived,
                        barrier.expected ? barrier.expected : block.live_threads, p.barrier),
            "every thread of the block must reach the same barrier; is it inside an if that only some take?");
      return BlockState::kFault;
    }
  for (const auto& w : block.warps)
    for (const Path& p : w->paths) {
      set_active(*w, p.mask);
      raise(*w, &w->worker->program->ops[p.op], Outcome::kHang, "D612",
            fmt::format("deadlock: {} of {} threads have arrived at the cluster's barrier, the others wait elsewhere",
                        block.cluster_arrivals, block.live_threads),
            "every thread of the cluster must reach its barrier; is it inside an if that only some take?");
      return BlockState::kFault;
    }
  return BlockState::kDone;
}

/// Where the block is in its cluster, and its shared addresses. A block that is taken again holds its old rank.
void fill_cluster_slots(Block& block, const LaunchContext& launch, std::uint32_t rank) {
  const auto& cluster = launch.cluster;
  const std::uint32_t in_cluster[] = {rank % cluster[0], rank / cluster[0] % cluster[1],
                                      rank / cluster[0] / cluster[1]};
  for (unsigned d = 0; d < 3; ++d) {
    fill_lanes(block.block_bank + (code::kClusterIdX + d) * code::kSlotBytes, block.id[d] / cluster[d]);
    fill_lanes(block.block_bank + (code::kClusterCtaidX + d) * code::kSlotBytes, in_cluster[d]);
  }
  fill_lanes(block.block_bank + code::kClusterRank * code::kSlotBytes, rank);
  block.rank = rank;
  std::uint8_t* slot = block.block_bank + code::kBlockSlots * code::kSlotBytes;
  for (const auto& address : launch.program->kernel->shared_addresses) {
    const std::uint64_t value = address.offset | std::uint64_t{rank} << code::kRankShift;
    if (address.lane_bytes == 8)
      std::fill_n(reinterpret_cast<std::uint64_t*>(slot), kGroupLanes, value);
    else
      fill_lanes(slot, static_cast<std::uint32_t>(value));
    slot += 2 * code::kSlotBytes;
  }
}

}  // namespace

std::unique_ptr<Block> BlockPool::make(Worker& worker) const {
  const Program& program = *launch_.program;
  const code::Kernel& kernel = *program.kernel;
  const LaunchRequest& request = *launch_.request;
  auto block = std::make_unique<Block>();
  const std::uint32_t threads = request.block[0] * request.block[1] * request.block[2];
  const std::uint32_t groups = (threads + kGroupLanes - 1) / kGroupLanes;
  const MoreStack more = more_stack(kernel, request.stack_bytes);
  block->shared_bytes = request.dynamic_shared != 0 ? kernel.dynamic_shared_offset + request.dynamic_shared
                                                    : kernel.shared_base + kernel.static_shared_bytes;
  // The assembler may read words beside a variable, inside what hardware hands out at once.
  if (kernel.machine_code) block->shared_bytes = round_up(block->shared_bytes, kSharedGranularity);
  // Code before 9.0 has the system's part behind its own.
  if (kernel.shared_base == 0) block->shared_bytes += code::kSharedBase;
  block->shared_store.resize(round_up(block->shared_bytes, kAlignment) + kAlignment);
  block->shared = align(block->shared_store);
  block->bank_store.resize((code::kBlockSlots + 2 * kernel.shared_addresses.size()) * code::kSlotBytes + kAlignment);
  block->block_bank = align(block->bank_store);
  for (std::uint32_t g = 0; g < groups; ++g) {
    auto w = std::make_unique<Warp>();
    w->index = g;
    w->register_bytes = program.register_bytes + more.registers;
    w->register_store.resize(w->register_bytes + 2 * kAlignment);
    w->registers = align(w->register_store);
    w->local_stride = round_up(program.local_bytes + more.local, 16);
    w->local_store.resize(std::size_t{w->local_stride} * kGroupLanes + kAlignment);
    w->local = align(w->local_store);
    w->local_used =
        kernel.machine_code ? w->local_stride : std::min(round_up(program.local_bytes, 16), w->local_stride);
    auto* tid = reinterpret_cast<std::uint32_t*>(w->thread_bank);
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      const std::uint32_t t = g * kGroupLanes + l;
      tid[code::kTidX * kGroupLanes + l] = t % request.block[0];
      tid[code::kTidY * kGroupLanes + l] = t / request.block[0] % request.block[1];
      tid[code::kTidZ * kGroupLanes + l] = t / request.block[0] / request.block[1];
    }
    fill_lanes(w->thread_bank + code::kWarpId * code::kSlotBytes, g);
    block->warps.push_back(std::move(w));
  }
  (void)worker;
  return block;
}

std::uint64_t BlockPool::index_of(const LaunchContext& launch, std::uint64_t unit, std::uint32_t rank) {
  const auto& grid = launch.request->grid;
  const auto& cluster = launch.cluster;
  const std::uint64_t width = grid[0] / cluster[0], height = grid[1] / cluster[1];
  const std::uint64_t x = unit % width * cluster[0] + rank % cluster[0];
  const std::uint64_t y = unit / width % height * cluster[1] + rank / cluster[0] % cluster[1];
  const std::uint64_t z = unit / width / height * cluster[2] + rank / cluster[0] / cluster[1];
  return (z * grid[1] + y) * grid[0] + x;
}

std::vector<std::unique_ptr<Block>> BlockPool::take(std::uint64_t unit, Worker& worker) {
  std::vector<std::unique_ptr<Block>> blocks;
  for (std::uint32_t rank = 0; rank < launch_.unit_blocks; ++rank) blocks.push_back(take_block(unit, rank, worker));
  for (const auto& block : blocks) {
    block->peers.clear();
    for (const auto& peer : blocks) block->peers.push_back(peer.get());
  }
  return blocks;
}

std::unique_ptr<Block> BlockPool::take_block(std::uint64_t unit, std::uint32_t rank, Worker& worker) {
  const std::uint64_t index = index_of(launch_, unit, rank);
  std::unique_ptr<Block> block;
  if (free_.empty()) {
    block = make(worker);
  } else {
    block = std::move(free_.back());
    free_.pop_back();
  }
  const LaunchRequest& request = *launch_.request;
  const code::Kernel& kernel = *launch_.program->kernel;
  block->index = index;
  block->order = unit * launch_.unit_blocks + rank;
  block->id = {static_cast<std::uint32_t>(index % request.grid[0]),
               static_cast<std::uint32_t>(index / request.grid[0] % request.grid[1]),
               static_cast<std::uint32_t>(index / request.grid[0] / request.grid[1])};
  for (unsigned d = 0; d < 3; ++d) fill_lanes(block->block_bank + (code::kCtaidX + d) * code::kSlotBytes, block->id[d]);
  fill_cluster_slots(*block, launch_, rank);
  const auto sms = static_cast<std::uint32_t>(std::max<std::int64_t>(1, launch_.gpu->sm_count.as_int()));
  fill_lanes(block->block_bank + code::kSmId * code::kSlotBytes, static_cast<std::uint32_t>(index % sms));
  block->live_threads = request.block[0] * request.block[1] * request.block[2];
  block->barriers = {};
  block->barriers_used = 0;
  block->output.clear();
  block->progress = false;
  block->vain_waits = 0;
  block->cluster_arrivals = 0;
  // Shared memory of a block starts with whatever the last one left on hardware; zero here, so that runs repeat.
  std::memset(block->shared, 0, block->shared_bytes);
  const code::Function& entry = kernel.functions[0];
  std::uint32_t threads = block->live_threads;
  for (const auto& w : block->warps) {
    w->worker = &worker;
    w->block = block.get();
    w->alive = threads >= kGroupLanes ? kAllLanes : (1u << threads) - 1;
    threads -= std::min(threads, kGroupLanes);
    w->bases[code::kFrameBank] = w->registers;
    w->bases[code::kConstBank] = launch_.const_base;
    w->bases[code::kThreadBank] = w->thread_bank;
    w->bases[code::kBlockBank] = block->block_bank;
    set_active(*w, w->alive);
    w->steps = 0;
    w->charged = 0;
    w->slice_end = launch_.slice();
    w->look_at = std::min(w->slice_end, kLook);
    w->polls = 0;
    w->progress = false;
    w->forced_sync = false;
    w->cluster_arrived = w->cluster_passed = 0;
    w->carry = 0;
    w->stack.clear();
    w->paths.clear();
    w->frame_offset = w->local_base = w->function = 0;
    w->resume = entry.entry;
    for (std::uint32_t slot : entry.zero_slots) std::memset(w->registers + slot, 0, code::kSlotBytes);
    if (w->local_used == w->local_stride) {
      if (w->local_stride != 0) std::memset(w->local, 0, std::size_t{w->local_stride} * kGroupLanes);
    } else {
      for (unsigned l = 0; l < kGroupLanes; ++l)
        std::memset(w->local + std::size_t{w->local_stride} * l, 0, w->local_used);
    }
  }
  return block;
}

BlockState run_block(Block& block, Worker& worker) {
  std::uint32_t idle = 0;
  block.moved = false;
  for (std::uint32_t round = 0;; ++round) {
    bool alive = false, ran = false, changed = false;
    for (const auto& w : block.warps) {
      if (finished(*w)) continue;
      alive = true;
      if (!can_run(*w)) continue;
      ran = true;
      run_warp(*w);
      const bool moved = w->stop != Stop::kYield || w->progress;
      if (finished(*w))
        charge_steps(*w, &worker.program->ops[w->resume]);
      else if (!worker.fault && moved)  // of those that wait in vain wait_for_others() says more
        stopped_at(*w, &worker.program->ops[w->resume], "");
      if (worker.fault) return BlockState::kFault;
      changed = changed || moved;
    }
    if (!alive) return BlockState::kDone;
    changed = changed || block.progress;
    block.progress = false;
    if (!changed && give_up_waits(block)) {
      if (worker.fault) return BlockState::kFault;
    } else if (!ran) {
      if (waits_for_cluster(block)) return BlockState::kStalled;
      if (deadlock(block) == BlockState::kFault) return BlockState::kFault;
      continue;
    }
    if (changed) block.vain_waits = 0;
    block.moved = block.moved || changed;
    idle = changed ? 0 : idle + 1;
    // A block that computes for long, or waits while it stores, must not keep others from running.
    if (idle >= kIdleRounds || round >= kMaxRounds) return BlockState::kStalled;
  }
}

void threads_exited(Warp& w, std::uint32_t count) {
  Block& block = *w.block;
  block.live_threads -= std::min(count, block.live_threads);
  leave_cluster(w, w.active);
  for (std::uint32_t left = block.barriers_used; left; left &= left - 1) {
    const auto id = static_cast<std::uint32_t>(std::countr_zero(left));
    const Barrier& barrier = block.barriers[id];
    if (barrier.expected == 0 && barrier.arrived > 0 && is_complete(block, barrier)) complete(block, id);
  }
}

const XOp* run_barrier(Warp& w, const XOp* op) {
  Block& block = *w.block;
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.active));
  const bool packed = (op->flags & kPackedBarrier) != 0;
  const std::uint32_t first_operand = op->a == kNoPlace ? 0 : w.src<std::uint32_t>(op->a)[first];
  const std::uint32_t id = packed ? first_operand & 15 : first_operand;
  if (id >= block.barriers.size())
    return raise(w, op, Outcome::kIllegalInstruction, "D613",
                 fmt::format("barrier {} does not exist; a block has 16", id), "use barriers 0 to 15");
  Barrier& barrier = block.barriers[id];
  const std::uint32_t expected = packed              ? (first_operand >> 16) & 0xfff
                                 : op->b == kNoPlace ? 0
                                                     : w.src<std::uint32_t>(op->b)[first];
  const auto lanes = static_cast<std::uint32_t>(std::popcount(w.active));
  if (w.active != w.alive && op->imm8 != 4 && (op->flags & 1)) {
    // .aligned: all threads of the warp must execute the same barrier (PTX ISA, "barrier"). Exited ones are forgiven.
    note(w, op, "D614", "a barrier is reached by part of a warp only",
         "bar.sync and __syncthreads() must be executed by all threads of a warp together; move the barrier out of the "
         "if");
  }
  if (barrier.arrived == 0) barrier.first = op;
  barrier.plain = barrier.plain && barrier.first == op && expected == 0 && op->imm8 == 0;
  if (expected != 0) barrier.expected = expected;
  // With a thread count the hardware counts whole warps.
  barrier.arrived += expected != 0 && w.active == w.alive ? kGroupLanes : lanes;
  block.barriers_used |= 1u << id;
  if (op->imm8 == 1 || op->imm8 == 2 || op->imm8 == 3) {
    const GroupMask p = *w.src<std::uint32_t>(op->c);
    const GroupMask set = (op->c_negated ? ~p : p) & w.active;
    barrier.popc += static_cast<std::uint32_t>(std::popcount(set));
    barrier.any = barrier.any || set != 0;
    barrier.all = barrier.all && set == w.active;
  }
  const bool waits = op->imm8 != 4;
  if (waits) save_path(w, static_cast<std::uint32_t>(op - w.worker->program->ops.data()), PathState::kBarrier, id);
  w.progress = true;
  if (is_complete(block, barrier)) complete(block, id);
  if (!waits) return op + 1;
  return next_path(w);
}

}  // namespace muscope::exec
