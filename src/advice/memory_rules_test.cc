// Rules about constants, repeated loads, vectors, block shapes, atomics, shared memory of one thread, occupancy.
#include <gmock/gmock.h>

#include "advice/test_launch.h"

namespace muscope::advice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trace::Kind;
using trace::Space;

constexpr std::uint64_t kOther = kGlobalBase + (1 << 26);

TEST(Vectorisable, FourFieldsOfOneRecord) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  for (unsigned field = 0; field < 4; ++field) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 16 * (bx * 128 + tx) + 4 * field; });
  }
  const auto report = t.report();
  const auto* advice = find(report, "A105");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 4 * 32 * 16);
  EXPECT_EQ(advice->after, 32 * 16);
  EXPECT_THAT(advice->change, HasSubstr("128 -> 32 requests"));
  EXPECT_EQ(advice->grade, report::Grade::kCounted);
}

TEST(Vectorisable, SilentWhereTheRecordIsNotAligned) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  for (unsigned field = 0; field < 2; ++field) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 12 * (bx * 128 + tx) + 4 * field; });
  }
  EXPECT_EQ(find(t.report(), "A105"), nullptr);
}

TEST(Redundant, EveryWarpLoadsTheSameTile) {
  TestLaunch t({4, 1, 1}, {256, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 32 + tx % 32); });
  const auto report = t.report();
  const auto* advice = find(report, "A106");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 4 * 8 * 4);
  EXPECT_EQ(advice->after, 4 * 4);
  EXPECT_THAT(advice->text, HasSubstr("8.0 times"));
}

TEST(Redundant, SilentForDataTheBlockWrote) {
  TestLaunch t({4, 1, 1}, {256, 1, 1});
  const auto write = t.site(Space::kGlobal, Kind::kStore, 4, 9);
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(write, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 32 + tx % 32); });
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 32 + tx % 32); });
  EXPECT_EQ(find(t.report(), "A106"), nullptr);
}

TEST(ThinBlocks, SixteenWide) {
  TestLaunch t({4, 4, 1}, {16, 16, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load,
        [](auto tx, auto ty, auto bx, auto by) { return kGlobalBase + 4 * ((by * 16 + ty) * 1024 + bx * 16 + tx); });
  const auto report = t.report();
  const auto* advice = find(report, "A107");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->unit, "lines");
  EXPECT_EQ(advice->before, 16 * 8 * 2);
  EXPECT_EQ(advice->after, 16 * 8);
  EXPECT_THAT(advice->change, HasSubstr("32 threads wide"));
  ASSERT_TRUE(advice->picture);
  EXPECT_EQ(advice->picture->before[16], kGlobalBase + 4096) << "the second row of the block";
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(advice->picture->after[lane], kGlobalBase + 4 * lane);
}

TEST(ThinBlocks, SilentWhereWarpsAreWholeRows) {
  TestLaunch t({4, 4, 1}, {32, 8, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load,
        [](auto tx, auto ty, auto bx, auto by) { return kGlobalBase + 4 * ((by * 8 + ty) * 1024 + bx * 32 + tx); });
  EXPECT_EQ(find(t.report(), "A107"), nullptr);
}

TEST(DivergentConstant, OneWordPerLane) {
  TestLaunch t({4, 1, 1}, {32, 1, 1});
  const auto load = t.site(Space::kConst, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto, auto) { return 256 + 4 * tx; });
  const auto report = t.report();
  const auto* advice = find(report, "A301");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 4 * 32);
  EXPECT_THAT(advice->change, HasSubstr("4 sectors per load"));
  ASSERT_TRUE(advice->picture);
  EXPECT_EQ(advice->picture->space, Space::kConst);
  EXPECT_EQ(advice->picture->after_space, Space::kGlobal);
  EXPECT_EQ(advice->picture->after[31], 256u + 4 * 31);
}

TEST(DivergentConstant, SilentWhereLanesAgree) {
  TestLaunch t({4, 1, 1}, {32, 1, 1});
  const auto load = t.site(Space::kConst, Kind::kLoad, 4, 10);
  t.run(load, [](auto, auto, auto bx, auto) { return 256 + 4 * bx; });
  EXPECT_EQ(find(t.report(), "A301"), nullptr);
}

TEST(UniformGlobal, CoefficientsForAll) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  for (unsigned k = 0; k < 4; ++k) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
    t.run(load, [&](auto, auto, auto, auto) { return kGlobalBase + 4 * k; });
  }
  const auto report = t.report();
  const auto* advice = find(report, "A302");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 4 * 32);
}

