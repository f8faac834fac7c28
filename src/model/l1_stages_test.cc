// Both stages of L1 against a plain reading of their rules, for every shape of access; what an H200 counted stands in
// patterns_test.cc.
#include "model/l1_stages.h"

#include <gtest/gtest.h>
#include <cstdio>
#include <fstream>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "model/atomic_passes.h"
#include "model/t_stage.h"

namespace muscope::model {
namespace {

unsigned parity(std::uint64_t value) {
  unsigned odd = 0;
  for (; value != 0; value &= value - 1) odd ^= 1;
  return odd;
}

/// The rules word for word.
GlobalCounts plain(const std::vector<std::uint64_t>& addresses, GroupMask mask, std::uint32_t bytes, trace::Kind kind) {
  GlobalCounts counts;
  if (mask == 0) return counts;
  const LaneAddresses lanes{addresses, WarpMask::of(mask), bytes};  // of atomics: atomic_passes_test.cc
  const bool data = kind == trace::Kind::kLoad || kind == trace::Kind::kStore;
  counts.distinct_sectors = count_sectors(lanes).sectors;
  counts.sectors = data ? count_sectors(lanes) : count_atomic_sectors(lanes);
  std::set<std::uint64_t> distinct;
  std::vector<std::uint64_t> lines;  // by lowest lane
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!((mask >> lane) & 1)) continue;
    distinct.insert(addresses[lane]);
    for (std::uint64_t byte = addresses[lane]; byte < addresses[lane] + bytes; ++byte)
      if (std::find(lines.begin(), lines.end(), byte / 128) == lines.end()) lines.push_back(byte / 128);
  }
  std::map<std::uint64_t, unsigned> wavefront_of;
  unsigned in_set[4] = {}, wavefronts = 0;
  for (const std::uint64_t line : lines) {
    const unsigned set = parity(line & 0xb55af6f) + 2 * parity(line & 0xebad5da);
    wavefront_of[line] = in_set[set]++;
    wavefronts = std::max(wavefronts, in_set[set]);
  }
  counts.t_wavefronts = data ? wavefronts : count_atomic_passes(lanes).wavefronts;
  if (data) counts.addresses = static_cast<std::uint32_t>(distinct.size());
  if (kind != trace::Kind::kLoad) return counts;
  const unsigned group = bytes <= 4 ? 32 : 128 / bytes;
  for (unsigned wavefront = 0; wavefront < wavefronts; ++wavefront)
    for (unsigned first = 0; first < 32; first += group) {
      std::map<std::uint64_t, std::set<std::uint64_t>> words_in_bank;
      std::size_t most = 0;
      for (unsigned lane = first; lane < std::min(first + group, 32u); ++lane) {
        if (!((mask >> lane) & 1)) continue;
        for (std::uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word) {
          if (wavefront_of[word / 32] != wavefront) continue;
          words_in_bank[word % 32].insert(word);
          most = std::max(most, words_in_bank[word % 32].size());
        }
      }
      counts.data_wavefronts += static_cast<std::uint32_t>(most);
    }
  return counts;
}

std::string text(const GlobalCounts& c) {
  return "sectors " + std::to_string(c.sectors.sectors) + " lines " + std::to_string(c.sectors.lines) + " ideal " +
         std::to_string(c.sectors.ideal) + " addresses " + std::to_string(c.addresses) + " T " +
         std::to_string(c.t_wavefronts) + " data " + std::to_string(c.data_wavefronts);
}

void expect_plain(const trace::WarpAccess& access, const std::vector<std::uint64_t>& addresses) {
  const GlobalCounts counted = count_global(access);
  const GlobalCounts expected = plain(addresses, access.mask, access.bytes, access.kind);
  EXPECT_EQ(counted, expected) << text(counted) << "\nshould be " << text(expected) << "\n"
                               << unsigned{access.bytes} << " bytes, kind " << static_cast<int>(access.kind)
                               << ", shape " << static_cast<int>(access.shape) << ", mask " << std::hex << access.mask
                               << ", base " << access.base << std::dec << ", stride " << access.stride;
}

constexpr trace::Kind kAllKinds[] = {trace::Kind::kLoad, trace::Kind::kStore, trace::Kind::kRed, trace::Kind::kAtom};

GroupMask random_mask(std::mt19937_64& random) {
  switch (random() % 6) {
    case 0:
      return static_cast<GroupMask>(random());
    case 1:
      return kAllLanes >> (random() % 32);
    case 2:
      return kAllLanes << (random() % 32);
    case 3:
      return 1u << (random() % 32);
    default:
      return kAllLanes;
  }
}

