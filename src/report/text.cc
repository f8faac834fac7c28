#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "report/number_format.h"
#include "report/text_parts.h"

namespace muscope::report {
namespace {

constexpr std::string_view kSortNames[] = {"traffic", "waste", "requests", "name", "order"};

bool alike(const LaunchReport& a, const LaunchReport& b) {
  return a.mangled == b.mangled && a.kernel == b.kernel && a.grid == b.grid && a.block == b.block &&
         a.state == b.state && a.device == b.device && a.metrics == b.metrics;
}

/// Equal for launches that are alike.
std::size_t hash_of(const LaunchReport& launch) {
  std::size_t hash = std::hash<std::string>{}(launch.kernel);
  const auto mix = [&](std::size_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  for (const std::uint32_t extent : launch.grid) mix(extent);
  for (const std::uint32_t extent : launch.block) mix(extent);
  for (const auto& [name, metric] : launch.metrics) mix(std::hash<decltype(metric.value)>{}(metric.value));
  return hash;
}

/// A run may have tens of thousands of launches, each unlike the others: they are found by hash.
std::vector<LaunchGroup> groups_of(const Report& report) {
  std::vector<LaunchGroup> groups;
  std::unordered_multimap<std::size_t, std::size_t> known;
  for (const LaunchReport& launch : report.launches) {
    const std::size_t hash = hash_of(launch);
    const auto [first, last] = known.equal_range(hash);
    const auto same =
        std::find_if(first, last, [&](const auto& entry) { return alike(groups[entry.second].first(), launch); });
    if (same != last) {
      groups[same->second].launches.push_back(&launch);
    } else {
      known.emplace(hash, groups.size());
      groups.push_back({{&launch}});
    }
  }
  return groups;
}

std::uint64_t key_of(const LaunchGroup& group, SortBy sort) {
  const Metrics& metrics = group.first().metrics;
  switch (sort) {
    case SortBy::kTraffic:
      return traffic_of(metrics);
    case SortBy::kWaste:
      return waste_of(metrics);
    case SortBy::kRequests:
      return requests_of(metrics);
    case SortBy::kName:
    case SortBy::kOrder:
      break;
  }
  return 0;
}

/// What is shown in detail: every launch when they are few, else the costliest launch of each kernel.
std::vector<LaunchGroup> chosen(const Report& report, const TextOptions& options) {
  std::vector<LaunchGroup> groups = groups_of(report);
  const auto top = static_cast<std::size_t>(std::max(0, options.top));
  if (groups.size() <= top && options.sort == SortBy::kTraffic) return groups;
  std::stable_sort(groups.begin(), groups.end(), [&](const LaunchGroup& a, const LaunchGroup& b) {
    if (options.sort == SortBy::kName) return a.first().kernel < b.first().kernel;
    return key_of(a, options.sort) > key_of(b, options.sort);
  });
  if (groups.size() > top) {
    std::map<std::string_view, int> seen;
    std::vector<LaunchGroup> first_of_kernel;
    for (LaunchGroup& group : groups)
      if (seen[group.first().kernel]++ == 0) first_of_kernel.push_back(std::move(group));
    groups = std::move(first_of_kernel);
  }
  if (groups.size() > top) groups.resize(top);
  return groups;
}

/// Kernels of the table that no launch was shown of. Without launches shown nothing but the table was asked for.
void print_rest(Page& page, const Report& report, const std::vector<LaunchGroup>& shown) {
  std::set<std::string_view> all, told;
  for (const LaunchReport& launch : report.launches) all.insert(launch.kernel);
  for (const LaunchGroup& group : shown) told.insert(group.first().kernel);
  if (told.empty() || told.size() == all.size()) return;
  page.line();
  page.paragraph(
      "",
      fmt::format("{}: --top {}", counted_noun(all.size() - told.size(), "more kernel", "more kernels"), all.size()),
      0);
}

}  // namespace

SortBy sort_by_name(std::string_view name) {
  const auto found = std::find(std::begin(kSortNames), std::end(kSortNames), name);
  if (found == std::end(kSortNames))
    fail("D108", "unknown sort key '" + std::string(name) + "'", "one of traffic, waste, requests, name, order");
  return static_cast<SortBy>(found - std::begin(kSortNames));
}

std::string to_text(const Report& report, const TextOptions& options) {
  Page page(options.width, options.colour);
  print_head(page, report);
  if (options.metrics.empty()) {
    print_summary(page, report, options);
    const std::vector<LaunchGroup> shown = chosen(report, options);
    for (const LaunchGroup& group : shown) print_launch(page, report, group, options);
    print_rest(page, report, shown);
    print_transfers(page, report, options);
  } else {
    for (const LaunchGroup& group : groups_of(report)) print_metrics(page, report, group, options);
  }
  print_problems(page, report, options);
  print_notes(page, report);
  return page.text();
}

}  // namespace muscope::report
