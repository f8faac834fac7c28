#include "diff/kernel_group.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "report/number_format.h"

namespace muscope::diff {

std::vector<KernelGroup> kernels_of(const report::Report& report) {
  std::vector<KernelGroup> groups;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const report::LaunchReport& launch : report.launches) {
    const auto [place, fresh] = places.emplace(launch.kernel, groups.size());
    if (fresh) groups.push_back({launch.kernel, {}});
    groups[place->second].launches.push_back(&launch);
  }
  return groups;
}

bool less(const report::MetricValue& a, const report::MetricValue& b) {
  if (std::holds_alternative<std::uint64_t>(a) && std::holds_alternative<std::uint64_t>(b))
    return std::get<std::uint64_t>(a) < std::get<std::uint64_t>(b);
  return as_double(a) < as_double(b);
}

double as_double(const report::MetricValue& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

std::string value_text(const report::MetricValue& value, const std::string& unit) {
  return report::format_value({value, unit, report::Grade::kCounted, {}}) + (unit == "%" ? " %" : "");
}

std::string counted_from(const KernelGroup& group) {
  std::set<std::string_view> sources;
  std::string text;
  for (const report::LaunchReport* launch : group.launches)
    if (sources.insert(launch->stream_source).second) text += (text.empty() ? "" : " and ") + launch->stream_source;
  return text;
}

report::Grade stream_grade(const KernelGroup& group) {
  report::Grade grade = report::Grade::kCounted;
  for (const report::LaunchReport* launch : group.launches) grade = std::max(grade, launch->stream_grade);
  return grade;
}

MetricTotals totals_of(const KernelGroup& group, const report::MetricRow& row) {
  MetricTotals totals;
  totals.unit = std::string(row.unit);
  const bool count = row.aggregation == report::Aggregation::kAdditive;
  std::vector<std::pair<report::MetricValue, const report::LaunchReport*>> values;
  bool whole = true;
  std::uint64_t sum = 0;
  double fractional_sum = 0;
  for (const report::LaunchReport* launch : group.launches) {
    const auto found = launch->metrics.find(row.name);
    if (found == launch->metrics.end()) {
      if (!count) continue;
      values.emplace_back(std::uint64_t{0}, launch);
      if (totals.grade < launch->stream_grade) totals.grade = launch->stream_grade, totals.reason = {};
      continue;
    }
    const report::Metric& metric = found->second;
    values.emplace_back(metric.value, launch);
    whole &= std::holds_alternative<std::uint64_t>(metric.value);
    if (whole) sum += std::get<std::uint64_t>(metric.value);
    fractional_sum += metric.as_double();
    if (totals.grade < metric.grade) totals.grade = metric.grade, totals.reason = metric.reason;
  }
  if (values.empty()) return totals;
  totals.known = true;
  if (whole)
    totals.sum = sum;
  else
    totals.sum = fractional_sum;
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return less(a.first, b.first); });
  totals.least = values.front().first;
  totals.least_in = values.front().second;
  totals.median = values[(values.size() - 1) / 2].first;
  totals.most = values.back().first;
  // The first launch of those that are alike.
  const auto first =
      std::find_if(values.begin(), values.end(), [&](const auto& v) { return !less(v.first, totals.most); });
  totals.most_in = first->second;
  return totals;
}

}  // namespace muscope::diff
