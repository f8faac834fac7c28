// Kernels and lines of two reports: which belongs to which, and what moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diff/compare.h"
#include "diff/diff_output.h"
#include "diff/verdict.h"
#include "report/test_records.h"

namespace muscope::diff {
namespace {

using report::testing::SiteOf;
using ::testing::HasSubstr;
using trace::Kind;
using trace::Space;

std::vector<KernelGroup> groups(const std::vector<std::string>& names) {
  std::vector<KernelGroup> out;
  for (const std::string& name : names) out.push_back({name, {}});
  return out;
}

std::vector<std::string> paired(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto a = groups(before), b = groups(after);
  std::vector<std::string> out;
  for (const KernelPair& pair : match_kernels(a, b))
    out.push_back((pair.before != nullptr ? pair.before->kernel : "-") + " = " +
                  (pair.after != nullptr ? pair.after->kernel : "-"));
  return out;
}

TEST(MatchKernels, ByNameThenWithoutParametersThenWithoutTemplateArguments) {
  EXPECT_THAT(paired({"a(int)", "b(int)"}, {"b(int)", "a(int)"}),
              ::testing::ElementsAre("b(int) = b(int)", "a(int) = a(int)"));
  EXPECT_THAT(paired({"a(int)"}, {"a(long, int)"}), ::testing::ElementsAre("a(int) = a(long, int)"));
  EXPECT_THAT(
      paired({"void t<16>(float*)", "void t<32>(float*)"}, {"void t<64>(float*)", "void t<32>(float*)"}),
      ::testing::ElementsAre("void t<16>(float*) = void t<64>(float*)", "void t<32>(float*) = void t<32>(float*)"));
}

TEST(MatchKernels, RenamedOnesBySimilarityOthersNot) {
  EXPECT_THAT(paired({"transposeTiled(float*)", "reduce(int*)"}, {"transposeTiledPadded(float*)", "histogram(int*)"}),
              ::testing::ElementsAre("transposeTiled(float*) = transposeTiledPadded(float*)", "- = histogram(int*)",
                                     "reduce(int*) = -"));
}

TEST(MatchKernels, EachOnce) {
  EXPECT_THAT(paired({"f<1>()", "f<2>()"}, {"f<3>()"}), ::testing::SizeIs(2));
  EXPECT_DOUBLE_EQ(similarity("abcd", "abcd"), 1);
  EXPECT_DOUBLE_EQ(similarity("ab", "cd"), 0);
  // ab bc cd and bc cd de: two of three pairs in common.
  EXPECT_DOUBLE_EQ(similarity("abcd", "bcde"), 2.0 / 3);
}

LineSums line(int number, std::string accesses, std::optional<std::string> text = {}) {
  LineSums sums;
  sums.file = "a.cu";
  sums.line = number;
  sums.accesses = std::move(accesses);
  sums.text = std::move(text);
  return sums;
}

std::vector<std::pair<int, int>> numbers(const std::vector<LineSums>& before, const std::vector<LineSums>& after) {
  std::vector<std::pair<int, int>> out;
  for (const LinePair& pair : match_lines(before, after))
    out.emplace_back(pair.before != nullptr ? pair.before->line : 0, pair.after != nullptr ? pair.after->line : 0);
  return out;
}

TEST(MatchLines, ByTextWhereItIsKnown) {
  const std::vector<LineSums> before = {line(10, "load global", "x = a[i];"), line(11, "store global", "b[i] = x;")};
  const std::vector<LineSums> after = {line(12, "load global", "y = c[i];"), line(20, "load global", "x = a[i];"),
                                       line(21, "store global", "b[i * n] = x;")};
  EXPECT_THAT(numbers(before, after),
              ::testing::UnorderedElementsAre(std::pair(10, 20), std::pair(11, 21), std::pair(0, 12)));
}

TEST(MatchLines, ByOrderAndAccessesWhereItIsNot) {
  const std::vector<LineSums> before = {line(10, "load global"), line(11, "store shared"), line(12, "load shared")};
  const std::vector<LineSums> after = {line(15, "load global"), line(16, "store shared"), line(18, "load shared")};
  EXPECT_THAT(numbers(before, after), ::testing::ElementsAre(std::pair(10, 15), std::pair(11, 16), std::pair(12, 18)));
}

TEST(MatchLines, FilesInOtherFoldersAndRenamedFiles) {
  std::vector<LineSums> before = {line(3, "load global")}, after = {line(3, "load global")};
  before[0].file = "/old/a.cu";
  after[0].file = "/new/a.cu";
  EXPECT_THAT(numbers(before, after), ::testing::ElementsAre(std::pair(3, 3)));
  after[0].file = "/new/b.cu";
  EXPECT_THAT(numbers(before, after), ::testing::ElementsAre(std::pair(3, 3)));
}

report::Report report_of(const views::ProcessRecord& process) {
  report::BuildOptions options;
  options.argv = process.argv;
  return report::build_report({process}, report::testing::h200(), options);
}

TEST(Compare, SaysWhatMovedOnWhichLine) {
  const report::Report before = report_of(report::testing::transpose());
  views::ProcessRecord process = report::testing::transpose();
  for (views::SiteCounts& site : process.launches[0].sites)
    if (site.kind == Kind::kStore) site.sectors /= 4, site.distinct_sectors /= 4;
  const report::Report after = report_of(process);
  const Difference difference = compare(before, after, {}, {});
  ASSERT_EQ(difference.kernels.size(), 2u);
  const KernelChange& naive = difference.kernels[0];
  EXPECT_THAT(naive.kernels.before->kernel, HasSubstr("naiveRow"));
  EXPECT_EQ(naive.traffic_before - naive.traffic_after, 524288u - 131072u);
  ASSERT_EQ(naive.lines.size(), 1u);
  ASSERT_EQ(naive.lines[0].accesses.size(), 1u);
  EXPECT_EQ(naive.lines[0].accesses[0].label, "global store");
  const Change& sectors = naive.lines[0].accesses[0].changes[1];
  EXPECT_EQ(std::get<std::uint64_t>(*sectors.before), 524288u);
  EXPECT_EQ(std::get<std::uint64_t>(*sectors.after), 131072u);
  EXPECT_EQ(sectors.direction, Direction::kBetter);
  EXPECT_EQ(moved_text(sectors), "-75.0 %");
  EXPECT_FALSE(difference.kernels[1].moved());
  ASSERT_EQ(naive.hardware.size(), 6u);
  EXPECT_EQ(naive.hardware[2].missing, "not modelled yet");
}

TEST(Compare, LaunchesAreSummed) {
  views::ProcessRecord twice = report::testing::transpose();
  twice.launches.push_back(twice.launches[0]);
  twice.launches.back().index = 2;
  const report::Report before = report_of(report::testing::transpose()), after = report_of(twice);
  const Difference difference = compare(before, after, {}, {});
  const KernelChange& naive = difference.kernels[0];
  EXPECT_EQ(naive.traffic_after, 2 * naive.traffic_before);
  EXPECT_THAT(naive.reasons, ::testing::Contains(HasSubstr("launched once, is now 2 times")));
}

/// A report with kernels of these names that did nothing.
report::Report named(const std::vector<std::string>& kernels) {
  report::Report report;
  for (const std::string& kernel : kernels) {
    report.launches.emplace_back();
    report.launches.back().kernel = kernel;
    report.launches.back().index = static_cast<std::uint32_t>(report.launches.size() - 1);
  }
  return report;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Text, UnrelatedProgramsAreSaidToBeSoInFewLines) {
  std::vector<std::string> one{"same(int)"}, other{"same(int)"};
  for (const char c : std::string("abcdefghijklm")) {
    one.push_back(std::string(3, c) + "1234(int)");
    other.push_back(std::string(3, static_cast<char>(c - 32)) + "9876(float)");
  }
  const report::Report before = named(one), after = named(other);
  const Difference difference = compare(before, after, {}, {});
  EXPECT_TRUE(is_unrelated(difference));
  const std::string text = to_text(difference, before, after, {});
  EXPECT_THAT(text, HasSubstr("1 kernel is in both reports, 13 only before, 13 only after"));
  EXPECT_THAT(text, HasSubstr("and 18 more kernels that one side alone has (--all shows them)"));
  EXPECT_LT(lines_of(text), 22u);
  EXPECT_LT(lines_of(to_markdown(difference, before, after, {})), 22u);
  DiffTextOptions all;
  all.all = true;
  EXPECT_GT(lines_of(to_text(difference, before, after, all)), 100u);
  // Two of three are in both: nothing is left out.
  const report::Report a = named({"x(int)", "y(int)"}), b = named({"x(int)", "y(int)", "entirely(float)"});
  EXPECT_FALSE(is_unrelated(compare(a, b, {}, {})));
}

/// A kernel of one launch that executes these instructions, on a line each.
report::Report of_sites(std::vector<views::SiteCounts> sites) {
  views::ProcessRecord process = report::testing::transpose();
  process.launches.resize(1);
  views::LaunchRecord& launch = process.launches[0];
  process.kernels[0].sites.assign(sites.size(), {"ld.x", 1, 0, 4});
  for (std::uint32_t i = 0; i < sites.size(); ++i) sites[i].site = i;
  launch.sites = std::move(sites);
  return report_of(process);
}

const Change& row_of(const KernelChange& kernel, const std::string& access, const std::string& row) {
  static const Change kNone;
  for (const AccessChange& a : kernel.accesses)
    for (const Change& c : a.changes)
      if (a.label == access && c.label == row) return c;
  ADD_FAILURE() << access << ' ' << row;
  return kNone;
}

// An array that spilled into local memory, moved to shared memory: 10,000 sectors less.
TEST(Verdict, TrafficThatGoesAwayIsBetterAndSharedMemoryThatComesIsNotWorse) {
  const report::Report local = of_sites({SiteOf(0, Space::kGlobal, Kind::kLoad, 500).sectors(4, 4),
                                         SiteOf(1, Space::kLocal, Kind::kLoad, 500).sectors(20, 4),
                                         SiteOf(2, Space::kConst, Kind::kLoad, 500).words(1)});
  const report::Report shared = of_sites({SiteOf(0, Space::kGlobal, Kind::kLoad, 500).sectors(4, 4),
                                          SiteOf(1, Space::kShared, Kind::kLoad, 50000).wavefronts(1, 1),
                                          SiteOf(2, Space::kConst, Kind::kLoad, 90000).words(1)});
  const Difference there = compare(local, shared, {}, {});
  EXPECT_EQ(verdict_text(there.kernels[0]), "better");
  EXPECT_EQ(row_of(there.kernels[0], "local load", "sectors").direction, Direction::kBetter);
  EXPECT_EQ(row_of(there.kernels[0], "shared load", "wavefronts").direction, Direction::kOther);
  EXPECT_EQ(row_of(there.kernels[0], "constant load", "requests").direction, Direction::kOther);
  const Difference back = compare(shared, local, {}, {});
  EXPECT_EQ(verdict_text(back.kernels[0]), "worse");
  EXPECT_EQ(row_of(back.kernels[0], "local load", "sectors").direction, Direction::kWorse);
  EXPECT_EQ(page_verdicts(there).at(0).text, "better");
  EXPECT_THAT(to_text(there, local, shared, {}), HasSubstr("-83.3 %  better\n"));
  EXPECT_THAT(to_markdown(there, local, shared, {}), HasSubstr("\n\nbetter\n\n"));
  EXPECT_THAT(to_json(there, local, shared, {}), HasSubstr("\"verdict\": \"better\""));
}

// Sectors saved: 500 * 28 = 14,000. Wavefronts of conflicts that came: 500 * 31 = 15,500, or 500 * 1.
TEST(Verdict, MixedNamesTheRowThatGotWorse) {
  const report::Report naive = of_sites({SiteOf(0, Space::kGlobal, Kind::kStore, 500).sectors(32, 4)});
  const auto tiled = [](std::uint64_t wavefronts) {
    return of_sites({SiteOf(0, Space::kGlobal, Kind::kStore, 500).sectors(4, 4),
                     SiteOf(1, Space::kShared, Kind::kLoad, 500).wavefronts(wavefronts, 1)});
  };
  const report::Report conflicts = tiled(32), padded = tiled(2);
  EXPECT_EQ(verdict_text(compare(naive, conflicts, {}, {}).kernels[0]), "mixed: shared load conflicts worse");
  EXPECT_EQ(verdict_text(compare(naive, padded, {}, {}).kernels[0]), "better");
  EXPECT_EQ(verdict_text(compare(padded, conflicts, {}, {}).kernels[0]), "worse");
  const report::Report replays = of_sites({SiteOf(0, Space::kConst, Kind::kLoad, 500).words(8)});
  const report::Report one_word = of_sites({SiteOf(0, Space::kConst, Kind::kLoad, 9000).words(1)});
  EXPECT_EQ(verdict_text(compare(replays, one_word, {}, {}).kernels[0]), "better");
}

TEST(Text, WhatHasNoValueIsSaidOnce) {
  const report::Report before = report_of(report::testing::transpose());
  DiffTextOptions all;
  all.all = true;
  const Difference difference = compare(before, before, {}, {});
  for (const std::string& text :
       {to_text(difference, before, before, all), to_markdown(difference, before, before, all)}) {
    const std::size_t first = text.find("not modelled yet: memory throughput, DRAM throughput, L1 hit rate");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("not modelled yet", first + 1), std::string::npos);
    EXPECT_EQ(text.find("not modelled yet"), first);
  }
}

TEST(Warnings, GpusAreNamedAsTheirMakersDo) {
  report::Report before, after;
  before.gpu.name = "h200", before.gpu.cc_major = 9, before.gpu.cc_minor = 0;
  after.gpu.name = "s4000", after.gpu.cc_major = 0, after.gpu.cc_minor = 22;
  EXPECT_THAT(compare(before, after, {}, {}).warnings,
              ::testing::ElementsAre("the GPUs differ: h200 (compute capability 9.0) before, s4000 (mp_22) after"));
}

TEST(Totals, CountsThatAreAbsentAreZeroAndQuotientsAreLeftOut) {
  report::Report report;
  report.launches.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) report.launches[i].kernel = "k", report.launches[i].index = i;
  const std::string count = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
  const std::string ratio = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct";
  report.launches[1].metrics[count].value = std::uint64_t{7};
  report.launches[2].metrics[count].value = std::uint64_t{5};
  report.launches[2].metrics[ratio].value = 40.0;
  const auto all = kernels_of(report);
  ASSERT_EQ(all.size(), 1u);
  const MetricTotals totals = totals_of(all[0], *report::find_metric(count));
  EXPECT_EQ(std::get<std::uint64_t>(totals.sum), 12u);
  EXPECT_EQ(std::get<std::uint64_t>(totals.least), 0u);
  EXPECT_EQ(std::get<std::uint64_t>(totals.median), 5u);
  EXPECT_EQ(std::get<std::uint64_t>(totals.most), 7u);
  EXPECT_EQ(totals.most_in->index, 1u);
  const MetricTotals quotients = totals_of(all[0], *report::find_metric(ratio));
  EXPECT_TRUE(quotients.known);
  EXPECT_EQ(quotients.least_in->index, 2u);
}

}  // namespace
}  // namespace muscope::diff
