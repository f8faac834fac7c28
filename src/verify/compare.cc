#include "verify/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/diagnostic.h"
#include "report/names.h"

namespace muscope::verify {
namespace {

/// muscope's number; what is absent is zero when it is a count, and no number when it is a quotient, an attribute, or
/// known from machine code only.
std::optional<double> number_here(const report::LaunchReport& launch, const report::MetricRow* row) {
  if (row == nullptr) return {};
  if (const auto found = launch.metrics.find(row->name); found != launch.metrics.end())
    return found->second.as_double();
  if (row->aggregation != report::Aggregation::kAdditive) return {};
  const bool by_machine_code = row->grade == report::GradeRule::kMachineConstantRule;
  if (by_machine_code && launch.stream_grade != report::Grade::kCounted) return {};
  return 0;
}

Verdict judge(const report::LaunchReport& launch, const MetricTally& tally, double here, const CaptureValue& there) {
  const CounterRule& rule = *tally.rule;
  const double distance = std::abs(here - there.value);
  const double rounding = there.resolution * (1 + 1e-9) + std::abs(here) * 1e-12;
  if (distance <= rounding) return Verdict::kExact;
  if (rule.kind == CounterKind::kAddresses) return Verdict::kDifferent;
  double base = std::abs(here);
  if (!rule.share_of.empty())
    base = number_here(launch, report::find_metric(share_metric(rule, tally.metric))).value_or(base);
  const double share = base * (there.value < here ? rule.below : rule.above);
  const double allowed = there.value < here && rule.below == 0 ? 0 : std::max(share, rule.count);
  return distance <= allowed + rounding ? Verdict::kWithin : Verdict::kDifferent;
}

std::string extent_text(const std::array<std::uint32_t, 3>& e) { return fmt::format("{}x{}x{}", e[0], e[1], e[2]); }

std::string cc_of(const arch::GpuSpec& gpu) { return fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor); }

/// Why counts of this kernel may differ from run to run on one GPU; empty when its instructions do not show it.
std::string_view order_dependence(const report::LaunchReport& launch) {
  bool swaps = false, polls = false, results = false;
  for (const report::LineReport& line : launch.lines)
    for (const report::SiteReport& site : line.sites) {
      const bool atomic = site.kind == trace::Kind::kAtom || site.kind == trace::Kind::kRed;
      const auto has = [&](std::string_view part) { return site.text.find(part) != std::string::npos; };
      swaps |= atomic && (has("CAS") || has(".cas"));
      polls |=
          site.kind == trace::Kind::kLoad && (has(".STRONG") || has(".volatile") || has(".acquire") || has(".relaxed"));
      results |= site.kind == trace::Kind::kAtom;
    }
  if (swaps) return "loops of compare-and-swap take more rounds when other warps get in between";
  if (polls) return "the kernel reads memory that others change while it runs: how often it looks depends on timing";
  if (results) return "results of atomics depend on the order of warps, and addresses or branches may depend on them";
  return {};
}

class Reasons {
 public:
  Reasons(const report::Report& report, const Capture& capture) : report_(report), capture_(capture) {}

  std::string of(const Difference& d, const CounterRule& rule) const {
    const report::LaunchReport& here = report_.launches[d.report_launch];
    const CaptureLaunch& there = capture_.launches[d.capture_launch];
    if (d.verdict == Verdict::kWithin) return std::string(rule.why);
    if (there.grid && *there.grid != here.grid)
      return fmt::format(
          "another launch: grid {} here, {} there; another size of the problem, or one that the program "
          "takes from the GPU",
          extent_text(here.grid), extent_text(*there.grid));
    if (there.block && *there.block != here.block)
      return fmt::format("another launch: block {} here, {} there", extent_text(here.block), extent_text(*there.block));
    if (here.state != views::LaunchState::kFinished) return "the launch did not finish here";
    if (rule.kind == CounterKind::kState) return std::string(rule.why);
    if (!there.cc.empty() && there.cc != cc_of(report_.gpu))
      return fmt::format("another architecture: the report is for compute capability {}, the capture of {}",
                         cc_of(report_.gpu), there.cc);
    if (here.stream_source == "PTX stream")
      return fmt::format(
          "the PTX was counted, not the machine code that ran: {}",
          here.stream_problem.empty() ? "ptxas merges, unrolls, predicates and spills" : here.stream_problem);
    if (here.stream_grade != report::Grade::kCounted && !here.stream_problem.empty())
      return fmt::format("counts of this kernel are modelled: {}", here.stream_problem);
    if (!here.stream_problem.empty())
      return fmt::format("the machine code that was counted may be another than what ran: {}", here.stream_problem);
    if (rule.kind == CounterKind::kNoisy) {
      std::string reason(rule.why);
      if (rule.pattern.find("data_") != std::string_view::npos && rule.pattern.find("shared") != std::string_view::npos)
        reason += "; compare smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_*, which does not";
      return reason + "; this is more than was measured";
    }
    if (const auto metric = here.metrics.find(d.metric);
        metric != here.metrics.end() && metric->second.grade != report::Grade::kCounted)
      return fmt::format("graded {}: {}", report::name_of(metric->second.grade), metric->second.reason);
    if (const std::string_view order = order_dependence(here); !order.empty()) return std::string(order);
    return "no known reason; programs that race or read clocks count differently each time";
  }

