// Pattern: one warp access as `muscope pattern` takes it, checked, and everything that the rules say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.h"
#include "model/banks.h"
#include "model/generations.h"
#include "model/lane_addresses.h"
#include "model/sectors.h"

namespace muscope::model {

enum class PatternSpace : std::uint8_t { kGlobal, kShared, kConst, kLocal };
enum class PatternOp : std::uint8_t { kLoad, kLoadCg, kLoadNc, kStore, kRed, kAtom };

std::string_view name_of(PatternSpace space);  ///< "global", "shared", "const", "local"
std::string_view name_of(PatternOp op);        ///< "LD", "LD_CG", "LD_NC", "ST", "RED", "ATOM"
std::optional<PatternSpace> space_of(std::string_view name);
std::optional<PatternOp> op_of(std::string_view name);  ///< upper or lower case

struct Pattern {
  PatternSpace space = PatternSpace::kGlobal;
  PatternOp op = PatternOp::kLoad;
  std::uint32_t bytes = 4;
  WarpMask mask;
  std::vector<std::uint64_t>
      addresses;  ///< one per lane, from a base aligned to 128 bytes (local: offset in the lane's frame)

  LaneAddresses lanes() const { return {addresses, mask, bytes}; }
  trace::Kind kind() const;
};

/// What is wrong with the combination of space, operation and width; empty when it exists.
std::string why_invalid(const Pattern& pattern);

/// Active lanes whose address is not a multiple of the access size: hardware raises error 716 (misaligned address).
std::vector<unsigned> misaligned_lanes(const Pattern& pattern);

struct PatternCounts {
  std::uint32_t lanes = 0;
  std::uint64_t bytes_asked = 0;          ///< lanes times bytes
  std::optional<std::uint32_t> requests;  ///< global, shared, local
  std::optional<std::uint32_t> sectors;   ///< global, local
  std::optional<std::uint32_t> ideal_sectors;
  std::optional<std::uint32_t> lines;
  std::optional<std::uint32_t> t_wavefronts;  ///< global on the GPU whose set hash is known
  std::optional<Transactions> transactions;   ///< global
  std::optional<std::uint32_t> wavefronts;    ///< shared
  std::optional<std::uint32_t> ideal_wavefronts;
  std::optional<std::uint32_t> bank_conflicts;
  std::optional<CasLoopCounts> cas_loop;  ///< shared atomics of 8 bytes
  std::optional<std::uint32_t> constant_requests;
  std::optional<std::uint32_t> constant_lines;
};

/// The counts of a valid pattern. `l1_on`: whether global loads are cached in L1 (matters on cc 2.x and 3.x).
/// Wavefronts of 8-byte shared atomics are those of the compare-and-swaps, bank conflicts those of the loop's loads.
PatternCounts count_pattern(const arch::GpuSpec& gpu, const Pattern& pattern, bool l1_on);

/// Where a lane is served: the pass (wavefront) it falls into, from 1; 0 for inactive lanes. Shared memory: passes in
/// the order of the groups and, in a bank, of the words' lowest lanes. Constant memory: the distinct word. Global and
/// local: the T-stage wavefront. Hardware's own order within an instruction is not visible; the number of passes is.
std::vector<std::uint32_t> passes_of(const arch::GpuSpec& gpu, const Pattern& pattern);

/// Lanes per shared-memory group as they are served, after merging.
unsigned group_lanes(const Pattern& pattern);

}  // namespace muscope::model
