#include "model/banks.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"
#include "model/distinct_table.h"

namespace muscope::model {
namespace {

/// Most distinct words in one bank among the lanes first .. first + count - 1.
template <unsigned kLogSlots>
std::uint32_t most_words(const LaneAddresses& access, unsigned first, unsigned count) {
  std::array<std::uint16_t, kBanks> words_in_bank{};
  DistinctTable<kLogSlots> words;
  std::uint32_t most = 0;
  for (unsigned lane = first; lane < first + count; ++lane) {
    if (!access.mask.test(lane)) continue;
    const std::uint64_t address = access.addresses[lane];
    for (std::uint64_t word = address >> 2; word <= (address + access.bytes - 1) >> 2; ++word) {
      bool fresh = false;
      words.find(word, fresh);
      if (fresh) most = std::max<std::uint32_t>(most, ++words_in_bank[word % kBanks]);
    }
  }
  return most;
}

/// The same for naturally aligned lanes: banks as wide as the access, so that a lane touches one word of one bank. Only
/// lanes that meet another word in their bank are searched for.
std::uint32_t most_aligned_words(const LaneAddresses& access, unsigned first, unsigned count) {
  const unsigned shift = static_cast<unsigned>(std::countr_zero(std::max(access.bytes, kBankBytes)));
  const std::uint64_t banks = (kBanks * kBankBytes) >> shift;
  // The usual case first: each lane in a bank of its own.
  std::uint32_t touched = 0, lanes = 0;
  for (unsigned lane = first; lane < first + count; ++lane) {
    const std::uint32_t active = access.mask.test(lane) ? 1u : 0u;
    touched |= active << ((access.addresses[lane] >> shift) & (banks - 1));
    lanes += active;
  }
  if (static_cast<std::uint32_t>(std::popcount(touched)) == lanes) return lanes != 0;
  std::array<std::uint64_t, kBanks> first_word;
  std::array<std::uint8_t, kBanks> words_in_bank;
  DistinctTable<6> others;
  std::uint32_t used = 0, most = 0;
  for (unsigned lane = first; lane < first + count; ++lane) {
    if (!access.mask.test(lane)) continue;
    const std::uint64_t word = access.addresses[lane] >> shift;
    const unsigned bank = static_cast<unsigned>(word & (banks - 1));
    if ((used >> bank & 1) == 0) {
      used |= 1u << bank;
      first_word[bank] = word;
      words_in_bank[bank] = 1;
      most = std::max(most, 1u);
    } else if (first_word[bank] != word) {
      bool fresh = false;
      others.find(word, fresh);
      if (fresh) most = std::max<std::uint32_t>(most, ++words_in_bank[bank]);
    }
  }
  return most;
}

std::uint32_t most_words(const LaneAddresses& access, unsigned first, unsigned count, bool aligned) {
  if (aligned && count <= kGroupLanes && access.bytes <= 16) return most_aligned_words(access, first, count);
  return most_words<9>(access, first, count);
}

bool all_aligned(const LaneAddresses& access) {
  if (!std::has_single_bit(access.bytes)) return false;
  std::uint64_t low = 0;
  for_each_lane(access.mask, [&](unsigned lane) { low |= access.addresses[lane]; });
  return (low & (access.bytes - 1)) == 0;
}

/// Most lanes whose address falls in one bank.
std::uint32_t most_lanes(const LaneAddresses& access, unsigned first, unsigned count) {
  std::array<std::uint8_t, kBanks> lanes_in_bank{};
  std::uint32_t most = 0;
  for (unsigned lane = first; lane < first + count; ++lane) {
    if (!access.mask.test(lane)) continue;
    most = std::max<std::uint32_t>(most, ++lanes_in_bank[(access.addresses[lane] >> 2) % kBanks]);
  }
  return most;
}

unsigned end_of_lanes(const WarpMask& mask) {
  if (mask.words[1] != 0) return 128u - static_cast<unsigned>(std::countl_zero(mask.words[1]));
  return 64u - static_cast<unsigned>(std::countl_zero(mask.words[0]));
}

bool pairs_equal(const LaneAddresses& access, unsigned distance, unsigned end) {
  for (unsigned lane = 0; lane < end; ++lane) {
    const unsigned partner = lane ^ distance;
    if (partner > lane && partner < end && access.mask.test(lane) && access.mask.test(partner) &&
        access.addresses[lane] != access.addresses[partner])
      return false;
  }
  return true;
}

}  // namespace

bool merges_pairs(const LaneAddresses& access) {
  const unsigned end = end_of_lanes(access.mask);
  return pairs_equal(access, 1, end) || pairs_equal(access, 2, end);
}

BankCounts count_banks(const LaneAddresses& access, SharedOp op) {
  BankCounts counts;
  if (access.mask.none()) return counts;
  unsigned group = lanes_per_bank_group(access.bytes);
  if (op == SharedOp::kAtomic || op == SharedOp::kIncrement) group = kGroupLanes;
  const bool merges = op == SharedOp::kLoad && group < kGroupLanes && merges_pairs(access);
  if (merges) group *= 2;
  const unsigned end = end_of_lanes(access.mask);
  const bool aligned = op != SharedOp::kAtomic && all_aligned(access);
  for (unsigned first = 0; first < end; first += group) {
    const unsigned lanes = std::min(group, end - first);
    const std::uint32_t most =
        op == SharedOp::kAtomic ? most_lanes(access, first, lanes) : most_words(access, first, lanes, aligned);
    counts.wavefronts += most;
    counts.ideal += most != 0;
    if (merges && most > 1) {
      const unsigned half = std::min(group / 2, lanes);
      counts.sass += most_words(access, first, half, aligned) + most_words(access, first + half, lanes - half, aligned);
    } else {
      counts.sass += most;
    }
  }
  counts.sass_ideal = std::min(counts.sass, packed_wavefronts(access.mask.count(), access.bytes));
  return counts;
}

BankCounts count_banks(const arch::SharedRules& rules, const LaneAddresses& access, SharedOp op) {
  if (rules.bank_bytes != 8 || op == SharedOp::kAtomic) return count_banks(access, op);
  BankCounts counts;
  if (access.mask.none()) return counts;
  const unsigned group = access.bytes <= 8 ? kGroupLanes : kGroupLanes / 2;
  const unsigned end = end_of_lanes(access.mask);
  for (unsigned first = 0; first < end; first += group) {
    std::array<std::uint16_t, kBanks> rows_in_bank{};
    DistinctTable<9> seen;
    std::uint32_t most = 0;
    for (unsigned lane = first; lane < std::min(first + group, end); ++lane) {
      if (!access.mask.test(lane)) continue;
      const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) >> 2;
      for (std::uint64_t word = access.addresses[lane] >> 2; word <= last; ++word) {
        const std::uint64_t bank = word % kBanks;
        bool fresh = false;
        seen.find((word / (2 * kBanks)) * kBanks + bank, fresh);
        if (fresh) most = std::max<std::uint32_t>(most, ++rows_in_bank[bank]);
      }
    }
    counts.wavefronts += most;
    counts.ideal += most != 0;
  }
  counts.sass = counts.wavefronts;
  counts.sass_ideal = std::min(counts.sass, packed_wavefronts(access.mask.count(), access.bytes));
  return counts;
}

