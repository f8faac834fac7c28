// Barriers in shared memory: mbarrier of PTX, SYNCS and ARRIVES of machine code.
//
// The 64-bit word is laid out as hardware does it, since ptxas computes its first value and takes apart what arrivals
// return with plain instructions (seen in what ptxas 13.0 makes of mbarrier.init, .pending_count, .test_wait and
// .arrive.noComplete for sm_90): bits 1 to 20 and 43 to 62 are minus the expected and minus the pending arrivals,
// modulo 2^20; bit 63 is the parity of the phase. Where the transaction count lies between them no code can see; bits
// 22 to 42 here.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "code/async.h"
#include "exec/async.h"
#include "exec/paths.h"
#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

using code::AsyncKind;

constexpr unsigned kExpectedBit = 1, kTransactionsBit = 22, kPendingBit = 43, kPhaseBit = 63;
constexpr std::uint64_t kArrivalsMask = (1u << 20) - 1, kTransactionsMask = (1u << 21) - 1;
constexpr std::uint32_t kBytes = 8;
/// Rounds in which all warps of a block only look at mbarriers, in vain, before that is called a deadlock. Programs
/// that count their tries and then stop get that far.
constexpr std::uint32_t kMostVainWaits = 20'000;

struct PhaseBarrier {
  std::uint32_t expected = 0, pending = 0;
  std::int32_t transactions = 0;
  bool phase = false;

  explicit PhaseBarrier(std::uint64_t word)
      : expected(static_cast<std::uint32_t>((0 - (word >> kExpectedBit)) & kArrivalsMask)),
        pending(static_cast<std::uint32_t>((0 - (word >> kPendingBit)) & kArrivalsMask)),
        transactions(static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> kTransactionsBit) << 11) >> 11),
        phase((word >> kPhaseBit) != 0) {}

  std::uint64_t word() const {
    return ((0 - std::uint64_t{expected}) & kArrivalsMask) << kExpectedBit |
           ((0 - std::uint64_t{pending}) & kArrivalsMask) << kPendingBit |
           (static_cast<std::uint64_t>(transactions) & kTransactionsMask) << kTransactionsBit |
           std::uint64_t{phase} << kPhaseBit;
  }

  /// The phase ends when nothing is missing any more.
  bool end_phase() {
    if (pending != 0 || transactions != 0) return false;
    phase = !phase;
    pending = expected;
    return true;
  }
};

unsigned lowest(GroupMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

std::uint64_t load(SharedPlace place) {
  std::uint64_t word;
  std::memcpy(&word, place.block->shared + place.offset, sizeof word);
  return word;
}

void store(Warp& w, SharedPlace place, std::uint64_t word) {
  std::memcpy(place.block->shared + place.offset, &word, sizeof word);
  w.progress = true;
  if (place.block != w.block) place.block->progress = true;
}

/// The lanes of `lanes` whose wait is over. `at`: their barriers.
GroupMask waits_over(const Warp& w, const XOp* op, GroupMask lanes, const AsyncPlaces& places) {
  const code::AsyncDetails& details = *op->source->async;
  GroupMask over = 0;
  for (GroupMask m = lanes; m; m &= m - 1) {
    const unsigned l = lowest(m);
    const bool parity = details.state_bytes == 8
                            ? PhaseBarrier(w.src<std::uint64_t>(details.state.bits)[l]).phase
                            : ((w.src<std::uint32_t>(details.state.bits)[l] >> details.parity_bit) & 1) != 0;
    if (PhaseBarrier(load(places[l])).phase != parity) over |= 1u << l;
  }
  return over;
}

/// A phase has ended: waiting paths with lanes that it was for go on. They find out now, not when they run: by then the
/// barrier may be another one's, or a phase on.
void wake(Block& block) {
  for (const auto& warp : block.warps) {
    Warp& w = *warp;
    std::uint8_t* const frame = w.bases[code::kFrameBank];
    const GroupMask running = w.active;
    for (Path& p : w.paths) {
      if (p.state != PathState::kPhase) continue;
      const XOp* op = &w.worker->program->ops[p.op];
      AsyncPlaces places;
      w.bases[code::kFrameBank] = w.registers + p.frame_offset;
      w.active = p.mask;
      find_async_addresses(w, op, op->source->async->barrier, places);  // it was checked when the wait began
      if (const GroupMask over = waits_over(w, op, p.mask, places)) {
        if (op->dst != kNoPlace) *w.dst<std::uint32_t>(op->dst) |= over;
        p.state = PathState::kReady;
        ++p.op;
      }
    }
    w.bases[code::kFrameBank] = frame;
    w.active = running;
  }
  block.progress = true;
}

void store_after(Warp& w, SharedPlace place, PhaseBarrier& barrier) {
  const bool ended = barrier.end_phase();
  store(w, place, barrier.word());
  if (ended) wake(*place.block);
}

/// Offsets in shared memory, checked. False with a fault.
bool find_barriers(Warp& w, const XOp* op, AsyncPlaces& places) {
  if (!find_async_addresses(w, op, op->source->async->barrier, places)) return false;
  for (GroupMask m = w.active; m; m &= m - 1)
    if (!check_shared(w, op, lowest(m), places[lowest(m)], kBytes, kBytes)) return false;
  return true;
}

void put_result(const Warp& w, const XOp* op, unsigned lane, std::uint64_t value) {
  if (op->dst == kNoPlace) return;
  if (op->source->async->result_pair) {
    w.dst<std::uint32_t>(op->dst)[lane] = static_cast<std::uint32_t>(value);
    w.dst<std::uint32_t>(op->dst)[lane + kGroupLanes] = static_cast<std::uint32_t>(value >> 32);
  } else {
    w.dst<std::uint64_t>(op->dst)[lane] = value;
  }
}

const XOp* run_init(Warp& w, const XOp* op) {
  AsyncPlaces places;
  if (!find_barriers(w, op, places)) return nullptr;
  const std::uint32_t* amount = w.src<std::uint32_t>(op->source->async->amount.bits);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = lowest(m);
    PhaseBarrier barrier(0);
    barrier.expected = barrier.pending = amount[l] & kArrivalsMask;
    store(w, places[l], barrier.word());
  }
  return op + 1;
}

