// Occupancy: how many blocks of a launch fit on one SM, what limits them, what would lift the limit, how many waves the
// grid makes.
//
//   blocks = min(registers, shared memory, warps, blocks[, barriers for cc 9.0 and later])
//
// Source: cuda_occupancy.h of CUDA 13.0 (cudaOccMaxActiveBlocksPerMultiprocessor), whose sub-rules are named below; the
// limits for 63 launches on an H200 as Nsight Compute printed them (tests/counters/occupancy.tsv).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.h"

namespace muscope::model {

struct LaunchShape {
  int threads_per_block = 0;
  int registers_per_thread = 0;     ///< 0: not known, registers do not limit
  std::int64_t static_shared = 0;   ///< bytes
  std::int64_t dynamic_shared = 0;  ///< bytes
  int barriers = 1;                 ///< named barriers in use
  /// What the program asked for: percent of the shared memory (cudaFuncAttributePreferredSharedMemoryCarveout; 100 and
  /// 50 are cudaFuncCachePreferShared and -Equal), kDriverChooses or kPrefersL1 (cudaFuncCachePreferL1).
  int carveout_preference = -1;
};
inline constexpr int kDriverChooses = -1;
inline constexpr int kPrefersL1 = -2;

enum class Limit : std::uint8_t { kWarps, kRegisters, kShared, kBlocks, kBarriers };
std::string_view name_of(Limit limit);  ///< "warps", "registers", "shared memory", "blocks", "barriers"

inline constexpr int kNoLimit = std::numeric_limits<int>::max();

struct Occupancy {
  int warps_per_block = 0;
  int blocks_per_sm = 0;
  int active_warps = 0;
  int max_warps = 0;
  double percent = 0;  ///< theoretical occupancy, 0 to 100

  // Blocks per SM if nothing else limited: launch__occupancy_limit_*. kNoLimit where the rule does not apply.
  int limit_warps = 0;
  int limit_registers = 0;
  int limit_shared = 0;  ///< with the largest carve-out, as cuda_occupancy.h takes by default
  int limit_blocks = 0;
  int limit_barriers = 0;       ///< launch__occupancy_limit_barriers; at most limit_blocks
  std::vector<Limit> limiters;  ///< every limit equal to blocks_per_sm, hardest to change first

  /// Blocks that the carve-out allows which the driver chooses, and that carve-out in bytes
  /// (launch__occupancy_limit_shared_mem, launch__shared_mem_config_size). Not documented; the rule below gives all of
  /// 6,996 launches measured on an H200 (tests/counters/carveouts). With
  ///   b  blocks that warps, registers and the block limit allow,
  ///   a  shared bytes of a block as allocated, the reserved ones included,
  ///   n  max(b, min(2b, 32 - warps of a block)); without shared memory 2b does not bind; 1 where b is 1
  /// it is the smallest carve-out that holds n blocks, but no more than 132 KiB for that, and in any case one that
  /// holds as many of the b blocks as the largest would. A preference in percent p asks for floor(p x largest / (a -
  /// reserved)) blocks, at least one, and p x largest; cudaFuncCachePreferL1 for what fits into the smallest carve-out
  /// that holds a block. Where the spec lists no carve-outs they equal limit_shared and the whole shared memory.
  int limit_shared_driver = 0;
  std::int64_t carveout_driver = 0;

  int registers_per_block = 0;        ///< allocated
  std::int64_t shared_per_block = 0;  ///< allocated, the reserved bytes included
  bool needs_shared_optin = false;    ///< more than the default per block: cudaFuncSetAttribute is needed
  bool rests_on_defaults = false;     ///< the spec lacks a limit that was used; a common value was taken
  std::string impossible;             ///< why such a block cannot run at all; empty when it can

  bool full() const { return blocks_per_sm > 0 && active_warps == max_warps; }
};

Occupancy occupancy(const arch::GpuSpec& gpu, const LaunchShape& launch);

/// One step up: what the launch would have to use at most for `blocks` per SM. A bound equal to what the launch uses
/// now asks for no change.
struct Lift {
  int blocks = 0;
  double percent = 0;
  int registers_at_most = 0;        ///< per thread
  std::int64_t shared_at_most = 0;  ///< static + dynamic, bytes per block
};

/// The steps from the present occupancy up to what warps and blocks allow, lowest first. Empty when registers and
/// shared memory are not what limits.
std::vector<Lift> lifts(const arch::GpuSpec& gpu, const LaunchShape& launch);

/// Block sizes (multiples of a warp, same registers and shared memory per block) that reach the highest occupancy.
std::vector<int> best_block_sizes(const arch::GpuSpec& gpu, const LaunchShape& launch);

struct Waves {
  std::int64_t blocks_per_wave = 0;
  double waves = 0;           ///< launch__waves_per_multiprocessor
  double last_wave_fill = 0;  ///< 0 to 1: share of the last wave's block slots in use
};

/// Waves of a grid of `blocks` blocks; all zero where the GPU's SM count is not known.
Waves waves(const arch::GpuSpec& gpu, const Occupancy& occupancy, std::int64_t blocks);

}  // namespace muscope::model
