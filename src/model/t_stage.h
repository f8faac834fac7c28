// T-stage wavefronts of global accesses: how many passes the L1 tag lookup takes.
//
//   A line (address / 128) belongs to one of four sets; a wavefront serves one line of each set. The set bits are
//   parity(line & 0xB55AF6F) and parity(line & 0xEBAD5DA). Loads and stores: the most lines in one set. Atomics:
//   model/atomic_passes.h.
//
// Source: fitted on one-instruction probes of an H200, exact for all loads and stores (90 distinct line sets) and, by
// the rule of atomics, for 1,516 of those (tests/counters/patterns.tsv, experiments/atomic_sectors.tsv). Address bits
// 20 to 34 (line bits 13 to 27) were measured bit by bit (experiments/tag_sets.tsv), which also gave 7 to 19 again.
// Bits 35 and up were not measured; other chips have another hash.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/distinct_table.h"
#include "model/lane_addresses.h"

namespace muscope::model {

namespace t_stage {
/// The bits of a line whose parities are the two bits of its set.
inline constexpr std::uint32_t kFirst = 0xb55af6f, kSecond = 0xebad5da;

/// The sets of lines `index << kShift`. Parity is linear: a set is the exclusive or of what groups of line bits give.
template <std::size_t kSize, unsigned kShift>
inline constexpr std::array<std::uint8_t, kSize> kSets = [] {
  std::array<std::uint8_t, kSize> sets{};
  for (std::size_t index = 0; index < kSize; ++index) {
    const std::uint64_t line = std::uint64_t{index} << kShift;
    sets[index] =
        static_cast<std::uint8_t>((std::popcount(line & kFirst) & 1) | (std::popcount(line & kSecond) & 1) << 1);
  }
  return sets;
}();

/// Whether an odd number of bits is set, without tables: for loops that become vectors.
constexpr std::uint32_t parity(std::uint32_t bits) {
  bits ^= bits >> 16;
  bits ^= bits >> 8;
  bits ^= bits >> 4;
  bits ^= bits >> 2;
  return (bits ^ bits >> 1) & 1;
}
}  // namespace t_stage

/// Set 0 to 3 of a 128-byte line on an H200.
constexpr unsigned t_stage_set(std::uint64_t line) {
  return static_cast<unsigned>(t_stage::kSets<128, 0>[line & 127] ^ t_stage::kSets<256, 7>[(line >> 7) & 255] ^
                               t_stage::kSets<8192, 15>[(line >> 15) & 8191]);
}

/// Lines of each of the four sets.
class SetCounts {
 public:
  constexpr void add(std::uint64_t line, unsigned times = 1) { add_to(t_stage_set(line), times); }
  constexpr void add_to(unsigned set, unsigned times) { counts_ += std::uint64_t{times} << (16 * set); }
  constexpr std::uint32_t of(unsigned set) const { return static_cast<std::uint32_t>(counts_ >> (16 * set)) & 0xffffu; }
  constexpr std::uint32_t most() const { return std::max(std::max(of(0), of(1)), std::max(of(2), of(3))); }

 private:
  std::uint64_t counts_ = 0;  ///< 16 bits a set
};

/// l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld / _st
inline std::uint32_t count_t_wavefronts(const LaneAddresses& access) {
  SetCounts sets;
  DistinctTable<9> lines;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) >> 7;
    for (std::uint64_t line = access.addresses[lane] >> 7; line <= last; ++line) {
      bool fresh = false;
      lines.find(line, fresh);
      if (fresh) sets.add(line);
    }
  });
  return sets.most();
}

}  // namespace muscope::model
