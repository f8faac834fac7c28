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

/// Addresses of all lanes, those of running ones only mean something. Shared addresses become offsets in the block's
/// window. False with a fault when a generic address is not shared.
bool find_async_addresses(Warp& w, const XOp* op, const code::AsyncAddress& address, std::uint64_t* each);
/// Whether `bytes` at offset `at` of shared memory exist and are aligned; else a fault of `lane`.
bool check_shared(Warp& w, const XOp* op, unsigned lane, std::uint64_t at, std::uint64_t bytes,
                  std::uint32_t alignment);

/// The transaction count of the mbarrier at offset `at` goes down by `bytes`; a phase may end.
void complete_transactions(Warp& w, std::uint64_t at, std::uint32_t bytes);

/// Nobody in the block changes anything: waits for mbarriers end without success, which the PTX ISA allows at any time
/// ("mbarrier.try_wait"). False when nobody waits. After many such rounds with nobody but waiters in a kernel that
/// reads no clock: a fault, since only threads of the block could end the phase.
bool give_up_waits(Block& block);

}  // namespace muscope::exec
