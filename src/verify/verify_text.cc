#include "verify/verify_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/kernel_name.h"
#include "report/number_format.h"
#include "report/text_page.h"

namespace muscope::verify {
namespace {

using report::counted_noun;
using report::grouped;
using report::Page;
using report::Style;
using report::Table;

constexpr std::size_t kListedLaunches = 8;      ///< with differences, unless all are asked for
constexpr std::size_t kListedDifferences = 12;  ///< of one launch
constexpr std::size_t kListedUnmatched = 5;

std::string number_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) {
    const std::string text = grouped(static_cast<std::uint64_t>(std::abs(value)));
    return value < 0 ? "-" + text : text;
  }
  return grouped(value, 3);
}

std::string relative_text(const Difference& d) {
  const double relative = 100 * d.relative();
  if (!std::isfinite(relative)) return "0 there";
  return std::abs(relative) < 0.005 ? fmt::format("{:+.4f} %", relative) : fmt::format("{:+.2f} %", relative);
}

std::string count_or_dash(std::uint64_t count) { return count == 0 ? "-" : grouped(count); }

void print_head(Page& page, const Comparison& comparison, const report::Report& report, const Capture& capture,
                const VerifyTextOptions& options) {
  const report::LaunchReport& first = report.launches[comparison.matching.pairs.front().first];
  const CaptureLaunch& there = capture.launches[comparison.matching.pairs.front().second];
  page.line(
      fmt::format("report   {}: {}, counted from {}", options.report_name, report.gpu.full_name, first.stream_source));
  std::string gpu = capture.gpu;
  if (!there.cc.empty()) gpu += fmt::format("{}compute capability {}", gpu.empty() ? "" : ", ", there.cc);
  page.line(fmt::format("capture  {}{}{}", options.capture_name, gpu.empty() ? "" : ": ", gpu));
  page.line(fmt::format("{} compared; the report has {}, the capture {}",
                        counted_noun(comparison.matching.pairs.size(), "launch", "launches"),
                        grouped(report.launches.size()), grouped(capture.launches.size())));
}

template <typename Name>
void print_unmatched(Page& page, std::string_view where, const std::vector<std::size_t>& launches, bool all,
                     Name name_of_launch) {
  if (launches.empty()) return;
  page.line(page.styled(fmt::format("{} only in the {}:", counted_noun(launches.size(), "launch", "launches"), where),
                        Style::kYellow));
  const std::size_t most = all ? launches.size() : std::min(launches.size(), kListedUnmatched);
  for (std::size_t i = 0; i < most; ++i) page.line("  " + name_of_launch(launches[i]));
  if (most < launches.size()) page.line(fmt::format("  ... and {} more (--all)", grouped(launches.size() - most)));
}

void print_metrics(Page& page, const Comparison& comparison, bool all) {
  Table table;
  std::uint64_t zero = 0;
  bool state = false;
  table.heading({"metric", "launches", "exact", "within noise", "different"});
  for (const MetricTally& tally : comparison.metrics) {
    if (tally.used == 0 && !all) {
      ++zero;
      continue;
    }
    const bool judged = tally.rule->kind != CounterKind::kState;
    state |= !judged && tally.different > 0;
    std::string different = count_or_dash(tally.different);
    if (!judged && tally.different > 0) different = "(" + different + ")";
    table.row({tally.metric, grouped(tally.compared), count_or_dash(tally.exact), count_or_dash(tally.within),
               std::move(different)});
  }
  page.line();
  table.print(page, 0);
  if (state) page.line("(in brackets: counters that depend on caches or time, which are not judged)");
  if (zero > 0)
    page.line(fmt::format("{} zero on both sides in every launch (--all)",
                          zero == 1 ? "1 more metric is" : fmt::format("{} more metrics are", zero)));
}

/// What "within noise" means for the metrics that needed it.
void print_tolerances(Page& page, const Comparison& comparison) {
  bool any = false;
  for (const MetricTally& tally : comparison.metrics) {
    if (tally.within == 0) continue;
    if (!any) page.line();
    any = true;
    const CounterRule& rule = *tally.rule;
    std::string limits;
    if (rule.above > 0) limits = fmt::format("up to {:.3g} % above", 100 * rule.above);
    if (rule.below > 0) limits += fmt::format("{}up to {:.3g} % below", limits.empty() ? "" : ", ", 100 * rule.below);
    if (!rule.share_of.empty()) limits += " (of the wavefronts)";
    if (rule.count > 0) limits += fmt::format(", or {:.0f} counts", rule.count);
    page.paragraph("  ", fmt::format("{}: the GPU may read {}: {} ({})", tally.metric, limits, rule.why, rule.source),
                   4);
  }
}

