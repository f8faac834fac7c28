#include "model/async_copy.h"

#include <algorithm>

#include "model/distinct_table.h"
#include "model/sectors.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

constexpr unsigned kHalfBytes = 16;

unsigned lowest(GroupMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

template <typename F>
void each_lane(GroupMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(lowest(mask));
}

/// The lowest lane of each distinct address.
GroupMask first_of_each(const std::uint64_t* addresses, GroupMask mask) {
  DistinctTable<6> table;
  GroupMask firsts = 0;
  each_lane(mask, [&](unsigned lane) {
    bool fresh = false;
    table.find(addresses[lane], fresh);
    if (fresh) firsts |= GroupMask{1} << lane;
  });
  return firsts;
}

std::uint32_t count(GroupMask lanes) { return static_cast<std::uint32_t>(std::popcount(lanes)); }

/// What most tiles, swizzled or not, look like: every 8 lanes of a full copy of 16 bytes read a line in order and write
/// a line of their own, its pieces changed by an exclusive or.
bool moves_whole_lines(const AsyncCopy& copy) {
  if (copy.active != kAllLanes || copy.reads != kAllLanes || copy.filled != 0 || copy.bytes != kHalfBytes) return false;
  std::uint64_t wrong = 0;
  for (unsigned first = 0; first < kGroupLanes; first += 8) {
    const std::uint64_t from = copy.from[first], to = copy.to[first];
    wrong |= from % kLineBytes | to % kHalfBytes;
    for (unsigned i = 1; i < 8; ++i) {
      wrong |= copy.from[first + i] ^ (from + i * kHalfBytes);
      wrong |= copy.to[first + i] ^ to ^ (i * kHalfBytes);
    }
    for (unsigned before = 0; before < first; before += 8)
      wrong |= copy.to[before] / kLineBytes == to / kLineBytes ? 1u : 0u;
  }
  return wrong == 0;
}

/// The lanes of a full warp lie side by side.
bool is_dense(const std::uint64_t* addresses, std::uint32_t bytes) {
  std::uint64_t apart = 0;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    apart |= addresses[lane] ^ (addresses[0] + std::uint64_t{bytes} * lane);
  return apart == 0;
}

/// Lanes of each pass of the tag stage: the j-th distinct line of every set is in pass j. Returns their number.
unsigned find_passes(const AsyncCopy& copy, std::array<GroupMask, kGroupLanes>& lanes) {
  DistinctTable<6> pass_of_line;
  SetCounts sets;
  unsigned passes = 0;
  each_lane(copy.reads, [&](unsigned lane) {
    const std::uint64_t line = copy.from[lane] / kLineBytes;
    bool fresh = false;
    std::uint32_t& pass = pass_of_line.value(pass_of_line.find(line, fresh));
    if (fresh) {
      const unsigned set = t_stage_set(line);
      pass = sets.of(set);
      sets.add_to(set, 1);
      while (passes <= pass) lanes[passes++] = 0;
    }
    lanes[pass] |= GroupMask{1} << lane;
  });
  return passes;
}

/// The bank of each lane, banks as wide as `1 << shift` bytes.
std::array<std::uint8_t, kGroupLanes> banks_of(const std::uint64_t* addresses, GroupMask mask, unsigned shift) {
  std::array<std::uint8_t, kGroupLanes> banks{};
  each_lane(mask, [&](unsigned lane) {
    banks[lane] = static_cast<std::uint8_t>(addresses[lane] % (kBanks * kBankBytes) >> shift);
  });
  return banks;
}

/// A transfer of a sector past L1.
struct Transfer {
  std::uint64_t from = 0, to = 0;  ///< sectors
  std::uint8_t changed = 0;        ///< whether the halves change places
  std::uint8_t halves = 0;         ///< of the sector written
  bool filled = false;
  bool reads = false;
};

/// The transfers of a copy past L1, in the order of their lowest lanes.
struct Transfers {
  std::array<Transfer, kGroupLanes> list;
  unsigned count = 0;
  GroupMask lanes = 0;  ///< those that count: of lanes that write one place the lowest

  explicit Transfers(const AsyncCopy& copy) : lanes(first_of_each(copy.to, copy.active)) {
    DistinctTable<6> known;
    each_lane(lanes, [&](unsigned lane) {
      const std::uint64_t from = copy.from[lane], to = copy.to[lane];
      bool fresh = false;
      const auto changed = static_cast<std::uint8_t>((from ^ to) / kHalfBytes & 1);
      // Shared memory has less than 2^19 bytes: 14 bits of sector. Addresses in global memory have less than 2^49.
      std::uint32_t& at =
          known.value(known.find((from / kSectorBytes << 15) | (to / kSectorBytes << 1) | changed, fresh));
      if (fresh) {
        at = count;
        list[count++] = {from / kSectorBytes, to / kSectorBytes, changed};
      }
      list[at].halves |= static_cast<std::uint8_t>(1u << (to / kHalfBytes & 1));
      list[at].filled = list[at].filled || (copy.filled >> lane & 1) != 0;
      list[at].reads = list[at].reads || (copy.reads >> lane & 1) != 0;
    });
  }
};

/// Wavefronts of these transfers.
std::uint32_t count_packets(const Transfers& transfers) {
  struct Packet {
    std::uint64_t line = 0, to_line = 0;
    std::uint32_t kind = 0;
    bool filled = false;
  };
  constexpr std::uint64_t kSectorsPerLine = kLineBytes / kSectorBytes;
  std::array<Packet, kGroupLanes> packets;
  unsigned used = 0;
  for (unsigned i = transfers.count; i-- > 0;) {
    const Transfer& t = transfers.list[i];
    unsigned rank = 0;
    for (unsigned j = i + 1; j < transfers.count; ++j) {
      const Transfer& later = transfers.list[j];
      rank += later.from == t.from && later.changed == t.changed && later.halves == t.halves &&
              later.to / kSectorsPerLine == t.to / kSectorsPerLine;
    }
    const auto exchanged = static_cast<std::uint32_t>((t.from ^ t.to) & 1);
    const Packet wanted{t.from / kSectorsPerLine, t.to / kSectorsPerLine,
                        rank << 4 | exchanged << 3 | std::uint32_t{t.changed} << 2 | t.halves, t.filled};
    unsigned p = 0;
    while (p < used &&
           (packets[p].line != wanted.line || packets[p].to_line != wanted.to_line || packets[p].kind != wanted.kind))
      ++p;
    if (p == used)
      packets[used++] = wanted;
    else
      packets[p].filled = packets[p].filled || wanted.filled;
  }
  std::uint32_t wavefronts = used;
  for (unsigned p = 0; p < used; ++p) wavefronts += packets[p].filled;
  return wavefronts;
}

}  // namespace

