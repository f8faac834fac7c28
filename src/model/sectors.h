// Global memory: sectors, lines and the ideal of one warp access (compute capability 7.0 and later).
//
//   A warp instruction with at least one active lane makes one request. It touches as many sectors as there are
//   distinct 32-byte sectors among the bytes of its active lanes, and looks up as many tags as there are distinct
//   128-byte lines.
//
// Source: one-instruction probes on an H200, exact in every load and store of 1 to 16 bytes, ld.cg and ld.nc included
// (tests/counters/patterns.tsv); documented for 7.0 and later in the Nsight Compute Profiling Guide, 2.11.2.
#pragma once

#include <cstdint>

#include "model/lane_addresses.h"

namespace muscope::model {

inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kLineBytes = 128;

struct SectorCounts {
  std::uint32_t sectors = 0;  ///< distinct 32-byte sectors; l1tex__t_sectors_pipe_lsu_mem_global_op_ld/_st
  std::uint32_t lines = 0;    ///< distinct 128-byte lines; memory_l1_tag_requests_global
  std::uint32_t ideal = 0;    ///< min(sectors, ceil(lanes * bytes / 32)); memory_l2_theoretical_sectors_global_ideal
  bool operator==(const SectorCounts&) const = default;
};

/// Sectors of any access. 10 ns when addresses ascend with the lane, about 60 ns for 32 random lanes.
SectorCounts count_sectors(const LaneAddresses& access);

/// Sectors of an access of one 32-lane group at base + stride * lane; closed form where lanes are naturally aligned and
/// the active lanes are neighbours.
SectorCounts count_sectors_affine(std::uint64_t base, std::int64_t stride, GroupMask mask, std::uint32_t bytes);

/// Sectors of a trace record (any space whose addresses are linear).
SectorCounts count_sectors(const trace::WarpAccess& access);

/// Sectors of a global `red` or `atom` (model/atomic_passes.h). `lines` and `ideal` are the address calculation of
/// count_sectors, which ncu's memory_l2_theoretical_sectors_global follows for atomics too.
SectorCounts count_atomic_sectors(const LaneAddresses& access);
SectorCounts count_atomic_sectors(const trace::WarpAccess& access);

/// Distinct addresses among the active lanes of a trace record. Times the width these are the bytes of
/// smsp__sass_data_bytes_mem_global_op_*: bytes that several lanes of one instruction ask for count once (H200:
/// tests/counters/examples, broadcast: 4 bytes for 32 lanes on one word).
std::uint32_t count_distinct_addresses(const trace::WarpAccess& access);

/// ceil(lanes * bytes / 32), the least that this many bytes can take.
constexpr std::uint32_t packed_sectors(std::uint32_t lanes, std::uint32_t bytes) {
  return (lanes * bytes + kSectorBytes - 1) / kSectorBytes;
}

}  // namespace muscope::model
