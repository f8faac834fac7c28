#include "verify/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "report/metrics.h"
#include "verify/verify_text.h"

namespace muscope::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kStores = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr const char* kReds = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum";
constexpr const char* kShared = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr const char* kConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr const char* kRatio = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";

report::LaunchReport launch(std::uint32_t index, std::string kernel, std::map<std::string, double> metrics = {},
                            std::uint32_t process = 0, std::uint32_t blocks = 64) {
  report::LaunchReport l;
  l.index = index;
  l.kernel = std::move(kernel);
  l.process = process;
  l.grid = {blocks, 1, 1};
  l.block = {256, 1, 1};
  l.stream_grade = report::Grade::kCounted;
  l.stream_source = "sm_90 machine code";
  for (const auto& [name, value] : metrics) {
    report::Metric metric;
    if (value == std::floor(value))
      metric.value = static_cast<std::uint64_t>(value);
    else
      metric.value = value;
    l.metrics.emplace(name, metric);
  }
  return l;
}

report::Report report_of(std::vector<report::LaunchReport> launches) {
  report::Report report;
  report.gpu.full_name = "NVIDIA H200";
  report.gpu.cc_major = 9;
  report.launches = std::move(launches);
  return report;
}

/// Rows of "kernel|process|blocks|value,value"; the metrics of the columns first.
Capture capture_of(const std::vector<std::string>& metrics, const std::vector<std::string>& rows,
                   const std::string& cc = "9.0") {
  std::string text = R"("ID","Process ID","Kernel Name","Grid Size","Block Size","CC")";
  for (const std::string& metric : metrics) text += ",\"" + metric + '"';
  int id = 0;
  for (const std::string& row : rows) {
    const std::size_t a = row.find('|'), b = row.find('|', a + 1), c = row.find('|', b + 1);
    text += "\n\"" + std::to_string(id++) + "\",\"" + row.substr(a + 1, b - a - 1) + "\",\"" + row.substr(0, a) +
            "\",\"(" + row.substr(b + 1, c - b - 1) + ", 1, 1)\",\"(256, 1, 1)\",\"" + cc + '"';
    std::string values = row.substr(c + 1);
    for (std::size_t at; !values.empty(); values.erase(0, at == std::string::npos ? values.size() : at + 1)) {
      at = values.find(';');
      text += ",\"" + values.substr(0, at) + '"';
    }
  }
  return read_capture(text + "\n", "c.csv", comparable);
}

const MetricTally& tally(const Comparison& c, const std::string& metric) {
  for (const MetricTally& t : c.metrics)
    if (t.metric == metric) return t;
  throw std::runtime_error(metric + " was not compared");
}

// --- names

TEST(KernelKeys, SpellingsMeet) {
  EXPECT_EQ(keys_of("copy(float*, const float*, int)").full, keys_of("copy(float *, const float *, int)").full);
  EXPECT_EQ(keys_of("void tiled<float, 16>(int, const T1 *, T1 *)").templated,
            keys_of("void tiled<float, (int)16>(int, float const*, float*)").templated);
  EXPECT_EQ(keys_of("void cub::CUB_300001_SM_900::reduce::K<a::b<int, 16u>, true>(int*)").templated,
            keys_of("void reduce::K<b<int, 16>, 1>(T1 *)").templated);
  EXPECT_EQ(keys_of("(anonymous namespace)::scale(float*)").full, keys_of("<unnamed>::scale(float *)").full);
  EXPECT_EQ(keys_of("void ns::tiled<float, (int)16>(float*)").bare, "tiled");
  EXPECT_NE(keys_of("f(unsigned int)").full, keys_of("f(unsignedint)").full);
  EXPECT_EQ(keys_of("").bare, "");
}

// --- matching

TEST(Match, OneKernelInOrder) {
  const Matching m = match_launches(report_of({launch(0, "a(int*)"), launch(1, "b(int*)"), launch(2, "a(int*)")}),
                                    capture_of({kSectors}, {"b(int *)|1|64|1", "a(int *)|1|64|2", "a(int *)|1|64|3"}));
  EXPECT_THAT(m.pairs, ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, 2)));
}

TEST(Match, SkippedLaunchesAreFoundByTheirShape) {
  const auto report = report_of({launch(0, "a()", {}, 0, 8), launch(1, "a()", {}, 0, 16), launch(2, "a()", {}, 0, 32)});
  const Matching m = match_launches(report, capture_of({kSectors}, {"a()|1|16|1", "a()|1|32|1"}));
  EXPECT_THAT(m.pairs, ElementsAre(Pair(1, 0), Pair(2, 1)));
  EXPECT_THAT(m.report_only, ElementsAre(0));
  EXPECT_THAT(m.capture_only, IsEmpty());
}

