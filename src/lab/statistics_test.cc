#include "lab/statistics.h"

#include <gmock/gmock.h>

#include <limits>

namespace muscope::lab {
namespace {

TEST(Summarise, OrderStatisticsOfThirtyOneSamples) {
  // 31 samples 1 ... 31 in another order. half = 0.98 * sqrt(31) = 5.456: the interval is samples number floor(10.04)
  // and ceil(20.96) from 0, that is 11 and 22.
  std::vector<double> samples;
  for (int i = 0; i < 31; ++i) samples.push_back(i * 7 % 31 + 1);
  const auto s = summarise(samples);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->count, 31u);
  EXPECT_EQ(s->median, 16);
  EXPECT_EQ(s->low, 11);
  EXPECT_EQ(s->high, 22);
  EXPECT_EQ(s->min, 1);
  EXPECT_EQ(s->p95, 30);       // ceil(29.45) - 1 = 29 from 0
  EXPECT_EQ(s->deviation, 8);  // distances 0, 1, 1, 2, 2, ..., 15, 15: the 16th is 8
}

TEST(Summarise, FewSamplesAndNone) {
  EXPECT_FALSE(summarise({}));
  EXPECT_FALSE(summarise({1, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(summarise({std::numeric_limits<double>::infinity()}));
  const auto one = summarise({5});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->median, 5);
  EXPECT_EQ(one->low, 5);
  EXPECT_EQ(one->high, 5);
  EXPECT_EQ(summarise({1, 2, 3, 100})->median, 2.5);
}

TEST(Fit, FindsTheLineThatMadeThePoints) {
  std::vector<Point> points;
  for (double bytes = 1024; bytes <= 1 << 28; bytes *= 4) points.push_back({bytes, 8 + bytes / 55e3});  // 55 GB/s
  const auto line = fit(points);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->overhead_us, 8, 1e-9);
  EXPECT_NEAR(line->gb_per_s, 55, 1e-9);
  EXPECT_LT(line->worst_error, 1e-9);
  points[3].us *= 1.2;
  EXPECT_NEAR(fit(points)->worst_error, 0.15, 0.05);
}

TEST(Fit, NeedsThreeSizesAndALineThatRises) {
  EXPECT_FALSE(fit({}));
  EXPECT_FALSE(fit({{1, 1}, {2, 2}, {2, 3}}));
  EXPECT_FALSE(fit({{1, 3}, {2, 2}, {3, 1}}));
  EXPECT_FALSE(fit({{1, 1}, {2, 0}, {3, 3}}));
  EXPECT_FALSE(fit({{1, 1}, {2, -1}, {3, 3}}));
}

}  // namespace
}  // namespace muscope::lab