TEST(L1Stages, AffineAccesses) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 6000; ++round) {
    trace::WarpAccess access;
    access.kind = kAllKinds[round % 4];
    access.bytes = static_cast<std::uint8_t>(1u << (random() % 6));
    access.shape = round % 11 == 0 ? trace::Shape::kUniform : trace::Shape::kAffine;
    const std::int64_t steps[] = {0, 1, -1, 2, 3, 5, 8, -8, 17, 32, 33, 128, 1024, -1024};
    access.stride = access.shape == trace::Shape::kUniform ? 0 : steps[random() % std::size(steps)] * access.bytes;
    access.base = (std::uint64_t{1} << 32) + random() % 4096 * access.bytes;
    if (round % 4 == 0) access.base &= ~std::uint64_t{127};
    access.mask = random_mask(random);
    std::vector<std::uint64_t> addresses(32);
    for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = access.address(lane);
    expect_plain(access, addresses);
  }
}

TEST(L1Stages, ScatteredAccesses) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 6000; ++round) {
    trace::WarpAccess access;
    access.kind = kAllKinds[round % 4];
    access.bytes = static_cast<std::uint8_t>(1u << (random() % 6));
    access.mask = random_mask(random);
    const std::uint64_t ranges[] = {128, 256, 1024, 8192, 32768, 1u << 20, 1u << 28};
    const std::uint64_t range = ranges[random() % std::size(ranges)];
    std::vector<std::uint64_t> addresses(32);
    for (std::uint64_t& address : addresses)
      address = (std::uint64_t{1} << 32) + random() % range / access.bytes * access.bytes;
    if (round % 5 == 0) std::sort(addresses.begin(), addresses.end());
    access.addresses = addresses.data();
    expect_plain(access, addresses);
  }
}

TEST(L1Stages, SizesAndAlignmentsThatHardwareRefuses) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 500; ++round) {
    trace::WarpAccess access;
    access.bytes = static_cast<std::uint8_t>(4 + 4 * (random() % 4));
    access.kind = round % 2 == 0 ? trace::Kind::kStore : trace::Kind::kLoad;
    std::vector<std::uint64_t> addresses(32);
    for (std::uint64_t& address : addresses) address = 65536 + random() % 4096;
    access.mask = random_mask(random);
    access.addresses = addresses.data();
    const GlobalCounts counted = count_global(access),
                       expected = plain(addresses, access.mask, access.bytes, access.kind);
    EXPECT_EQ(counted, expected) << text(counted) << "\nshould be " << text(expected);
  }
}

TEST(L1Stages, NothingActiveCostsNothing) {
  for (const trace::Kind kind : kAllKinds) {
    trace::WarpAccess access;
    access.kind = kind;
    access.shape = trace::Shape::kUniform;
    EXPECT_EQ(count_global(access), GlobalCounts{});
  }
}

TEST(L1Stages, WhatCostsAPass) {
  const auto load = [](std::uint8_t bytes, std::uint64_t base, std::int64_t stride) {
    trace::WarpAccess access;
    access.bytes = bytes;
    access.shape = trace::Shape::kAffine;
    access.base = base;
    access.stride = stride;
    access.mask = kAllLanes;
    const GlobalCounts counts = count_global(access);
    return std::pair(counts.t_wavefronts, counts.data_wavefronts);
  };
  EXPECT_EQ(load(4, 0, 4), std::pair(1u, 1u));
  EXPECT_EQ(load(8, 0, 8), std::pair(1u, 2u)) << "a half-warp at a time";
  EXPECT_EQ(load(16, 0, 16), std::pair(1u, 4u));
  EXPECT_EQ(load(4, 0, 128), std::pair(8u, 32u)) << "one bank for all lanes";
  EXPECT_EQ(load(8, 0, 0), std::pair(1u, 2u)) << "equal addresses do not join the halves";
}

TEST(L1Stages, SetsOfLines) {
  for (std::uint64_t line = 0; line < (1u << 28); line += 20011)
    EXPECT_EQ(t_stage_set(line), parity(line & 0xb55af6f) + 2 * parity(line & 0xebad5da)) << line;
}

// Two lines, apart by one address bit and a change of set: two wavefronts where the bit undoes the change.
TEST(L1Stages, EveryAddressBitChoosesTheSetOfAnH200) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/experiments/tag_sets.tsv");
  unsigned rows = 0;
  for (std::string line; std::getline(in, line);) {
    unsigned bit = 0, change = 0, wavefronts = 0;
    if (std::sscanf(line.c_str(), "%u %u %u", &bit, &change, &wavefronts) != 3) continue;
    EXPECT_EQ(wavefronts == 2, t_stage_set(std::uint64_t{1} << (bit - 7)) == change) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 110u);
}

}  // namespace
}  // namespace muscope::model