BankCounts count_banks_affine(std::uint64_t base, std::int64_t stride, GroupMask mask, std::uint32_t bytes,
                              SharedOp op) {
  if (mask == 0) return {};
  const std::uint64_t width = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  const bool atomic = op == SharedOp::kAtomic;
  const std::uint32_t packed = packed_wavefronts(static_cast<std::uint32_t>(std::popcount(mask)), bytes);
  const auto counted = [packed](std::uint64_t wavefronts, std::uint32_t ideal) {
    const auto n = static_cast<std::uint32_t>(wavefronts);
    return BankCounts{n, ideal, n, std::min(n, packed)};
  };
  if (mask == kAllLanes && is_aligned(base, stride, bytes)) {
    if (bytes <= kBankBytes) {
      // Lane strides within a word leave 32 neighbouring words at most: no two in one bank.
      if (!atomic && width <= kBankBytes) return counted(1, 1);
      if (width % kBankBytes == 0) return counted(std::gcd(width / kBankBytes, std::uint64_t{kBanks}), 1);
    } else if (!atomic && op != SharedOp::kIncrement && bytes <= 16) {
      const std::uint32_t groups = bytes / kBankBytes;
      if (stride == 0) return op == SharedOp::kLoad ? counted(groups / 2, groups / 2) : counted(groups, groups);
      // Each group has as many lanes as there are banks of this access's width.
      const std::uint64_t wide_banks = kBanks * kBankBytes / bytes;
      return counted(groups * std::gcd(width / bytes, wide_banks), groups);
    }
  } else if (stride == 0 && bytes <= kBankBytes && is_aligned(base, 0, bytes)) {
    return counted(atomic ? static_cast<std::uint32_t>(std::popcount(mask)) : 1u, 1);
  }
  if (!atomic && bytes <= kBankBytes && width == kBankBytes && is_aligned(base, stride, bytes)) return counted(1, 1);
  std::array<std::uint64_t, kGroupLanes> addresses;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    addresses[lane] = base + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(lane));
  return count_banks(LaneAddresses{addresses, WarpMask::of(mask), bytes}, op);
}

