#include "model/l1_stages.h"

#include <algorithm>

#include "model/atomic_passes.h"
#include "model/banks.h"
#include "model/distinct_table.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

constexpr std::uint32_t kWordsPerLine = kLineBytes / kBankBytes;
static_assert(kWordsPerLine == kBanks);  // the place of a word in its line is its bank

/// Words of a line that each group of lanes touches, a bit per word. Groups are what the data stage serves one after
/// the other: 1, 2, 4 or 8 for lanes of up to 4, 8, 16 and 32 bytes.
template <unsigned kGroups>
using Words = std::array<std::uint32_t, kGroups>;

/// Sums up lines, which come in the order of their lowest lanes.
template <unsigned kGroups, bool kLoad, unsigned kMostLines = kGroupLanes>
class LineSums {
 public:
  void add(std::uint64_t line, const Words<kGroups>& words) {
    place(line, words);
    std::uint32_t any = 0;
    for (const std::uint32_t of_group : words) any |= of_group;
    std::uint32_t sectors = any | any >> 4;
    sectors |= sectors >> 2;
    sector_bytes_ += (sectors | sectors >> 1) & 0x01010101u;
    words_ += static_cast<std::uint32_t>(std::popcount(any));
  }

  /// For both stages alone: sectors and addresses are known otherwise.
  void place(std::uint64_t line, const Words<kGroups>& words) {
    const unsigned set = t_stage_set(line);
    if constexpr (kLoad) {
      const std::uint32_t wavefront = sets_.of(set);
      for (unsigned group = 0; group < kGroups; ++group) by_wavefront_[group][set][wavefront] = words[group];
    }
    sets_.add_to(set, 1);
    ++lines_;
  }

  GlobalCounts counts() const {
    GlobalCounts counts;
    counts.sectors.sectors = (sector_bytes_ * 0x01010101u) >> 24;
    counts.sectors.lines = lines_;
    counts.addresses = words_ / kGroups;
    counts.t_wavefronts = sets_.most();
    if constexpr (kLoad)
      for (const auto& of_group : by_wavefront_) counts.data_wavefronts += passes(of_group, counts.t_wavefronts);
    return counts;
  }

 private:
  using BySet = std::array<std::array<std::uint32_t, kMostLines>, 4>;

  /// A wavefront costs as many passes as there are different words in its fullest bank: lines that have that bank.
  static std::uint32_t passes(const BySet& words, std::uint32_t wavefronts) {
    std::uint32_t sum = 0;
    wavefronts = (wavefronts + 3) / 4 * 4;  // whole vectors; what is beyond is zero
    for (std::uint32_t w = 0; w < wavefronts; ++w) {
      const std::uint32_t a = words[0][w], b = words[1][w], c = words[2][w], d = words[3][w];
      const std::uint32_t ab = a & b, cd = c & d, a_or_b = a | b, c_or_d = c | d;
      sum += (a_or_b | c_or_d) != 0;
      sum += (ab | cd | (a_or_b & c_or_d)) != 0;
      sum += ((ab & c_or_d) | (cd & a_or_b)) != 0;
      sum += (ab & cd) != 0;
    }
    return sum;
  }

  std::uint32_t sector_bytes_ = 0;  ///< a byte for each sector of a line
  std::uint32_t words_ = 0, lines_ = 0;
  SetCounts sets_;
  std::array<BySet, kLoad ? kGroups : 0> by_wavefront_{};
};

/// Calls `use` for the active lanes, lowest first.
template <typename Use>
void each_lane(GroupMask mask, Use use) {
  if (mask == kAllLanes) {
    for (unsigned lane = 0; lane < kGroupLanes; ++lane) use(lane);
  } else {
    for (GroupMask left = mask; left != 0; left &= left - 1) use(static_cast<unsigned>(std::countr_zero(left)));
  }
}

/// Finds the place of a line in a list: in a window of 32 KiB, or anywhere.
struct InWindow {
  static constexpr std::uint64_t kLines = 256;
  std::uint64_t first;
  std::array<std::uint8_t, kLines> place{};  ///< in the list, plus one
  unsigned find(std::uint64_t line, unsigned count) {
    std::uint8_t& known = place[line - first];
    if (known == 0) known = static_cast<std::uint8_t>(count + 1);
    return known - 1u;
  }
};

template <unsigned kLogSlots>
struct Anywhere {
  DistinctTable<kLogSlots> table;
  unsigned find(std::uint64_t line, unsigned count) {
    bool fresh = false;
    const unsigned slot = table.find(line, fresh);
    if (fresh) table.value(slot) = count;
    return table.value(slot);
  }
};