 private:
  const report::Report& report_;
  const Capture& capture_;
};

/// Judged counters in the order of the table, then the others.
std::vector<MetricTally> tallies_of(const Capture& capture, std::vector<std::size_t>& place_of) {
  std::vector<std::pair<std::size_t, std::size_t>> order;
  const auto rows = report::metric_rows();
  for (std::size_t i = 0; i < capture.metrics.size(); ++i) {
    const report::MetricRow* row = report::find_metric(capture.metrics[i]);
    const bool judged = rule_of(capture.metrics[i]).kind != CounterKind::kState;
    order.emplace_back((judged ? 0 : rows.size()) + static_cast<std::size_t>(row - rows.data()), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<MetricTally> tallies;
  place_of.resize(capture.metrics.size());
  for (const auto& [rank, i] : order) {
    place_of[i] = tallies.size();
    tallies.push_back({capture.metrics[i], &rule_of(capture.metrics[i]), report::find_metric(capture.metrics[i])});
  }
  return tallies;
}

std::string some_kernels(const std::vector<std::string>& names) {
  std::vector<std::string> distinct;
  for (const std::string& name : names)
    if (std::find(distinct.begin(), distinct.end(), name) == distinct.end() && distinct.size() < 4) {
      distinct.push_back(name);
    }
  if (distinct.size() == 4) distinct.back() = "...";
  return fmt::format("{}", fmt::join(distinct, ", "));
}

}  // namespace

double Difference::relative() const {
  if (there != 0) return (here - there) / std::abs(there);
  return here == 0 ? 0 : std::numeric_limits<double>::infinity();
}

bool Comparison::good() const {
  return std::all_of(metrics.begin(), metrics.end(), [](const MetricTally& tally) {
    return tally.different == 0 || tally.rule->kind == CounterKind::kState;
  });
}

bool comparable(std::string_view metric) {
  const report::MetricRow* row = report::find_metric(metric);
  return row != nullptr && row->modelled() && row->name == metric && !metric.starts_with("muscope__");
}

Comparison compare(const report::Report& report, const Capture& capture, const std::string& capture_name) {
  Comparison result;
  result.other_metrics = capture.other_metrics;
  result.matching = match_launches(report, capture);
  if (result.matching.pairs.empty()) {
    std::vector<std::string> here, there;
    for (const auto& launch : report.launches) here.push_back(keys_of(launch.kernel).bare);
    for (const auto& launch : capture.launches) there.push_back(keys_of(launch.kernel).bare);
    fail("D743", "no launch of the capture is in the report",
         fmt::format("kernels of the report: {}; of the capture: {}", here.empty() ? "none" : some_kernels(here),
                     some_kernels(there)),
         {capture_name, 0, 0});
  }
  std::vector<std::size_t> place_of;
  result.metrics = tallies_of(capture, place_of);
  const Reasons reasons(report, capture);
  for (const auto& [a, b] : result.matching.pairs) {
    const report::LaunchReport& here = report.launches[a];
    std::vector<std::pair<std::size_t, Difference>> of_launch;
    for (const CaptureValue& there : capture.launches[b].values) {
      MetricTally& tally = result.metrics[place_of[there.metric]];
      const std::optional<double> number = number_here(here, tally.row);
      if (!number) continue;
      ++tally.compared;
      tally.used += *number != 0 || there.value != 0;
      Difference d{a, b, tally.metric, *number, there.value, judge(here, tally, *number, there), {}};
      if (d.verdict == Verdict::kExact) {
        ++tally.exact;
        continue;
      }
      ++(d.verdict == Verdict::kWithin ? tally.within : tally.different);
      if (result.differences.size() + of_launch.size() >= kMostDifferences) {
        ++result.unlisted;
        continue;
      }
      d.reason = reasons.of(d, *tally.rule);
      of_launch.emplace_back(place_of[there.metric], std::move(d));
    }
    std::sort(of_launch.begin(), of_launch.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (auto& [place, d] : of_launch) result.differences.push_back(std::move(d));
  }
  std::erase_if(result.metrics, [](const MetricTally& tally) { return tally.compared == 0; });
  if (result.metrics.empty())
    fail("D744", "the capture and the report have no metric in common",
         "capture some, e.g.: ncu --metrics "
         "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
         {capture_name, 0, 0});
  return result;
}

}  // namespace muscope::verify