TEST(UniformGlobal, SilentWhereTheLaunchWrites) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  const auto write = t.site(Space::kGlobal, Kind::kStore, 4, 11);
  t.run(load, [&](auto, auto, auto, auto) { return kGlobalBase; });
  t.run(write, [&](auto, auto, auto, auto) { return kGlobalBase; });
  EXPECT_EQ(find(t.report(), "A302"), nullptr);
}

TEST(PrivateShared, WrittenAndReadByOneThread) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto write = t.site(Space::kShared, Kind::kStore, 4, 10);
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 12);
  t.run(write, [](auto tx, auto, auto, auto) { return 4 * tx; });
  t.run(read, [](auto tx, auto, auto, auto) { return 4 * tx; });
  const auto report = t.report();
  const auto* advice = find(report, "A202");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 2 * 16);
}

TEST(PrivateShared, SilentWhereNeighboursRead) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto write = t.site(Space::kShared, Kind::kStore, 4, 10);
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 12);
  t.run(write, [](auto tx, auto, auto, auto) { return 4 * tx; });
  t.run(read, [](auto tx, auto, auto, auto) { return 4 * (tx ^ 1); });
  EXPECT_EQ(find(t.report(), "A202"), nullptr);
}

TEST(Atomics, SortedKeys) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto add = t.site(Space::kGlobal, Kind::kRed, 4, 10);
  t.run(add, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * ((bx * 128 + tx) / 64); });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 1024);
  EXPECT_EQ(advice->after, 32);
  EXPECT_THAT(advice->change, HasSubstr("segmented sum"));
}

// 8 blocks of 1,024 updates on 256 bins: lanes of a request seldom meet, and yet each bin takes 32 updates.
TEST(Atomics, HistogramInGlobalMemory) {
  TestLaunch t({8, 1, 1}, {256, 1, 1});
  const auto add = t.site(Space::kGlobal, Kind::kRed, 4, 10);
  for (unsigned k = 0; k < 4; ++k)
    t.run(add, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * ((tx * 167 + bx * 31 + k * 7) % 256); });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->unit, "sectors");
  EXPECT_EQ(advice->after, 8 * 32);  // 256 bins of 4 B are 32 sectors
  EXPECT_THAT(advice->text, HasSubstr("8,192 updates go to at most 256 addresses"));
  EXPECT_THAT(advice->change, HasSubstr("privatisation"));
}

TEST(Atomics, CounterOfOneAddress) {
  TestLaunch t({64, 1, 1}, {256, 1, 1});
  const auto add = t.site(Space::kGlobal, Kind::kRed, 4, 10);
  t.run(add, [](auto tx, auto, auto, auto) { return tx % 2 == 0 ? kGlobalBase : kInactive; });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 64 * 128);
  EXPECT_EQ(advice->after, 64);
  EXPECT_THAT(advice->text, HasSubstr("all 8,192 updates of the launch go to one address"));
  EXPECT_THAT(advice->change, HasSubstr("__ballot_sync"));
  EXPECT_THAT(advice->change, Not(HasSubstr("histogram")));
}

// One lane of each warp, as compilers make of a counter: the block's warps are left to be summed.
TEST(Atomics, CounterByOneLaneOfEachWarp) {
  TestLaunch t({64, 1, 1}, {256, 1, 1});
  const auto add = t.site(Space::kGlobal, Kind::kRed, 4, 10);
  t.run(add, [](auto tx, auto, auto, auto) { return tx % 32 == 0 ? kGlobalBase : kInactive; });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 64 * 8);
  EXPECT_EQ(advice->after, 64);
  EXPECT_THAT(advice->text, HasSubstr("one after the other"));
  EXPECT_THAT(advice->change, Not(HasSubstr("__reduce_add_sync")));
}

TEST(Atomics, SharedIntegersAreNotCombinedInTheWarp) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto add = t.site(Space::kShared, Kind::kAtom, 4, 10);
  t.run(add, [](auto tx, auto, auto, auto) { return 4 * (tx % 4); });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, HasSubstr("do not combine integers in the warp first"));
}

TEST(Atomics, SilentWhereLanesSpreadOverShared) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto add = t.site(Space::kShared, Kind::kAtom, 4, 10);
  t.run(add, [](auto tx, auto, auto, auto) { return 1024 + 4 * (tx % 32 * 33 % 512); });  // as bins of each lane
  t.run(add, [](auto tx, auto, auto, auto) { return 1024 + 4 * (tx % 64 * 5); });
  EXPECT_EQ(find(t.report(), "A501"), nullptr);
}

TEST(Atomics, SilentWhereEachLaneHasItsOwn) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto add = t.site(Space::kGlobal, Kind::kRed, 4, 10);
  t.run(add, [](auto tx, auto, auto bx, auto) { return kOther + 4 * (bx * 128 + tx); });
  EXPECT_EQ(find(t.report(), "A501"), nullptr);
}