template <unsigned kGroups>
void touch(Words<kGroups>& words, unsigned lane, std::uint64_t address) {
  constexpr std::uint32_t kLaneWords = (1u << kGroups) - 1;  // of shorter lanes: the word they are in
  words[lane / (kGroupLanes / kGroups)] |= kLaneWords << ((address >> 2) & (kWordsPerLine - 1));
}

/// Naturally aligned lanes that never come back to an earlier line.
template <unsigned kGroups, bool kLoad, typename Address>
GlobalCounts count_in_order(GroupMask mask, Address address_of) {
  LineSums<kGroups, kLoad> sums;
  Words<kGroups> words{};
  std::uint64_t line = address_of(static_cast<unsigned>(std::countr_zero(mask))) >> 7;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = address_of(lane);
    if (address >> 7 != line) {
      sums.add(line, words);
      line = address >> 7;
      words = {};
    }
    touch<kGroups>(words, lane, address);
  });
  sums.add(line, words);
  return sums.counts();
}

/// Naturally aligned lanes in any order.
template <unsigned kGroups, bool kLoad, typename Finder>
GlobalCounts count_lines(const std::uint64_t* addresses, GroupMask mask, Finder finder) {
  std::array<std::uint64_t, kGroupLanes> lines;
  std::array<Words<kGroups>, kGroupLanes> words;
  unsigned count = 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t line = addresses[lane] >> 7;
    const unsigned at = finder.find(line, count);
    if (at == count) {
      lines[count] = line;
      words[count++] = {};
    }
    touch<kGroups>(words[at], lane, addresses[lane]);
  });
  LineSums<kGroups, kLoad> sums;
  if (count == static_cast<unsigned>(std::popcount(mask))) {  // a line for each lane
    for (unsigned i = 0; i < count; ++i) sums.place(lines[i], words[i]);
    GlobalCounts counts = sums.counts();
    counts.sectors.sectors = counts.addresses = count;
    return counts;
  }
  for (unsigned i = 0; i < count; ++i) sums.add(lines[i], words[i]);
  return sums.counts();
}

/// Any size and alignment; `addresses` is left open.
GlobalCounts count_unaligned(const std::uint64_t* addresses, GroupMask mask, std::uint32_t bytes) {
  constexpr unsigned kGroups = 8, kMostLines = 2 * kGroupLanes;
  std::array<std::uint64_t, kMostLines> lines;
  std::array<Words<kGroups>, kMostLines> words;
  unsigned count = 0;
  Anywhere<9> finder;
  each_lane(mask, [&](unsigned lane) {
    for (std::uint64_t word = addresses[lane] >> 2; word <= (addresses[lane] + bytes - 1) >> 2; ++word) {
      const unsigned at = finder.find(word / kWordsPerLine, count);
      if (at == count) {
        lines[count] = word / kWordsPerLine;
        words[count++] = {};
      }
      words[at][lane / lanes_per_bank_group(bytes)] |= 1u << (word % kWordsPerLine);
    }
  });
  LineSums<kGroups, true, kMostLines> sums;
  for (unsigned i = 0; i < count; ++i) sums.add(lines[i], words[i]);
  GlobalCounts counts = sums.counts();
  counts.addresses = 0;  // words do not tell
  return counts;
}

struct Extent {
  std::uint64_t low, high;
  bool aligned, ascending;
};

Extent extent_of(const std::uint64_t* addresses, GroupMask mask, std::uint32_t bytes) {
  std::uint64_t last = addresses[std::countr_zero(mask)], bits = 0;
  Extent extent{last, last, false, true};
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = addresses[lane];
    extent.ascending &= address >= last;
    extent.low = std::min(extent.low, address);
    extent.high = std::max(extent.high, address);
    bits |= address;
    last = address;
  });
  extent.aligned = is_aligned(bits, 0, bytes);
  return extent;
}

template <unsigned kGroups, bool kLoad>
GlobalCounts count_scattered(const std::uint64_t* addresses, GroupMask mask, const Extent& extent) {
  if (extent.ascending) return count_in_order<kGroups, kLoad>(mask, [&](unsigned lane) { return addresses[lane]; });
  if ((extent.high >> 7) - (extent.low >> 7) < InWindow::kLines)
    return count_lines<kGroups, kLoad>(addresses, mask, InWindow{extent.low >> 7});
  return count_lines<kGroups, kLoad>(addresses, mask, Anywhere<6>{});
}

