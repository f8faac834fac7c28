#include "model/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace muscope::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Occupancy of(const char* gpu, int threads, int registers, std::int64_t shared = 0) {
  return occupancy(arch::find_gpu(gpu), {threads, registers, shared, 0, 1});
}

TEST(Occupancy, LimitsAreWhatNsightComputePrintedFor63Launches) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/occupancy.tsv");
  std::string line;
  std::getline(in, line);
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  int rows = 0;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::string label;
    int threads, registers, shared, barriers, blocks, limit_registers, limit_shared, warps;
    cells >> label >> threads >> registers >> shared >> barriers >> blocks >> limit_registers >> limit_shared >> warps;
    ASSERT_TRUE(cells) << line;
    const Occupancy o = occupancy(h200, {threads, registers, shared, 0, 1});
    EXPECT_EQ(o.limit_barriers, barriers) << label;
    EXPECT_EQ(o.limit_blocks, blocks) << label;
    EXPECT_EQ(o.limit_registers, limit_registers) << label;
    EXPECT_EQ(o.limit_shared_driver, limit_shared) << label;
    EXPECT_EQ(o.limit_warps, warps) << label;
    ++rows;
  }
  EXPECT_EQ(rows, 63);
}

// Both ends of every range of sizes for which an H200 chose one carve-out: 6,996 launches.
TEST(Occupancy, CarveoutsAreThoseThatAnH200Chose) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/carveouts/carveouts.tsv");
  std::string line;
  std::getline(in, line);
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  int rows = 0, wrong = 0;
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    int registers, threads, from, to, carveout;
    std::string wish;
    cells >> registers >> threads >> wish >> from >> to >> carveout;
    ASSERT_TRUE(cells) << line;
    const int preference = wish == "-"              ? kDriverChooses
                           : wish == "PreferL1"     ? kPrefersL1
                           : wish == "PreferShared" ? 100
                           : wish == "PreferEqual"  ? 50
                                                    : std::stoi(wish);
    for (const int shared : {from, to}) {
      const Occupancy o = occupancy(h200, {threads, registers, 0, shared, 1, preference});
      if (o.carveout_driver != carveout * 1024 && ++wrong <= 10)
        ADD_FAILURE() << line << ": " << shared << " bytes: " << o.carveout_driver / 1024;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 899);
  EXPECT_EQ(wrong, 0);
}

// An 8.6 SM holds 1536 threads: 1024 of them leave a third idle, 768 and 512 do not.
TEST(Occupancy, LargeBlocksOn86) {
  EXPECT_EQ(of("sm_86", 1024, 32).blocks_per_sm, 1);
  EXPECT_NEAR(of("sm_86", 1024, 32).percent, 66.67, 0.01);
  EXPECT_THAT(of("sm_86", 1024, 32).limiters, ElementsAre(Limit::kWarps));
  EXPECT_EQ(of("sm_86", 768, 32).blocks_per_sm, 2);
  EXPECT_EQ(of("sm_86", 512, 32).blocks_per_sm, 3);
  EXPECT_TRUE(of("sm_86", 512, 32).full());
}

TEST(Occupancy, RegistersRoundUpToEight) {
  EXPECT_EQ(of("sm_120", 128, 40).blocks_per_sm, 12);
  EXPECT_EQ(of("sm_120", 128, 48).blocks_per_sm, 10);
  EXPECT_EQ(of("sm_120", 128, 53).blocks_per_sm, 9);
  EXPECT_NEAR(of("sm_120", 128, 48).percent, 83.33, 0.01);
  EXPECT_DOUBLE_EQ(of("sm_120", 128, 53).percent, 75.0);
}

TEST(Occupancy, TextbookRegisterTable) {
  const int registers[] = {32, 33, 40, 64, 65, 128, 255};
  const int blocks[] = {8, 6, 6, 4, 3, 2, 1};
  const double percent[] = {100, 75, 75, 50, 37.5, 25, 12.5};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(of("h200", 256, registers[i]).blocks_per_sm, blocks[i]) << registers[i];
    EXPECT_DOUBLE_EQ(of("h200", 256, registers[i]).percent, percent[i]) << registers[i];
  }
}