CopyReads count_reads_past_l1(const AsyncCopy& copy) {
  CopyReads counts;
  if (moves_whole_lines(copy)) return {16, 16, count(first_of_each(copy.from, 0x01010101)) * 8};
  const Transfers transfers(copy);
  for (unsigned i = 0; i < transfers.count; ++i) counts.sass_sectors += transfers.list[i].reads;
  counts.addresses = count(transfers.lanes & first_of_each(copy.from, copy.reads));
  // Hardware: of lanes that write one place the highest was right more often than the lowest.
  DistinctTable<6> places, pairs;
  for (GroupMask left = copy.active; left != 0;) {
    const unsigned lane = 31u - static_cast<unsigned>(std::countl_zero(left));
    left &= ~(GroupMask{1} << lane);
    bool fresh = false;
    places.find(copy.to[lane], fresh);
    if (!fresh || (copy.reads >> lane & 1) == 0) continue;
    pairs.find(copy.from[lane] / kLineBytes << 14 | copy.to[lane] / kSectorBytes, fresh);
    counts.sectors += fresh;
  }
  return counts;
}

CopyWrites count_writes_through_l1(const AsyncCopy& copy) {
  CopyWrites counts;
  if (copy.active == 0) return counts;
  if (moves_whole_lines(copy)) return {{4, 4, 4, 4}, 4, kGroupLanes};
  const unsigned group = lanes_per_bank_group(copy.bytes);
  const GroupMask first_group = kAllLanes >> (kGroupLanes - group);
  std::array<GroupMask, kGroupLanes> passes;
  const unsigned pass_count = find_passes(copy, passes);
  if (copy.active == kAllLanes && copy.reads == kAllLanes && copy.filled == 0 && pass_count == 1 &&
      is_dense(copy.from, copy.bytes) && is_dense(copy.to, copy.bytes)) {
    const std::uint32_t groups = kGroupLanes / group;
    return {{groups, groups, groups, groups}, groups, kGroupLanes};
  }

  const unsigned shift = static_cast<unsigned>(std::countr_zero(copy.bytes));
  const auto from = banks_of(copy.from, copy.active, shift), to = banks_of(copy.to, copy.active, shift);
  for (unsigned p = 0; p < pass_count; ++p) {
    for (unsigned first = 0; first < kGroupLanes; first += group) {
      const GroupMask together = passes[p] & first_group << first;
      if (together == 0) continue;
      std::array<std::uint8_t, kBanks> read{}, written{};  // wavefronts up to the last that used the bank
      std::uint32_t wavefronts = 0;
      each_lane(together, [&](unsigned lane) {
        const std::uint8_t next = static_cast<std::uint8_t>(std::max(read[from[lane]], written[to[lane]]) + 1);
        read[from[lane]] = written[to[lane]] = next;
        wavefronts = std::max<std::uint32_t>(wavefronts, next);
      });
      counts.banks.wavefronts += wavefronts;
      ++counts.banks.ideal;
    }
  }
  if (copy.filled != 0) {
    const BankCounts zeros =
        count_banks(LaneAddresses{{copy.to, kGroupLanes}, WarpMask::of(copy.filled), copy.bytes}, SharedOp::kStore);
    counts.banks.wavefronts += zeros.wavefronts;
    counts.banks.ideal += zeros.ideal;
  }
  for (unsigned first = 0; first < kGroupLanes; first += group) {
    const GroupMask together = copy.active & first_group << first;
    if (together == 0) continue;
    std::array<GroupMask, kBanks> read{}, written{};
    each_lane(together, [&](unsigned lane) {
      read[from[lane]] |= GroupMask{1} << lane;
      written[to[lane]] |= GroupMask{1} << lane;
    });
    int most = 0;
    each_lane(together,
              [&](unsigned lane) { most = std::max(most, std::popcount(read[from[lane]] | written[to[lane]])); });
    counts.banks.sass += static_cast<std::uint32_t>(most);
    ++counts.sass_least;
  }
  counts.banks.sass_ideal = std::min(counts.banks.sass, packed_wavefronts(count(copy.active), copy.bytes));
  counts.addresses = count(first_of_each(copy.to, copy.active));
  return counts;
}

CopyWrites count_writes_past_l1(const AsyncCopy& copy) {
  CopyWrites counts;
  if (copy.active == 0) return counts;
  if (moves_whole_lines(copy)) return {{4, 4, 4, 4}, 4, kGroupLanes};
  const Transfers transfers(copy);
  const std::uint32_t wavefronts = count_packets(transfers);
  const std::uint32_t packed = packed_wavefronts(count(copy.active), copy.bytes) * (copy.filled != 0 ? 2 : 1);
  counts.banks = {wavefronts, wavefronts, wavefronts, std::min(wavefronts, packed)};
  counts.sass_least = wavefronts;
  counts.addresses = count(transfers.lanes);
  return counts;
}

}  // namespace muscope::model
