// Head of the report and the table of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/kernel_name.h"
#include "report/number_format.h"
#include "report/text_parts.h"

namespace muscope::report {
namespace {

struct KernelSummary {
  std::string name;
  std::vector<const LaunchReport*> launches;
  std::uint64_t traffic = 0, global_waste = 0, waste = 0, requests = 0;

  std::uint64_t sum(std::string_view metric) const {
    std::uint64_t all = 0;
    for (const LaunchReport* launch : launches) all += count_of(launch->metrics, metric);
    return all;
  }
  std::uint64_t excess_local() const {
    std::uint64_t all = 0;
    for (const LaunchReport* launch : launches) all += local_waste_of(*launch);
    return all;
  }
  /// Bytes of spill stores and loads in the code, per thread.
  std::uint64_t spilled() const {
    std::uint64_t most = 0;
    const auto bytes = [](const Metric& metric) {
      const auto* whole = std::get_if<std::uint64_t>(&metric.value);
      return whole == nullptr ? std::uint64_t{0} : *whole;
    };
    for (const LaunchReport* launch : launches)
      if (launch->code.known)
        most = std::max(most, bytes(launch->code.spill_store_bytes) + bytes(launch->code.spill_load_bytes));
    return most;
  }
  std::vector<std::uint64_t> sorted_traffic() const {
    std::vector<std::uint64_t> values;
    for (const LaunchReport* launch : launches) values.push_back(traffic_of(launch->metrics));
    std::sort(values.begin(), values.end());
    return values;
  }
};

std::vector<KernelSummary> summaries_of(const Report& report) {
  std::vector<KernelSummary> kernels;
  std::map<std::string_view, std::size_t> places;
  for (const LaunchReport& launch : report.launches) {
    const auto [place, fresh] = places.emplace(launch.kernel, kernels.size());
    if (fresh) kernels.push_back({launch.kernel, {}});
    KernelSummary& kernel = kernels[place->second];
    kernel.launches.push_back(&launch);
    kernel.traffic += traffic_of(launch.metrics);
    kernel.global_waste += global_waste_of(launch.metrics);
    kernel.waste += waste_of(launch.metrics);
    kernel.requests += requests_of(launch.metrics);
  }
  return kernels;
}

std::string argv_text(const std::vector<std::string>& argv) {
  std::string text;
  for (const std::string& word : argv) {
    if (!text.empty()) text += ' ';
    text += word.find(' ') == std::string::npos ? word : "'" + word + "'";
  }
  return text;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

void print_head(Page& page, const Report& report) {
  const std::string version = report.tool_version.empty() ? "muscope" : fmt::format("muscope {}", report.tool_version);
  std::string command = argv_text(report.argv);
  const std::size_t room = page.width() - std::min(page.width() - 20, version.size() + report.exit_text.size() + 6);
  if (command.size() > room) command = command.substr(0, room - 3) + "...";
  std::string first = page.styled(version, Style::kBold);
  if (!command.empty()) first += fmt::format(": {}", command);
  if (!report.exit_text.empty())
    first += ": " + page.styled(report.exit_text, report.exit_code == 0 ? Style::kPlain : Style::kRed);
  page.line(first);

  std::string second = report.gpu.full_name.empty() ? report.gpu.name : report.gpu.full_name;
  if (report.gpu.cc_major > 0) second += fmt::format(" (sm_{}{})", report.gpu.cc_major, report.gpu.cc_minor);
  if (!report.toolchain.empty()) second += fmt::format(", {}", report.toolchain);
  std::map<std::string_view, int> kernels;
  for (const LaunchReport& launch : report.launches) ++kernels[launch.kernel];
  second += fmt::format(", {} of {}", counted_noun(report.launches.size(), "launch", "launches"),
                        counted_noun(kernels.size(), "kernel", "kernels"));
  if (report.processes.size() > 1) second += fmt::format(" in {} processes", report.processes.size());
  page.line(second);
}

void print_summary(Page& page, const Report& report, const TextOptions& options) {
  std::vector<KernelSummary> kernels = summaries_of(report);
  const bool alone = options.top == 0;  // nothing but this table was asked for
  if (report.launches.size() < 2 && (!alone || report.launches.empty())) return;
  std::uint64_t all = 0;
  for (const KernelSummary& kernel : kernels) all += kernel.traffic;

  std::stable_sort(kernels.begin(), kernels.end(), [&](const KernelSummary& a, const KernelSummary& b) {
    switch (options.sort) {
      case SortBy::kTraffic:
        return a.traffic > b.traffic;
      case SortBy::kWaste:
        return a.waste > b.waste;
      case SortBy::kRequests:
        return a.requests > b.requests;
      case SortBy::kName:
        return a.name < b.name;
      case SortBy::kOrder:
        break;
    }
    return false;
  });
  const bool differ = std::any_of(kernels.begin(), kernels.end(), [](const KernelSummary& kernel) {
    const auto traffic = kernel.sorted_traffic();
    return traffic.front() != traffic.back();
  });
  const bool any_conflicts = std::any_of(kernels.begin(), kernels.end(), [](const KernelSummary& kernel) {
    return kernel.sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum") > 0;
  });
  // What costs, and is no sector: a kernel without waste may have much of it.
  const bool any_replays = std::any_of(kernels.begin(), kernels.end(), [](const KernelSummary& kernel) {
    return kernel.sum("muscope__constant_replays.sum") > 0;
  });
  const bool any_spills =
      std::any_of(kernels.begin(), kernels.end(), [](const KernelSummary& kernel) { return kernel.spilled() > 0; });
  Grade grade = Grade::kCounted;
  for (const LaunchReport& launch : report.launches) {
    const Metric* weakest = weakest_of_traffic(launch.metrics);
    grade = std::max({grade, launch.stream_grade, weakest == nullptr ? Grade::kCounted : weakest->grade});
  }

  Table table;
  std::vector<std::string> heading{fmt::format("kernels [{}]", name_of(grade)), "launches"};
  if (differ) heading.insert(heading.end(), {"sectors: min", "median", "max"});
  if (!differ) heading.push_back("sectors each");
  heading.insert(heading.end(), {"share", "wasted"});
  if (any_conflicts) heading.push_back("conflicts");
  if (any_replays) heading.push_back("replays");
  if (any_spills) heading.push_back("spills");
  table.heading(heading);
  for (const KernelSummary& kernel : kernels) {
    const std::vector<std::uint64_t> traffic = kernel.sorted_traffic();
    std::vector<std::string> row{"", grouped(kernel.launches.size())};
    if (differ) row.insert(row.end(), {grouped(traffic.front()), grouped(traffic[(traffic.size() - 1) / 2])});
    row.push_back(grouped(traffic.back()));
    row.push_back(share_text(kernel.traffic, all));
    row.push_back(share_text(kernel.global_waste + kernel.excess_local(), kernel.traffic));
    const std::uint64_t conflicts = kernel.sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
    if (any_conflicts) row.push_back(conflicts == 0 ? "-" : grouped(conflicts));
    const std::uint64_t replays = kernel.sum("muscope__constant_replays.sum");
    if (any_replays) row.push_back(replays == 0 ? "-" : grouped(replays));
    const std::uint64_t spilled = kernel.spilled();
    if (any_spills) row.push_back(spilled == 0 ? "-" : grouped(spilled) + " B");
    table.row(std::move(row));
  }
  // The name takes what the numbers leave.
  const std::size_t numbers = table.width() - table.rows.front().cells.front().size();
  const std::size_t room = std::max<std::size_t>(20, page.width() - std::min(page.width(), numbers));
  std::vector<std::string> names;
  for (const KernelSummary& kernel : kernels) names.push_back(kernel.name);
  names = shorten_kernel_names(names, room);
  for (std::size_t i = 0; i < kernels.size(); ++i) table.rows[i + 1].cells.front() = names[i];
  page.line();
  table.print(page, 0);
}

}  // namespace muscope::report
