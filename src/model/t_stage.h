// T-stage wavefronts of global accesses: how many passes the L1 tag lookup takes.
//
//   A line (address / 128) belongs to one of four sets; a wavefront serves one line of each set. The set bits are
//   parity(line & 0xF6F) and parity(line & 0x15DA). Loads and stores: the most lines in one set. Atomics: the highest
//   sum, over the lines of a set, of the lanes that share the most-shared address of that line.
//
// Source: fitted on one-instruction probes of an H200, exact for all loads and stores (90 distinct line sets) and for
// 192 of 196 atomics (tests/counters/patterns.tsv). Line bits 13 and up (address bits 20 and up) were not determined;
// other chips have another hash.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/distinct_table.h"
#include "model/lane_addresses.h"

namespace muscope::model {

/// Set 0 to 3 of a 128-byte line on an H200.
constexpr unsigned t_stage_set(std::uint64_t line) {
  return static_cast<unsigned>(std::popcount(line & 0xf6f) & 1) |
         static_cast<unsigned>(std::popcount(line & 0x15da) & 1) << 1;
}

/// l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld / _st
inline std::uint32_t count_t_wavefronts(const LaneAddresses& access) {
  std::array<std::uint32_t, 4> lines_in_set{};
  DistinctTable<9> lines;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) >> 7;
    for (std::uint64_t line = access.addresses[lane] >> 7; line <= last; ++line) {
      bool fresh = false;
      lines.find(line, fresh);
      lines_in_set[t_stage_set(line)] += fresh;
    }
  });
  return *std::max_element(lines_in_set.begin(), lines_in_set.end());
}

/// l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red / _atom; a floor, see above.
inline std::uint32_t count_atomic_t_wavefronts(const LaneAddresses& access) {
  std::array<std::uint32_t, 4> passes{};
  DistinctTable<9> addresses, lines;
  for_each_lane(access.mask, [&](unsigned lane) {
    bool fresh = false;
    const std::uint64_t line = access.addresses[lane] >> 7;
    const std::uint32_t sharing = ++addresses.value(addresses.find(access.addresses[lane], fresh));
    std::uint32_t& most = lines.value(lines.find(line, fresh));
    if (sharing > most) {
      passes[t_stage_set(line)] += sharing - most;
      most = sharing;
    }
  });
  return *std::max_element(passes.begin(), passes.end());
}

}  // namespace muscope::model
