// The list of rules: pages, order, and advice that survives the JSON report.
#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "advice/test_launch.h"
#include "report/json.h"

namespace muscope::advice::testing {
namespace {

using trace::Kind;
using trace::Space;

TEST(Rules, EachHasItsPage) {
  std::string before;
  for (const Rule& rule : rules()) {
    EXPECT_LT(before, rule.code);
    before = rule.code;
    std::ifstream page(std::string(MUSCOPE_SOURCE_DIR) + "/docs/explain/" + std::string(rule.code) + ".md");
    std::string line;
    std::getline(page, line);
    EXPECT_EQ(line, "# " + std::string(rule.code) + ": " + std::string(rule.title));
    EXPECT_TRUE((rule.find == nullptr) != (rule.find_in_run == nullptr));
  }
}

TestLaunch many_faults() {
  TestLaunch t({8, 1, 1}, {1024, 1, 1});
  const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  const auto shared = t.site(Space::kShared, Kind::kLoad, 4, 11);
  t.run(load, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 64 * (bx * 1024 + tx); });
  t.run(shared, [](auto tx, auto, auto, auto) { return 128 * (tx % 32) + 4 * (tx / 32); });
  return t;
}

TEST(Advise, BestFirst) {
  TestLaunch t = many_faults();
  const auto report = t.report();
  const auto& advice = report.launches[0].advice;
  ASSERT_GE(advice.size(), 3u);
  for (std::size_t i = 1; i < advice.size(); ++i) EXPECT_GE(advice[i - 1].saves, advice[i].saves);
  EXPECT_EQ(advice[0].code, "A201");
}

TEST(Advise, NothingForLaunchesThatFailed) {
  TestLaunch t = many_faults();
  t.record.state = views::LaunchState::kFaulted;
  t.record.fault.code = "D601";
  EXPECT_TRUE(t.report().launches[0].advice.empty());
}

TEST(Advise, ComesBackFromJson) {
  TestLaunch t = many_faults();
  const std::string json = report::to_json(t.report());
  const report::Report back = report::from_json(json, "test");
  EXPECT_EQ(report::to_json(back), json);
  EXPECT_FALSE(back.launches[0].advice.empty());
}

// Without samples, rules that need none still speak, and the others are silent.
TEST(Advise, WithoutSamples) {
  TestLaunch t = many_faults();
  auto report = t.report();
  report.launches[0].samples = {};
  advise(report);
  EXPECT_NE(find(report, "A402"), nullptr);
  EXPECT_EQ(find(report, "A101"), nullptr);
  EXPECT_EQ(find(report, "A201"), nullptr);
}

}  // namespace
}  // namespace muscope::advice::testing