/// Calls `count` with the number of groups and whether this is a load, as template parameters.
template <typename Count>
GlobalCounts with_groups(std::uint32_t bytes, bool load, Count count) {
  switch (bytes) {
    case 8:
      return load ? count.template operator()<2, true>() : count.template operator()<2, false>();
    case 16:
      return load ? count.template operator()<4, true>() : count.template operator()<4, false>();
    case 32:
      return load ? count.template operator()<8, true>() : count.template operator()<8, false>();
    default:
      return load ? count.template operator()<1, true>() : count.template operator()<1, false>();
  }
}

GlobalCounts count_scattered(const std::uint64_t* addresses, GroupMask mask, std::uint32_t bytes, bool load) {
  const Extent extent = extent_of(addresses, mask, bytes);
  if (!extent.aligned || bytes > 32) {
    GlobalCounts counts = count_unaligned(addresses, mask, bytes);
    if (!load) counts.data_wavefronts = 0;
    return counts;
  }
  return with_groups(bytes, load, [&]<unsigned kGroups, bool kLoad>() {
    return count_scattered<kGroups, kLoad>(addresses, mask, extent);
  });
}

/// A full warp side by side: 128 bytes for each group of lanes, which are one line, or the end of one and the start of
/// the next, whose banks differ.
GlobalCounts count_dense(std::uint64_t base, std::uint32_t bytes, bool load) {
  GlobalCounts counts;
  const std::uint32_t span = kGroupLanes * bytes, start = static_cast<std::uint32_t>(base) % kLineBytes;
  counts.sectors.sectors = (start % kSectorBytes + span + kSectorBytes - 1) / kSectorBytes;
  counts.sectors.lines = (start + span + kLineBytes - 1) / kLineBytes;
  counts.sectors.ideal = bytes;
  counts.distinct_sectors = counts.sectors.sectors;
  counts.addresses = kGroupLanes;
  const std::uint32_t groups = bytes <= kBankBytes ? 1 : bytes / kBankBytes;
  if (counts.sectors.lines == 1) {
    counts.t_wavefronts = 1;
    counts.data_wavefronts = load;
    return counts;
  }
  SetCounts sets;
  std::uint32_t before = 0;
  counts.data_wavefronts = groups;
  for (std::uint32_t i = 0; i < counts.sectors.lines; ++i) {
    const unsigned set = t_stage_set((base >> 7) + i);
    const std::uint32_t wavefront = sets.of(set);
    sets.add_to(set, 1);
    if (start != 0) counts.data_wavefronts += wavefront != before && i != 0;
    before = wavefront;
  }
  counts.t_wavefronts = sets.most();
  if (!load) counts.data_wavefronts = 0;
  return counts;
}

/// Tag-stage wavefronts of 32 lines, one for each lane. Parities of all lanes at once: the compiler makes vectors of
/// this.
std::uint32_t most_of_strided(std::uint32_t base, std::uint32_t stride) {
  std::uint32_t first = 0, second = 0, both = 0;
  for (std::uint32_t lane = 0; lane < kGroupLanes; ++lane) {
    const std::uint32_t line = (base + stride * lane) >> 7;
    const std::uint32_t a = t_stage::parity(line & t_stage::kFirst), b = t_stage::parity(line & t_stage::kSecond);
    first += a;
    second += b;
    both += a & b;
  }
  return std::max(std::max(both, first - both), std::max(second - both, kGroupLanes - first - second + both));
}

