// Cases P-O1 to P-O4 (tests/advice/cases): occupancy that people asked about, and what the advice says of it.
#include <gmock/gmock.h>

#include "advice/test_launch.h"

namespace muscope::advice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Occupancy {
  std::uint64_t blocks = 0;
  double percent = 0;
  std::string limit;
  report::Report report;
};

Occupancy occupancy_of(const std::string& gpu, std::uint32_t threads, std::uint32_t registers) {
  TestLaunch t({1024, 1, 1}, {threads, 1, 1});
  t.gpu = gpu;
  t.kernel.registers = registers;
  Occupancy o;
  o.report = t.report();
  const report::LaunchReport& launch = o.report.launches.at(0);
  o.blocks = std::get<std::uint64_t>(launch.metrics.at("muscope__blocks_per_multiprocessor").value);
  o.percent = launch.metrics.at("sm__maximum_warps_per_active_cycle_pct").as_double();
  o.limit = launch.occupancy_limit;
  return o;
}

// P-O1: blocks of 1,024 threads on an SM that holds 1,536.
TEST(OccupancyCases, LargeBlocksOnCc86) {
  const Occupancy large = occupancy_of("sm_86", 1024, 32);
  EXPECT_EQ(large.blocks, 1u);
  EXPECT_NEAR(large.percent, 66.67, 0.01);
  EXPECT_EQ(large.limit, "warps");
  const auto* advice = find(large.report, "A401");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, AllOf(HasSubstr("768"), HasSubstr("512")));
  EXPECT_EQ(advice->after, 100);
  EXPECT_EQ(occupancy_of("sm_86", 768, 32).blocks, 2u);
  EXPECT_EQ(occupancy_of("sm_86", 512, 32).blocks, 3u);
  EXPECT_EQ(occupancy_of("sm_86", 512, 32).percent, 100);
}

// P-O2: registers come in steps of 8.
TEST(OccupancyCases, RegisterSteps) {
  const struct {
    std::uint32_t registers;
    std::uint64_t blocks;
    double percent;
  } kRows[] = {{40, 12, 100}, {48, 10, 83.3}, {53, 9, 75}};
  for (const auto& row : kRows) {
    const Occupancy o = occupancy_of("sm_120", 128, row.registers);
    EXPECT_EQ(o.blocks, row.blocks) << row.registers;
    EXPECT_NEAR(o.percent, row.percent, 0.04) << row.registers;
  }
}

// P-O3: bounds of 256 threads and 2 blocks leave 128 registers; spills are told without praise for occupancy.
TEST(OccupancyCases, BoundsThatSpill) {
  TestLaunch t({264, 1, 1}, {256, 1, 1});
  t.kernel.registers = 128;
  t.kernel.maxntid[0] = 256, t.kernel.maxntid[1] = t.kernel.maxntid[2] = 1;
  t.kernel.minnctapersm = 2;
  t.kernel.compiled.known = true;
  t.kernel.compiled.spill_store_bytes = 24;
  t.kernel.compiled.spill_load_bytes = 24;
  const report::Report report = t.report();
  const auto* advice = find(report, "A304");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->text, AllOf(HasSubstr("24 B of spill stores"), HasSubstr("128 registers")));
  EXPECT_THAT(advice->change, HasSubstr("occupancy alone does not tell"));
}

// A block that fills the SM alone cannot have fewer neighbours: it can be smaller. The line with most spills is told.
TEST(OccupancyCases, SpillsOfABlockThatFillsTheSm) {
  TestLaunch t({264, 1, 1}, {1024, 1, 1});
  t.kernel.registers = 64;
  t.kernel.compiled.known = true;
  t.kernel.compiled.spill_store_bytes = t.kernel.compiled.spill_load_bytes = 8;
  const int lines[] = {10, 12, 12};  // line 12 has most, by two instructions
  for (std::size_t i = 0; i < 3; ++i) {
    const auto load = t.site(trace::Space::kLocal, trace::Kind::kLoad, 4, lines[i]);
    t.kernel.sites[load].local_use = views::LocalUse::kSpill;
    t.run(load, [](auto, auto, auto, auto) { return 16; });
  }
  const report::Report report = t.report();
  const auto* advice = find(report, "A304");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, AllOf(HasSubstr("__launch_bounds__(256)"), ::testing::Not(HasSubstr("Fewer blocks"))));
  EXPECT_EQ(advice->at.line, 12);
  EXPECT_THAT(advice->text, HasSubstr("most of it in line 12"));
}

