// Rules about global memory: each fires on a pattern made for it, with figures from arithmetic by hand, and stays
// silent on one next to it.
#include <gmock/gmock.h>

#include "advice/test_launch.h"

namespace muscope::advice::testing {
namespace {

using ::testing::HasSubstr;
using trace::Kind;
using trace::Space;

constexpr std::uint64_t kOther = kGlobalBase + (1 << 26);

TEST(Strided, FieldOfARecord) {
  // One 4-byte field of records of 16 bytes: 16 sectors a request, 4 when packed. 8 blocks of 4 warps.
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 16 * (bx * 128 + tx); });
  const auto report = t.report();
  const auto* advice = find(report, "A101");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 32 * 16);
  EXPECT_EQ(advice->after, 32 * 4);
  EXPECT_EQ(advice->unit, "sectors");
  EXPECT_EQ(advice->grade, report::Grade::kCounted);
  EXPECT_EQ(advice->at.line, 10);
  EXPECT_THAT(advice->bound, HasSubstr("25 %"));
  EXPECT_EQ(find(report, "A103"), nullptr);
  EXPECT_EQ(find(report, "A104"), nullptr);
}

// 64 floats for each thread, one after the other: all of the 256 B between lanes are used, by later steps.
TEST(Strided, ChunkOfEachThread) {
  TestLaunch t({8, 1, 1}, {256, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  for (unsigned k = 0; k < 64; ++k)
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * ((bx * 256 + tx) * 64 + k); });
  const auto report = t.report();
  const auto* advice = find(report, "A101");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->text, HasSubstr("256 B apart and take 256 B of it"));
  EXPECT_THAT(advice->change, HasSubstr("in[k * threads + t]"));
  EXPECT_THAT(advice->change, ::testing::Not(HasSubstr("structure of arrays")));
  EXPECT_EQ(advice->before, 64 * 64 * 32);
  EXPECT_EQ(advice->after, 64 * 64 * 4);
}

// The same by a loop that was unrolled whole: it cannot be told from the fields of a structure, so both are named.
TEST(Strided, UnrolledLoopOrFields) {
  TestLaunch t({8, 1, 1}, {256, 1, 1});
  for (unsigned k = 0; k < 8; ++k) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * ((bx * 256 + tx) * 9 + k); });
  }
  const auto report = t.report();
  const auto* advice = find(report, "A101");
  ASSERT_NE(advice, nullptr);
  EXPECT_THAT(advice->text, HasSubstr("36 B apart and take 32 B of it"));
  EXPECT_THAT(advice->change, HasSubstr("structure of arrays"));
  EXPECT_THAT(advice->change, HasSubstr("k * threads + t"));
}

// A loop over records steps over many of them: fields stay fields.
TEST(Strided, LoopOverRecords) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  for (unsigned k = 0; k < 4; ++k)
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 20 * (k * 1029 + bx * 128 + tx); });
  const auto report = t.report();
  ASSERT_NE(find(report, "A101"), nullptr);
  EXPECT_THAT(find(report, "A101")->change, HasSubstr("structure of arrays"));
}

TEST(Strided, AllFieldsAreWastedInL1Only) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  for (unsigned field = 0; field < 4; ++field) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
    t.run(load, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + 16 * (bx * 128 + tx) + 4 * field; });
  }
  const auto report = t.report();
  const auto* advice = find(report, "A101");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 4 * 32 * 16);
  EXPECT_EQ(advice->after, 4 * 32 * 4);
  EXPECT_THAT(advice->bound, HasSubstr("L1 look-ups only"));
  EXPECT_THAT(advice->change, HasSubstr("one access of 16 B"));
}

TEST(Strided, SilentWhereLanesAreSideBySide) {
  TestLaunch t({132, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx); });
  EXPECT_TRUE(t.report().launches[0].advice.empty());
}

