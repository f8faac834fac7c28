// Asynchronous copies and barriers in shared memory (code::OpKind::kAsync), of PTX and machine code alike.
//
// A copy is made at once, when it is issued: the PTX ISA ("cp.async", "cp.async.bulk") allows any time before its
// completion is waited for, so groups of copies need nothing, and an mbarrier learns of the completion immediately.
#pragma once

#include "exec/warp.h"

namespace muscope::code {
struct AsyncAddress;
}

namespace muscope::exec {

/// Null when the op is of another kind.
Handler find_async(const code::Op& op);

/// cp.async, LDGSTS, and bulk copies (async_copy.cc).
const XOp* run_async_copy(Warp& w, const XOp* op);
const XOp* run_bulk_copy(Warp& w, const XOp* op);
/// What the counters see of a copy whose guard is false for all lanes.
void report_no_copy(const Warp& w, const XOp* op);

/// An address per lane; those of running ones only mean something. Global ones have no block; a shared one has none
/// when no block of the cluster has the rank that stands in it.
struct AsyncPlaces {
  alignas(64) std::uint64_t at[kGroupLanes] = {};  ///< offset in the block's window, or global address
  Block* block[kGroupLanes] = {};
  SharedPlace operator[](unsigned lane) const { return {block[lane], at[lane]}; }
};

/// False with a fault when a generic address is not shared.
bool find_async_addresses(Warp& w, const XOp* op, const code::AsyncAddress& address, AsyncPlaces& places);
/// Whether `bytes` of shared memory exist there and are aligned; else a fault of `lane`.
bool check_shared(Warp& w, const XOp* op, unsigned lane, SharedPlace place, std::uint64_t bytes,
                  std::uint32_t alignment);

/// The transaction count of the mbarrier at `place` goes down by `bytes`; a phase may end.
void complete_transactions(Warp& w, SharedPlace place, std::uint32_t bytes);

/// Tiles by tensor map (tensor_copy.cc).
const XOp* run_tensor_copy(Warp& w, const XOp* op);
/// st.async and red.async (async_remote.cc).
const XOp* run_async_store(Warp& w, const XOp* op);

/// Nobody in the block changes anything: waits for mbarriers end without success, which the PTX ISA allows at any time
/// ("mbarrier.try_wait"). False when nobody waits. After many such rounds with nobody but waiters in a kernel that
/// reads no clock: a fault, since only threads of the block could end the phase.
bool give_up_waits(Block& block);

}  // namespace muscope::exec
