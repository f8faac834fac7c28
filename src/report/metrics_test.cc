#include "report/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/diagnostic.h"
#include "report/test_records.h"

namespace muscope::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using trace::Kind;
using trace::Space;
using SiteOf = testing::SiteOf;

double value(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  if (found == metrics.end()) {
    ADD_FAILURE() << name << " is absent";
    return -1;
  }
  return found->second.as_double();
}

Metrics metrics_of(std::initializer_list<views::SiteCounts> sites) {
  Counts counts;
  for (const views::SiteCounts& site : sites) counts.add(site);
  return compute_metrics(counts, {});
}

TEST(Selection, VeryLongNamesAreRefusedAtOnce) {
  for (const char* begin : {"", "*"}) {
    try {
      select_metrics(begin + std::string(100'000, 'a'));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "D107");
      EXPECT_LT(std::string(error.what()).size(), 300u);
    }
  }
}

TEST(MetricTable, EveryRowIsDescribed) {
  std::set<std::string_view> names;
  for (const MetricRow& row : metric_rows()) {
    EXPECT_FALSE(row.description.empty()) << row.name;
    EXPECT_FALSE(row.formula.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    EXPECT_EQ(row.description.find('\n'), std::string_view::npos) << row.name;
    if (row.modelled()) {
      EXPECT_EQ(row.compute == nullptr, row.aggregation == Aggregation::kPerLaunch) << row.name;
    }
  }
  EXPECT_GT(names.size(), 150u);
}

// tests/golden/report/gh100_metrics.txt holds what NVIDIA's metric library lists.
TEST(MetricTable, NamesOfNsightComputeExist) {
  std::set<std::string> listed;
  std::ifstream in(std::string(MUSCOPE_SOURCE_DIR) + "/tests/golden/report/gh100_metrics.txt");
  for (std::string line; std::getline(in, line);) listed.insert(line);
  ASSERT_GT(listed.size(), 100u);
  for (const MetricRow& row : metric_rows()) {
    const std::string base(row.name.substr(0, row.name.find('.')));
    // Names that ncu derives by itself are not in the library.
    const auto own = [&](std::string_view prefix) { return base.starts_with(prefix); };
    if (base.ends_with('*') || own("muscope__") || own("memory_") || own("derived__") || own("launch__") ||
        own("sass__") || own("sm__maximum_warps_"))
      continue;
    EXPECT_TRUE(listed.contains(base)) << row.name;
  }
}

TEST(MetricTable, AliasesLeadToOneRow) {
  std::set<std::string> aliases;
  for (const MetricRow& row : metric_rows()) {
    std::string_view rest = row.nvprof;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string alias(rest.substr(0, comma));
      EXPECT_TRUE(aliases.insert(alias).second) << alias;
      EXPECT_EQ(find_metric(alias), &row) << alias;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  // The table of old names that people know by heart.
  EXPECT_EQ(find_metric("gld_efficiency")->name, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct");
  EXPECT_EQ(find_metric("gst_transactions")->name, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
  EXPECT_EQ(find_metric("gld_transactions_per_request")->name,
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio");
  EXPECT_EQ(find_metric("shared_load_transactions")->name, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
  EXPECT_EQ(find_metric("shared_efficiency")->name, "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct");
  EXPECT_EQ(find_metric("shared_st_bank_conflict")->name, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum");
  EXPECT_EQ(find_metric("achieved_occupancy")->name, "sm__warps_active.avg.pct_of_peak_sustained_active");
}

TEST(MetricTable, NamesWithoutSuffixAndFamilies) {
  EXPECT_EQ(find_metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld")->name,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
  EXPECT_EQ(find_metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_st")->unit, "%");
  const MetricRow* family = find_metric("lts__t_requests_srcunit_tex.sum");
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(family->name, "lts__*");
  EXPECT_FALSE(family->modelled());
  EXPECT_EQ(find_metric("no_such_metric"), nullptr);
}

// One warp stores a column: 32 lanes of 4 bytes in 32 sectors (a request), twice.
TEST(Metrics, GlobalStore) {
  const Metrics m = metrics_of({SiteOf(0, Space::kGlobal, Kind::kStore, 2).sectors(32, 4, 32)});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_global_st.sum"), 2);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 2);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 64);
  EXPECT_EQ(value(m, "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum"), 2048);
  EXPECT_EQ(value(m, "smsp__sass_data_bytes_mem_global_op_st.sum"), 256);
  EXPECT_DOUBLE_EQ(value(m, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"), 32);
  EXPECT_DOUBLE_EQ(value(m, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"), 12.5);
  EXPECT_DOUBLE_EQ(value(m, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"), 4);
  EXPECT_EQ(value(m, "memory_l2_theoretical_sectors_global"), 64);
  EXPECT_EQ(value(m, "memory_l2_theoretical_sectors_global_ideal"), 8);
  EXPECT_EQ(value(m, "derived__memory_l2_theoretical_sectors_global_excessive"), 56);
  EXPECT_EQ(value(m, "memory_l1_tag_requests_global"), 64);
  // What did not occur is absent.
  EXPECT_FALSE(m.contains("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
  EXPECT_FALSE(m.contains("smsp__inst_executed_op_generic_st.sum"));
}

// OLCF training, double transpose: 64-bit loads of 2 wavefronts and stores of 32; efficiency 4/34 = 11.76 %.
TEST(Metrics, SharedEfficiencyOfPublishedKernel) {
  const Metrics m = metrics_of({SiteOf(0, Space::kShared, Kind::kLoad, 524288, 8).wavefronts(2, 2),
                                SiteOf(1, Space::kShared, Kind::kStore, 524288, 8).wavefronts(32, 2)});
  EXPECT_NEAR(value(m, "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"), 100.0 * 4 / 34, 1e-9);
  EXPECT_EQ(value(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), 16777216);
  EXPECT_EQ(value(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"), 524288 * 30);
  EXPECT_DOUBLE_EQ(value(m, "derived__memory_l1_conflicts_shared_nway"), 17);
}

TEST(Metrics, GenericInstructionsCountWhereTheyWent) {
  views::SiteCounts generic = SiteOf(0, Space::kGlobal, Kind::kLoad, 3).sectors(4, 4);
  generic.generic = true;
  views::SiteCounts atomic = SiteOf(1, Space::kGlobal, Kind::kRed, 5).sectors(1, 1);
  atomic.generic = true;
  const Metrics m = metrics_of({generic, SiteOf(2, Space::kGlobal, Kind::kLoad, 2).sectors(4, 4), atomic,
                                SiteOf(3, Space::kGlobal, Kind::kAtom, 7).sectors(1, 1)});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_global_ld.sum"), 2);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_generic_ld.sum"), 3);
  EXPECT_EQ(value(m, "smsp__sass_inst_executed_op_global_ld.sum"), 5);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 20);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_generic_atom.sum"), 12);
  EXPECT_FALSE(m.contains("smsp__inst_executed_op_global_red.sum"));
}

// A kernel of 80 copies of 4 bytes by whole warps and no load had 80 requests of loads with 320 sectors on an H200.
TEST(Metrics, CopiesAreRequestsOfGlobalLoads) {
  const Metrics m = metrics_of({SiteOf(0, Space::kGlobal, Kind::kLoad, 3).sectors(4, 4),
                                SiteOf(1, Space::kGlobal, Kind::kCopy, 80).sectors(4, 4),
                                SiteOf(2, Space::kGlobal, Kind::kCopyAround, 2, 16).sectors(16, 16)});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_global_ld.sum"), 3);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 85);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 364);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_ldgsts.sum"), 82);
}

TEST(Metrics, CopiesOfZerosAloneAreRequestsToHardware) {
  views::SiteCounts reads = SiteOf(0, Space::kGlobal, Kind::kCopy, 10).sectors(4, 4).stages(1, 0);
  reads.requests = 7;  // of 8 with an active lane one reads nothing
  reads.sectors = reads.distinct_sectors = 28;
  reads.t_wavefronts = 9;  // one copy takes two passes
  views::SiteCounts writes = SiteOf(0, Space::kShared, Kind::kCopy, 10).wavefronts(3, 1);
  writes.requests = 8;
  writes.sass_wavefronts = 24, writes.sass_least_wavefronts = 8;
  const Metrics m = metrics_of({reads, writes});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_ldgsts.sum"), 10);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_ldgsts_pred_on_any.sum"), 8);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_ldgsts_pred_off_all.sum"), 2);
  EXPECT_EQ(value(m, "smsp__sass_inst_executed_op_ldgsts.sum"), 8);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum"), 8);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 7);
  EXPECT_EQ(value(m, "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum"), 7);
  EXPECT_EQ(value(m, "l1tex__t_set_conflicts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum"), 1);
  EXPECT_DOUBLE_EQ(value(m, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ldgsts_cache_access.ratio"),
                   3.5);
  EXPECT_EQ(value(m, "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"), 16);
}

/// Hardware: tests/counters/kernels/async_h200.csv, pipelineOfBlock: 8 generic stores and no STS.
TEST(Metrics, GenericAccessesOfSharedMemoryAreNoSharedInstructions) {
  views::SiteCounts generic = SiteOf(1, Space::kShared, Kind::kStore, 8).wavefronts(1, 1);
  generic.generic = true;
  const Metrics m = metrics_of({SiteOf(0, Space::kShared, Kind::kStore, 5).wavefronts(1, 1), generic});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_shared_st.sum"), 5);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_generic_st.sum"), 8);
  EXPECT_EQ(value(m, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), 13);
}

TEST(Metrics, ConstantReplaysAndTextureQuads) {
  views::SiteCounts texture = SiteOf(1, Space::kTexture, Kind::kLoad, 10);
  texture.requests = 80;
  const Metrics m = metrics_of({SiteOf(0, Space::kConst, Kind::kLoad, 10).words(32), texture});
  EXPECT_EQ(value(m, "muscope__constant_requests.sum"), 320);
  EXPECT_EQ(value(m, "muscope__constant_replays.sum"), 310);
  EXPECT_DOUBLE_EQ(value(m, "muscope__constant_requests_per_load.ratio"), 32);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_texture.sum"), 10);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_tex_mem_texture.sum"), 80);
}

TEST(Metrics, SurfacesByKind) {
  views::SiteCounts store = SiteOf(0, Space::kSurface, Kind::kStore, 10).sectors(8, 4);
  views::SiteCounts red = SiteOf(1, Space::kSurface, Kind::kRed, 5).sectors(32, 4);
  views::SiteCounts sample = SiteOf(2, Space::kTexture, Kind::kSample, 3);
  store.requests = 40, red.requests = 20, sample.requests = 24;
  const Metrics m = metrics_of({store, red, sample});
  EXPECT_EQ(value(m, "smsp__inst_executed_op_surface_st.sum"), 10);
  EXPECT_EQ(value(m, "smsp__inst_executed_op_surface_red.sum"), 5);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_tex_mem_surface.sum"), 60);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_tex.sum"), 84);
  EXPECT_EQ(value(m, "l1tex__t_requests_pipe_tex_mem_texture_op_tex.sum"), 24);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum"), 80);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum"), 160);
  EXPECT_EQ(value(m, "l1tex__t_bytes_pipe_tex_mem_surface.sum"), 7680);
}

// Metrics with an instruction's name go by the instruction; moves made of it are no operations.
TEST(Metrics, HalfPrecisionMovesAreNoOperations) {
  using K = views::InstructionKind;
  Counts counts;
  counts.add(testing::instructions(
      0, 10, {{K::kFp16Fma, 100}, {K::kFp16Add, 20}, {K::kFp16FmaMove, 7}, {K::kFp16AddMove, 5}}));
  const Metrics m = compute_metrics(counts, {});
  EXPECT_EQ(value(m, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"), 107);
  EXPECT_EQ(value(m, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"), 25);
  EXPECT_EQ(value(m, "muscope__thread_inst_executed_op_half_move.sum"), 12);
  EXPECT_EQ(value(m, "muscope__flops_fp16.sum"), 220);
}

TEST(Metrics, InstructionMix) {
  using K = views::InstructionKind;
  Counts counts;
  counts.add(testing::instructions(0, 10, {{K::kFp32Fma, 100}, {K::kFp32Add, 20}, {K::kMove, 3}, {K::kOther, 4}}));
  const Metrics m = compute_metrics(counts, {});
  EXPECT_EQ(value(m, "smsp__inst_executed.sum"), 10);
  EXPECT_EQ(value(m, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), 100);
  EXPECT_EQ(value(m, "muscope__flops_fp32.sum"), 220);
  EXPECT_EQ(value(m, "smsp__sass_thread_inst_executed_op_misc_pred_on.sum"), 7);
  EXPECT_DOUBLE_EQ(value(m, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"), 12.7);
}

TEST(Grades, CopiesPastL1AreLess) {
  const arch::GpuSpec gpu = testing::h200();
  const GradeContext context{Grade::kCounted, "", Grade::kCounted, "", &gpu, true};
  const auto grades = [&](Kind kind) {
    Counts counts;
    counts.add(SiteOf(0, Space::kGlobal, kind, 10).sectors(4, 4));
    counts.add(SiteOf(0, Space::kShared, kind, 10).wavefronts(1, 1));
    const Metrics m = compute_metrics(counts, context);
    std::vector<Grade> found;
    for (const char* name : {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
                             "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
                             "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "memory_l1_wavefronts_shared",
                             "memory_l2_theoretical_sectors_global"})
      found.push_back(m.at(name).grade);
    return found;
  };
  using enum Grade;
  EXPECT_EQ(grades(Kind::kCopy), (std::vector<Grade>{kCounted, kCounted, kCounted, kCounted, kCounted}));
  EXPECT_EQ(grades(Kind::kCopyAround), (std::vector<Grade>{kModelled, kCounted, kModelled, kModelled, kCounted}));
}

TEST(Grades, FollowTheLaunchAndTheGpu) {
  arch::GpuSpec gpu = testing::h200();
  GradeContext context{Grade::kModelled, "PTX stream", Grade::kEstimated, "liveness estimate", &gpu};
  EXPECT_EQ(grade_of(GradeRule::kGiven, context).grade, Grade::kCounted);
  EXPECT_EQ(grade_of(GradeRule::kGlobalRule, context).grade, Grade::kModelled);
  EXPECT_EQ(grade_of(GradeRule::kGlobalRule, context).reason, "PTX stream");
  EXPECT_EQ(grade_of(GradeRule::kRegisterCount, context).reason, "liveness estimate");
  // What an exact map of the machine code will make of it.
  context.stream = Grade::kCounted;
  context.stream_source = "sm_90 cubin";
  EXPECT_EQ(grade_of(GradeRule::kGlobalRule, context).grade, Grade::kCounted);
  EXPECT_EQ(grade_of(GradeRule::kBankRule, context).grade, Grade::kCounted);
  EXPECT_EQ(grade_of(GradeRule::kBankRuleRaw, context).grade, Grade::kModelled);
  EXPECT_EQ(grade_of(GradeRule::kGlobalAtomicRule, context).grade, Grade::kModelled);
  EXPECT_EQ(grade_of(GradeRule::kManagedRule, context).grade, Grade::kEstimated);
  EXPECT_EQ(grade_of(GradeRule::kCarveoutRule, context).reason, "liveness estimate");
  context.registers = Grade::kCounted;
  EXPECT_EQ(grade_of(GradeRule::kCarveoutRule, context).grade, Grade::kCounted);
  gpu.cc_major = 8;
  EXPECT_EQ(grade_of(GradeRule::kCarveoutRule, context).grade, Grade::kEstimated);
  gpu.shared_carveouts = {65536};  // nothing to choose
  EXPECT_EQ(grade_of(GradeRule::kCarveoutRule, context).grade, Grade::kCounted);
  gpu.global.confidence = arch::Confidence::kAssumed;
  EXPECT_EQ(grade_of(GradeRule::kGlobalRule, context).grade, Grade::kEstimated);
  gpu.shared.wide_rules_measured = false;
  EXPECT_EQ(grade_of(GradeRule::kBankRule, context).grade, Grade::kModelled);
}

TEST(Grades, AtomicsAreModelledButTheirDistinctSectorsAreNot) {
  const arch::GpuSpec gpu = testing::h200();
  const GradeContext context{Grade::kCounted, "cubin", Grade::kCounted, "", &gpu};
  Counts counts;
  counts.add(SiteOf(1, Space::kGlobal, Kind::kAtom, 1).sectors(32, 1).distinct(2).stages(32, 0));
  const Metrics m = compute_metrics(counts, context);
  EXPECT_EQ(value(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"), 32);
  EXPECT_EQ(m.find("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum")->second.grade, Grade::kModelled);
  EXPECT_EQ(value(m, "memory_l2_theoretical_sectors_global"), 2);
  EXPECT_EQ(value(m, "derived__memory_l2_theoretical_sectors_global_excessive"), 1);
  EXPECT_EQ(m.find("memory_l2_theoretical_sectors_global")->second.grade, Grade::kCounted);
  EXPECT_EQ(value(m, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum"), 32);
  EXPECT_EQ(m.find("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum")->second.grade, Grade::kModelled);
}

TEST(Grades, StagesOfL1) {
  arch::GpuSpec gpu = testing::h200();
  gpu.cc_major = 9;
  const GradeContext context{Grade::kCounted, "cubin", Grade::kCounted, "", &gpu};
  for (const GradeRule rule : {GradeRule::kTagStageRule, GradeRule::kTagStageAtomicRule, GradeRule::kDataStageRule}) {
    gpu.cc_minor = 0;
    EXPECT_EQ(grade_of(rule, context).grade, Grade::kModelled);
    gpu.cc_minor = 1;
    EXPECT_EQ(grade_of(rule, context).grade, Grade::kEstimated) << "another chip, another hash";
    EXPECT_THAT(grade_of(rule, context).reason, ::testing::HasSubstr("9.0"));
  }
}

// A load of 16 bytes whose lanes agree in pairs: the data stage serves two groups at once, ncu's count does not know.
TEST(Metrics, SoftwareCountOfSharedLoads) {
  const Metrics m = metrics_of({SiteOf(0, Space::kShared, Kind::kLoad, 10, 16).wavefronts(3, 2).software(5, 4)});
  EXPECT_EQ(value(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 30);
  EXPECT_EQ(value(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 10);
  EXPECT_EQ(value(m, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 50);
  EXPECT_EQ(value(m, "memory_l1_wavefronts_shared"), 50);
  EXPECT_EQ(value(m, "memory_l1_wavefronts_shared_ideal"), 40);
  EXPECT_EQ(value(m, "derived__memory_l1_wavefronts_shared_excessive"), 10);
  EXPECT_EQ(value(m, "derived__memory_l1_conflicts_shared_nway"), 5);
  EXPECT_DOUBLE_EQ(value(m, "smsp__sass_average_data_bytes_per_wavefront_mem_shared_op_ld.pct"), 100.0 * 512 / 640);
}

TEST(Metrics, StagesOfL1) {
  const Metrics m = metrics_of({SiteOf(0, Space::kGlobal, Kind::kLoad, 2).sectors(32, 4, 32).stages(8, 32),
                                SiteOf(1, Space::kGlobal, Kind::kStore, 3).sectors(16, 4, 16).stages(5, 0)});
  EXPECT_EQ(value(m, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum"), 16);
  EXPECT_EQ(value(m, "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum"), 15);
  EXPECT_EQ(value(m, "muscope__global_data_wavefronts_op_ld.sum"), 64);
}

TEST(SelectMetrics, NamesAliasesGlobs) {
  const MetricSelection one = select_metrics("gld_efficiency, launch__grid_size,gld_efficiency");
  ASSERT_THAT(one.rows, SizeIs(2));
  EXPECT_EQ(one.rows[0]->name, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct");
  EXPECT_EQ(one.rows[1]->name, "launch__grid_size");
  EXPECT_THAT(one.diagnostics, SizeIs(0));

  const MetricSelection all = select_metrics("l1tex__t_sectors_pipe_lsu_mem_global_op_*");
  EXPECT_THAT(all.rows, SizeIs(5));

  const MetricSelection none = select_metrics("dram__bytes_read.sum,achieved_occupancy,dram__*");
  EXPECT_THAT(none.rows, SizeIs(0));
  ASSERT_THAT(none.diagnostics, SizeIs(3));
  EXPECT_EQ(none.diagnostics[0].code, "D710");
  EXPECT_THAT(none.diagnostics[0].text, HasSubstr("dram__bytes_read.sum"));
}

TEST(SelectMetrics, UnknownNamesTheNearest) {
  try {
    select_metrics("gld_eficiency");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "D107");
    EXPECT_THAT(error.what(), HasSubstr("gld_efficiency"));
  }
  EXPECT_THROW(select_metrics("zzz*"), Error);
}

TEST(Globs, Match) {
  EXPECT_TRUE(glob_matches("a*c?e", "abbbcde"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a**b", "ab"));
  EXPECT_FALSE(glob_matches("a*c", "ab"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_TRUE(glob_matches("*_ld.sum", "x_ld_ld.sum"));
}

TEST(NearestNames, ByDistanceThenByPart) {
  constexpr std::string_view kKnown[] = {"bank-conflict", "bank", "sector", "shared-memory"};
  EXPECT_THAT(nearest_names("bnak", kKnown, 3), SizeIs(0));
  EXPECT_THAT(nearest_names("secter", kKnown, 3), ElementsAre("sector"));
  EXPECT_THAT(nearest_names("conflict", kKnown, 3), ElementsAre("bank-conflict"));
}

}  // namespace
}  // namespace muscope::report
