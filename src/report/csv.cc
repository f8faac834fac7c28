#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace muscope::report {
namespace {

void cell(std::string& out, std::string_view text, bool first = false) {
  if (!first) out += ',';
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  out += '"';
}

std::string triple(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("({}, {}, {})", extent[0], extent[1], extent[2]);
}

std::string program_name(const std::vector<std::string>& argv) {
  if (argv.empty()) return {};
  const std::size_t slash = argv.front().rfind('/');
  return slash == std::string::npos ? argv.front() : argv.front().substr(slash + 1);
}

/// Integers exactly, ratios with as many digits as ncu prints.
std::string plain(const Metric& metric) {
  if (const auto* count = std::get_if<std::uint64_t>(&metric.value)) return std::to_string(*count);
  std::string text = fmt::format("{:.6f}", std::get<double>(metric.value));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<const MetricRow*> present_metrics(const Report& report) {
  std::vector<const MetricRow*> rows;
  for (const MetricRow& row : metric_rows())
    if (row.modelled() && std::any_of(report.launches.begin(), report.launches.end(),
                                      [&](const LaunchReport& launch) { return launch.metrics.contains(row.name); }))
      rows.push_back(&row);
  return rows;
}

}  // namespace

std::string to_csv(const Report& report, const std::vector<const MetricRow*>& metrics) {
  static constexpr std::string_view kFixed[] = {"ID",      "Process ID", "Process Name", "Host Name", "Kernel Name",
                                                "Context", "Stream",     "Block Size",   "Grid Size", "Device",
                                                "CC"};
  const std::vector<const MetricRow*> columns = metrics.empty() ? present_metrics(report) : metrics;
  std::string out;
  for (const std::string_view name : kFixed) cell(out, name, out.empty());
  for (const MetricRow* row : columns) cell(out, row->name);
  out += '\n';
  for (std::size_t i = 0; i < std::size(kFixed); ++i) cell(out, "", i == 0);
  for (const MetricRow* row : columns) cell(out, row->unit);
  out += '\n';
  const std::string cc = fmt::format("{}.{}", report.gpu.cc_major, report.gpu.cc_minor);
  for (const LaunchReport& launch : report.launches) {
    cell(out, std::to_string(launch.index), true);
    cell(out, std::to_string(launch.process));
    cell(out,
         program_name(launch.process < report.processes.size() ? report.processes[launch.process].argv : report.argv));
    cell(out, "127.0.0.1");
    cell(out, launch.kernel);
    cell(out, "1");
    cell(out, std::to_string(launch.stream));
    cell(out, triple(launch.block));
    cell(out, triple(launch.grid));
    cell(out, std::to_string(launch.device));
    cell(out, cc);
    for (const MetricRow* row : columns) {
      const auto found = launch.metrics.find(row->name);
      if (found != launch.metrics.end()) {
        cell(out, plain(found->second));
      } else {
        cell(out, row->aggregation == Aggregation::kAdditive ? "0" : "");
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace muscope::report
