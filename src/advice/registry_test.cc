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

TEST(Rules, StandInTheOverview) {
  std::ifstream page(std::string(MUSCOPE_SOURCE_DIR) + "/docs/advice.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  std::size_t at = 0;
  for (const Rule& rule : rules()) {
    const std::string code(rule.code);
    const std::size_t found = text.find("| [" + code + "](explain/" + code + ".md): " + std::string(rule.title) + " |");
    ASSERT_NE(found, std::string::npos) << code;
    EXPECT_LT(at, found) << code;
    at = found;
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
  EXPECT_EQ(advice[0].code, "A402");  // 8 blocks for 132 SMs
  EXPECT_EQ(advice[1].code, "A201");
}

/// An access inside a function of a toolkit header, called at line 20 of the program.
std::uint32_t site_in_header(TestLaunch& t, Kind kind) {
  const std::uint32_t number = t.site(Space::kGlobal, kind, 4, 75);
  views::Frame call;
  call.file = "test.cu";
  call.line = 20;
  t.kernel.frames.push_back(call);
  views::Frame& frame = t.kernel.frames[t.kernel.sites[number].frame];
  frame.file = "/usr/local/cuda/include/sm_60_atomic_functions.hpp";
  frame.function = "atomicAdd(float*, float)";
  frame.inlined_at = static_cast<std::uint32_t>(t.kernel.frames.size() - 1);
  return number;
}

TEST(Advise, NamesTheCallersLineAndTheHeaderAsCallee) {
  TestLaunch t({8, 1, 1}, {256, 1, 1});
  t.run(site_in_header(t, Kind::kRed), [](auto, auto, auto, auto) { return kGlobalBase; });
  const auto report = t.report();
  const auto* advice = find(report, "A501");
  ASSERT_NE(advice, nullptr);
  EXPECT_EQ(advice->at.file, "test.cu");
  EXPECT_EQ(advice->at.line, 20);
  EXPECT_TRUE(advice->inlined_at.empty());
  EXPECT_THAT(advice->text, ::testing::HasSubstr("(within atomicAdd, sm_60_atomic_functions.hpp:75)"));
}

// Two loads that begin inside sectors want the same thing.
TEST(Advise, OneWordForOneCause) {
  TestLaunch t({8, 1, 1}, {256, 1, 1});
  for (const int line : {10, 10, 12}) {
    const auto load = t.site(Space::kGlobal, Kind::kLoad, 4, line);
    t.run(load, [&](auto tx, auto, auto bx, auto) {
      return kGlobalBase + (std::uint64_t{load} << 24) + 4 * (bx * 256 + tx + 1);
    });
  }
  const auto report = t.report();
  std::vector<const report::AdviceReport*> found;
  for (const report::AdviceReport& advice : report.launches[0].advice)
    if (advice.code == "A103") found.push_back(&advice);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->before, 3 * 64 * 5);
  EXPECT_EQ(found[0]->after, 3 * 64 * 4);
  EXPECT_EQ(found[0]->sites.size(), 3u);
  EXPECT_THAT(found[0]->text, ::testing::HasSubstr("; likewise 1 more access of this line, and line 12"));
}

// One warp in a million sectors: nobody needs to know.
TEST(Advise, NothingAboutNextToNothing) {
  TestLaunch t({256, 1, 1}, {256, 1, 1});
  const auto dense = t.site(Space::kGlobal, Kind::kLoad, 4, 10);
  const auto strided = t.site(Space::kGlobal, Kind::kStore, 4, 12);
  t.run(dense, [](auto tx, auto, auto bx, auto) { return kGlobalBase + 4 * (bx * 256 + tx); });
  WarpAddresses addresses;
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = kGlobalBase + (1 << 26) + 64 * lane;
  t.warp(strided, 0, 0, addresses);  // 32 sectors where 4 would do, of 8,224
  EXPECT_EQ(find(t.report(), "A101"), nullptr);
  for (std::uint32_t block = 1; block < 8; ++block) t.warp(strided, block, 0, addresses);  // 224 in vain: 2.7 %
  EXPECT_NE(find(t.report(), "A101"), nullptr);
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
  report.launches[0].samples = nullptr;
  advise(report);
  EXPECT_NE(find(report, "A402"), nullptr);
  EXPECT_EQ(find(report, "A101"), nullptr);
  EXPECT_EQ(find(report, "A201"), nullptr);
}

}  // namespace
}  // namespace muscope::advice::testing
