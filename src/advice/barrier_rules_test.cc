// A203: barriers without which nothing changes, and the ones that only look like it.
#include <gmock/gmock.h>

#include "advice/test_launch.h"

namespace muscope::advice::testing {
namespace {

using ::testing::HasSubstr;
using trace::Kind;
using trace::Space;

std::vector<int> needless_lines(const report::Report& report) {
  std::vector<int> lines;
  for (const report::AdviceReport& advice : report.launches.at(0).advice)
    if (advice.code == "A203") lines.push_back(advice.at.line);
  return lines;
}

/// 4 blocks of 4 warps and a store and a load of shared memory.
struct Kernel {
  Kernel() : t({4, 1, 1}, {128, 1, 1}) {
    store = t.site(Space::kShared, Kind::kStore, 4, 10);
    load = t.site(Space::kShared, Kind::kLoad, 4, 11);
  }
  void write(std::uint64_t shift = 0) {
    t.run(store, [=](auto tx, auto, auto, auto) { return 1024 + (tx + shift) % 128 * 4; });
  }
  void read(std::uint64_t shift) {
    t.run(load, [=](auto tx, auto, auto, auto) { return 1024 + (tx + shift) % 128 * 4; });
  }
  TestLaunch t;
  std::uint32_t store, load;
};

TEST(Barriers, AfterPrivateUse) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  k.read(0);
  const auto report = k.t.report();
  EXPECT_EQ(needless_lines(report), std::vector{20});
  const auto* advice = find(report, "A203");
  EXPECT_EQ(advice->before, 1);
  EXPECT_EQ(advice->after, 0);
  EXPECT_THAT(advice->text, HasSubstr("in the recorded blocks"));
  EXPECT_THAT(advice->text, HasSubstr("4 executions in 4 of 4 blocks"));
}

TEST(Barriers, OfTwoInARowOneMayGo) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  k.t.barrier(21);
  k.read(32);
  EXPECT_EQ(needless_lines(k.t.report()), std::vector{20});
}

TEST(Barriers, SilentBetweenWriterAndReader) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  k.read(32);
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