TEST(Match, ProcessesInOrder) {
  const auto report = report_of({launch(0, "a()", {}, 0), launch(1, "a()", {}, 1), launch(2, "b()", {}, 1)});
  const Matching m = match_launches(report, capture_of({kSectors}, {"a()|77|64|1", "b()|99|64|1", "a()|99|64|1"}));
  EXPECT_THAT(m.pairs, ElementsAre(Pair(0, 0), Pair(1, 2), Pair(2, 1)));
}

TEST(Match, InstancesOfATemplateAreNotMixedUp) {
  const auto report = report_of({launch(0, "void f<float>(float*)"), launch(1, "void f<double>(double*)")});
  const Matching some = match_launches(report, capture_of({kSectors}, {"void f<double>(T1 *)|1|64|1"}));
  EXPECT_THAT(some.pairs, ElementsAre(Pair(1, 0)));
  const Matching plain = match_launches(report, capture_of({kSectors}, {"f|1|64|1", "f|1|64|1"}));
  EXPECT_THAT(plain.pairs, SizeIs(2)) << "ncu --print-kernel-base function";
  const Matching other = match_launches(report, capture_of({kSectors}, {"void f<int>(T1 *)|1|64|1"}));
  EXPECT_THAT(other.pairs, IsEmpty());
}

TEST(Match, Symbols) {
  auto report = report_of({launch(0, "copy(float*)"), launch(1, "copy(int*)")});
  report.launches[0].mangled = "_Z4copyPf";
  report.launches[1].mangled = "_Z4copyPi";
  EXPECT_THAT(match_launches(report, capture_of({kSectors}, {"_Z4copyPi|1|64|1"})).pairs, ElementsAre(Pair(1, 0)));
}

// --- rules

