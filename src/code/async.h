// Asynchronous copies and barriers in shared memory (mbarrier): what an op of OpKind::kAsync is about. PTX and machine
// code lower to the same operations (async_lowering.cc, machine_async.cc); exec/async.h executes them.
#pragma once

#include "code/kernel.h"

namespace muscope::code {

enum class AsyncKind : std::uint8_t {
  kNone,
  kCopy,          ///< cp.async, LDGSTS: lanes copy 4, 8 or 16 bytes from global to shared memory
  kBulkCopy,      ///< cp.async.bulk, UBLKCP: a range of bytes
  kInit,          ///< mbarrier.init: `amount` arrivals are expected
  kExchange,      ///< SYNCS.EXCH.64: the barrier's word becomes `state`
  kTransactions,  ///< expect_tx and complete_tx: the transaction count changes by `amount`, or by minus `amount`
  kArrive,        ///< arrive, arrive_drop, with their variants
  kWait,          ///< test_wait, try_wait: whether the phase is over
  kPendingCount,  ///< of a state that an arrival gave
  kStore,         ///< st.async, STAS: `bytes` of `values` to `to`, which complete transactions of `barrier`
  kReduce,        ///< red.async, REDAS: the same with an atomic operation
  kTensor,      ///< a tile by the tensor map at `from`, whose coordinates are `values`: to shared memory `to` where it
                ///< has a barrier, else from there
  kBulkReduce,  ///< cp.reduce.async.bulk, UBLKRED: a range of bytes, element by element
};

/// An address per lane.
struct AsyncAddress {
  Place base;                   ///< none: `offset` alone
  std::uint8_t base_bytes = 4;  ///< width of a lane in it
  bool pair = false;            ///< machine code: two registers, low one first
  Place uniform;                ///< machine code: a uniform register that is added
  std::uint8_t uniform_bytes = 0;
  std::int64_t offset = 0;
  ptx::Space space = ptx::Space::kShared;  ///< kShared, kGlobal or kGeneric
  bool cluster = false;                    ///< kShared: of any block of the cluster; the rank stands in the address
};

struct AsyncDetails {
  AsyncKind kind = AsyncKind::kNone;
  AsyncAddress to, from, barrier;
  bool has_barrier = false;  ///< kBulkCopy: the bytes complete transactions of `barrier`
  std::uint8_t bytes = 0;    ///< kCopy: per lane
  bool bypass = false;       ///< kCopy: past L1 (.cg, .BYPASS)
  /// kCopy: lanes where it does not hold read nothing and get zeros. None: holds.
  Place condition;
  bool condition_negated = false;
  /// kCopy, machine code: the low bits of the source address, below `bytes`, are how many bytes at the end of each lane
  /// are zeros instead (LDGSTS.ZFILL; found by compiling constant source sizes with ptxas 13.0).
  bool zeros_in_address = false;
  /// kCopy: bytes to read, the rest is zeros (none: all). kBulkCopy: size in units. Else: arrivals or transactions.
  Place amount;
  std::uint32_t units = 1;  ///< kBulkCopy: bytes per unit of `amount`, of which the low 16 bits count when not 1
  Place expects;            ///< kArrive: transactions to expect first
  bool drops = false;       ///< kArrive: the phases after this one expect fewer
  bool completes = false;   ///< kTransactions: minus
  /// kArrive, machine code (.TMASK): the result is not the state before each lane's arrival but the lanes that arrive
  /// together, and the high word of the state before all of them.
  bool gives_lanes = false;
  Place state;                   ///< kWait, kPendingCount, kExchange: the word
  std::uint8_t state_bytes = 4;  ///< width of its lanes; 8: the whole word; 4: kWait, the parity (`parity_bit`)
  bool state_pair = false;       ///< kExchange, kPendingCount: two registers
  std::uint8_t parity_bit = 0;   ///< kWait: which bit of a 32-bit `state` is the parity of the phase waited for
  bool result_pair = false;      ///< results of 64 bits go to two registers
  /// kBulkCopy: bits of the ranks that get a copy each, at the same offset of their shared memory (none: `to` says).
  Place multicast;
  bool multicast_in_amount = false;   ///< machine code: they are the high 16 bits of `amount`
  std::vector<Place> values;          ///< kStore, kReduce: one word, or 8-byte lane, each; kTensor: coordinates
  bool reduces = false;               ///< kTensor: by `reduction`
  std::uint8_t value_bytes = 4;       ///< width of a lane in `values`
  std::uint8_t reduction = 0;         ///< kReduce, kBulkReduce: 0 add, min, max, inc, dec, and, or, 7 xor
  ptx::Type type = ptx::Type::kNone;  ///< of its elements
};

/// Of PTX: the number of the operation in AsyncDetails::reduction.
std::uint8_t reduction_number(const ptx::Instruction& i);

}  // namespace muscope::code