// P-O4: registers per thread against warps per SM of 64.
TEST(OccupancyCases, SeedArithmetic) {
  const struct {
    std::uint32_t registers;
    std::uint64_t blocks;
    double percent;
  } kRows[] = {{32, 8, 100}, {33, 6, 75}, {40, 6, 75}, {64, 4, 50}, {65, 3, 37.5}, {128, 2, 25}, {255, 1, 12.5}};
  for (const auto& row : kRows) {
    const Occupancy o = occupancy_of("h200", 256, row.registers);
    EXPECT_EQ(o.blocks, row.blocks) << row.registers;
    EXPECT_EQ(o.percent, row.percent) << row.registers;
  }
}

// Few blocks leave SMs idle whatever their size; what can be done about it differs.
TEST(IdleSms, EveryLaunchOfFewBlocksIsTold) {
  const struct {
    std::uint32_t blocks, threads;
    const char* change;
    double before, after;
  } kRows[] = {{16, 256, "128 warps cannot reach all SMs", 100.0 * 16 / 132, 100.0 * 128 / 132},
               {17, 256, "use smaller blocks (32 threads", 100.0 * 17 / 132, 100},
               {131, 32, "131 warps cannot reach all SMs", 100.0 * 131 / 132, 100.0 * 131 / 132},
               {1, 1, "1 warp cannot reach all SMs", 100.0 / 132, 100.0 / 132}};
  for (const auto& row : kRows) {
    TestLaunch t({row.blocks, 1, 1}, {row.threads, 1, 1});
    const report::Report report = t.report();
    const auto* advice = find(report, "A402");
    ASSERT_NE(advice, nullptr) << row.blocks;
    EXPECT_THAT(advice->change, HasSubstr(row.change));
    EXPECT_NEAR(advice->before, row.before, 0.01);
    EXPECT_NEAR(advice->after, row.after, 0.01);
  }
  TestLaunch full({132, 1, 1}, {32, 1, 1});
  EXPECT_EQ(find(full.report(), "A402"), nullptr);
}

// Blocks smaller than a warp: the first thing to say.
TEST(IdleLanes, BlocksSmallerThanAWarp) {
  const struct {
    std::uint32_t blocks, threads;
    const char *text, *change;
  } kRows[] = {
      {8192, 1, "blocks of 1 thread are smaller than a warp: 31 of the 32 lanes", "8,192 threads are <<<256, 32>>>"},
      {1024, 16, "blocks of 16 threads are smaller than a warp: 16 of", "16,384 threads are <<<256, 64>>>"},
      {65536, 31, "1 of the 32 lanes of every warp idles", "<<<7936, 256>>>"}};
  for (const auto& row : kRows) {
    TestLaunch t({row.blocks, 1, 1}, {row.threads, 1, 1});
    t.instructions = row.blocks;
    const auto load = t.site(trace::Space::kGlobal, trace::Kind::kLoad, 4, 10);
    if (row.threads == 16) t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 64 * (bx * 16 + tx); });
    const report::Report report = t.report();
    ASSERT_FALSE(report.launches[0].advice.empty());
    const report::AdviceReport& first = report.launches[0].advice[0];
    EXPECT_EQ(first.code, "A402");
    EXPECT_THAT(first.text, HasSubstr(row.text));
    EXPECT_THAT(first.change, HasSubstr(row.change));
    EXPECT_THAT(first.change, ::testing::Not(HasSubstr("32 or 32")));
  }
}

TEST(IdleLanes, ASingleThreadIsNotToldOfLanes) {
  const report::Report report = TestLaunch({1, 1, 1}, {1, 1, 1}).report();
  for (const report::AdviceReport& advice : report.launches[0].advice) EXPECT_NE(advice.unit, "% lanes in use");
}

TEST(IdleLanes, PartOfTheLastWarp) {
  const report::Report report = TestLaunch({264, 1, 1}, {48, 1, 1}).report();
  const auto* advice = find(report, "A402");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, HasSubstr("32 or 64"));
}

// All of a launch on one SM: no access of it matters as much.
TEST(IdleSms, RanksFirstAndTellsWhatTilesLose) {
  TestLaunch t({1, 1, 1}, {32, 32, 1});
  t.record.dynamic_shared = 4096;
  const auto load = t.site(trace::Space::kGlobal, trace::Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto ty, auto, auto) { return kGlobalBase + 64 * (32 * ty + tx); });
  const report::Report report = t.report();
  const auto& all = report.launches[0].advice;
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].code, "A402");
  t.record.grid = {8, 1, 1};
  const report::Report more = t.report();
  ASSERT_NE(find(more, "A402"), nullptr);
  EXPECT_THAT(find(more, "A402")->change, HasSubstr("smaller tiles"));
}

}  // namespace
}  // namespace muscope::advice::testing
