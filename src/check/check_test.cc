// Budgets and baselines by themselves; tests/check has the whole command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "check/init.h"
#include "check/output.h"
#include "report/test_records.h"

namespace muscope::check {
namespace {

using ::testing::HasSubstr;

report::Report transposes() {
  const views::ProcessRecord process = report::testing::transpose();
  report::BuildOptions options;
  options.argv = process.argv;
  options.toolchain = "clang 19.1.7";
  return report::build_report({process}, report::testing::h200(), options);
}

Budgets budgets(const std::string& text) { return read_budgets(text, "muscope.toml"); }

CheckContext context_of(const report::Report& report, const Budgets& budgets, const CheckResult& result) {
  CheckContext context;
  context.report = &report;
  context.budgets = &budgets;
  context.result = &result;
  context.directory = context.root = "/src";
  return context;
}

TEST(Budgets, PlacesOfMistakes) {
  try {
    budgets("version = 1\n\n[[budget]]\nmetric = \"gst_efficiency\"\nmaximum = 3\n");
    FAIL();
  } catch (const Error& e) {
    const Diagnostic& d = e.diagnostics().front();
    EXPECT_EQ(d.code, "D762");
    EXPECT_EQ(d.where.line, 5);
    EXPECT_EQ(d.where.column, 1);
  }
}

TEST(Budgets, PatternsMatchWithAndWithoutParameters) {
  Budget budget;
  budget.kernels = {"naive*", "tile?"};
  EXPECT_TRUE(matches(budget, "naiveRow(float*)"));
  EXPECT_FALSE(matches(budget, "void tiled<32>(float*)"));
  EXPECT_TRUE(matches(budget, "tiled(float*, int)"));
  budget.kernels = {"tiled<32>(float*)"};
  EXPECT_FALSE(matches(budget, "tiled<16>(float*)"));
}

TEST(Baseline, ReadsWhatItWrote) {
  const Baseline baseline = baseline_of(transposes());
  const std::string text = to_json(baseline);
  EXPECT_EQ(to_json(read_baseline(text, "b.json")), text);
  ASSERT_EQ(baseline.kernels.size(), 2u);
  const BaselineKernel* naive = baseline.find("naiveRow(float*, const float*, int, int)");
  ASSERT_NE(naive, nullptr);
  EXPECT_EQ(naive->metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum").sum, 524288u);
  EXPECT_EQ(baseline.find("naive"), nullptr);
}

TEST(Baseline, SaysWhatKeepsItFromBeingCompared) {
  const Baseline now = baseline_of(transposes());
  EXPECT_THAT(incomparable(now, now), ::testing::IsEmpty());
  Baseline other = now;
  other.gpu = "a100";
  other.toolchain = "nvcc 13.0.88";
  other.kernels[0].counted_from = "sm_90 machine code (ptxas 13.0.88)";
  EXPECT_THAT(incomparable(other, now),
              ::testing::ElementsAre("the GPU was a100, is h200", "the toolchain was nvcc 13.0.88, is clang 19.1.7",
                                     HasSubstr("was sm_90 machine code (ptxas 13.0.88), is PTX stream")));
}

TEST(Hold, SlackOfWholeNumbersIsRoundedDown) {
  const report::Report report = transposes();
  Baseline baseline = baseline_of(report);
  const std::string store = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
  const auto verdict = [&](std::uint64_t before, const std::string& slack) {
    for (BaselineKernel& kernel : baseline.kernels)
      if (kernel.kernel.starts_with("naive")) kernel.metrics[store].sum = before;
    const Budgets b =
        budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"gst_transactions\"\nratchet = \"down\"\n" + slack);
    return hold(report, b, &baseline).judgements.at(0).verdict;
  };
  EXPECT_EQ(verdict(524288, ""), Verdict::kHeld);
  EXPECT_EQ(verdict(524287, ""), Verdict::kCrossed);
  EXPECT_EQ(verdict(524289, ""), Verdict::kImproved);
  EXPECT_EQ(verdict(524287, "slack = 1\n"), Verdict::kHeld);
  EXPECT_EQ(verdict(524287, "slack = 0.9\n"), Verdict::kCrossed);
  // 519,097 + 1 % = 524,287.97: one sector less than was counted.
  EXPECT_EQ(verdict(519097, "slack = \"1 %\"\n"), Verdict::kCrossed);
  EXPECT_EQ(verdict(519098, "slack = \"1 %\"\n"), Verdict::kHeld);
  EXPECT_EQ(verdict(~std::uint64_t{0}, "slack = \"50 %\"\n"), Verdict::kImproved);
}

TEST(Hold, AttributesAreHeldPerLaunchAndNamedByTheWorst) {
  report::Report report = transposes();
  report.launches.push_back(report.launches[0]);
  report.launches.back().index = 9;
  report.launches.back().metrics["launch__registers_per_thread"].value = std::uint64_t{40};
  const Budgets b = budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"launch__registers_per_thread\"\nmax = 39\n");
  const CheckResult result = hold(report, b, nullptr);
  ASSERT_EQ(result.judgements.size(), 1u);
  EXPECT_EQ(result.judgements[0].launch, 9u);
  EXPECT_THAT(result.judgements[0].text, HasSubstr("is 40 in launch 9, at most 39 is allowed"));
  EXPECT_EQ(result.errors, 1u);
}

// A change of the program may turn what was modelled into what is counted, or to nothing.
TEST(Hold, AGradeOfTheProgramsOwnIsNoOtherSetup) {
  report::Report report = transposes();
  Baseline baseline = baseline_of(report);
  const std::string store = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
  const Budgets b = budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"gst_transactions\"\nratchet = \"down\"\n");
  for (report::LaunchReport& launch : report.launches) launch.metrics[store].grade = report::Grade::kCounted;
  EXPECT_THAT(hold(report, b, &baseline).incomparable, ::testing::IsEmpty());
  EXPECT_EQ(hold(report, b, &baseline).judgements.at(0).verdict, Verdict::kHeld);
  report.launches[0].metrics[store].value = std::uint64_t{600000};
  const CheckResult worse = hold(report, b, &baseline);
  EXPECT_EQ(worse.errors, 1u);
  EXPECT_THAT(worse.judgements.at(0).text, HasSubstr("it was 524,288 in the baseline (modelled then, counted now)"));
  report.launches[0].metrics.erase(store);
  EXPECT_EQ(hold(report, b, &baseline).judgements.at(0).verdict, Verdict::kImproved);
  EXPECT_TRUE(hold(report, b, &baseline).good());
  Baseline counted = baseline;
  for (BaselineKernel& kernel : counted.kernels) kernel.grade = report::Grade::kCounted;
  EXPECT_THAT(incomparable(baseline, counted), ::testing::IsEmpty());
  EXPECT_THAT(incomparable(counted, baseline), ::testing::SizeIs(2));
}