/// Of the uniform datapath: once for the warp.
const XOp* run_exchange(Warp& w, const XOp* op) {
  AsyncPlaces places;
  if (!find_barriers(w, op, places)) return nullptr;
  const std::uint32_t* state = w.src<std::uint32_t>(op->source->async->state.bits);
  const std::uint64_t before = load(places[0]);
  store(w, places[0], state[0] | std::uint64_t{state[kGroupLanes]} << 32);
  for (unsigned l = 0; l < kGroupLanes; ++l) put_result(w, op, l, before);
  return op + 1;
}

const XOp* run_transactions(Warp& w, const XOp* op) {
  AsyncPlaces places;
  if (!find_barriers(w, op, places)) return nullptr;
  const code::AsyncDetails& details = *op->source->async;
  const std::uint32_t* amount = w.src<std::uint32_t>(details.amount.bits);
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = lowest(m);
    PhaseBarrier barrier(load(places[l]));
    const auto change = static_cast<std::int32_t>(amount[l]);
    barrier.transactions += details.completes ? -change : change;
    // expect_tx alone ends no phase (PTX ISA, "mbarrier.expect_tx").
    if (details.completes)
      store_after(w, places[l], barrier);
    else
      store(w, places[l], barrier.word());
  }
  return op + 1;
}

const XOp* run_arrive(Warp& w, const XOp* op) {
  AsyncPlaces places;
  if (!find_barriers(w, op, places)) return nullptr;
  const code::AsyncDetails& details = *op->source->async;
  const std::uint32_t* amount = w.src<std::uint32_t>(details.amount.bits);
  const std::uint32_t* expects = details.expects.exists() ? w.src<std::uint32_t>(details.expects.bits) : nullptr;
  alignas(64) std::uint64_t results[kGroupLanes];
  for (GroupMask m = w.active; m; m &= m - 1) {
    const unsigned l = lowest(m);
    results[l] = load(places[l]);
    if (details.gives_lanes) {
      GroupMask together = 0;
      for (GroupMask o = w.active; o; o &= o - 1)
        if (places.at[lowest(o)] == places.at[l] && places.block[lowest(o)] == places.block[l])
          together |= o & (0u - o);
      if (l != lowest(together)) results[l] = results[lowest(together)];  // of before all of them
      results[l] = (results[l] & ~std::uint64_t{0xffffffffu}) | together;
    }
    PhaseBarrier barrier(load(places[l]));
    if (expects) barrier.transactions += static_cast<std::int32_t>(expects[l]);
    if (amount[l] > barrier.pending)
      note(
          w, op, "D618",
          fmt::format("{} arrive at an mbarrier whose phase waits for {} more only", amount[l], barrier.pending),
          "the count of mbarrier.init or of cuda::barrier's constructor must be the number of arrivals of a phase; was "
          "it initialised before?");
    barrier.pending -= std::min(amount[l], barrier.pending);
    if (details.drops) barrier.expected -= std::min(amount[l], barrier.expected);
    store_after(w, places[l], barrier);
  }
  for (GroupMask m = w.active; m; m &= m - 1) put_result(w, op, lowest(m), results[lowest(m)]);
  return op + 1;
}

