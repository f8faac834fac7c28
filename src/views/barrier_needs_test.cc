// Which barriers keep accesses of warps apart: by hand, and against all pairs of accesses of random programs.
#include "views/barrier_needs.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>

namespace muscope::views {
namespace {

struct Access {
  std::uint32_t interval;
  std::uint16_t warp;
  bool write;
};

/// Whether a set of barriers that stay keeps all pairs apart.
bool keeps(const std::vector<std::uint64_t>& one_of, std::uint64_t stay) {
  for (const std::uint64_t set : one_of)
    if ((set & stay) == 0) return false;
  return true;
}

// The recorder looks at neighbours only. For every choice of barriers that stay it must say what all pairs say.
TEST(BarrierWatch, SaysWhatAllPairsSay) {
  std::mt19937 random(7);
  constexpr std::uint32_t kBarriers = 4;
  int programs = 0, needed = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    BarrierWatch watch;
    LastTouches word;
    std::vector<Access> all;
    std::vector<std::uint32_t> barrier_of{0};  // by interval: which began it
    bool race = false;
    const auto length = static_cast<std::uint32_t>(3 + random() % 12);
    for (std::uint32_t step = 0; step < length; ++step) {
      if (random() % 2 == 0) {
        const auto which = static_cast<std::uint32_t>(random() % kBarriers);
        watch.pass(100 - which, true);
        barrier_of.push_back(which);
        continue;
      }
      const auto interval = static_cast<std::uint32_t>(barrier_of.size() - 1);
      const Access access{interval, static_cast<std::uint16_t>(1 + random() % 3), random() % 2 == 0};
      for (const Access& before : all)
        race |= before.interval == interval && before.warp != access.warp && (before.write || access.write);
      watch.touch(word, access.write, false, access.warp, true);
      all.push_back(access);
    }
    const BarrierNeeds found = watch.finish();
    EXPECT_EQ(found.known, !race);
    if (race) continue;
    ++programs;
    std::vector<std::uint64_t> pairs;  // bits: which barrier
    for (std::size_t b = 0; b < all.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) {
        if (all[a].warp == all[b].warp || !(all[a].write || all[b].write)) continue;
        std::uint64_t set = 0;
        for (std::uint32_t i = all[a].interval + 1; i <= all[b].interval; ++i) set |= 1u << barrier_of[i];
        pairs.push_back(set);
      }
    std::vector<std::uint64_t> recorded;
    for (const std::uint64_t set : found.one_of) {
      std::uint64_t named = 0;
      for (std::size_t i = 0; i < found.barriers.size(); ++i)
        if ((set >> i & 1) != 0) named |= 1u << (100 - found.barriers[i].op);
      recorded.push_back(named);
    }
    for (std::uint64_t stay = 0; stay < (1u << kBarriers); ++stay) EXPECT_EQ(keeps(recorded, stay), keeps(pairs, stay));
    needed += !pairs.empty();
  }
  EXPECT_GT(programs, 300);
  EXPECT_GT(needed, 100);
}

TEST(BarrierWatch, NeighboursInASectorNeedWhatTheyMayNeed) {
  BarrierWatch watch;
  LastTouches sector;
  watch.touch(sector, true, false, 1, false);
  watch.touch(sector, true, false, 2, false);  // other bytes, perhaps
  watch.pass(5, true);
  watch.touch(sector, false, false, 2, false);  // what warp 1 wrote, perhaps
  const BarrierNeeds needs = watch.finish();
  ASSERT_TRUE(needs.known);
  EXPECT_EQ(needs.one_of, std::vector<std::uint64_t>{1});
}

// Atomics of several warps meet between two barriers: the first of them must not hide what came before from the others.
TEST(BarrierWatch, AtomicsDoNotHideTheAccessBefore) {
  for (const bool wrote : {true, false}) {
    BarrierWatch watch;
    LastTouches word;
    watch.touch(word, wrote, false, 1, true);
    watch.pass(5, true);
    watch.touch(word, true, true, 1, true);
    watch.touch(word, true, true, 2, true);
    const BarrierNeeds needs = watch.finish();
    EXPECT_TRUE(needs.known);
    EXPECT_EQ(needs.one_of, std::vector<std::uint64_t>{1}) << wrote;
  }
}

TEST(BarrierWatch, ManyBarriersAreNotFollowed) {
  BarrierWatch watch;
  for (std::uint32_t op = 0; op < kMostBarriers; ++op) watch.pass(op, true);
  EXPECT_TRUE(watch.finish().known);
  watch.pass(kMostBarriers, true);
  EXPECT_FALSE(watch.finish().known);
}

TEST(BarrierWatch, OtherBarriersAreNotFollowed) {
  BarrierWatch watch;
  watch.pass(1, false);
  EXPECT_FALSE(watch.finish().known);
}

}  // namespace
}  // namespace muscope::views