/// Neighbouring lanes at naturally aligned addresses, or lanes that all have one address; see count_sectors_affine.
GlobalCounts count_affine(const trace::WarpAccess& access, std::int64_t stride, bool load) {
  GlobalCounts counts;
  counts.sectors = count_sectors_affine(access.base, stride, access.mask, access.bytes);
  counts.addresses = stride == 0 ? 1 : static_cast<std::uint32_t>(std::popcount(access.mask));
  if (counts.sectors.lines == 1) {
    counts.t_wavefronts = 1;
    const unsigned lanes = lanes_per_bank_group(access.bytes);
    if (load)
      for (unsigned first = 0; first < kGroupLanes; first += lanes)
        counts.data_wavefronts += (access.mask >> first << (kGroupLanes - lanes)) != 0;
    return counts;
  }
  // What follows is a line for each lane, or lines side by side.
  const bool line_each = stride >= kLineBytes || stride <= -std::int64_t{kLineBytes};
  // In 32 bits as long as those above are the same for all lanes: they then turn all sets alike.
  const std::uint64_t last = access.base + static_cast<std::uint64_t>(stride) * (kGroupLanes - 1);
  if (line_each && access.mask == kAllLanes && access.base >> 32 == last >> 32) {
    counts.t_wavefronts = most_of_strided(static_cast<std::uint32_t>(access.base), static_cast<std::uint32_t>(stride));
  } else {
    SetCounts sets;
    std::uint64_t line = access.address(static_cast<unsigned>(std::countr_zero(access.mask))) >> 7;
    if (line_each) {
      each_lane(access.mask, [&](unsigned lane) { sets.add(access.address(lane) >> 7); });
    } else {
      const std::uint64_t step = stride < 0 ? ~std::uint64_t{0} : 1;
      for (std::uint32_t i = 0; i < counts.sectors.lines; ++i, line += step) sets.add(line);
    }
    counts.t_wavefronts = sets.most();
  }
  if (!load) return counts;
  if (line_each && stride % kLineBytes == 0) {
    counts.data_wavefronts = counts.addresses;  // one bank: a word at a time
  } else if (counts.t_wavefronts == 1 && access.mask == kAllLanes && access.bytes <= 16) {
    counts.data_wavefronts =
        count_banks_affine(access.base, stride, access.mask, access.bytes, SharedOp::kStore).wavefronts;
  } else {
    counts.data_wavefronts =
        with_groups(access.bytes, true, [&]<unsigned kGroups, bool kLoad>() {
          return count_in_order<kGroups, kLoad>(access.mask, [&](unsigned lane) {
            return access.base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane));
          });
        }).data_wavefronts;
  }
  return counts;
}

GlobalCounts count_atomic(const trace::WarpAccess& access) {
  GlobalCounts counts;
  counts.sectors = count_sectors(access);
  std::array<std::uint64_t, kGroupLanes> storage;
  const LaneAddresses lanes = lanes_of(access, storage);
  const AtomicPasses passes = count_atomic_passes(lanes);
  counts.distinct_sectors = counts.sectors.sectors;
  counts.sectors.sectors = passes.sectors;
  counts.t_wavefronts = passes.wavefronts;
  return counts;
}

/// All but the most frequent shape.
[[gnu::noinline]] GlobalCounts count_any(const trace::WarpAccess& access) {
  const auto lanes = static_cast<std::uint32_t>(std::popcount(access.mask));
  const bool atomic = access.kind == trace::Kind::kRed || access.kind == trace::Kind::kAtom;
  const bool load = access.kind == trace::Kind::kLoad;
  const std::int64_t stride = access.shape == trace::Shape::kAffine ? access.stride : 0;
  const GroupMask ends = access.mask >> std::countr_zero(access.mask);
  const bool neighbours = stride == 0 || (ends & (ends + 1)) == 0;
  GlobalCounts counts;
  const bool closed =
      access.shape != trace::Shape::kScattered && neighbours && is_aligned(access.base, stride, access.bytes);
  if (closed && (!atomic || stride == 0 || is_served_in_lines(access))) {
    counts = count_affine(access, stride, load);
    counts.distinct_sectors = counts.sectors.sectors;
    if (atomic && stride == 0) counts.sectors.sectors = counts.t_wavefronts = lanes;  // served lane by lane
  } else if (atomic) {
    counts = count_atomic(access);
  } else {
    std::array<std::uint64_t, kGroupLanes> storage;
    counts = count_scattered(lanes_of(access, storage).addresses.data(), access.mask, access.bytes, load);
    counts.sectors.ideal = std::min(counts.sectors.sectors, packed_sectors(lanes, access.bytes));
    counts.distinct_sectors = counts.sectors.sectors;
    if (access.bytes < kBankBytes || counts.addresses == 0) counts.addresses = count_distinct_addresses(access);
  }
  if (atomic) counts.addresses = 0;
  return counts;
}

}  // namespace

GlobalCounts count_global(const trace::WarpAccess& access) {
  if (access.mask == 0) return {};
  const bool dense = access.shape == trace::Shape::kAffine && access.mask == kAllLanes &&
                     access.stride == access.bytes && (access.base & (access.bytes - 1u)) == 0;
  const bool data = access.kind != trace::Kind::kRed && access.kind != trace::Kind::kAtom;
  if (dense && data && std::has_single_bit(access.bytes))
    return count_dense(access.base, access.bytes, access.kind == trace::Kind::kLoad);
  return count_any(access);
}

}  // namespace muscope::model