// naiveRow loads (site 0) and stores (site 1) on one line; only the store wastes.
TEST(Locate, AdviceAndCauseAreAboutTheMetricsOwnAccesses) {
  report::Report report = transposes();
  const auto advice = [](const char* code, std::vector<std::uint32_t> sites, const char* unit) {
    report::AdviceReport a;
    a.code = code, a.change = "do so", a.unit = unit, a.sites = std::move(sites);
    a.at.file = "transpose.cu", a.at.line = 41;
    return a;
  };
  report.launches[0].advice = {advice("A101", {1}, "sectors"), advice("A108", {0}, "sectors"),
                               advice("A401", {}, "% occupancy")};
  const auto told = [&](const std::string& metric) {
    const Budgets b = budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"" + metric + "\"\nmax = 0\n");
    const Judgement j = hold(report, b, nullptr).judgements.at(0);
    return j.advice.substr(0, 6) + "|" + j.cause.substr(0, 6);
  };
  EXPECT_EQ(told("gst_transactions"), "[A101]|store:");
  EXPECT_EQ(told("gld_transactions"), "[A108]|");
  EXPECT_EQ(told("launch__registers_per_thread"), "[A401]|");
  EXPECT_EQ(told("smsp__inst_executed.sum"), "|");
}

// naiveRow as tiled is: its rows in whole sectors, through shared memory, with a register more.
TEST(Init, ATileOfSharedMemoryIsAllowed) {
  const report::Report naive = transposes();
  const Budgets b = budgets(initial_budgets(naive, {}, "b.json"));
  const Baseline baseline = baseline_of(naive);
  views::ProcessRecord process = report::testing::transpose();
  process.launches[0].sites = process.launches[1].sites;
  process.kernels[0].sites = process.kernels[1].sites;
  process.kernels[0].registers = 17;
  for (views::SiteCounts& site : process.launches[0].sites)
    if (site.space == trace::Space::kShared) site.wavefronts = site.sass_wavefronts = site.ideal_wavefronts;
  report::BuildOptions options;
  options.toolchain = "clang 19.1.7";
  const report::Report tiled = report::build_report({process}, report::testing::h200(), options);
  EXPECT_EQ(hold(tiled, b, &baseline).errors, 0u);
  // What has shared traffic is held.
  for (views::SiteCounts& site : process.launches[1].sites) site.wavefronts *= 2;
  const report::Report conflicts = report::build_report({process}, report::testing::h200(), options);
  EXPECT_GT(hold(conflicts, b, &baseline).errors, 0u);
  for (const Budget& budget : b.budgets)
    for (const report::MetricRow* metric : budget.metrics) EXPECT_NE(metric->name, "muscope__constant_requests.sum");
}

