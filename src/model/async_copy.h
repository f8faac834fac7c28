// Asynchronous copies from global to shared memory (cp.async, LDGSTS): what one executed instruction costs.
//
//   Through L1 (cp.async.ca), hardware. The tag stage serves the lines as for loads (model/t_stage.h). What one of its
//   passes gives is written to shared memory at once, a group of lanes at a time (32, 16 or 8 lanes of 4, 8 or 16
//   bytes). A lane reads one bank of L1's line and writes one bank of shared memory, banks as wide as the lane's bytes;
//   nothing is broadcast and nothing merged. Lanes go in order: a lane takes the wavefront after the last one that used
//   either of its two banks. Conflicts: wavefronts beyond one for each group of each pass. Lanes whose bytes are
//   (partly) zeros instead of what is read are written once more, as by a store. Through L1, ncu's software. Per group
//   the most lanes that share the bank of one lane, on either side, itself included. Past L1 (cp.async.cg), ncu's
//   software; hardware has no counter of these wavefronts. Of lanes that write one place the lowest counts. A transfer
//   is a sector read, a sector written and whether the 16-byte halves change places. A wavefront serves transfers of
//   one line read to one line written with the same halves written and changed, all from different sectors, all with or
//   all without exchange of odd and even sectors; of a sector's transfers the one of the highest lane goes first.
//   Wavefronts that hold zeros count twice. Past L1, hardware: pairs of a line read and a sector written.
//
// Source: one copy by one warp at a time on an H200, 668 launches (tests/counters/experiments/async_copies.tsv). Equal:
// through L1, 501 of 501 in sectors, passes, wavefronts, conflicts, the software's wavefronts and conflicts; past L1,
// of 167, software's sectors and bytes all, wavefronts 166 (one low by 1), hardware's sectors 160 (the other 7 have
// lanes that write one place; which of them hardware serves is not known). Zeros: 4 launches of
// tests/counters/kernels/async.cu.
#pragma once

#include <cstdint>

#include "model/banks.h"

namespace muscope::model {

using trace::AsyncCopy;

/// What copies read past L1.
struct CopyReads {
  std::uint32_t sectors = 0;       ///< of l1tex__t_sectors_pipe_lsu_mem_global_op_ld
  std::uint32_t sass_sectors = 0;  ///< smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass
  /// Lanes that are the lowest of those that read their place and of those that write theirs; times the width
  /// smsp__sass_data_bytes_mem_global_op_ldgsts_cache_bypass.
  std::uint32_t addresses = 0;
  bool operator==(const CopyReads&) const = default;
};

/// What copies write: BankCounts, and the wavefronts that ncu's software thinks the least.
struct CopyWrites {
  BankCounts banks;              ///< past L1 the same by hardware and by software: packets, none of them a conflict
  std::uint32_t sass_least = 0;  ///< smsp__sass_..._bank_conflicts_..._ldgsts is sass - sass_least
  std::uint32_t addresses = 0;   ///< distinct ones: smsp__sass_data_bytes_mem_shared_op_ldgsts over the width
  bool operator==(const CopyWrites&) const = default;
};

/// Past L1. Through L1 copies read as loads do (model/l1_stages.h).
CopyReads count_reads_past_l1(const AsyncCopy& copy);

CopyWrites count_writes_through_l1(const AsyncCopy& copy);
CopyWrites count_writes_past_l1(const AsyncCopy& copy);

}  // namespace muscope::model
