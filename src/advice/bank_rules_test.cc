// A201: layouts found by search, against figures by hand and a search of a test's own.
#include <gmock/gmock.h>

#include "advice/bank_layout.h"
#include "advice/test_launch.h"

namespace muscope::advice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trace::Kind;
using trace::Space;

TEST(BankConflicts, TileOf32By32) {
  // Writer by rows (1 wavefront), reader by columns (32): a pitch of 33 makes both 1.
  TestLaunch t({4, 1, 1}, {32, 32, 1});
  const auto write = t.site(Space::kShared, Kind::kStore, 4, 5);
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 7);
  t.run(write, [](auto tx, auto ty, auto, auto) { return 4 * (ty * 32 + tx); });
  t.run(read, [](auto tx, auto ty, auto, auto) { return 4 * (tx * 32 + ty); });
  const auto report = t.report();
  const auto* advice = find(report, "A201");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->at.line, 7);
  EXPECT_EQ(advice->before, 128 * (1 + 32));
  EXPECT_EQ(advice->after, 128 * 2);
  EXPECT_EQ(advice->grade, report::Grade::kCounted);
  EXPECT_THAT(advice->change, HasSubstr("a pitch of 33 instead of 32 elements of 4 B"));
  EXPECT_THAT(advice->change, HasSubstr("c ^ (row % 32)"));
}

TEST(BankConflicts, OneMoreByHabitIsNotEnough) {
  // Tile 16 x 16, column read by 256 threads in a line: pitch 17 leaves 2 wavefronts, 18 one.
  TestLaunch t({4, 1, 1}, {256, 1, 1});
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 7);
  t.run(read, [](auto tx, auto, auto, auto) { return 4 * (16 * (tx % 16) + tx / 16); });
  const auto report = t.report();
  const auto* advice = find(report, "A201");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 32 * 8);
  EXPECT_EQ(advice->after, 32);
  EXPECT_THAT(advice->change, HasSubstr("a pitch of 18 instead of 16"));
  EXPECT_THAT(advice->change, HasSubstr("one element more in each row would still take 64"));
}

TEST(BankConflicts, VectorsStayAligned) {
  // 16-byte loads by columns of a tile with rows of 128 B.
  TestLaunch t({1, 1, 1}, {32, 1, 1});
  const auto read = t.site(Space::kShared, Kind::kLoad, 16, 7);
  t.run(read, [](auto tx, auto, auto, auto) { return 128 * tx; });
  const auto report = t.report();
  const auto* advice = find(report, "A201");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 32);
  EXPECT_EQ(advice->after, 4);
  EXPECT_THAT(advice->change, HasSubstr("elements of 16 B"));
}

// A reduction that steps by 2, 4, ... 128 over one array; its first step reads pairs by one access of 8 bytes.
TEST(BankConflicts, ReductionOverAPlainArray) {
  TestLaunch t({64, 1, 1}, {256, 1, 1});
  const auto pairs = t.site(Space::kShared, Kind::kLoad, 8, 7);
  t.run(pairs, [](auto tx, auto, auto, auto) { return tx < 128 ? 8 * tx : kInactive; });
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 8);
  for (std::uint64_t d = 2; d < 256; d *= 2)
    t.run(read, [&](auto tx, auto, auto, auto) { return 2 * d * tx < 256 ? 4 * 2 * d * tx : kInactive; });
  const auto report = t.report();
  const auto* advice = find(report, "A201");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, HasSubstr("put element i at i + "));
  EXPECT_THAT(advice->change, HasSubstr("elements of 4 B"));
  EXPECT_THAT(advice->change, Not(HasSubstr("tile[")));
  EXPECT_EQ(advice->grade, report::Grade::kModelled);
  EXPECT_THAT(advice->reason, HasSubstr("merged"));
}

TEST(BankConflicts, PaddingThatDoesNotFitIsNotProposed) {
  // 232,448 B is all that a block may have: only a swizzle is left.
  TestLaunch t({1, 1, 1}, {32, 32, 1});
  t.record.dynamic_shared = 232448;
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 7);
  t.run(read, [](auto tx, auto ty, auto, auto) { return 4 * (tx * 32 + ty); });
  const auto report = t.report();
  const auto* advice = find(report, "A201");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->change, HasSubstr("c ^ (row % 32)"));
  EXPECT_THAT(advice->change, Not(HasSubstr("pitch")));
  EXPECT_EQ(advice->after, 32);
}

// A layout that is searched on some of the data's addresses would fit these alone.
TEST(BankConflicts, SilentWhereAddressesFollowTheData) {
  TestLaunch t({16, 1, 1}, {256, 1, 1});
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 7);
  std::uint64_t state = 1;
  t.run(read, [&](auto, auto, auto, auto) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 4 * (state >> 54);
  });
  EXPECT_EQ(find(t.report(), "A201"), nullptr);
}

TEST(BankConflicts, SilentWithoutConflicts) {
  TestLaunch t({4, 1, 1}, {256, 1, 1});
  const auto read = t.site(Space::kShared, Kind::kLoad, 4, 7);
  t.run(read, [](auto tx, auto, auto, auto) { return 4 * tx; });
  EXPECT_EQ(find(t.report(), "A201"), nullptr);
}

TEST(BankLayout, PlacesAreDistinct) {
  for (const BankLayout& layout : {BankLayout{4, 132, 4, 0, 0}, BankLayout{4, 128, 0, 5, 0},
                                   BankLayout{16, 256, 0, 3, 1}, BankLayout{8, 64, 24, 0, 0}}) {
    std::vector<bool> taken(1 << 16);
    for (std::uint64_t offset = 0; offset < 8192; ++offset) {
      const std::uint64_t place = layout.place(offset);
      ASSERT_LT(place, 8192 + layout.extra(8192));
      ASSERT_FALSE(taken[place]) << layout.text() << ' ' << offset;
      taken[place] = true;
      EXPECT_EQ(place % layout.unit, offset % layout.unit) << "units stay whole";
    }
  }
}

}  // namespace
}  // namespace muscope::advice::testing