TEST(Init, TheRunHoldsWhatItWrote) {
  const report::Report report = transposes();
  const std::string text = initial_budgets(report, {"./a b", "x\"y"}, "b.json");
  const Budgets read = budgets(text);
  EXPECT_THAT(read.command, ::testing::ElementsAre("./a b", "x\"y"));
  EXPECT_EQ(read.baseline, "b.json");
  EXPECT_GT(read.budgets.size(), 3u);
  const Baseline baseline = baseline_of(report);
  const CheckResult result = hold(report, read, &baseline);
  EXPECT_EQ(result.errors + result.warnings + result.improved, 0u);
  EXPECT_GT(result.held, 10u);
}

// Counts are held by ratchets, so that no limit repeats them; kernels with equal limits share a budget.
TEST(Init, EachLimitIsWrittenOnce) {
  const report::Report report = transposes();
  const std::string text = initial_budgets(report, {}, "b.json");
  const Budgets read = budgets(text);
  std::set<std::pair<std::string, std::string>> seen;
  for (const Budget& budget : read.budgets) {
    EXPECT_NE(budget.ratchet != Ratchet::kNone, budget.min.has_value());
    EXPECT_FALSE(budget.max.has_value());
    for (const std::string& kernel : budget.kernels)
      for (const report::MetricRow* metric : budget.metrics)
        EXPECT_TRUE(seen.emplace(kernel, metric->name).second) << kernel << ' ' << metric->name;
  }
  // naiveRow loads whole sectors, as tiled loads and stores them; its stores use a quarter.
  EXPECT_THAT(text, HasSubstr("min = 25.0\n"));
  std::size_t wholes = 0;
  for (std::size_t at = text.find("min = 100.0"); at != std::string::npos; at = text.find("min = 100.0", at + 1))
    ++wholes;
  EXPECT_EQ(wholes, 2u);
}

TEST(Formats, MarkdownAndGithubCarryTheAdvice) {
  report::Report report = transposes();
  const Budgets b = budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"gst_efficiency\"\nmin = 80\n");
  report::AdviceReport advice;
  advice.code = "A104";
  advice.change = "go through a shared tile";
  advice.at.file = "transpose.cu";
  advice.at.line = 41;
  advice.sites = {1};
  report.launches[0].advice.push_back(advice);
  const CheckResult result = hold(report, b, nullptr);
  const CheckContext context = context_of(report, b, result);
  EXPECT_EQ(result.judgements.at(0).advice, "[A104] go through a shared tile");
  EXPECT_THAT(to_markdown(context), HasSubstr("Advice: \\[A104\\] go through a shared tile"));
  EXPECT_THAT(to_github(context), HasSubstr("%0Aadvice: [A104] go through a shared tile"));
  EXPECT_THAT(to_gitlab(context), HasSubstr("advice: [A104] go through a shared tile"));
}

TEST(Formats, FingerprintsStayWhileLinesMove) {
  report::Report report = transposes();
  const Budgets b = budgets("[[budget]]\nkernel = \"naive*\"\nmetric = \"gst_efficiency\"\nmin = 80\n");
  const CheckResult result = hold(report, b, nullptr);
  for (report::LaunchReport& launch : report.launches)
    for (report::LineReport& line : launch.lines.edit()) line.at.line += 100;
  const CheckResult moved = hold(report, b, nullptr);
  const CheckContext context = context_of(report, b, result);
  EXPECT_NE(result.judgements[0].at.line, moved.judgements[0].at.line);
  EXPECT_EQ(fingerprint(context, result.judgements[0], 0), fingerprint(context, moved.judgements[0], 0));
  EXPECT_NE(fingerprint(context, result.judgements[0], 0), fingerprint(context, result.judgements[0], 1));
}

TEST(Formats, PathsAreRelativeToTheRoot) {
  CheckContext context;
  context.directory = "/src/sub";
  context.root = "/src";
  EXPECT_EQ(path_text(context, "a.cu"), "sub/a.cu");
  EXPECT_EQ(path_text(context, "../b/./a.cu"), "b/a.cu");
  EXPECT_EQ(path_text(context, "/src/c.cu"), "c.cu");
  EXPECT_EQ(path_text(context, "/other/c.cu"), "/other/c.cu");
}

}  // namespace
}  // namespace muscope::check