TEST(Misaligned, OneElementToTheSide) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 7);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx + 1); });
  const auto report = t.report();
  const auto* advice = find(report, "A103");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->before, 32 * 5);
  EXPECT_EQ(advice->after, 32 * 4);
  EXPECT_THAT(advice->text, HasSubstr("4 B into a sector"));
  EXPECT_THAT(advice->bound, HasSubstr("20 %"));
}

TEST(Misaligned, SilentAtWholeSectors) {
  TestLaunch t({8, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 7);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 128 + tx + 8); });
  EXPECT_EQ(find(t.report(), "A103"), nullptr);
}

// C[x][y] = A[x][0] * B[0][y] with rows of 16 KiB, 32 x 32 threads: A 32, B 1, C 32 sectors a request; swapped 1, 4, 4.
TEST(Swapped, RowFromThreadX) {
  TestLaunch t({2, 2, 1}, {32, 32, 1});
  const auto a = t.site(Space::kGlobal, Kind::kLoad, 4, 3);
  const auto b = t.site(Space::kGlobal, Kind::kLoad, 4, 3);
  const auto c = t.site(Space::kGlobal, Kind::kStore, 4, 5);
  const auto row = [](auto tx, auto bx) { return (bx * 32 + tx) * 16384; };
  t.run(a, [&](auto tx, auto, auto bx, auto) { return kGlobalBase + row(tx, bx); });
  t.run(b, [&](auto, auto ty, auto, auto by) { return kOther + 4 * (by * 32 + ty); });
  t.run(c, [&](auto tx, auto ty, auto bx, auto by) {
    return 2 * kOther - kGlobalBase + row(tx, bx) + 4 * (by * 32 + ty);
  });
  const auto report = t.report();
  const auto* advice = find(report, "A102");
  ASSERT_NE(advice, nullptr);
  const double warps = 4 * 32;
  EXPECT_EQ(advice->before, warps * (32 + 1 + 32));
  EXPECT_EQ(advice->after, warps * (1 + 4 + 4));
  EXPECT_THAT(advice->text, HasSubstr("16,384 B in threadIdx.x"));
  ASSERT_TRUE(advice->picture);
  EXPECT_EQ(advice->picture->before[1] - advice->picture->before[0], 16384u);
  EXPECT_EQ(advice->picture->after[31], advice->picture->after[0]) << "y runs fastest, and the load goes by x alone";
  EXPECT_EQ(find(report, "A101"), nullptr) << "one remedy is enough";
}

// A transpose gains nothing by swapping: its tile does.
TEST(SharedTile, Transpose) {
  TestLaunch t({2, 2, 1}, {32, 8, 1});
  const auto in = t.site(Space::kGlobal, Kind::kLoad, 4, 3);
  const auto out = t.site(Space::kGlobal, Kind::kStore, 4, 4);
  t.run(in, [](auto tx, auto ty, auto bx, auto by) { return kGlobalBase + 4 * ((by * 8 + ty) * 4096 + bx * 32 + tx); });
  t.run(out, [](auto tx, auto ty, auto bx, auto by) { return kOther + 4 * ((bx * 32 + tx) * 4096 + by * 8 + ty); });
  const auto report = t.report();
  EXPECT_EQ(find(report, "A102"), nullptr);
  const auto* advice = find(report, "A104");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->at.line, 4);
  EXPECT_EQ(advice->before, 32 * 32);
  EXPECT_EQ(advice->after, 32 * 4);
  ASSERT_TRUE(advice->picture);
  EXPECT_EQ(advice->picture->before[1], kOther + 4 * 4096);
  EXPECT_EQ(advice->picture->after[7], kOther + 4 * 7) << "eight rows of the block, then the next column";
  EXPECT_EQ(advice->picture->after[8], kOther + 4 * 4096);
}

TEST(SharedTile, SilentWhereTheBlockIsNotDense) {
  TestLaunch t({2, 1, 1}, {128, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 3);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 256 * (bx * 128 + tx); });
  EXPECT_EQ(find(t.report(), "A104"), nullptr);
}

}  // namespace
}  // namespace muscope::advice::testing
