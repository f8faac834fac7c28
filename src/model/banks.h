// Shared memory: wavefronts of one warp access over 32 banks of 4 bytes (compute capability 7.0 and later).
//
//   4 bytes or fewer: the highest number, over the banks, of distinct words that active lanes touch in that bank.
//   8 bytes:  that rule for lanes 0-15 and 16-31, summed.        16 bytes: for each eight lanes, summed.
//   Loads of 8 and 16 bytes: the groups double when every active pair of lanes (l, l xor 1), or every active pair
//   (l, l xor 2), has equal addresses.
//   Matrix loads and stores (LDSM, STSM): 16 bytes per row, each matrix is a group, groups are not joined. Modelled.
//   4-byte atomics: lanes instead of distinct words, equal addresses are not merged.
//   Compare-and-swap of the loops for shared adds without an instruction of their own: 2 for 4 bytes, 2 per half-warp
//   with an active lane for 8 bytes, whatever the addresses.
//   ncu's software count of loads (smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld) joins two neighbouring
//   groups only where the joined group takes one wavefront. Its ideal is what the bytes of the active lanes fill, or
//   the count itself where that is less.
//
// Source: one-instruction probes on an H200, exact in all of them (tests/counters/patterns.tsv; compare-and-swap: 323
// launches of tests/counters/experiments/shared_swap.cu). For chips other than the H200 the rule for 8 and 16 bytes is
// confirmed by community measurements on the A100 and by NVIDIA for 7.0 to 7.5.
#pragma once

#include <cstdint>

#include "arch/gpu_spec.h"
#include "model/lane_addresses.h"

namespace muscope::model {

inline constexpr unsigned kBanks = 32;
inline constexpr unsigned kBankBytes = 4;

struct BankCounts {
  std::uint32_t wavefronts = 0;  ///< l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*
  std::uint32_t ideal = 0;       ///< groups (after merging) that hold an active lane: the least these lanes can take
  std::uint32_t sass = 0;  ///< smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_*, memory_l1_wavefronts_shared
  /// memory_l1_wavefronts_shared_ideal: min(sass, ceil(active lanes * bytes / 128)). Of swaps it is not known.
  std::uint32_t sass_ideal = 0;
  /// l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*
  std::uint32_t conflicts() const { return wavefronts - ideal; }
  bool operator==(const BankCounts&) const = default;
};

enum class SharedOp : std::uint8_t {
  kLoad,
  kStore,
  kAtomic,     ///< 4-byte red or atom with a run-time operand (ATOMS.ADD and its like)
  kIncrement,  ///< ATOMS.POPC.INC.32: what ptxas makes of adding the constant 1 with an unused result; merges equal
               ///< addresses
};

/// The least wavefronts that this many bytes fill.
constexpr std::uint32_t packed_wavefronts(std::uint32_t lanes, std::uint32_t bytes) {
  return (lanes * bytes + kBanks * kBankBytes - 1) / (kBanks * kBankBytes);
}

/// Wavefronts of any access; addresses are byte offsets in the block's shared window. Atomics of 8 bytes are loops:
/// see count_cas_loop.
BankCounts count_banks(const LaneAddresses& access, SharedOp op);

/// The same under a GPU's rules. Banks of 8 bytes (cc 3.x in its default 32-bit mode): two words of one bank go
/// together when they lie in the same aligned 256 bytes (CUDA C Programming Guide 5 to 10, Compute Capability 3.x);
/// widths above 8 are taken as half-warps there.
BankCounts count_banks(const arch::SharedRules& rules, const LaneAddresses& access, SharedOp op);

/// Wavefronts of one 32-lane group at base + stride * lane: closed form for a full mask and natural alignment.
BankCounts count_banks_affine(std::uint64_t base, std::int64_t stride, GroupMask mask, std::uint32_t bytes,
                              SharedOp op);

/// Wavefronts of a trace record. Atomics of 8 bytes that are not the swap of a loop count as the atomic part of their
/// loop. The ideal of a swap is 1: its bank conflicts are wavefronts - executions (H200).
BankCounts count_banks(const trace::WarpAccess& access);

/// Lanes per group: 32, 16 or 8 for accesses of up to 4, 8 and 16 bytes.
constexpr unsigned lanes_per_bank_group(std::uint32_t bytes) {
  return bytes <= kBankBytes ? kGroupLanes : kGroupLanes * kBankBytes / bytes;
}

/// Whether a load's groups double in size: every pair (l, l xor 1) of active lanes, or every pair (l, l xor 2), has
/// equal addresses. A lane whose partner is inactive does not prevent it.
bool merges_pairs(const LaneAddresses& access);

/// An 8-byte shared add (`atom.shared.add.u64`, f64 adds alike) is a loop of a 64-bit load and a compare-and-swap.
struct CasLoopCounts {
  std::uint32_t rounds = 0;           ///< loads executed: smsp__inst_executed_op_shared_ld
  std::uint32_t load_wavefronts = 0;  ///< ..._mem_shared_op_ld
  std::uint32_t load_ideal = 0;  ///< sum over rounds of the loads' ideal; conflicts are load_wavefronts - load_ideal
  std::uint32_t load_sass = 0;   ///< smsp__sass_..._mem_shared_op_ld
  std::uint32_t atom_wavefronts = 0;  ///< ..._mem_shared_op_atom
};

/// In each round the remaining lanes load (load rule, merging included); then, half-warp by half-warp, the lowest
/// remaining lane of each of 16 8-byte banks tries its swap, which succeeds unless another lane has changed that
/// address in this round. Each round costs two atomic wavefronts per half-warp with a lane left. Measured on an H200:
/// exact in 69 of 69 probes for all three counters.
CasLoopCounts count_cas_loop(const LaneAddresses& access);

}  // namespace muscope::model