TEST(Occupancy, ManyRegisters) {
  TestLaunch t({264, 1, 1}, {256, 1, 1});
  t.kernel.registers = 168;  // 65,536 / (256 * 168) = 1 block of 8 warps
  const auto report = t.report();
  const auto* advice = find(report, "A401");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 12.5);
  EXPECT_THAT(advice->text, HasSubstr("registers"));
  EXPECT_THAT(advice->change, HasSubstr("128 registers"));
}

TEST(Occupancy, SilentWhenFull) {
  TestLaunch t({264, 1, 1}, {256, 1, 1});
  t.kernel.registers = 32;
  EXPECT_EQ(find(t.report(), "A401"), nullptr);
}

TEST(IdleSms, FewBlocks) {
  TestLaunch t({8, 1, 1}, {1024, 1, 1});
  const auto report = t.report();
  const auto* advice = find(report, "A402");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->text, HasSubstr("8 blocks for 132 SMs"));
  TestLaunch odd({132, 1, 1}, {100, 1, 1});
  const auto lanes = odd.report();
  ASSERT_NE(find(lanes, "A402"), nullptr);
  EXPECT_EQ(find(lanes, "A402")->before, 78.125);
  EXPECT_EQ(find(TestLaunch({264, 1, 1}, {128, 1, 1}).report(), "A402"), nullptr);
}

TEST(LocalArrays, AndSpills) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kLocal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto, auto) { return 4 * (tx % 4); });
  auto report = t.report();
  ASSERT_NE(find(report, "A303"), nullptr);
  EXPECT_EQ(find(report, "A304"), nullptr);
  // Run-time index 0 to 3: up to 4 rows for each group of 8 lanes.
  EXPECT_EQ(find(report, "A303")->before, 32 * 16);
  t.kernel.sites[load].local_use = views::LocalUse::kSpill;
  t.kernel.compiled.known = true;
  t.kernel.compiled.spill_load_bytes = 4;
  report = t.report();
  EXPECT_EQ(find(report, "A303"), nullptr);
  ASSERT_NE(find(report, "A304"), nullptr);
}

TEST(ReadOnlyPath, TheSameWarpLoadsAgain) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  for (int time = 0; time < 2; ++time) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10 + time, "ld.global.f32");
    t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx); });
  }
  const auto write = t.site(Space::kGlobal, Kind::kStore, 4, 11);
  t.run(write, [](auto tx, auto, auto bx, auto) { return kOther + 4 * (bx * 128 + tx); });
  const auto report = t.report();
  const auto* advice = find(report, "A108");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 2 * 16 * 4);
  EXPECT_EQ(advice->after, 16 * 4);
  for (views::Site& site : t.kernel.sites) site.text = "ld.global.nc.f32";
  EXPECT_EQ(find(t.report(), "A108"), nullptr);
}

TEST(Gathers, NoOrderAmongLanes) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * ((bx * 128 + tx) * 7919 % 65536); });
  EXPECT_EQ(find(t.report(), "A109"), nullptr) << "a fixed distance is a stride";
  TestLaunch u({4, 1, 1}, {128, 1, 1});
  const auto gather = u.site(Space::kGlobal, Kind::kLoad, 4, 10);
  u.run(gather, [](auto tx, auto, auto bx, auto) {
    const std::uint64_t i = bx * 128 + tx;
    return kGlobalBase + 4 * (i * i * 31 % 65536);
  });
  const auto report = u.report();
  ASSERT_NE(find(report, "A109"), nullptr);
  EXPECT_EQ(find(report, "A109")->after, 16 * 4);
}

// Odd and even lanes store by an instruction each: both touch all sectors, 4 per request; one store would touch 4.
TEST(Branches, OddAndEvenLanesApart) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto odd = t.site(Space::kGlobal, Kind::kStore, 4, 10);
  const auto even = t.site(Space::kGlobal, Kind::kStore, 4, 12);
  for (const auto& [site, part] : {std::pair{odd, 1u}, std::pair{even, 0u}})
    t.run(site, [part = part](auto tx, auto, auto bx, auto) {
      return tx % 2 == part ? kGlobalBase + 4 * (bx * 128 + tx) : kInactive;
    });
  const auto report = t.report();
  EXPECT_EQ(find(report, "A109"), nullptr);
  EXPECT_EQ(find(report, "A101"), nullptr);
  const auto* advice = find(report, "A112");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 2 * 32 * 4);
  EXPECT_EQ(advice->after, 32 * 4);
  EXPECT_EQ(advice->sites.size(), 2u);
  EXPECT_THAT(advice->text, HasSubstr("lines 10 and 12"));
  EXPECT_THAT(advice->change, HasSubstr("store once after they join"));
}