void print_differences(Page& page, const Comparison& comparison, const report::Report& report, const Capture& capture,
                       bool all) {
  std::vector<const Difference*> shown;
  for (const Difference& d : comparison.differences)
    if (d.verdict == Verdict::kDifferent) shown.push_back(&d);
  std::size_t launches = 0;
  for (std::size_t i = 0; i < shown.size();) {
    std::size_t end = i;
    while (end < shown.size() && shown[end]->report_launch == shown[i]->report_launch) ++end;
    if (launches++ == kListedLaunches && !all) {
      page.line();
      page.line(fmt::format("... and {} of other launches (--all)",
                            counted_noun(shown.size() - i, "difference", "differences")));
      break;
    }
    const report::LaunchReport& here = report.launches[shown[i]->report_launch];
    page.line();
    page.line(page.styled(fmt::format("launch {} {} (ID {} in the capture)", here.index,
                                      report::shorten_kernel_name(here.kernel, page.width() / 2),
                                      capture.launches[shown[i]->capture_launch].id),
                          Style::kBold));
    const std::size_t most = all ? end : std::min(end, i + kListedDifferences);
    Table table;
    table.heading({"", "here", "there", ""});
    std::vector<std::string> reasons;
    for (std::size_t k = i; k < most; ++k) {
      const Difference& d = *shown[k];
      auto reason = std::find(reasons.begin(), reasons.end(), d.reason);
      if (reason == reasons.end()) reason = reasons.insert(reasons.end(), d.reason);
      table.row({d.metric, number_text(d.here), number_text(d.there), relative_text(d)},
                fmt::format("[{}]", reason - reasons.begin() + 1));
    }
    table.print(page, 2);
    if (most < end)
      page.line(fmt::format("    ... and {} more (--all)", grouped(static_cast<std::uint64_t>(end - most))));
    for (std::size_t k = 0; k < reasons.size(); ++k) page.paragraph(fmt::format("  [{}] ", k + 1), reasons[k], 6);
    i = end;
  }
  if (comparison.unlisted > 0)
    page.line(fmt::format("{} more differences are counted above and not listed", grouped(comparison.unlisted)));
}

void print_verdict(Page& page, const Comparison& comparison) {
  std::uint64_t exact = 0, within = 0, different = 0;
  for (const MetricTally& tally : comparison.metrics) {
    if (tally.rule->kind == CounterKind::kState) continue;
    exact += tally.exact;
    within += tally.within;
    different += tally.different;
  }
  page.line();
  const std::string text = fmt::format("{} of {} values exact, {} within noise, {} different", grouped(exact),
                                       grouped(exact + within + different), grouped(within), grouped(different));
  page.line(page.styled(text, comparison.good() ? Style::kGreen : Style::kRed));
  if (comparison.other_metrics > 0)
    page.line(fmt::format("{} of the capture left out: muscope has no number for them",
                          counted_noun(comparison.other_metrics, "column", "columns")));
}

}  // namespace

std::string to_text(const Comparison& comparison, const report::Report& report, const Capture& capture,
                    const VerifyTextOptions& options) {
  Page page(options.width, options.colour);
  print_head(page, comparison, report, capture, options);
  print_unmatched(page, "report", comparison.matching.report_only, options.all, [&](std::size_t i) {
    const report::LaunchReport& launch = report.launches[i];
    return fmt::format("launch {} {}", launch.index, report::shorten_kernel_name(launch.kernel, page.width() - 20));
  });
  print_unmatched(page, "capture", comparison.matching.capture_only, options.all, [&](std::size_t i) {
    const CaptureLaunch& launch = capture.launches[i];
    return fmt::format("ID {} {}", launch.id, report::shorten_kernel_name(launch.kernel, page.width() - 20));
  });
  print_metrics(page, comparison, options.all);
  print_tolerances(page, comparison);
  print_differences(page, comparison, report, capture, options.all);
  print_verdict(page, comparison);
  return page.text();
}

}  // namespace muscope::verify