const XOp* run_pending_count(Warp& w, const XOp* op) {
  if (op->dst == kNoPlace) return op + 1;
  const std::uint64_t* state = w.src<std::uint64_t>(op->source->async->state.bits);
  std::uint32_t* out = w.dst<std::uint32_t>(op->dst);
  for (GroupMask m = w.active; m; m &= m - 1) out[lowest(m)] = PhaseBarrier(state[lowest(m)]).pending;
  return op + 1;
}

/// test_wait and try_wait alike: lanes that all have to wait give way until a phase ends somewhere in the block. A wait
/// that is given up has found false already.
const XOp* run_wait(Warp& w, const XOp* op) {
  AsyncPlaces places;
  if (!find_barriers(w, op, places)) return nullptr;
  const GroupMask over = waits_over(w, op, w.active, places);
  if (op->dst != kNoPlace) {
    auto* predicate = w.dst<std::uint32_t>(op->dst);
    *predicate = (*predicate & ~w.active) | over;
  }
  if (over != 0) return op + 1;
  ++w.polls;
  if (op->source->guard.exists()) return op + 1;  // lanes that are off wait for nothing: no path of its own
  if (w.progress) {
    w.progress = false;
    w.block->progress = true;
  }
  save_path(w, static_cast<std::uint32_t>(op - w.worker->program->ops.data()), PathState::kPhase,
            static_cast<std::uint32_t>(places.at[lowest(w.active)]));
  const XOp* next = next_path(w);
  if (!next && w.stop == Stop::kBlocked) w.stop = Stop::kYield;  // to wait is no change
  return next;
}

/// Whether all that lives in the block waits.
bool only_waits(const Block& block) {
  for (const auto& w : block.warps) {
    if (w->alive == 0) continue;
    if (w->active != 0) return false;
    for (const Path& p : w->paths)
      if (p.state == PathState::kReady || p.state == PathState::kSpinning) return false;
  }
  return true;
}

void raise_deadlock(Warp& w, const Path& path) {
  const std::uint64_t at = path.barrier;
  const PhaseBarrier barrier(load({w.block, at}));
  std::string lacks;
  if (barrier.pending != 0) lacks = fmt::format("{} of {} arrivals", barrier.pending, barrier.expected);
  if (barrier.transactions != 0)
    lacks += fmt::format("{}{} bytes of copies", lacks.empty() ? "" : " and ", barrier.transactions);
  if (lacks.empty()) lacks = "everything: it was never initialised";
  const XOp* op = &w.worker->program->ops[path.op];
  set_active(w, path.mask);
  raise(
      w, op, Outcome::kHang, "D619",
      fmt::format("deadlock: threads wait at the mbarrier at {:#x} of shared memory, whose phase lacks {}; all threads "
                  "of the block wait",
                  at, lacks),
      "does every thread that the barrier counts arrive in each phase, and is the phase (or parity) the right one?");
}

}  // namespace

void complete_transactions(Warp& w, SharedPlace place, std::uint32_t bytes) {
  PhaseBarrier barrier(load(place));
  barrier.transactions -= static_cast<std::int32_t>(bytes);
  store_after(w, place, barrier);
}

bool give_up_waits(Block& block) {
  Warp* warp = nullptr;
  const Path* waiting = nullptr;
  for (const auto& w : block.warps)
    for (const Path& p : w->paths)
      if (!waiting && p.state == PathState::kPhase) warp = w.get(), waiting = &p;
  if (!waiting) return false;
  if (++block.vain_waits > kMostVainWaits && only_waits(block) && !warp->worker->program->reads_clock) {
    raise_deadlock(*warp, Path(*waiting));
    return true;
  }
  for (const auto& w : block.warps)
    for (Path& p : w->paths)
      if (p.state == PathState::kPhase) {
        p.state = PathState::kReady;
        ++p.op;
      }
  return true;
}

Handler find_async(const code::Op& op) {
  if (!op.async) return nullptr;
  switch (op.async->kind) {
    case AsyncKind::kCopy:
      return run_async_copy;
    case AsyncKind::kBulkCopy:
    case AsyncKind::kBulkReduce:
      return run_bulk_copy;
    case AsyncKind::kTensor:
      return run_tensor_copy;
    case AsyncKind::kStore:
    case AsyncKind::kReduce:
      return run_async_store;
    case AsyncKind::kInit:
      return run_init;
    case AsyncKind::kExchange:
      return run_exchange;
    case AsyncKind::kTransactions:
      return run_transactions;
    case AsyncKind::kArrive:
      return run_arrive;
    case AsyncKind::kWait:
      return run_wait;
    case AsyncKind::kPendingCount:
      return run_pending_count;
    case AsyncKind::kNone:
      break;
  }
  return nullptr;
}

}  // namespace muscope::exec
