// The running state: a decoded op, a warp, its block, its worker. Plain data that op handlers of every instruction set
// level share.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/lane_mask.h"
#include "code/kernel.h"
#include "exec/device_launch.h"
#include "exec/fault.h"
#include "memory/address_space.h"
#include "trace/sink.h"

namespace muscope::exec {

struct Warp;
struct Block;
struct Worker;
struct XOp;

/// Executes one op for the active lanes and returns the next one; null when the warp stops (Warp::stop says why).
using Handler = const XOp* (*)(Warp&, const XOp*);

/// Moves the data of a load or store; see memory_access.h.
using DataHandler = void (*)(Warp&, const XOp*, const struct HostLanes&);

/// A decoded op: handler and places.
struct alignas(64) XOp {
  Handler run = nullptr;
  Handler inner = nullptr;  ///< guarded ops: what to run under the guard
  Handler body = nullptr;   ///< uniform ops: what to run for all lanes
  std::uint32_t dst = 0, a = 0, b = 0, c = 0, d = 0;
  std::uint32_t dst3 = 0, e = 0;          ///< see code::Op
  std::uint32_t guard = 0;                ///< frame offset of the predicate
  std::uint32_t target = 0, target2 = 0;  ///< op indices
  std::int64_t offset = 0;
  DataHandler data = nullptr;
  std::uint32_t site = 0;
  std::uint32_t dst2 = 0;
  std::uint32_t instructions = 0;  ///< kEnter: PTX instructions of the block
  std::uint32_t block = 0;         ///< index of the basic block it stands in
  bool guard_negated = false, a_negated = false, b_negated = false, c_negated = false;
  bool has_dst2 = false;
  bool polls = false;
  bool local_relative = false;
  bool has_base = false;   ///< memory: `a` holds an address
  std::uint8_t bytes = 4;  ///< memory: per lane, vectors counted whole
  std::uint8_t imm8 = 0;   ///< lop3 table, compare, rounding ...
  std::uint8_t vector = 1;
  std::uint8_t flags = 0;  ///< family specific
  const code::Op* source = nullptr;
  const sass::Instruction* sass = nullptr;
};

/// XOp::flags of memory ops: 1 the address is 64 bits wide, 2 generic, 4 ATOMS.POPC.INC, and how machine code forms it.
inline constexpr std::uint8_t kAddressPair = 16, kUniform32 = 32, kUniform64 = 64;

inline constexpr std::uint32_t kNoPlace = code::Place::kNoPlace;

/// A function activation of a path, except the innermost one.
struct CallFrame {
  std::uint32_t return_op = 0;  ///< op index to go on at
  std::uint32_t block = 0;      ///< basic block of the call
  std::uint32_t function = 0;   ///< the callee
  const code::CallDetails* call = nullptr;
  std::uint32_t frame_offset = 0;  ///< of the caller, in the warp's registers
  std::uint32_t local_base = 0;    ///< of the caller
  std::uint32_t caller = 0;        ///< function that called
  bool operator==(const CallFrame& o) const {
    return return_op == o.return_op && block == o.block && function == o.function && frame_offset == o.frame_offset &&
           local_base == o.local_base;
  }
};

/// kPhase: waits at `op` for the end of a phase of an mbarrier.
enum class PathState : std::uint8_t { kReady, kSpinning, kBarrier, kSync, kPhase };

/// Lanes that go together but are not running now.
struct Path {
  GroupMask mask = 0;
  std::uint32_t op = 0;
  PathState state = PathState::kReady;
  std::uint32_t barrier = 0;  ///< kBarrier: which; kPhase: its offset in shared memory
  GroupMask members = 0;      ///< kSync: lanes the instruction names
  std::vector<CallFrame> stack;
  std::uint32_t frame_offset = 0, local_base = 0, function = 0;
};

/// Why a warp stopped. kYield: it polls, nothing changed; kSlice: it has run for long, others may.
enum class Stop : std::uint8_t { kNone, kExited, kBlocked, kYield, kSlice, kFault };

struct Warp {
  std::uint8_t* bases[4] = {};  ///< by code::Bank
  GroupMask active = 0;
  GroupMask alive = 0;                               ///< lanes that have not exited
  alignas(64) std::int32_t lanes[kGroupLanes] = {};  ///< active as 0 / -1 per lane
  Worker* worker = nullptr;
  Block* block = nullptr;
  std::uint32_t index = 0;      ///< in its block
  std::uint64_t steps = 0;      ///< PTX instructions executed
  std::uint64_t slice_end = 0;  ///< steps at which it must let others run
  std::uint64_t look_at = 0;    ///< steps at which a loop looks at the stop flag
  std::uint64_t charged = 0;    ///< steps that the launch's total has
  std::uint32_t polls = 0;      ///< polling ops since something changed
  bool progress = false;
  bool forced_sync = false;  ///< the next .sync op runs with the lanes present
  /// Lanes that have arrived at the cluster's barrier, and that need not wait for it any more since all have.
  GroupMask cluster_arrived = 0, cluster_passed = 0;
  GroupMask carry = 0;  ///< condition code register CC.CF
  Stop stop = Stop::kNone;
  std::uint32_t resume = 0;  ///< op index to go on at after kYield and kSlice
  // Innermost activation of the current path.
  std::vector<CallFrame> stack;
  std::uint32_t frame_offset = 0, local_base = 0, function = 0;
  std::vector<Path> paths;
  std::vector<GroupMask>
      collective;  ///< machine code: who came together at WARPSYNC.COLLECTIVE, when more than one did
  std::uint32_t collective_target = 0;  ///< and where they go on
  // Storage.
  std::vector<std::uint8_t> register_store;
  std::uint8_t* registers = nullptr;  ///< aligned start of the entry's frame
  std::uint32_t register_bytes = 0;
  std::uint8_t* local = nullptr;  ///< lane l's frame starts at local + l * local_stride
  std::uint32_t local_stride = 0;
  std::uint32_t local_used = 0;  ///< bytes of each lane that frames have covered, to be cleared for the next block
  std::vector<std::uint8_t> local_store;
  alignas(64) std::uint8_t thread_bank[code::kThreadSlots * code::kSlotBytes] = {};

