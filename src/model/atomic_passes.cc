#include "model/atomic_passes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/distinct_table.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

constexpr unsigned kSets = 4, kWordsPerLine = 32;
constexpr std::uint8_t kNobody = 0xff;
static_assert(kMaxWarpLanes < kNobody);

template <unsigned kWords>
using Lanes = std::array<std::uint64_t, kWords>;

template <unsigned kWords>
struct Line {
  Lanes<kWords> lanes;
  unsigned set;
};

/// Warps of up to 32 or up to 128 lanes.
template <unsigned kLanes>
AtomicPasses serve(const LaneAddresses& access) {
  constexpr unsigned kWords = (kLanes + 63) / 64, kLogSlots = static_cast<unsigned>(std::bit_width(kLanes));
  DistinctTable<kLogSlots> known;
  std::array<Line<kWords>, kLanes> lines;
  std::array<std::uint8_t, kLanes> line_of, next;  // the one that stands behind this lane in its queue
  std::array<std::uint8_t, kSets * kWordsPerLine> last;
  last.fill(kNobody);
  Lanes<kWords> heads{};
  unsigned count = 0;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t address = access.addresses[lane], line = address >> 7;
    bool fresh = false;
    std::uint32_t& at = known.value(known.find(line, fresh));
    if (fresh) {
      at = count;
      lines[count++] = {{}, t_stage_set(line)};
    }
    line_of[lane] = static_cast<std::uint8_t>(at);
    lines[at].lanes[lane / 64] |= std::uint64_t{1} << (lane % 64);
    std::uint8_t& before = last[lines[at].set * kWordsPerLine + ((address >> 2) & (kWordsPerLine - 1))];
    if (before == kNobody)
      heads[lane / 64] |= std::uint64_t{1} << (lane % 64);
    else
      next[before] = static_cast<std::uint8_t>(lane);
    next[lane] = kNobody;
    before = static_cast<std::uint8_t>(lane);
  });

  AtomicPasses passes;
  std::array<std::uint32_t, kSets> of_set{};
  // Who moves up is a higher lane than who was served, so the lowest waiting lane only rises.
  for (unsigned word = 0; word < kWords; ++word) {
    while (heads[word] != 0) {
      const Line<kWords>& line = lines[line_of[word * 64 + static_cast<unsigned>(std::countr_zero(heads[word]))]];
      Lanes<kWords> moved_up{};
      std::uint32_t sectors = 0;
      for (unsigned w = word; w < kWords; ++w) {
        const std::uint64_t served = heads[w] & line.lanes[w];
        heads[w] &= ~served;
        for (std::uint64_t left = served; left != 0; left &= left - 1) {
          const unsigned lane = w * 64 + static_cast<unsigned>(std::countr_zero(left));
          sectors |= 1u << ((access.addresses[lane] >> 5) & 3);
          const std::uint8_t behind = next[lane];
          if (behind != kNobody) moved_up[behind / 64u] |= std::uint64_t{1} << (behind % 64u);
        }
      }
      for (unsigned w = word; w < kWords; ++w) heads[w] |= moved_up[w];
      passes.sectors += static_cast<std::uint32_t>(std::popcount(sectors));
      ++of_set[line.set];
    }
  }
  passes.wavefronts = *std::ranges::max_element(of_set);
  return passes;
}

}  // namespace

AtomicPasses count_atomic_passes(const LaneAddresses& access) {
  const bool one_group = access.mask.words[1] == 0 && (access.mask.words[0] >> kGroupLanes) == 0;
  return one_group ? serve<kGroupLanes>(access) : serve<kMaxWarpLanes>(access);
}

}  // namespace muscope::model
