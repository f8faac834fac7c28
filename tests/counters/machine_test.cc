// The same against an H200, executing the machine code that the programs carry: what is executed is what the GPU issues.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "compare/counters.h"
#include "compare/instructions.h"
#include "compare/scratch_folder.h"
#include "toolchain/process.h"

namespace muscope::counters {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = MUSCOPE_SOURCE_DIR "/tests/counters";

/// `all_counted`: no launch has a reason to be graded lower.
void expect_as_listed(const GroupResult& result, bool all_counted = true) {
  EXPECT_THAT(result.problem, IsEmpty());
  EXPECT_THAT(deviations(KnownDifferences::read(kFolder), result.comparison), IsEmpty());
  for (const Reported& run : result.runs) {
    for (const auto& launch : run.report["launches"]) {
      const bool doubted = launch["counted_from"].contains("problem");
      EXPECT_EQ(launch["counted_from"]["grade"], doubted ? "modelled" : "counted") << launch["kernel"];
      EXPECT_FALSE(all_counted && doubted) << launch["kernel"];
      EXPECT_THAT(launch["counted_from"]["source"].get<std::string>(), HasSubstr("machine code"));
    }
  }
}

/// Launches in which the metric was used; all of them must be equal.
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

TEST(MachineCode, SuiteIsExactInAllThatAddressesAndCodeDecide) {
  const ScratchFolder work;
  const GroupResult result = run_suite(work.path(), Code::kMachine);
  EXPECT_THAT(result.runs.front().out, HasSubstr("63 launches, 0 wrong"));
  const Comparison& found = result.comparison;
  EXPECT_EQ(expect_exact(found, "smsp__inst_executed.sum", 63), 63);
  EXPECT_EQ(expect_exact(found, "idc__requests.sum", 63), 63);
  EXPECT_EQ(expect_exact(found, "smsp__inst_executed_op_ldc.sum", 63), 63);
  for (const char* part : {"requests", "sectors"}) {
    const std::string stage = std::string("l1tex__t_") + part + "_pipe_lsu_mem_";
    EXPECT_EQ(expect_exact(found, stage + "global_op_ld.sum", 63), 61);
    EXPECT_EQ(expect_exact(found, stage + "global_op_st.sum", 63), 60);
    EXPECT_EQ(expect_exact(found, stage + "local_op_ld.sum", 63), 1);
    EXPECT_EQ(expect_exact(found, stage + "local_op_st.sum", 63), 1);
  }
  const std::string wavefronts = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_";
  EXPECT_EQ(expect_exact(found, wavefronts + "ld.sum", 63), 12);
  EXPECT_EQ(expect_exact(found, wavefronts + "st.sum", 63), 12);
  EXPECT_EQ(expect_exact(found, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", 63), 1);
  EXPECT_EQ(expect_exact(found, "launch__registers_per_thread", 63), 63);
  EXPECT_EQ(found.differences().size(), 0u);
  expect_as_listed(result);

  // The same instruction by instruction, LDC and textures included.
  const GroupResult instructions = compare_instructions(result);
  EXPECT_THAT(instructions.problem, IsEmpty());
  EXPECT_EQ(expect_exact(instructions.comparison, "executed", 1117), 1108);
  EXPECT_EQ(expect_exact(instructions.comparison, "lanes_on", 1117), 1108);
  for (const char* column : {"tag_requests", "sectors", "ideal_sectors"})
    EXPECT_EQ(expect_exact(instructions.comparison, column, 332), 332) << column;
  expect_exact(instructions.comparison, "excessive_sectors", 332);
  EXPECT_EQ(expect_exact(instructions.comparison, "n_way", 198), 164);
  EXPECT_EQ(instructions.comparison.differences().size(), 0u);
}

TEST(MachineCode, ExamplesAreAsListed) {
  const ScratchFolder work;
  expect_as_listed(run_examples(work.path(), Code::kMachine));
}

TEST(MachineCode, KernelsOfOtherKindsAreAsListed) {
  const ScratchFolder work;
  const GroupResult result = run_kernels(work.path());
  for (const Reported& run : result.runs) EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  expect_as_listed(result, false);
}

/// The launches of a program of kernels/ against what an H200 counted (kernels/NAME_h200.csv): all equal in each metric.
void expect_as_captured(const std::string& program, std::span<const std::string_view> metrics) {
  const ScratchFolder work;
  const std::vector<Launch> hardware = read_csv(kFolder + "/kernels/" + program + "_h200.csv", "Program", "Kernel Name");
  const Reported run = run_program({"--count-from", "sass"}, kFolder + "/kernels/programs/" + program, {}, work.path());
  ASSERT_EQ(run.launches.size(), hardware.size()) << run.err;
  Comparison found(program);
  for (std::size_t i = 0; i < hardware.size(); ++i) found.compare(run.launches[i].values, hardware[i], metrics);
  for (const std::string_view metric : metrics)
    EXPECT_GT(expect_exact(found, std::string(metric), static_cast<int>(hardware.size())), 0) << metric;
}

/// Those that hold in every launch. Bytes written do not where Nsight Compute miscounts them (docs/accuracy.md).
TEST(MachineCode, AsynchronousCopiesAskForWhatAnH200Counted) {
  constexpr std::string_view kMetrics[] = {
      "smsp__inst_executed.sum",
      "idc__requests.sum",
      "launch__registers_per_thread",
      "launch__shared_mem_per_block_static",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "memory_l1_tag_requests_global",
      "memory_l2_theoretical_sectors_global",
      "memory_l2_theoretical_sectors_global_ideal",
      "memory_l1_wavefronts_shared",
      "memory_l1_wavefronts_shared_ideal",
      "smsp__inst_executed_op_shared_ld.sum",
      "smsp__inst_executed_op_shared_st.sum",
      "smsp__inst_executed_op_ldgsts.sum",
      "smsp__inst_executed_op_ldgsts_pred_on_any.sum",
      "smsp__inst_executed_op_ldgsts_pred_off_all.sum",
      "smsp__sass_inst_executed_op_ldgsts.sum",
      "smsp__sass_inst_executed_op_ldgsts_cache_access.sum",
      "smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum",
      "smsp__sass_data_bytes_mem_global_op_ldgsts.sum",
      "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
      "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum",
      "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
      "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum",
      "smsp__sass_l1tex_m_xbar2l1tex_read_sectors_mem_global_op_ldgsts_cache_bypass.sum",
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts_cache_access.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts_cache_bypass.sum",
      "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
      "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts_cache_access.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
  };
  expect_as_captured("async", kMetrics);
}

TEST(MachineCode, MatricesAreCountedAsOnAnH200) {
  constexpr std::string_view kMetrics[] = {
      "smsp__inst_executed.sum",
      "idc__requests.sum",
      "launch__registers_per_thread",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "smsp__inst_executed_op_ldsm.sum",
      "smsp__inst_executed_op_shared_stsm.sum",
      "smsp__inst_executed_op_shared_ld.sum",
      "smsp__inst_executed_op_shared_st.sum",
      "smsp__sass_data_bytes_mem_shared_op_ldsm.sum",
      "smsp__sass_data_bytes_mem_shared_op_stsm.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum",
      "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
      "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
  };
  expect_as_captured("matrix", kMetrics);
}

/// Shared memory of other blocks, cluster barriers, copies by tensor maps.
TEST(MachineCode, ClustersAreCountedAsOnAnH200) {
  constexpr std::string_view kMetrics[] = {
      "smsp__inst_executed.sum",
      "idc__requests.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
      "smsp__inst_executed_op_shared_ld.sum",
      "smsp__inst_executed_op_shared_st.sum",
      "memory_l1_wavefronts_shared",
      "memory_l1_wavefronts_shared_ideal",
      "memory_l2_theoretical_sectors_global",
  };
  expect_as_captured("clusters", kMetrics);
}

/// 262 launches of one fetch or access of a surface.
TEST(MachineCode, TexturesAndSurfacesAskForWhatAnH200Counted) {
  constexpr std::string_view kMetrics[] = {
      "smsp__inst_executed.sum",
      "smsp__inst_executed_op_texture.sum",
      "smsp__inst_executed_op_surface_ld.sum",
      "smsp__inst_executed_op_surface_st.sum",
      "smsp__inst_executed_op_surface_red.sum",
      "l1tex__t_requests_pipe_tex.sum",
      "l1tex__t_requests_pipe_tex_mem_texture.sum",
      "l1tex__t_requests_pipe_tex_mem_texture_op_ld.sum",
      "l1tex__t_requests_pipe_tex_mem_texture_op_tex.sum",
      "l1tex__t_requests_pipe_tex_mem_surface.sum",
      "l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum",
      "l1tex__t_requests_pipe_tex_mem_surface_op_st.sum",
      "l1tex__t_requests_pipe_tex_mem_surface_op_red.sum",
      "l1tex__t_sectors_pipe_tex_mem_surface.sum",
      "l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum",
      "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum",
      "l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum",
      "l1tex__t_bytes_pipe_tex_mem_surface.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "idc__requests.sum",
      "launch__registers_per_thread",
  };
  // The last ten, gradients on several levels, are not executed (D609): differences.tsv has a row for each.
  constexpr std::string_view kOfRefused[] = {"smsp__inst_executed_op_texture.sum"};
  constexpr std::size_t kExecuted = 252;
  const ScratchFolder work;
  std::vector<Launch> hardware = read_csv(kFolder + "/kernels/textures_h200.csv", "Program", "Kernel Name");
  ASSERT_EQ(hardware.size(), 262u);
  const Reported run = run_program({"--count-from", "sass"}, kFolder + "/kernels/programs/textures", {}, work.path());
  ASSERT_GE(run.launches.size(), kExecuted) << run.err;
  EXPECT_THAT(run.err, HasSubstr("D609"));
  Comparison found("textures (machine code)");
  for (std::size_t i = 0; i < hardware.size(); ++i) {
    hardware[i].label = std::to_string(i + 1) + " " + hardware[i].kernel;
    const bool reported = i < run.launches.size();
    found.compare(reported ? run.launches[i].values : Values{}, hardware[i],
                  i < kExecuted ? std::span<const std::string_view>(kMetrics) : kOfRefused);
  }
  EXPECT_THAT(deviations(KnownDifferences::read(kFolder), found), IsEmpty());
  EXPECT_EQ(found.differences().size(), hardware.size() - kExecuted);
  EXPECT_EQ(expect_exact(found, "l1tex__t_requests_pipe_tex_mem_texture.sum", kExecuted), 101);
  EXPECT_EQ(expect_exact(found, "l1tex__t_requests_pipe_tex_mem_surface.sum", kExecuted), 148);
  EXPECT_EQ(expect_exact(found, "l1tex__t_sectors_pipe_tex_mem_surface.sum", kExecuted), 148);
}

/// The program compares each result with the host's.
TEST(MachineCode, AsynchronousCopiesGiveWhatTheHostComputes) {
  const ScratchFolder work;
  for (const char* from : {"sass", "ptx"}) {
    const Reported run = run_program({"--count-from", from}, kFolder + "/kernels/programs/async", {}, work.path());
    EXPECT_EQ(run.exit_code, 0) << from << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("ok\n")) << from;
    ASSERT_EQ(run.launches.size(), 49u) << from;
    // copyThroughL1<int>: 8 blocks of 4 warps, 4 sectors and a wavefront for each warp.
    const Values& first = run.launches[0].values;
    EXPECT_EQ(value_of(first, "smsp__inst_executed_op_ldgsts.sum"), 32) << from;
    EXPECT_EQ(value_of(first, "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum"), 128) << from;
    EXPECT_EQ(value_of(first, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"), 32) << from;
  }
}

TEST(MachineCode, FewAccessesAreNotCounted) {
  const ScratchFolder work;
  GradeShares all;
  for (const GroupResult& group : {run_suite(work.path(), Code::kMachine), run_examples(work.path(), Code::kMachine),
                                   run_kernels(work.path())})
    all += grade_shares(group.runs);
  EXPECT_GT(all.counted, 29'000'000u);
  EXPECT_LE(all.inexact_percent(), 2);
  EXPECT_EQ(all.estimated, 0u);
  std::uint64_t explained = 0;
  for (const auto& [reason, executed] : all.reasons) explained += executed;
  EXPECT_EQ(explained, all.modelled) << "every one has a reason";
}

TEST(MachineCode, ViewListsInstructionsWithTheirCounts) {
  const ScratchFolder work;
  toolchain::ProcessOptions in_work;
  in_work.directory = work.path();
  const toolchain::ProcessResult run =
      toolchain::run_process({MUSCOPE_PROGRAM, "run", "--view", "sass", "--kernel", "csr_no_unroll", "--count-from",
                              "sass", kFolder + "/kernels/programs/sparse"},
                             in_work);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("instructions [counted]"));
  // As ncu's source page has the load of the matrix: executed, lanes, sectors.
  EXPECT_THAT(run.out + run.err, HasSubstr("LDG.E "));
}

TEST(MachineCode, SharedSwapLoopsTakeTheRoundsThatHardwareTakes) {
  const ScratchFolder work;
  const Reported run =
      run_program({"--count-from", "sass"}, kFolder + "/kernels/programs/shared_swap", {"manifest"}, work.path());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::ifstream in(kFolder + "/experiments/shared_swap.tsv");
  std::string line;
  std::getline(in, line);
  std::size_t launch = 0;
  int equal = 0;
  for (; std::getline(in, line); ++launch) {
    ASSERT_LT(launch, run.launches.size());
    std::stringstream cut(line);
    std::string cells[8];
    for (std::string& cell : cells) std::getline(cut, cell, '\t');
    const Values& ours = run.launches[launch].values;
    // Hardware sometimes meets a barrier (BSYNC) once or twice less (reasons.tsv, parted-order).
    const double more = value_of(ours, "smsp__inst_executed.sum") - std::stod(cells[3]);
    EXPECT_GE(more, 0) << launch;
    EXPECT_LE(more, 4) << launch;
    equal += more == 0;
    EXPECT_EQ(value_of(ours, "smsp__inst_executed_op_shared_ld.sum"), std::stod(cells[4])) << launch;
    EXPECT_EQ(value_of(ours, "smsp__inst_executed_op_shared_atom.sum"), std::stod(cells[5])) << launch;
    // Packed halves: one wavefront of an instruction that is none of ours (experiments/README.md).
    const double other = cells[0] == "f16x2" ? 1 : 0;
    EXPECT_EQ(value_of(ours, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum") + other, std::stod(cells[7]))
        << launch;
  }
  EXPECT_EQ(launch, 323u);
  EXPECT_EQ(equal, 285);
}

/// The program checks every product, tile and moved element itself.
TEST(MachineCode, MatricesFromMachineCodeAndFromPtx) {
  for (const char* from : {"sass", "ptx"}) {
    const ScratchFolder work;
    const Reported run = run_program({"--count-from", from}, kFolder + "/kernels/programs/matrix", {}, work.path());
    ASSERT_EQ(run.exit_code, 0) << from << run.err;
    EXPECT_EQ(run.out, "ok\n") << from;
    // ldmatrix with rows side by side, then eight in the same banks; stmatrix alike (the order of matrix.cu's main).
    const auto wavefronts = [&](std::size_t launch, const char* op) {
      const std::string name = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" + std::string(op) + ".sum";
      return value_of(run.launches.at(launch).values, name.c_str());
    };
    EXPECT_EQ(wavefronts(0, "ldsm"), 1) << from;
    EXPECT_EQ(wavefronts(2, "ldsm"), 4) << from;
    EXPECT_EQ(wavefronts(7, "ldsm"), 32) << from;
    EXPECT_EQ(wavefronts(12, "ldsm"), 4) << from;
    EXPECT_EQ(wavefronts(22, "stsm"), 4) << from;
    EXPECT_EQ(wavefronts(25, "stsm"), 32) << from;
  }
}

}  // namespace
}  // namespace muscope::counters
