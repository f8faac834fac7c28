// muscope's counts against an NVIDIA H200's, launch by launch, end to end: the program is loaded, its kernels run, the
// report is read back. The rules alone are tested in src/model.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "compare/counters.h"
#include "compare/scratch_folder.h"
#include "toolchain/tools.h"

namespace muscope::counters {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = MUSCOPE_SOURCE_DIR "/tests/counters";

/// Equal in every launch, known differences or not. Returns in how many launches the metric was used.
int expect_exact(const Comparison& found, const std::string& metric, int launches) {
  const auto tally = found.tallies().find(metric);
  if (tally == found.tallies().end()) {
    ADD_FAILURE() << metric << " was not compared";
    return 0;
  }
  EXPECT_EQ(tally->second.compared, launches) << metric;
  EXPECT_EQ(tally->second.equal, tally->second.used) << metric;
  return tally->second.used;
}

void expect_as_listed(const GroupResult& result) {
  EXPECT_THAT(result.problem, IsEmpty());
  EXPECT_THAT(deviations(KnownDifferences::read(kFolder), result.comparison), IsEmpty());
}

/// ncu's launch__registers_per_thread follows from what ptxas gave the kernel: 16 at the least.
void expect_registers(const Reported& run) {
  const std::vector<Launch> hardware = read_csv(kFolder + "/suite/suite_h200.csv", "label", "kernel");
  const auto& launches = run.report["launches"];
  ASSERT_EQ(launches.size(), hardware.size());
  int below = 0;
  for (std::size_t i = 0; i < hardware.size(); ++i) {
    const auto& registers = launches[i]["registers"];
    EXPECT_EQ(registers["source"], "cubin sm_90 in the program");
    const double by_ptxas = registers["value"].get<double>();
    EXPECT_EQ(value_of(hardware[i].values, "launch__registers_per_thread"), std::max(16.0, by_ptxas));
    below += by_ptxas < 16;
  }
  EXPECT_EQ(below, 46);
}

TEST(Suite, EveryLaunchAsOnAnH200) {
  const ScratchFolder work;
  const GroupResult result = run_suite(work.path());
  const Reported& run = result.runs.front();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("63 launches, 0 wrong"));
  EXPECT_EQ(run.launches.size(), 63u);
  const Comparison& found = result.comparison;
  const std::string requests = "l1tex__t_requests_pipe_", sectors = "l1tex__t_sectors_pipe_";
  EXPECT_EQ(expect_exact(found, requests + "lsu_mem_global_op_ld.sum", 63), 61);
  EXPECT_EQ(expect_exact(found, requests + "lsu_mem_global_op_st.sum", 63), 60);
  EXPECT_EQ(expect_exact(found, requests + "lsu_mem_global_op_red.sum", 63), 3);
  EXPECT_EQ(expect_exact(found, sectors + "lsu_mem_global_op_ld.sum", 63), 61);
  EXPECT_EQ(expect_exact(found, sectors + "lsu_mem_global_op_st.sum", 63), 60);
  EXPECT_EQ(expect_exact(found, sectors + "lsu_mem_global_op_red.sum", 63), 3);
  EXPECT_EQ(expect_exact(found, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum", 63), 3);
  EXPECT_EQ(expect_exact(found, requests + "tex_mem_texture.sum", 63), 2);
  for (const std::string_view metric : launch_metrics()) {
    if (metric.starts_with("launch__")) {
      EXPECT_EQ(expect_exact(found, std::string(metric), 63), 63);
    }
  }
  expect_registers(run);
  expect_as_listed(result);
}

TEST(Patterns, EveryInstructionAsOnAnH200) {
  const ScratchFolder work;
  int rows = 0;
  const GroupResult result = run_patterns(work.path(), &rows);
  EXPECT_EQ(rows, 1998);
  const Comparison& found = result.comparison;
  const std::string wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1144), 523);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 1144), 345);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 1144), 138);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", 1144), 138);
  EXPECT_EQ(expect_exact(found, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum", 784), 98);
  EXPECT_EQ(expect_exact(found, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum", 784), 98);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", 6), 6);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 6), 6);
  EXPECT_EQ(expect_exact(found, "idc__requests.sum", 49), 49);
  EXPECT_EQ(expect_exact(found, wavefronts + "st.sum", 730), 345);
  EXPECT_EQ(expect_exact(found, wavefronts + "atom.sum", 799), 207);
  expect_as_listed(result);
}

TEST(Examples, EveryLaunchAsOnAnH200) {
  const ScratchFolder work;
  const GroupResult result = run_examples(work.path());
  EXPECT_EQ(result.runs.size(), 26u);
  int faulted = 0;
  for (const Reported& run : result.runs) {
    EXPECT_THAT(run.out, HasSubstr("PASS")) << run.out << run.err;
    for (const std::string& state : run.states) faulted += state == "faulted";
  }
  EXPECT_EQ(faulted, 1) << "the misaligned access that shared_alignment is about, and no other";
  const Comparison& found = result.comparison;
  EXPECT_EQ(expect_exact(found, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 112), 106);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 112), 106);
  EXPECT_EQ(expect_exact(found, "launch__registers_per_thread", 112), 112);
  EXPECT_EQ(expect_exact(found, "sm__maximum_warps_per_active_cycle_pct", 112), 112);
  expect_as_listed(result);
}

/// What conversions.cu printed on an H200 against what it prints here, line by line.
void expect_bits(const std::string& program, const std::vector<std::string>& options) {
  // min of a value with itself: ptxas removes the instruction, so that a not-a-number passes with its payload on
  // hardware. An executed min of two of them gives the canonical one.
  constexpr int kRemovedByPtxas = 24;
  const ScratchFolder work;
  const Reported run = run_program(options, program, {}, work.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::istringstream ours(run.out);
  std::ifstream hardware(kFolder + "/examples/conversions_h200.txt");
  int lines = 0;
  for (std::string measured, printed; std::getline(hardware, measured); ++lines) {
    std::getline(ours, printed);
    if (lines == kRemovedByPtxas) {
      EXPECT_EQ(measured, "24 00000000ffc12345");
      EXPECT_EQ(printed, "24 000000007fffffff");
    } else {
      EXPECT_EQ(printed, measured);
    }
  }
  EXPECT_EQ(lines, 42);
}

TEST(Conversions, BitsAsOnAnH200) { expect_bits(kFolder + "/examples/programs/conversions", {}); }

TEST(Conversions, BitsAsOnAnH200WithClang) {
  if (!toolchain::find_clang(toolchain::SearchPlaces::from_environment()))
    GTEST_SKIP() << "needs clang 19 or newer (apt-get install clang-19)";
  expect_bits(kFolder + "/examples/conversions.cu", {"--toolchain", "clang"});
}

}  // namespace
}  // namespace muscope::counters
