// L1 as a global access passes through it: sectors and lines, wavefronts of the tag stage, and of the data stage for
// loads, all from one look at the addresses.
//
//   Tag stage: model/t_stage.h. A wavefront serves one line of each of four sets; the j-th wavefront takes the j-th
//   distinct line of every set, lines ordered by their lowest lane.
//   Data stage of loads: for each tag-stage wavefront the bank rule of shared memory (model/banks.h, without merging)
//   over the lanes whose line is in that wavefront, summed.
//
// Source: one-instruction probes on an H200. Tag stage: exact for all loads and stores (588 patterns); atomics:
// model/atomic_passes.h. Data stage: exact in 343 of 343 load patterns of 4, 8 and 16 bytes, ld.cg and ld.nc included,
// where the counter l1tex__data_pipe_lsu_wavefronts reads one more, which the kernel itself causes
// (tests/counters/patterns.tsv). That counter also holds stores, whose rule is open for several tag-stage wavefronts,
// and every other access.
#pragma once

#include <cstdint>

#include "model/sectors.h"

namespace muscope::model {

struct GlobalCounts {
  SectorCounts sectors;                ///< as count_sectors and count_atomic_sectors give them
  std::uint32_t distinct_sectors = 0;  ///< of atomics too, as memory_l2_theoretical_sectors_global has them
  std::uint32_t addresses = 0;         ///< loads and stores: distinct lane addresses (count_distinct_addresses)
  std::uint32_t t_wavefronts = 0;      ///< l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld/_st/_red/_atom
  std::uint32_t data_wavefronts = 0;   ///< loads: their part of l1tex__data_pipe_lsu_wavefronts; others: 0
  bool operator==(const GlobalCounts&) const = default;
};

/// What a global load, store or atomic of the trace costs in L1. Loads and stores: closed forms where lanes lie in one
/// line or side by side, else time in proportion to lanes and lines.
GlobalCounts count_global(const trace::WarpAccess& access);

}  // namespace muscope::model
