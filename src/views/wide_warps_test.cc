// Accesses of the groups of 128-lane warps, joined.
#include "views/wide_warps.h"

#include <gtest/gtest.h>

#include "views/access_counts.h"

namespace muscope::views {
namespace {

trace::WarpAccess load(std::uint32_t warp, std::uint64_t base, std::int64_t stride, GroupMask mask = kAllLanes) {
  trace::WarpAccess access;
  access.shape = trace::Shape::kAffine;
  access.warp = warp;
  access.base = base;
  access.stride = stride;
  access.mask = mask;
  return access;
}

SiteCounts count(std::uint32_t threads, const std::vector<trace::WarpAccess>& accesses) {
  AccessCounts counts(1);
  counts.join_warps(128, threads);
  for (const trace::WarpAccess& access : accesses) counts.access(access);
  return counts.finish().at(0);
}

TEST(WideWarps, FourGroupsAreOneRequest) {
  const SiteCounts row = count(128, {load(0, 0, 4), load(1, 128, 4), load(2, 256, 4), load(3, 384, 4)});
  EXPECT_EQ(row.executed, 1u);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.lanes, 128u);
  EXPECT_EQ(row.sectors, 16u);
  EXPECT_EQ(row.ideal_sectors, 16u);
  EXPECT_EQ(row.lines, 4u);
  EXPECT_EQ(row.bytes, 512u);
}

TEST(WideWarps, ASectorCountsOnce) {
  // All 128 lanes on one word, then the same eight words by each group.
  EXPECT_EQ(count(128, {load(0, 64, 0), load(1, 64, 0), load(2, 64, 0), load(3, 64, 0)}).sectors, 1u);
  const SiteCounts row = count(128, {load(0, 0, 1), load(1, 0, 1), load(2, 0, 1), load(3, 4, 1)});
  EXPECT_EQ(row.sectors, 2u);
  EXPECT_EQ(row.ideal_sectors, 2u);
}

TEST(WideWarps, EachExecutionByItself) {
  // Group 0 runs ahead of the others, as the engine does it.
  const SiteCounts row = count(64, {load(0, 0, 4), load(0, 4096, 4), load(1, 128, 4), load(1, 4096, 4)});
  EXPECT_EQ(row.executed, 2u);
  EXPECT_EQ(row.requests, 2u);
  EXPECT_EQ(row.sectors, 8u + 4u);
}

TEST(WideWarps, GroupsWithoutLanesAndOtherWarps) {
  // Groups 4 and 5 are of another warp; group 1 has no lane at work.
  const SiteCounts row = count(192, {load(0, 0, 4), load(1, 0, 4, 0), load(4, 0, 4), load(5, 0, 4)});
  EXPECT_EQ(row.executed, 2u);
  EXPECT_EQ(row.requests, 2u);
  EXPECT_EQ(row.sectors, 8u);
}

TEST(WideWarps, SharedMemoryTakesAPassForEachGroup) {
  std::vector<trace::WarpAccess> accesses = {load(0, 0, 4), load(1, 128, 4), load(2, 256, 4), load(3, 384, 4)};
  for (trace::WarpAccess& access : accesses) access.space = trace::Space::kShared;
  const SiteCounts row = count(128, accesses);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.wavefronts, 4u);
  EXPECT_EQ(row.ideal_wavefronts, 4u);
}

TEST(WideWarps, UniformConstantsAreOneRequest) {
  std::vector<trace::WarpAccess> accesses = {load(0, 16, 0), load(1, 16, 0), load(2, 16, 0), load(3, 20, 0)};
  for (trace::WarpAccess& access : accesses) access.space = trace::Space::kConst;
  EXPECT_EQ(count(128, accesses).requests, 2u);
}

}  // namespace
}  // namespace muscope::views