// Load of a tile, use, and the barrier before it is written again.
TEST(Barriers, SilentBeforeATileIsOverwritten) {
  Kernel k;
  for (int turn = 0; turn < 4; ++turn) {
    k.write();
    k.t.barrier(20, true);
    k.read(32);
    k.t.barrier(22, true);
  }
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

// With one turn nobody overwrites, but the next size may.
TEST(Barriers, SilentInALoopOfOneTurn) {
  Kernel k;
  k.write();
  k.t.barrier(20, true);
  k.read(32);
  k.t.barrier(22, true);
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

// A reader of the turn before last: two buffers need one barrier a turn.
TEST(Barriers, SecondOneOfTwoBuffers) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto store = t.site(Space::kShared, Kind::kStore, 4, 10);
  const auto load = t.site(Space::kShared, Kind::kLoad, 4, 11);
  for (std::uint64_t turn = 0; turn < 6; ++turn) {
    const std::uint64_t buffer = 1024 + turn % 2 * 512;
    t.run(store, [=](auto tx, auto, auto, auto) { return buffer + tx * 4; });
    t.barrier(20, true);
    t.run(load, [=](auto tx, auto, auto, auto) { return buffer + (tx + 32) % 128 * 4; });
    t.barrier(22, true);
  }
  EXPECT_EQ(needless_lines(t.report()), std::vector{22});
}

TEST(Barriers, SilentInAReductionTree) {
  TestLaunch t({4, 1, 1}, {256, 1, 1});
  const auto store = t.site(Space::kShared, Kind::kStore, 4, 10);
  const auto load = t.site(Space::kShared, Kind::kLoad, 4, 11);
  t.run(store, [](auto tx, auto, auto, auto) { return 1024 + tx * 4; });
  t.barrier(19);
  for (std::uint64_t half = 128; half > 0; half /= 2) {
    const auto lanes = [=](std::uint64_t tx, std::uint64_t at) { return tx < half ? 1024 + at * 4 : kInactive; };
    for (std::uint64_t block = 0; block < 4; ++block)
      for (std::uint32_t warp = 0; warp * 32 < half; ++warp) {
        WarpAddresses other, own;
        for (std::uint64_t lane = 0; lane < 32; ++lane) {
          other[lane] = lanes(warp * 32 + lane, warp * 32 + lane + half);
          own[lane] = lanes(warp * 32 + lane, warp * 32 + lane);
        }
        t.warp(load, block, warp, other);
        t.warp(load, block, warp, own);
        t.warp(store, block, warp, own);
      }
    t.barrier(21, true);
  }
  EXPECT_TRUE(needless_lines(t.report()).empty()) << "the last turns are of one warp, but the line is one";
}

// Warps that go on alone without barriers (volatile, one warp): the barrier before them gathers what others wrote.
TEST(Barriers, SilentBeforeTheLastWarpGoesOnAlone) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  for (std::uint64_t block = 0; block < 4; ++block)
    for (std::uint64_t step = 32; step > 0; step /= 2) {
      WarpAddresses other, own;
      for (std::uint64_t lane = 0; lane < 32; ++lane) {
        other[lane] = 1024 + 4 * (lane + step);
        own[lane] = 1024 + 4 * lane;
      }
      k.t.warp(k.load, block, 0, other);
      k.t.warp(k.store, block, 0, own);
    }
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

// One warp writes what all read afterwards, then writes again: both barriers stay.
TEST(Barriers, SilentAroundABroadcast) {
  Kernel k;
  const auto announce = [&] {
    for (std::uint64_t block = 0; block < 4; ++block) {
      WarpAddresses one;
      one.fill(kInactive);
      one[0] = 1024;
      k.t.warp(k.store, block, 0, one);
    }
  };
  announce();
  k.t.barrier(20);
  k.t.run(k.load, [](auto, auto, auto, auto) { return 1024; });
  k.t.barrier(22);
  announce();
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

TEST(Barriers, SilentWhereDataPassesThroughGlobalMemory) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto store = t.site(Space::kGlobal, Kind::kStore, 4, 10);
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 11);
  t.run(store, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx); });
  t.barrier(20);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + 127 - tx); });
  EXPECT_TRUE(needless_lines(t.report()).empty());
}

TEST(Barriers, AtomicsOfManyWarpsMeetBetweenBarriers) {
  Kernel k;
  const auto add = k.t.site(Space::kShared, Kind::kAtom, 4, 12);
  k.write();
  k.t.barrier(20);
  k.t.run(add, [](auto tx, auto, auto, auto) { return 1024 + tx % 32 * 4; });
  k.t.barrier(22);
  k.read(0);  // warp 0 reads what all added to, warp 3 its own
  k.t.barrier(24);
  EXPECT_EQ(needless_lines(k.t.report()), std::vector{24});
}

TEST(Barriers, SilentWhereWarpsAreOrderedOtherwise) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  k.read(0);
  k.t.ordered_otherwise = true;
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

TEST(Barriers, SilentWhereWarpsRace) {
  Kernel k;
  k.write();
  k.read(32);  // nothing keeps these apart: what orders them is not known
  k.t.barrier(20);
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

TEST(Barriers, SilentWhereAddressesFollowTheData) {
  Kernel k;
  k.write();
  k.t.barrier(20);
  k.t.run(k.load, [](auto tx, auto, auto bx, auto) {  // other lanes in each block, of their own warp by chance
    return 1024 + 4 * (tx / 32 * 32 + (tx * tx + bx * (tx % 7) + bx) % 32);
  });
  EXPECT_TRUE(needless_lines(k.t.report()).empty());
}

}  // namespace
}  // namespace muscope::advice::testing
