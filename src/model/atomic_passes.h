// Atomics on global memory (RED, ATOM): in which passes of L1's tag stage the lanes of one warp are served.
//
//   The four sets of the tag stage (model/t_stage.h) work side by side. In each, the active lanes wait in 32 queues,
//   one for each 4-byte word of a line, whatever line it is of; in a queue they stand in the order of lanes. A pass
//   serves one line: that of the lowest waiting lane. With it goes every lane that is first in its queue and wants the
//   same line. So lanes that share an address are served one after the other, and a lane can miss a pass of its line
//   because a lane of another line stands before it. Lanes of 8 bytes wait in the queue of their first word.
//   Sectors: distinct 32-byte sectors of each pass, summed. Wavefronts: the most passes of one set.
//
// Source: one reduction by one warp at a time on an H200. Sectors and wavefronts equal in 1,320 of 1,320 launches of 4
// bytes (tests/counters/experiments/atomic_sectors.tsv); sectors in 276 of 276, wavefronts in 196 of 196 probes of 4
// and 8 bytes, RED and ATOM (tests/counters/patterns.tsv). Not measured: other widths; lanes further apart than 2 MiB,
// where the sets are not known in full.
#pragma once

#include <cstdint>

#include "model/lane_addresses.h"

namespace muscope::model {

struct AtomicPasses {
  std::uint32_t sectors = 0;     ///< l1tex__t_sectors_pipe_lsu_mem_global_op_red/_atom
  std::uint32_t wavefronts = 0;  ///< l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red/_atom
  bool operator==(const AtomicPasses&) const = default;
};

/// Lanes are naturally aligned, so that none has bytes of two lines.
AtomicPasses count_atomic_passes(const LaneAddresses& access);

/// Whether lanes at `base + stride * lane` are served line by line, each line in one pass: no two share a word.
constexpr bool is_served_in_lines(const trace::WarpAccess& access) {
  constexpr std::int64_t kWord = 4;
  return access.shape == trace::Shape::kAffine && (access.stride >= kWord || access.stride <= -kWord);
}

}  // namespace muscope::model