namespace {

SharedOp op_of(const trace::WarpAccess& access) {
  switch (access.kind) {
    case trace::Kind::kLoad:
      return SharedOp::kLoad;
    case trace::Kind::kStore:
    case trace::Kind::kCopy:
    case trace::Kind::kCopyAround:
    case trace::Kind::kLoadMatrix:
    case trace::Kind::kStoreMatrix:
      return SharedOp::kStore;
    default:
      return access.increment ? SharedOp::kIncrement : SharedOp::kAtomic;
  }
}

}  // namespace

BankCounts count_banks(const trace::WarpAccess& access) {
  const SharedOp op = op_of(access);
  const std::uint32_t halves = ((access.mask & 0xffffu) != 0) + ((access.mask >> 16) != 0);
  const std::uint32_t packed = packed_wavefronts(static_cast<std::uint32_t>(std::popcount(access.mask)), access.bytes);
  if (access.swap) {
    const std::uint32_t wavefronts = access.bytes > kBankBytes ? 2 * halves : 2 * (access.mask != 0);
    return {wavefronts, access.mask != 0, wavefronts, std::min(wavefronts, packed)};
  }
  if (op == SharedOp::kAtomic && access.bytes > kBankBytes && access.mask != 0) {
    std::array<std::uint64_t, kGroupLanes> storage;
    const std::uint32_t wavefronts = count_cas_loop(lanes_of(access, storage)).atom_wavefronts;
    return {wavefronts, 2 * halves, wavefronts, std::min(wavefronts, packed)};
  }
  if (access.shape == trace::Shape::kScattered)
    return count_banks(LaneAddresses{{access.addresses, kGroupLanes}, WarpMask::of(access.mask), access.bytes}, op);
  return count_banks_affine(access.base, access.shape == trace::Shape::kAffine ? access.stride : 0, access.mask,
                            access.bytes, op);
}

CasLoopCounts count_cas_loop(const LaneAddresses& access) {
  CasLoopCounts counts;
  LaneAddresses left = access;
  left.bytes = 8;
  while (!left.mask.none()) {
    ++counts.rounds;
    const BankCounts load = count_banks(left, SharedOp::kLoad);
    counts.load_wavefronts += load.wavefronts;
    counts.load_ideal += load.ideal;
    counts.load_sass += load.sass;
    DistinctTable<8> changed;  // addresses swapped in this round
    WarpMask remaining = left.mask;
    const unsigned end = end_of_lanes(left.mask);
    for (unsigned first = 0; first < end; first += 16) {
      std::uint32_t tried = 0;  // 8-byte banks whose lowest lane had its turn
      bool any = false;
      for (unsigned lane = first; lane < std::min(first + 16, end); ++lane) {
        if (!left.mask.test(lane)) continue;
        any = true;
        const std::uint32_t bank = 1u << ((left.addresses[lane] / 8) % 16);
        if ((tried & bank) != 0) continue;
        tried |= bank;
        bool fresh = false;
        changed.find(left.addresses[lane], fresh);
        if (fresh) remaining.words[lane >> 6] &= ~(std::uint64_t{1} << (lane & 63));
      }
      if (any) counts.atom_wavefronts += 2;
    }
    MUSCOPE_CHECK(remaining.words != left.mask.words);  // the first lane of a round always succeeds
    left.mask = remaining;
  }
  return counts;
}

}  // namespace muscope::model