// 32 KiB per block plus the reserved 1 KiB out of 228 KiB.
TEST(Occupancy, SharedMemoryLimits) {
  const Occupancy o = of("h200", 128, 32, 32 * 1024);
  EXPECT_EQ(o.blocks_per_sm, 6);
  EXPECT_EQ(o.active_warps, 24);
  EXPECT_DOUBLE_EQ(o.percent, 37.5);
  EXPECT_THAT(o.limiters, ElementsAre(Limit::kShared));
  EXPECT_FALSE(o.needs_shared_optin);
  EXPECT_TRUE(of("h200", 128, 32, 49 * 1024).needs_shared_optin);
}

TEST(Occupancy, ImpossibleBlocksSayWhy) {
  EXPECT_THAT(of("h200", 1056, 32).impossible, ::testing::HasSubstr("1056 threads"));
  EXPECT_THAT(of("h200", 1024, 72).impossible, ::testing::HasSubstr("65536"));
  EXPECT_THAT(of("h200", 32, 300).impossible, ::testing::HasSubstr("300 registers"));
  EXPECT_THAT(of("h200", 32, 32, 300 * 1024).impossible, ::testing::HasSubstr("232448"));
  EXPECT_THAT(of("h200", 0, 32).impossible, ::testing::HasSubstr("at least one thread"));
  EXPECT_EQ(of("h200", 1056, 32).blocks_per_sm, 0);
}

// GP100 has two sub-partitions, but what GP10x (four) refuses is refused there too: 18 warps of 104 registers count as
// 20 warps of 3328 registers, 66,560, although two sub-partitions would ask for 18 only.
TEST(Occupancy, Pascal60FollowsPascal61) {
  EXPECT_EQ(of("sm_60", 1024, 64).blocks_per_sm, 1);
  EXPECT_EQ(of("sm_60", 576, 104).blocks_per_sm, 0);
  EXPECT_EQ(of("sm_60", 576, 96).blocks_per_sm, 1);
}

TEST(Occupancy, LiftsNameTheThresholds) {
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  const std::vector<Lift> steps = lifts(h200, {256, 65, 0, 0, 1});  // 3 blocks now
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].blocks, 4);
  EXPECT_EQ(steps[0].registers_at_most, 64);
  EXPECT_EQ(steps[1].registers_at_most, 48);
  EXPECT_EQ(steps[2].registers_at_most, 40);
  EXPECT_EQ(steps[3].blocks, 8);
  EXPECT_EQ(steps[3].registers_at_most, 32);
  EXPECT_DOUBLE_EQ(steps[3].percent, 100);
  // The named bound holds and the next register breaks it.
  for (const Lift& step : steps) {
    EXPECT_GE(occupancy(h200, {256, step.registers_at_most, 0, 0, 1}).blocks_per_sm, step.blocks);
    EXPECT_LT(occupancy(h200, {256, step.registers_at_most + 1, 0, 0, 1}).blocks_per_sm, step.blocks);
  }
  const std::vector<Lift> shared = lifts(h200, {128, 32, 32 * 1024, 0, 1});
  ASSERT_FALSE(shared.empty());
  EXPECT_EQ(shared[0].blocks, 7);
  EXPECT_GE(occupancy(h200, {128, 32, shared[0].shared_at_most, 0, 1}).blocks_per_sm, 7);
  EXPECT_LT(occupancy(h200, {128, 32, shared[0].shared_at_most + 1, 0, 1}).blocks_per_sm, 7);
  EXPECT_THAT(lifts(h200, {256, 32, 0, 0, 1}), IsEmpty());
}

TEST(Occupancy, BestBlockSizes) {
  EXPECT_THAT(best_block_sizes(arch::find_gpu("sm_86"), {1024, 32, 0, 0, 1}), ::testing::Contains(768));
  EXPECT_THAT(best_block_sizes(arch::find_gpu("sm_86"), {1024, 32, 0, 0, 1}),
              ::testing::Not(::testing::Contains(1024)));
}

TEST(Occupancy, Waves) {
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  const Occupancy o = of("h200", 256, 32);
  const Waves w = waves(h200, o, 132 * 8 + 132 * 4);
  EXPECT_EQ(w.blocks_per_wave, 132 * 8);
  EXPECT_DOUBLE_EQ(w.waves, 1.5);
  EXPECT_DOUBLE_EQ(w.last_wave_fill, 0.5);
  EXPECT_DOUBLE_EQ(waves(arch::find_gpu("sm_90"), o, 1000).waves, 0) << "the SM count of a bare capability is unknown";
}

}  // namespace
}  // namespace muscope::model
