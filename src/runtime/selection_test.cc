#include "runtime/selection.h"

#include <gtest/gtest.h>

#include <thread>

namespace muscope::runtime {
namespace {

TEST(Ranges, PushedOnesBelongToAThreadAndADomain) {
  Ranges ranges;
  const int domain = 0;
  ranges.name_domain(&domain, "solver");
  ranges.push(nullptr, "outer");
  ranges.push(nullptr, "inner");
  ranges.push(&domain, "step");
  EXPECT_EQ(ranges.depth(nullptr), 2);
  EXPECT_TRUE(ranges.inside({"outer"}));
  EXPECT_TRUE(ranges.inside({"other", "inner"}));
  EXPECT_TRUE(ranges.inside({"solver@step"}));
  EXPECT_FALSE(ranges.inside({"step"}));
  std::thread([&] { EXPECT_FALSE(ranges.inside({"outer", "inner", "solver@step"})); }).join();
  ranges.pop(nullptr);
  EXPECT_FALSE(ranges.inside({"inner"}));
  EXPECT_TRUE(ranges.inside({"outer"}));
  ranges.pop(nullptr);
  ranges.pop(nullptr);
  EXPECT_FALSE(ranges.inside({"outer"}));
  EXPECT_TRUE(ranges.inside({"solver@step"}));
  ranges.pop(&domain);
  EXPECT_FALSE(ranges.inside({"solver@step"}));
}

TEST(Ranges, StartedOnesBelongToTheProcess) {
  Ranges ranges;
  const auto first = ranges.start(nullptr, "phase"), second = ranges.start(nullptr, "phase");
  EXPECT_NE(first, second);
  std::thread([&] { EXPECT_TRUE(ranges.inside({"phase"})); }).join();
  ranges.end(first);
  EXPECT_TRUE(ranges.inside({"phase"}));
  ranges.end(second);
  ranges.end(second);
  EXPECT_FALSE(ranges.inside({"phase"}));
}

// What Nsight Compute counted of kernels a to e of such a program (profile-from-start on: a, c, e).
TEST(Selection, TheProfilersStateIsWhatWasSaidLast) {
  EXPECT_TRUE(selects_launch(0, "a"));
  profiler_stop();
  EXPECT_FALSE(selects_launch(1, "b"));
  profiler_start();
  EXPECT_TRUE(selects_launch(2, "c"));
  profiler_start(), profiler_stop();
  EXPECT_FALSE(selects_launch(3, "d"));
  profiler_stop(), profiler_start();
  EXPECT_TRUE(selects_launch(4, "e"));
}

}  // namespace
}  // namespace muscope::runtime