TEST(Branches, SilentWhereWarpsAgree) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  for (const unsigned part : {0u, 1u}) {
    const auto store = t.site(Space::kGlobal, Kind::kStore, 4, 10);
    t.run(store, [part](auto tx, auto, auto bx, auto) {
      return tx / 32 % 2 == part ? kGlobalBase + 8 * (bx * 128 + tx) : kInactive;
    });
  }
  EXPECT_EQ(find(t.report(), "A112"), nullptr);
}

// The second gather goes where the first went: what it touches first is next to nothing, and still no less is needed.
TEST(Gathers, NeverBelowTheLeast) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  for (int time = 0; time < 2; ++time) {
    const auto gather = t.site(Space::kGlobal, Kind::kLoad, 4, 10 + time);
    t.run(gather, [](auto tx, auto, auto bx, auto) {
      const std::uint64_t i = bx * 128 + tx;
      return kGlobalBase + 4 * (i * i * 31 % 65536);
    });
  }
  const auto report = t.report();
  std::size_t found = 0;
  for (const report::AdviceReport& advice : report.launches[0].advice) {
    if (advice.code != "A109") continue;
    ++found;
    EXPECT_GE(advice.after, 16 * 4);
    EXPECT_THAT(advice.text, Not(HasSubstr("uses 0 %")));
  }
  EXPECT_GE(found, 1u);
}

TEST(MixedWidths, NarrowBesideWide) {
  TestLaunch t({4, 1, 1}, {128, 1, 1});
  const auto wide = t.site(Space::kGlobal, Kind::kLoad, 16, 10);
  const auto narrow = t.site(Space::kGlobal, Kind::kLoad, 4, 11);
  t.run(wide, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 16 * (bx * 128 + tx); });
  t.run(narrow, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx); });
  const auto report = t.report();
  ASSERT_NE(find(report, "A110"), nullptr);
  EXPECT_EQ(find(report, "A110")->before, 16);
  EXPECT_EQ(find(report, "A110")->after, 4);
  TestLaunch same({4, 1, 1}, {128, 1, 1});
  const auto one = same.site(Space::kGlobal, Kind::kLoad, 16, 10);
  same.run(one, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 16 * (bx * 128 + tx); });
  EXPECT_EQ(find(same.report(), "A110"), nullptr);
}

TEST(Transfers, PageableAndSymbols) {
  TestLaunch t({264, 1, 1}, {128, 1, 1});
  views::TransferRecord copy;
  copy.kind = views::TransferKind::kHostToDevice;
  copy.host_memory = views::HostMemory::kPageable;
  copy.count = 4;
  copy.bytes = 64u << 20;
  copy.api = "cudaMemcpy";
  t.transfers.push_back(copy);
  auto report = t.report();
  ASSERT_NE(find(report, "A601"), nullptr);
  EXPECT_EQ(find(report, "A604"), nullptr);
  t.transfers[0].host_memory = views::HostMemory::kPinned;
  t.transfers[0].api = "cudaMemcpyToSymbol";
  t.transfers[0].count = 100;
  report = t.report();
  EXPECT_EQ(find(report, "A601"), nullptr);
  ASSERT_NE(find(report, "A604"), nullptr);
  EXPECT_EQ(find(report, "A604")->before, 100);
}

TEST(BytesInFlight, OneByteLoadsByFewWarps) {
  TestLaunch t({132, 1, 1}, {64, 1, 1});
  t.kernel.registers = 255;  // 8 warps per SM
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  for (int i = 0; i < 32; ++i)
    t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 64 + tx); });
  t.instructions = 20000;  // 8,448 of them loads
  const auto report = t.report();
  const auto* advice = find(report, "A111");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 8 * 128);
  t.kernel.registers = 32;  // 64 warps
  t.kernel.sites[load].bytes = 16;
  EXPECT_EQ(find(t.report(), "A111"), nullptr);
}

TEST(ZeroCopy, ReadOverTheBus) {
  TestLaunch t({264, 1, 1}, {256, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 256 + tx); });
  EXPECT_EQ(find(t.report(), "A602"), nullptr);
  t.host_memory = true;
  const auto report = t.report();
  ASSERT_NE(find(report, "A602"), nullptr);
  EXPECT_EQ(find(report, "A602")->before, 264 * 8 * 4);
}

TEST(FirstTouch, PagesOfManagedMemory) {
  TestLaunch t({264, 1, 1}, {128, 1, 1});
  EXPECT_EQ(find(t.report(), "A603"), nullptr);
  t.record.managed_pages = 4096;  // 16 MiB
  const auto report = t.report();
  const auto* advice = find(report, "A603");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->text, HasSubstr("256 blocks of 64 KiB, 8 of 2 MiB"));
}

}  // namespace
}  // namespace muscope::advice::testing