  template <typename T>
  T* dst(std::uint32_t place) const {
    return reinterpret_cast<T*>(bases[0] + place);
  }
  template <typename T>
  const T* src(std::uint32_t place) const {
    return reinterpret_cast<const T*>(bases[place >> code::Place::kBankShift] + (place & code::Place::kOffsetMask));
  }
};

/// Addresses of the active lanes as host pointers, for the data part of a memory op.
struct HostLanes {
  bool uniform = false, affine = false;
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  const std::uint64_t* each = nullptr;  ///< neither: one per lane
  std::uint8_t* at(unsigned lane) const {
    return reinterpret_cast<std::uint8_t*>(
        each ? each[lane] : base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane)));
  }
};

struct Barrier {
  std::uint32_t expected = 0;  ///< threads given by the instruction; 0 = all threads of the block
  std::uint32_t arrived = 0;
  std::uint32_t popc = 0;
  bool all = true, any = false;
  bool plain = true;  ///< all threads came by one __syncthreads()
  const XOp* first = nullptr;  ///< for messages
};

/// One block of the grid while it runs.
struct Block {
  std::uint64_t index = 0;
  std::uint64_t order = 0;  ///< place among all blocks in the order in which they start: by cluster, then by rank
  std::array<std::uint32_t, 3> id{};
  std::vector<Block*> peers;  ///< the blocks of its cluster by rank, itself included
  std::uint32_t rank = 0;
  std::uint32_t cluster_arrivals = 0;  ///< threads that have arrived at the cluster's barrier
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<std::uint8_t> shared_store;
  std::uint8_t* shared = nullptr;  ///< aligned; offset 0 of the window
  std::uint32_t shared_bytes = 0;  ///< end of the window
  std::uint32_t live_threads = 0;
  std::array<Barrier, 16> barriers;
  std::uint32_t barriers_used = 0;  ///< bit per barrier with arrivals
  std::vector<std::uint8_t> bank_store;
  std::uint8_t* block_bank = nullptr;            ///< aligned start of code::kBlockBank
  std::string output;                            ///< device printf
  std::vector<DeviceLaunch> prepared, launched;  ///< parameter buffers handed out; launches from the device
  std::uint32_t launch_error = 0;                ///< cudaGetLastError() in device code
  std::uint32_t device_handles = 0;              ///< streams and events made in device code
  bool progress = false;                         ///< something changed that others may wait for, since the last round
  bool moved = false;                            ///< something changed in the last run_block
  std::uint32_t vain_waits = 0;  ///< rounds since something changed in which waits for mbarriers were given up
};

/// A shared address: the block whose memory it means, null when there is none, and the offset in that block's window.
struct SharedPlace {
  Block* block = nullptr;
  std::uint64_t offset = 0;
};

/// What `address` means to threads of `own`. `any`: the instruction reaches all blocks of the cluster; else only `own`,
/// whose rank need not stand in it (the driver's address of reserved shared memory has none).
inline SharedPlace shared_place(Block& own, std::uint64_t address, bool any) {
  const std::uint64_t rank = address >> code::kRankShift, offset = address & code::kRankOffsetMask;
  if (rank == own.rank || (rank == 0 && !any)) return {&own, offset};
  return {any && rank < own.peers.size() ? own.peers[rank] : nullptr, offset};
}

/// Offset of an address that only means the block's own memory. Others stay as they are, beyond the window.
inline std::uint64_t own_offset(const Block& block, std::uint64_t address) {
  return address >> code::kRankShift == block.rank ? address & code::kRankOffsetMask : address;
}

/// A finding with the first block that made it, so that its text does not depend on which worker came first.
struct Noted {
  views::Finding finding;
  std::uint64_t block = 0;
};

/// What a worker keeps while it runs blocks of one launch.
struct Worker {
  struct Program* program = nullptr;
  memory::AddressSpace* memory = nullptr;
  trace::AccessSink* sink = nullptr;                         ///< null: count nothing
  std::vector<memory::Allocation> records;                   ///< by site: last allocation found
  std::vector<std::uint64_t> block_executions, block_lanes;  ///< by basic block
  std::vector<std::uint64_t> guarded_lanes;                  ///< by op index
  Fault fault;
  std::map<std::pair<std::uint32_t, std::string>, Noted> finding_by_op;  ///< by op index and code
  struct LaunchContext* launch = nullptr;
  bool device_atomics = true;       ///< other workers run blocks of this launch
  std::uint64_t spilled_steps = 0;  ///< not yet added to the launch's total
};

/// The uniform register that machine code adds to an address; 0 when there is none.
inline std::uint64_t uniform_part(const Warp& w, const XOp* op) {
  if (!(op->flags & (kUniform32 | kUniform64))) return 0;
  const std::uint32_t* low = w.src<std::uint32_t>(op->e);
  return op->flags & kUniform64 ? low[0] | std::uint64_t{low[kGroupLanes]} << 32 : low[0];
}

/// Sets the running lanes.
inline void set_active(Warp& w, GroupMask mask) {
  w.active = mask;
  // Comparisons with constants: shifts by the lane's number are not vectorised at the lowest instruction set level.
  for (unsigned l = 0; l < kGroupLanes; ++l) w.lanes[l] = -static_cast<std::int32_t>((mask & (1u << l)) != 0);
}

}  // namespace muscope::exec
