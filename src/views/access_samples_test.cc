// The recorder of samples: exact counts, the same for any split between workers, and a record that comes back as it
// was.
#include "views/access_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "views/records_io.h"

namespace muscope::views {
namespace {

using trace::Kind;
using trace::Shape;
using trace::Space;

constexpr std::uint32_t kSites = 4;

struct Made {
  trace::WarpAccess access;
  std::array<std::uint64_t, kGroupLanes> addresses{};
};

/// Accesses of `blocks` blocks in all shapes; some sites with few patterns, some with many.
std::vector<Made> random_accesses(std::uint64_t blocks, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto upto = [&](std::uint64_t n) { return random() % n; };
  std::vector<Made> all;
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint64_t issue = 0; issue < 60; ++issue) {
      Made made;
      trace::WarpAccess& a = made.access;
      a.site = static_cast<std::uint32_t>(upto(kSites));
      a.space = a.site == 2 ? Space::kShared : Space::kGlobal;
      a.kind = a.site == 3 ? Kind::kRed : a.site == 1 ? Kind::kStore : Kind::kLoad;
      a.bytes = 4;
      a.block = block;
      a.warp = static_cast<std::uint32_t>(upto(4));
      a.issue = issue;
      a.mask = upto(4) == 0 ? static_cast<GroupMask>(random()) : kAllLanes;
      if (a.mask == 0) a.mask = 1;
      a.shape = static_cast<Shape>(upto(3));
      a.base = (a.space == Space::kGlobal ? 0x10000 : 0) + 4 * upto(a.site == 0 ? 4 : 2048);
      a.stride = 4 * static_cast<std::int64_t>(upto(3));
      for (std::uint64_t& address : made.addresses) address = a.base + 4 * upto(a.site == 0 ? 2 : 64);
      all.push_back(made);
    }
  return all;
}

LaunchSamples record(const std::vector<Made>& accesses, std::uint64_t blocks, std::size_t workers, unsigned seed) {
  const std::array<std::uint32_t, 3> grid{static_cast<std::uint32_t>(blocks), 1, 1};
  std::vector<std::unique_ptr<AccessSamples>> shards;
  for (std::size_t i = 0; i < workers; ++i) shards.push_back(std::make_unique<AccessSamples>(kSites, grid));
  std::mt19937 random(seed);
  std::vector<std::size_t> owner(blocks);
  for (std::size_t& o : owner) o = random() % workers;
  for (const Made& made : accesses) {
    trace::WarpAccess access = made.access;
    access.addresses = made.addresses.data();
    shards[owner[access.block]]->access(access);
  }
  AccessSamples sum(kSites, grid);
  std::shuffle(shards.begin(), shards.end(), random);
  for (const auto& shard : shards) sum.merge(*shard);
  return sum.finish();
}

TEST(AccessSamples, SameForAnyNumberOfWorkers) {
  const std::vector<Made> accesses = random_accesses(200, 1);
  const LaunchSamples one = record(accesses, 200, 1, 1);
  ASSERT_EQ(one.sites.size(), kSites);
  EXPECT_FALSE(one.sites[1].complete) << "the test has a site with more patterns than are kept";
  EXPECT_EQ(one.sites[1].patterns.size(), kMostPatterns);
  for (unsigned seed = 2; seed < 8; ++seed) EXPECT_TRUE(record(accesses, 200, 1 + seed % 5, seed) == one) << seed;
}

TEST(AccessSamples, CountsAreExact) {
  const std::vector<Made> accesses = random_accesses(50, 3);
  const LaunchSamples samples = record(accesses, 50, 3, 3);
  for (const SiteSamples& site : samples.sites) {
    std::uint64_t requests = 0, low = ~std::uint64_t{0}, high = 0;
    for (const Made& made : accesses) {
      if (made.access.site != site.site) continue;
      ++requests;
      trace::WarpAccess access = made.access;
      access.addresses = made.addresses.data();
      for (unsigned lane = 0; lane < kGroupLanes; ++lane)
        if ((access.mask >> lane) & 1) {
          low = std::min(low, access.address(lane));
          high = std::max(high, access.address(lane) + 4);
        }
    }
    EXPECT_EQ(site.requests, requests);
    EXPECT_EQ(site.low, low);
    EXPECT_EQ(site.high, high);
    // Each pattern kept: counted again by comparing addresses.
    for (const AccessPattern& p : site.patterns) {
      std::uint64_t same = 0;
      for (const Made& made : accesses) {
        if (made.access.site != site.site || made.access.mask != p.mask) continue;
        trace::WarpAccess access = made.access;
        access.addresses = made.addresses.data();
        bool equal = (access.shape == Shape::kScattered && std::popcount(p.mask) > 1) == p.scattered();
        const auto first = static_cast<unsigned>(std::countr_zero(p.mask));
        const std::uint64_t shift = access.address(first) - p.address(first);
        equal = equal && (site.space == Space::kGlobal ? shift % 128 == 0 : shift == 0);
        for (unsigned lane = 0; lane < kGroupLanes && equal; ++lane)
          if ((p.mask >> lane) & 1) equal = access.address(lane) - p.address(lane) == shift;
        same += equal;
      }
      EXPECT_EQ(p.count, same);
    }
  }
}

TEST(AccessSamples, WitnessesSeeWholeBlocks) {
  EXPECT_EQ(witness_blocks({4, 3, 1}), (std::vector<std::uint64_t>{0, 1, 4, 6, 11}));
  EXPECT_EQ(witness_blocks({1, 1, 1}), (std::vector<std::uint64_t>{0}));
  AccessSamples samples(2, {2, 1, 1});
  trace::WarpAccess a;
  a.shape = Shape::kAffine;
  a.mask = kAllLanes;
  a.stride = 16;  // 16 sectors, half of each used
  a.bytes = 4;
  a.base = 0x1000;
  samples.access(a);
  a.base = 0x1004;  // the same sectors by another site and warp
  a.site = 1;
  a.warp = 1;
  samples.access(a);
  const LaunchSamples out = samples.finish();
  ASSERT_EQ(out.witnesses.size(), 1u);
  const WitnessBlock& block = out.witnesses[0];
  ASSERT_EQ(block.footprints.size(), 2u);
  EXPECT_EQ(block.footprints[0].touches, 16u);
  EXPECT_EQ(block.footprints[0].first_sectors, 16u);
  EXPECT_EQ(block.footprints[0].first_bytes, 128u);
  EXPECT_EQ(block.footprints[1].touches, 16u);
  EXPECT_EQ(block.footprints[1].first_sectors, 0u);
  EXPECT_EQ(block.footprints[1].first_bytes, 128u);
  EXPECT_EQ(block.footprints[1].again_by_warp, 0u);
}

TEST(AccessSamples, SharedWordsByWhoWroteThem) {
  AccessSamples samples(2, {1, 1, 1});
  trace::WarpAccess a;
  a.space = Space::kShared;
  a.kind = Kind::kStore;
  a.shape = Shape::kAffine;
  a.mask = kAllLanes;
  a.stride = 4;
  samples.access(a);
  a.kind = Kind::kLoad;
  samples.access(a);  // own words
  a.base = 4;
  samples.access(a);  // the neighbour's; the last one nobody wrote
  a.warp = 1;
  a.base = 0;
  samples.access(a);  // another warp's
  const SharedUse use = samples.finish().witnesses.at(0).shared;
  EXPECT_EQ(use.words, 33u);
  EXPECT_EQ(use.written, 32u);
  EXPECT_EQ(use.own_reads, 32u);
  EXPECT_EQ(use.warp_reads, 31u);
  EXPECT_EQ(use.blind_reads, 1u);
  EXPECT_EQ(use.block_reads, 32u);
}

TEST(AccessSamples, AtomicsAreGroupedByAddress) {
  AccessSamples samples(1, {1, 1, 1});
  trace::WarpAccess a;
  a.kind = Kind::kRed;
  a.mask = kAllLanes;
  a.shape = Shape::kUniform;
  a.base = 0x1000;
  samples.access(a);
  std::array<std::uint64_t, kGroupLanes> addresses;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane) addresses[lane] = 0x1000 + 4 * (lane % 16);
  a.shape = Shape::kScattered;
  a.addresses = addresses.data();
  samples.access(a);
  const AtomicMeetings m = samples.finish().sites.at(0).meetings;
  EXPECT_EQ(m.requests, 2u);
  EXPECT_EQ(m.lanes, 64u);
  EXPECT_EQ(m.addresses, 17u);
  EXPECT_EQ(m.by_most, (std::array<std::uint64_t, 6>{0, 1, 0, 0, 0, 1}));
  EXPECT_GE(m.hot_lanes, 34u);
}

TEST(AccessSamples, ComeBackFromTheirRecord) {
  LaunchRecord launch;
  auto samples = std::make_shared<LaunchSamples>(record(random_accesses(40, 5), 40, 2, 5));
  samples->witnesses[0].barriers = {true, {{7, 0, true, 3}, {9, kNoFrame, false, 1}}, {1, 2}};
  launch.samples = samples;
  std::string bytes;
  encode(bytes, launch);
  const LaunchRecord back = decode_launch(bytes);
  ASSERT_NE(back.samples, nullptr);
  EXPECT_TRUE(*back.samples == *launch.samples);
  KernelInfo kernel;
  kernel.sites.resize(kSites);
  EXPECT_FALSE(fits(back, kernel)) << "a barrier is of a frame that is missing";
  kernel.frames.resize(1);
  EXPECT_TRUE(fits(back, kernel));
  kernel.sites.resize(kSites - 1);
  EXPECT_FALSE(fits(back, kernel));
}

}  // namespace
}  // namespace muscope::views