TEST(CounterRules, KindsOfCounters) {
  EXPECT_EQ(rule_of(kSectors).kind, CounterKind::kAddresses);
  EXPECT_EQ(rule_of("smsp__inst_executed.sum").kind, CounterKind::kAddresses);
  EXPECT_EQ(rule_of("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum").kind, CounterKind::kAddresses);
  EXPECT_EQ(rule_of("launch__occupancy_limit_registers").kind, CounterKind::kAddresses);
  EXPECT_EQ(rule_of("memory_l1_wavefronts_shared").kind, CounterKind::kAddresses);
  EXPECT_EQ(rule_of(kReds).kind, CounterKind::kNoisy);
  EXPECT_EQ(rule_of("l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum").kind, CounterKind::kNoisy);
  EXPECT_EQ(rule_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum").kind, CounterKind::kState);
  EXPECT_EQ(rule_of("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second").kind, CounterKind::kState);
  EXPECT_EQ(rule_of("gpu__time_duration.sum").kind, CounterKind::kState);
  EXPECT_EQ(share_metric(rule_of(kConflicts), kConflicts), kShared);
}

TEST(CounterRules, EveryToleranceHasASource) {
  for (const CounterRule& rule : counter_rules()) {
    EXPECT_EQ(rule.kind == CounterKind::kNoisy, rule.below > 0 || rule.above > 0) << rule.pattern;
    EXPECT_TRUE(rule.kind == CounterKind::kState || !rule.source.empty()) << rule.pattern;
    EXPECT_TRUE(rule.kind == CounterKind::kAddresses || !rule.why.empty()) << rule.pattern;
  }
}

// What the report computes is judged: no metric of the table falls through.
TEST(CounterRules, CoverTheMetricTable) {
  for (const report::MetricRow& row : report::metric_rows())
    EXPECT_TRUE(!comparable(row.name) || rule_of(row.name).pattern != "*") << row.name;
  EXPECT_FALSE(comparable("muscope__constant_loads.sum"));
  EXPECT_FALSE(comparable("dram__bytes_read.sum"));
  EXPECT_FALSE(comparable("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.avg"));
}

// --- comparing

TEST(Compare, Verdicts) {
  const auto report = report_of({launch(0, "k()", {{kSectors, 100}, {kReds, 1000}, {kShared, 1000}})});
  const Comparison c =
      compare(report, capture_of({kSectors, kReds, kShared, kConflicts, kRatio}, {"k()|1|64|100;1,002;1,013;11;4.00"}),
              "c.csv");
  EXPECT_EQ(tally(c, kSectors).exact, 1u);
  EXPECT_EQ(tally(c, kReds).within, 1u) << "0.2 % above";
  EXPECT_EQ(tally(c, kShared).within, 1u);
  EXPECT_EQ(tally(c, kConflicts).within, 1u) << "11 of 1000 wavefronts; absent here is 0";
  EXPECT_THAT(c.metrics, SizeIs(4)) << "a quotient without a value is not compared";
  EXPECT_TRUE(c.good());
  ASSERT_THAT(c.differences, SizeIs(3));
  EXPECT_EQ(c.differences[0].verdict, Verdict::kWithin);
}

TEST(Compare, WhatOnlyMachineCodeShows) {
  auto here = launch(0, "k()", {{kSectors, 1}});
  const Capture capture = capture_of({kSectors, "idc__requests.sum"}, {"k()|1|64|1;5"});
  EXPECT_EQ(tally(compare(report_of({here}), capture, "c.csv"), "idc__requests.sum").different, 1u);
  here.stream_grade = report::Grade::kModelled;
  EXPECT_THAT(compare(report_of({here}), capture, "c.csv").metrics, SizeIs(1)) << "PTX does not tell: no number";
}

TEST(Compare, TolerancesHaveADirection) {
  const auto report = report_of({launch(0, "k()", {{kReds, 1000}, {kShared, 1000}, {kConflicts, 0}})});
  const Comparison c = compare(report, capture_of({kReds, kShared, kConflicts}, {"k()|1|64|997;1,061;61"}), "c.csv");
  EXPECT_EQ(tally(c, kReds).different, 1u) << "0.3 % below";
  EXPECT_EQ(tally(c, kShared).different, 1u);
  EXPECT_EQ(tally(c, kConflicts).different, 1u);
  EXPECT_FALSE(c.good());
  EXPECT_THAT(c.differences[2].reason, HasSubstr("smsp__sass_"));
}

TEST(Compare, DigitsOfTheCaptureDecide) {
  const auto report = report_of({launch(0, "k()", {{kRatio, 4.734}}), launch(1, "k()", {{kRatio, 4.736}})});
  const Comparison c = compare(report, capture_of({kRatio}, {"k()|1|64|4.73", "k()|1|64|4.73"}), "c.csv");
  EXPECT_EQ(tally(c, kRatio).exact, 1u);
  EXPECT_EQ(tally(c, kRatio).different, 1u);
}

std::string reason(report::LaunchReport here, const std::string& row, const std::string& cc = "9.0") {
  const Comparison c = compare(report_of({std::move(here)}), capture_of({kSectors}, {row}, cc), "c.csv");
  return c.differences.size() == 1 ? c.differences[0].reason : "";
}

TEST(Compare, Reasons) {
  const auto here = [] { return launch(0, "k()", {{kSectors, 100}}); };
  EXPECT_THAT(reason(here(), "k()|1|128|200"), HasSubstr("grid 64x1x1 here, 128x1x1 there"));
  EXPECT_THAT(reason(here(), "k()|1|64|200", "8.6"), HasSubstr("another architecture"));
  EXPECT_THAT(reason(here(), "k()|1|64|200"), HasSubstr("no known reason"));
  auto ptx = here();
  ptx.stream_grade = report::Grade::kModelled;
  ptx.stream_source = "PTX stream";
  EXPECT_THAT(reason(ptx, "k()|1|64|200"), HasSubstr("the PTX was counted, not the machine code"));
  auto driver = here();
  driver.stream_grade = report::Grade::kModelled;
  driver.stream_problem = "they call printf";
  EXPECT_THAT(reason(driver, "k()|1|64|200"), testing::StrEq("counts of this kernel are modelled: they call printf"));
  auto other = here();
  other.stream_problem = "its PTX is of CUDA 12.4";
  EXPECT_THAT(reason(other, "k()|1|64|200"), HasSubstr("CUDA 12.4"));
  const auto with_site = [&](trace::Kind kind, const char* text) {
    auto launch = here();
    report::SiteReport site;
    site.kind = kind;
    site.text = text;
    launch.lines.edit().emplace_back().sites.push_back(site);
    return reason(launch, "k()|1|64|200");
  };
  EXPECT_THAT(with_site(trace::Kind::kAtom, "ATOMS.CAST.SPIN R0, [R2], R4, R5"), HasSubstr("more rounds"));
  EXPECT_THAT(with_site(trace::Kind::kLoad, "LDG.E.STRONG.GPU R0, [R2]"), HasSubstr("depends on timing"));
  EXPECT_THAT(with_site(trace::Kind::kAtom, "atom.global.add.u32"), HasSubstr("order of warps"));
  EXPECT_THAT(with_site(trace::Kind::kLoad, "LDG.E R0, [R2]"), HasSubstr("no known reason"));
  auto stopped = here();
  stopped.state = views::LaunchState::kFaulted;
  EXPECT_THAT(reason(stopped, "k()|1|64|200"), HasSubstr("did not finish"));
}

TEST(Compare, NothingInCommon) {
  const auto code = [](const report::Report& report, const Capture& capture) -> std::string {
    try {
      compare(report, capture, "c.csv");
    } catch (const Error& e) {
      return e.diagnostics().front().code;
    }
    return "";
  };
  const Capture capture = capture_of({kSectors}, {"k()|1|64|1"});
  EXPECT_EQ(code(report_of({launch(0, "other()")}), capture), "D743");
  EXPECT_EQ(code(report_of({}), capture), "D743");
  EXPECT_EQ(code(report_of({launch(0, "k()")}), capture_of({"dram__bytes_read.sum"}, {"k()|1|64|1"})), "D744");
}

TEST(Compare, RelativeDifference) {
  EXPECT_DOUBLE_EQ((Difference{0, 0, "m", 90, 100, Verdict::kDifferent, ""}.relative()), -0.1);
  EXPECT_TRUE(std::isinf(Difference{0, 0, "m", 90, 0, Verdict::kDifferent, ""}.relative()));
}

// --- printed

Comparison printed(const report::Report& report, const Capture& capture) { return compare(report, capture, "c.csv"); }

TEST(VerifyText, SaysWhatDiffersAndWhy) {
  const auto report = report_of({launch(0, "k()", {{kSectors, 100}, {kReds, 1000}}), launch(1, "gone()")});
  const Capture capture =
      capture_of({kSectors, kReds, "dram__bytes_read.sum"}, {"k()|1|128|200;1,002;5", "new()|1|64|1;1;1"});
  VerifyTextOptions options;
  options.report_name = "r.json";
  options.capture_name = "c.csv";
  const std::string text = to_text(printed(report, capture), report, capture, options);
  EXPECT_THAT(text, HasSubstr("r.json: NVIDIA H200, counted from sm_90 machine code"));
  EXPECT_THAT(text, HasSubstr("1 launch compared; the report has 2, the capture 2"));
  EXPECT_THAT(text, HasSubstr("1 launch only in the report:\n  launch 1 gone()"));
  EXPECT_THAT(text, HasSubstr("1 launch only in the capture:\n  ID 1 new()"));
  EXPECT_THAT(text, HasSubstr("-50.00 %"));
  EXPECT_THAT(text, HasSubstr("grid 64x1x1 here, 128x1x1 there"));
  EXPECT_THAT(text, HasSubstr("0 of 2 values exact, 1 within noise, 1 different"));
  EXPECT_THAT(text, HasSubstr("1 column of the capture left out"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(VerifyText, LongListsAreCutUnlessAllIsAsked) {
  std::vector<report::LaunchReport> launches;
  std::vector<std::string> rows;
  for (int i = 0; i < 30; ++i) {
    launches.push_back(launch(static_cast<std::uint32_t>(i), "k()", {{kStores, 5}}));
    rows.push_back("k()|1|64|6");
  }
  const auto report = report_of(std::move(launches));
  const Capture capture = capture_of({kStores}, rows);
  VerifyTextOptions options;
  const Comparison c = printed(report, capture);
  EXPECT_THAT(to_text(c, report, capture, options), HasSubstr("... and 22 differences of other launches (--all)"));
  options.all = true;
  const std::string all = to_text(c, report, capture, options);
  EXPECT_THAT(all, Not(HasSubstr("--all")));
  EXPECT_THAT(all, HasSubstr("launch 29 k()"));
}

TEST(VerifyJson, HoldsTheSame) {
  const auto report = report_of({launch(0, "k()", {{kSectors, 100}, {kReds, 1000}})});
  const Capture capture = capture_of({kSectors, kReds}, {"k()|1|64|200;1,002"});
  const auto json = nlohmann::json::parse(to_json(printed(report, capture), report, capture));
  EXPECT_EQ(json["schema"], "muscope.verify/1");
  EXPECT_EQ(json["good"], false);
  EXPECT_EQ(json["launches"]["compared"], 1);
  ASSERT_EQ(json["differences"].size(), 2u);
  EXPECT_EQ(json["differences"][0]["metric"], kSectors);
  EXPECT_EQ(json["differences"][0]["here"], 100);
  EXPECT_EQ(json["differences"][0]["there"], 200);
  EXPECT_EQ(json["differences"][0]["relative"], -0.5);
  EXPECT_EQ(json["differences"][1]["within"], true);
  EXPECT_EQ(json["metrics"][1]["tolerance"]["above"], 0.002);
}

}  // namespace
}  // namespace muscope::verify
