// build_report(): lines and launches, faults, damaged records; totals against random records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "report/json.h"
#include "report/lines.h"
#include "report/metrics.h"
#include "report/report.h"
#include "report/test_records_more.h"

namespace muscope::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::uint64_t count(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : std::get<std::uint64_t>(found->second.value);
}

Report report_of(const views::ProcessRecord& process) {
  return build_report({process}, testing::h200(), testing::options_of(process));
}

TEST(BuildReport, LinesOfATranspose) {
  const Report report = report_of(testing::transpose());
  ASSERT_THAT(report.launches, SizeIs(2));
  const LaunchReport& naive = report.launches[0];
  EXPECT_EQ(naive.kernel, "naiveRow(float*, const float*, int, int)");
  ASSERT_THAT(naive.lines, SizeIs(2));
  EXPECT_EQ(naive.lines[1].at.line, 41);
  EXPECT_EQ(count(naive.lines[1].metrics, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 524288u);
  EXPECT_EQ(count(naive.metrics, "launch__thread_count"), 1048576u);
  EXPECT_EQ(count(naive.metrics, "smsp__warps_launched.sum"), 32768u);
  // What ncu printed on an H200 for 16x16 blocks with 32 or fewer registers.
  EXPECT_EQ(count(naive.metrics, "launch__occupancy_limit_warps"), 8u);
  EXPECT_EQ(count(naive.metrics, "launch__occupancy_limit_blocks"), 32u);
  EXPECT_EQ(naive.occupancy_limit, "");
  EXPECT_NEAR(naive.metrics.at("launch__waves_per_multiprocessor").as_double(), 4096.0 / (132 * 8), 1e-9);
  EXPECT_EQ(naive.metrics.at("launch__grid_size").grade, Grade::kCounted);
  EXPECT_EQ(naive.metrics.at("memory_l2_theoretical_sectors_global").grade, Grade::kModelled);
  EXPECT_EQ(naive.registers.grade, Grade::kCounted);
}

TEST(BuildReport, GradesFollowWhatWasExecuted) {
  const std::string sectors = "memory_l2_theoretical_sectors_global";
  const Report report = report_of(testing::machine_code());
  ASSERT_THAT(report.launches, SizeIs(3));
  const LaunchReport& cubin = report.launches[0];
  EXPECT_EQ(cubin.stream_source, "sm_90 machine code (cubin sm_90 in the program)");
  EXPECT_EQ(cubin.stream_grade, Grade::kCounted);
  EXPECT_EQ(cubin.metrics.at(sectors).grade, Grade::kCounted);
  EXPECT_EQ(cubin.registers.grade, Grade::kCounted);
  ASSERT_THAT(cubin.lines[1].sites, SizeIs(3));
  EXPECT_EQ(cubin.lines[1].sites[0].pc, 0x90u);
  EXPECT_EQ(cubin.lines[1].sites[2].local_use, views::LocalUse::kSpill);
  // What ptxas made of it, by line; only the spill store was executed.
  EXPECT_TRUE(cubin.code.known);
  EXPECT_EQ(cubin.code.spill_load_bytes.as_double(), 12);
  EXPECT_EQ(cubin.code.spill_load_bytes.grade, Grade::kCounted);
  ASSERT_THAT(cubin.code.changes, SizeIs(4));
  EXPECT_EQ(cubin.code.changes[0].at.line, 84);
  EXPECT_EQ(cubin.code.changes[0].inlined_at[0].line, 39);
  EXPECT_EQ(cubin.code.changes[1].at.line, 41);
  EXPECT_EQ(cubin.code.changes[1].executed, 32768u);
  EXPECT_EQ(cubin.code.changes[2].executed, 0u);

  const LaunchReport& other_release = report.launches[1];
  EXPECT_EQ(other_release.stream_source, "sm_90 machine code (ptxas 13.0.88)");
  EXPECT_EQ(other_release.stream_grade, Grade::kModelled);
  EXPECT_EQ(other_release.code.spill_store_bytes.grade, Grade::kEstimated);
  EXPECT_EQ(other_release.metrics.at(sectors).grade, Grade::kModelled);
  EXPECT_EQ(other_release.registers.grade, Grade::kModelled);

  const LaunchReport& from_ptx = report.launches[2];
  EXPECT_EQ(from_ptx.stream_source, "PTX stream");
  EXPECT_EQ(from_ptx.stream_problem, "an instruction that is not known at 0x40");
  EXPECT_EQ(from_ptx.metrics.at(sectors).reason, "PTX stream");
  EXPECT_EQ(from_ptx.lines[1].sites[0].pc, views::kNoPc);
}

// Code that ptxas made of PTX without source lines: spills have no position, what executes them has lines of PTX.
TEST(BuildReport, SpillsWithoutPositionAreCountedTogether) {
  views::ProcessRecord process = testing::machine_code();
  for (views::KernelInfo& kernel : process.kernels) {
    for (views::Frame& frame : kernel.frames) frame.file.clear(), frame.line = 0, frame.inlined_at = views::kNoFrame;
    for (views::CodeChange& change : kernel.compiled.changes) change.frame = views::kNoFrame;
  }
  const Report report = report_of(process);
  std::uint64_t executed = 0;
  for (const CodeChangeReport& change : report.launches[0].code.changes) executed += change.executed;
  EXPECT_EQ(executed, 32768u);
}

TEST(BuildReport, NotesSayWhatWasExecutedAndWhyNotMore) {
  views::ProcessRecord process = testing::transpose();
  const auto notes = [&] { return report_of(process).notes; };
  EXPECT_THAT(notes(), SizeIs(1)) << "PTX, and nothing else was to be expected";
  for (views::KernelInfo& kernel : process.kernels) kernel.machine_problem = views::kNoPtxas;
  ASSERT_THAT(notes(), SizeIs(2));
  EXPECT_THAT(notes()[1], HasSubstr("With ptxas"));
  for (views::KernelInfo& kernel : process.kernels) {
    kernel.machine_problem = "";
    kernel.machine_source = "ptxas 13.0.88";
  }
  EXPECT_THAT(notes(),
              ::testing::ElementsAre("Counts follow the sm_90 machine code (ptxas 13.0.88) that was executed."));

  // One kernel for each of six reasons: not all are listed.
  process = testing::transpose();
  const views::KernelInfo kernel = process.kernels[0];
  const views::LaunchRecord launch = process.launches[0];
  process.kernels.clear();
  process.launches.clear();
  for (std::uint32_t i = 0; i < 12; ++i) {
    process.kernels.push_back(kernel);
    process.kernels.back().id = i;
    process.kernels.back().name = "k" + std::to_string(i);
    process.kernels.back().machine_problem = "reason " + std::to_string(i < 7 ? 0 : i - 6);
    process.launches.push_back(launch);
    process.launches.back().kernel = i;
  }
  ASSERT_THAT(notes(), SizeIs(6));
  EXPECT_EQ(notes()[1], "Counted from PTX, not from machine code: k0, k1, k2 and 4 more (reason 0).");
  EXPECT_EQ(notes()[2], "Counted from PTX, not from machine code: k7 (reason 1).");
  EXPECT_EQ(notes()[5], "So are 2 more kernels, for other reasons (see the JSON report).");
}

// As Nsight Compute printed them on an H200: strided (8 registers by ptxas, 256 threads) has 16 and a limit of 16
// blocks, constLookup-like kernels with 20 keep 20 and are limited to 10.
TEST(BuildReport, TheDriverGivesSixteenRegistersAtLeast) {
  views::ProcessRecord process = testing::transpose();
  process.kernels[0].registers = 8;
  process.kernels[1].registers = 20;
  process.launches[0].block = process.launches[1].block = {256, 1, 1};
  const Report report = report_of(process);
  EXPECT_EQ(count(report.launches[0].metrics, "launch__registers_per_thread"), 16u);
  EXPECT_EQ(count(report.launches[0].metrics, "launch__occupancy_limit_registers"), 16u);
  EXPECT_EQ(std::get<std::uint64_t>(report.launches[0].registers.value), 8u);
  EXPECT_EQ(count(report.launches[1].metrics, "launch__registers_per_thread"), 20u);
  EXPECT_EQ(count(report.launches[1].metrics, "launch__occupancy_limit_registers"), 10u);
  // Measured on compute capability 9.0 alone: elsewhere what ptxas says stands.
  arch::GpuSpec other = testing::h200();
  other.cc_major = 8;
  const Report elsewhere = build_report({process}, other, testing::options_of(process));
  EXPECT_EQ(count(elsewhere.launches[0].metrics, "launch__registers_per_thread"), 8u);
}

// As an H200 chose for 1,024 dynamic bytes and 24 registers: 32 KiB of itself, 100 when 20 % are asked for, 228 when
// all.
TEST(BuildReport, TheCarveOutIsTheDriversOrTheOneAskedFor) {
  views::ProcessRecord process = testing::transpose();
  for (views::KernelInfo& kernel : process.kernels) kernel.static_shared = 0, kernel.registers = 24;
  process.launches.resize(1);
  process.launches[0].block = {256, 1, 1};
  process.launches[0].dynamic_shared = 1024;
  const auto limit = [&](int preference) {
    process.launches[0].carveout_preference = preference;
    return count(report_of(process).launches[0].metrics, "launch__occupancy_limit_shared_mem");
  };
  EXPECT_EQ(limit(-1), 16u);
  EXPECT_EQ(limit(20), 50u);
  EXPECT_EQ(limit(100), 114u);
}

TEST(BuildReport, LaunchesKeepTheProgramsNumbers) {
  views::ProcessRecord first = testing::transpose(), second = testing::transpose();
  first.launches.resize(2);
  first.launches[0].index = 5, first.launches[1].index = 6;  // --launches 5-6
  second.launches.resize(1);
  second.launches[0].index = 3;
  BuildOptions options = testing::options_of(first);
  options.launches_begun = {9, 4};
  const Report report = build_report({first, second}, testing::h200(), options);
  ASSERT_THAT(report.launches, SizeIs(3));
  EXPECT_EQ(report.launches[0].index, 5u);
  EXPECT_EQ(report.launches[1].index, 6u);
  EXPECT_EQ(report.launches[2].index, 9u + 3u);
}

TEST(BuildReport, LaunchesThatCountedTheSameShareTheirLines) {
  views::ProcessRecord process = testing::transpose();
  const views::LaunchRecord first = process.launches[0];
  for (std::uint32_t i = 0; i < 3; ++i) {
    process.launches.push_back(first);
    process.launches.back().index = 10 + i;
    process.launches.back().stream = i;
  }
  ++process.launches.back().sites.front().sectors;
  const Report report = report_of(process);
  ASSERT_THAT(report.launches, SizeIs(5));
  const LaunchReport &one = report.launches[0], &alike = report.launches[3], &other = report.launches[4];
  EXPECT_EQ(alike.index, 11u);
  EXPECT_EQ(alike.stream, 1u);
  EXPECT_EQ(alike.lines.identity(), one.lines.identity());
  EXPECT_TRUE(alike.metrics == one.metrics);
  EXPECT_NE(other.lines.identity(), one.lines.identity());
  EXPECT_NE(report.launches[1].lines.identity(), one.lines.identity());
  // Shared or not, each launch is written in full.
  views::ProcessRecord alone = process;
  alone.launches = {process.launches[3]};
  const std::string shared = to_json(report), single = to_json(report_of(alone));
  const std::size_t begin = single.find("\"lines\": ["), end = single.find("\"advice\"", begin);
  ASSERT_NE(end, std::string::npos);
  std::size_t times = 0;
  const std::string lines = single.substr(begin, end - begin);
  for (std::size_t at = shared.find(lines); at != std::string::npos; at = shared.find(lines, at + 1)) ++times;
  EXPECT_EQ(times, 3u);
  // A list that is changed is its own from then on.
  Report changed = report;
  changed.launches[0].lines.edit()[0].at.line = 1;
  EXPECT_NE(changed.launches[3].lines[0].at.line, 1);
  EXPECT_NE(report.launches[0].lines[0].at.line, 1);
}

TEST(BuildReport, InliningKeepsLinesApartAndStreamsAreNumbered) {
  const Report report = report_of(testing::everything());
  ASSERT_THAT(report.launches, SizeIs(22));
  const LaunchReport& launch = report.launches[2];
  EXPECT_EQ(launch.index, 2u);
  EXPECT_EQ(launch.stream, 1u);
  ASSERT_THAT(launch.lines, SizeIs(4));  // no position, PTX line 560, apply.cuh:210, view.h:33 inlined into it
  EXPECT_EQ(launch.lines[1].at.line, 560);
  EXPECT_EQ(launch.lines[1].at.file, "");
  EXPECT_EQ(launch.lines[3].at.file, "src/lab/view.h");
  ASSERT_THAT(launch.lines[3].inlined_at, SizeIs(1));
  EXPECT_EQ(launch.lines[3].inlined_at[0].line, 210);
  EXPECT_EQ(launch.registers.grade, Grade::kEstimated);
  EXPECT_EQ(launch.metrics.at("sm__maximum_warps_per_active_cycle_pct").grade, Grade::kEstimated);
  EXPECT_EQ(launch.occupancy_limit, "shared memory");
  EXPECT_EQ(count(launch.metrics, "muscope__managed_first_touch_pages.sum"), 12u);
  EXPECT_EQ(count(launch.metrics, "muscope__global_sectors_host_memory.sum"), 400u);
}

TEST(BuildReport, FaultsAndFindings) {
  const Report report = report_of(testing::faulty());
  const LaunchReport& launch = report.launches[0];
  ASSERT_TRUE(launch.fault);
  EXPECT_EQ(launch.fault->at.line, 41);
  EXPECT_EQ(launch.fault->thread[1], 15u);
  ASSERT_THAT(launch.diagnostics, SizeIs(2));
  EXPECT_EQ(launch.diagnostics[0].code, "D601");
  EXPECT_EQ(launch.diagnostics[0].where.line, 41);
  EXPECT_THAT(launch.diagnostics[1].text, HasSubstr("(2,048 times)"));
  // Without line information the place is in the PTX.
  ASSERT_THAT(report.launches[1].diagnostics, SizeIs(1));
  EXPECT_EQ(report.launches[1].diagnostics[0].where.file, "transpose.ptx");
  EXPECT_EQ(report.launches[1].diagnostics[0].where.line, 77);
  ASSERT_THAT(report.processes[0].diagnostics, SizeIs(3));
  EXPECT_EQ(report.processes[0].diagnostics[1].code, "D721");
  EXPECT_EQ(report.processes[0].diagnostics[2].code, "D720");
}

TEST(BuildReport, DamagedRecordsAreSaid) {
  views::ProcessRecord process = testing::transpose();
  process.launches[0].sites[0].site = 99;
  process.launches[0].frames[0].frame = 4000;
  process.launches[0].sites[1].space = static_cast<trace::Space>(77);
  process.launches[1].kernel = 12345;
  process.kernels[0].frames[0].inlined_at = 0;  // a cycle
  const Report report = report_of(process);
  ASSERT_THAT(report.launches, SizeIs(1));
  ASSERT_THAT(report.launches[0].diagnostics, SizeIs(1));
  EXPECT_EQ(report.launches[0].diagnostics[0].code, "D722");
  EXPECT_THAT(report.launches[0].diagnostics[0].text, HasSubstr("3 counts"));
  ASSERT_THAT(report.processes[0].diagnostics, SizeIs(1));
  EXPECT_EQ(report.processes[0].diagnostics[0].code, "D722");
}

TEST(BuildReport, AbsurdLaunchesDoNotOverflow) {
  views::ProcessRecord process = testing::transpose();
  process.launches[0].grid = {0xffffffffu, 0xffffffffu, 0xffffffffu};
  process.launches[0].block = {0xffffffffu, 2, 1};
  process.launches[1].block = {0, 0, 0};
  EXPECT_THAT(report_of(process).launches, SizeIs(2));
  EXPECT_THAT(build_report({}, testing::h200(), {}).launches, IsEmpty());
}

// "Totals always match": of any records, the lines of a launch sum to it in every additive metric.
TEST(BuildReport, LinesSumToTheLaunch) {
  std::mt19937_64 random(20240229);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 60; ++round) {
    views::ProcessRecord process;
    views::KernelInfo kernel;
    kernel.id = 7;
    kernel.name = "k()";
    const auto frames = static_cast<std::uint32_t>(1 + below(12));
    for (std::uint32_t i = 0; i < frames; ++i)
      kernel.frames.push_back(testing::frame(
          below(4) == 0 ? "" : std::string(1, static_cast<char>('a' + below(3))), static_cast<int>(below(6)),
          static_cast<int>(below(3)), i > 0 && below(2) == 0 ? static_cast<std::uint32_t>(below(i)) : views::kNoFrame));
    const auto sites = static_cast<std::uint32_t>(1 + below(20));
    for (std::uint32_t i = 0; i < sites; ++i)
      kernel.sites.push_back({"op", static_cast<int>(below(9)),
                              below(5) == 0 ? views::kNoFrame : static_cast<std::uint32_t>(below(frames)), 4});
    process.kernels = {kernel};
    views::LaunchRecord launch;
    launch.kernel = 7;
    for (std::uint32_t i = 0; i < sites; ++i) {
      if (below(4) == 0) continue;
      views::SiteCounts counts;
      counts.site = i;
      counts.space = static_cast<trace::Space>(below(5));
      counts.kind = static_cast<trace::Kind>(below(4));
      counts.generic = below(4) == 0;
      for (std::uint64_t* field :
           {&counts.executed, &counts.lanes, &counts.requests, &counts.sectors, &counts.ideal_sectors, &counts.lines,
            &counts.bytes, &counts.wavefronts, &counts.ideal_wavefronts, &counts.host_sectors})
        *field = below(1000);
      launch.sites.push_back(counts);
    }
    for (std::uint32_t i = 0; i < frames; ++i) {
      views::FrameCounts counts;
      counts.frame = below(8) == 0 ? views::kNoFrame : i;
      counts.warp_instructions = below(1000);
      counts.thread_instructions = below(1000);
      for (std::uint64_t& kind : counts.by_kind) kind = below(1000);
      launch.frames.push_back(counts);
    }
    process.launches = {launch};

    const Report report = report_of(process);
    const LaunchReport& result = report.launches.front();
    std::size_t compared = 0;
    for (const MetricRow& row : metric_rows()) {
      if (row.aggregation != Aggregation::kAdditive || row.compute == nullptr) continue;
      std::uint64_t sum = 0;
      for (const LineReport& line : result.lines) sum += count(line.metrics, row.name);
      EXPECT_EQ(sum, count(result.metrics, row.name)) << row.name;
      compared += sum > 0;
    }
    if (sites > 10) {
      EXPECT_GT(compared, 10u);
    }
    // Every site stands in exactly one line.
    std::size_t placed = 0;
    for (const LineReport& line : result.lines) placed += line.sites.size();
    EXPECT_EQ(placed, launch.sites.size());
  }
}

}  // namespace
}  // namespace muscope::report
