// One launch for the HTML report: the launch of the JSON report, made short.
#include <algorithm>
#include <bit>
#include <optional>

#include "report/cause.h"
#include "report/html_parts.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/text_parts.h"
#include "views/samples.h"

namespace muscope::report {
namespace {

/// [number of the metric, value, number of the grade]...
PageJson short_metrics(const Metrics& metrics, PageTables& tables) {
  PageJson json = PageJson::array();
  for (const auto& [name, metric] : metrics) {
    PageJson one{tables.metrics.number_of({name, metric.unit})};
    std::visit([&](auto number) { one.push_back(number); }, metric.value);
    one.push_back(tables.grades.number_of({std::string(name_of(metric.grade)), metric.reason}));
    json.push_back(std::move(one));
  }
  return json;
}

/// Base and stride where lanes are equally far apart, else an address per active lane.
PageJson short_addresses(GroupMask mask, const std::array<std::uint64_t, kGroupLanes>& addresses) {
  PageJson json{{"mask", static_cast<std::uint32_t>(mask)}};
  std::vector<unsigned> lanes;
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    if ((mask >> lane) & 1) lanes.push_back(lane);
  if (lanes.empty()) return json;
  const auto at = [&](unsigned lane) { return static_cast<std::int64_t>(addresses[lane]); };
  std::int64_t stride = 0;
  if (lanes.size() > 1) stride = (at(lanes[1]) - at(lanes[0])) / static_cast<std::int64_t>(lanes[1] - lanes[0]);
  const bool affine = std::all_of(lanes.begin(), lanes.end(), [&](unsigned lane) {
    return at(lane) == at(lanes[0]) + stride * static_cast<std::int64_t>(lane - lanes[0]);
  });
  if (affine) {
    json["first"] = addresses[lanes[0]];
    json["stride"] = stride;
  } else {
    json["addresses"] = PageJson::array();
    for (const unsigned lane : lanes) json["addresses"].push_back(addresses[lane]);
  }
  return json;
}

/// What most requests of the site look like, where that was recorded; null otherwise.
PageJson typical_of(const SiteReport& site, const views::LaunchSamples& samples) {
  for (const views::SiteSamples& sampled : samples.sites) {
    if (sampled.site != site.site || sampled.space != site.space || sampled.patterns.empty()) continue;
    const auto most = std::max_element(sampled.patterns.begin(), sampled.patterns.end(),
                                       [](const auto& a, const auto& b) { return a.count < b.count; });
    std::array<std::uint64_t, kGroupLanes> addresses{};
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      if ((most->mask >> lane) & 1) addresses[lane] = most->address(lane);
    PageJson json = short_addresses(most->mask, addresses);
    json["block"] = most->block;
    json["warp"] = most->warp;
    json["count"] = most->count;
    json["of"] = sampled.requests;
    return json;
  }
  return nullptr;
}

/// The sites of the JSON report without what is zero, with what each wastes and why.
void finish_sites(PageJson& sites, const LineReport& line, const views::LaunchSamples& samples,
                  const arch::GpuSpec& gpu) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    PageJson& json = sites[i];
    const SiteReport& site = line.sites[i];
    PageJson kept = PageJson::object();
    for (const auto& [key, value] : json.items())
      if ((key == "pc" || (value != 0 && value != false)) && key != "worst") kept[key] = value;
    kept["site"] = site.site;
    if (const std::uint64_t waste = waste_of(site); waste > 0) kept["waste"] = waste;
    if (const std::optional<Cause> cause = cause_of(site, gpu)) kept["cause"] = cause->subject + ": " + cause->text();
    if (site.worst_cost > 0) {
      PageJson worst = short_addresses(site.worst_mask, site.worst_addresses);
      worst["cost"] = site.worst_cost;
      worst["block"] = site.worst_block;
      worst["warp"] = site.worst_warp;
      kept["worst"] = std::move(worst);
    }
    if (PageJson typical = typical_of(site, samples); !typical.is_null()) kept["typical"] = std::move(typical);
    json = std::move(kept);
  }
}

/// [byte offset, text, index of the line in `lines`, or -1]...
PageJson listing_of(const LaunchReport& launch) {
  std::map<LineKey, std::size_t> lines;
  for (std::size_t i = 0; i < launch.lines.size(); ++i)
    lines.emplace(key_of({launch.lines[i].at, launch.lines[i].inlined_at}), i);
  PageJson json = PageJson::array();
  for (const ListedInstruction& instruction : *launch.listing) {
    const auto line = lines.find(key_of({instruction.at, instruction.inlined_at}));
    json.push_back({instruction.pc, instruction.text, line == lines.end() ? PageJson(-1) : PageJson(line->second)});
  }
  return json;
}

void note_use(SourceUse& used, const SourcePosition& at, const std::vector<SourcePosition>& inlined_at) {
  if (!at.file.empty()) used[at.file].insert(at.line);
  for (const SourcePosition& call : inlined_at)
    if (!call.file.empty()) used[call.file].insert(call.line);
}

}  // namespace

LaunchParts parts_of(const LaunchReport& launch, const arch::GpuSpec& gpu, PageTables& tables, SourceUse& used) {
  LaunchParts parts;
  parts.head = PageJson::parse(launch_to_json(launch));
  for (const char* own : {"index", "process", "stream", "device"}) parts.head.erase(own);
  parts.body = PageJson::object();
  for (const char* key : {"lines", "code"}) {
    if (!parts.head.contains(key)) continue;
    parts.body[key] = std::move(parts.head[key]);
    parts.head.erase(key);
  }
  if (launch.listing) parts.body["listing"] = listing_of(launch);
  for (std::size_t i = 0; i < launch.advice.size(); ++i)
    if (const auto& picture = launch.advice[i].picture)
      for (const auto& [key, addresses] : {std::pair{"before", &picture->before}, {"after", &picture->after}})
        parts.head["advice"][i]["picture"][key] = short_addresses(picture->mask, *addresses);
  parts.head["metrics"] = short_metrics(launch.metrics, tables);
  parts.head["traffic"] = traffic_of(launch.metrics);
  const std::uint64_t local_waste = local_waste_of(launch);
  parts.head["waste"] = waste_of(launch.metrics) + local_waste;
  parts.head["wasted_sectors"] = global_waste_of(launch.metrics) + local_waste;
  const Metric* weakest = weakest_of_traffic(launch.metrics);
  const bool stream = weakest == nullptr || weakest->grade < launch.stream_grade;
  parts.head["traffic_grade"] = {{"grade", name_of(stream ? launch.stream_grade : weakest->grade)},
                                 {"reason", stream ? launch.stream_source : weakest->reason}};
  for (std::size_t i = 0; i < launch.lines.size(); ++i) {
    const LineReport& line = launch.lines[i];
    PageJson& json = parts.body["lines"][i];
    json["metrics"] = short_metrics(line.metrics, tables);
    finish_sites(json["sites"], line, launch.samples ? *launch.samples : views::LaunchSamples{}, gpu);
    note_use(used, line.at, line.inlined_at);
  }
  for (const AdviceReport& advice : launch.advice) note_use(used, advice.at, {});
  for (const CodeChangeReport& change : launch.code.changes) note_use(used, change.at, change.inlined_at);
  if (launch.fault) note_use(used, launch.fault->at, launch.fault->inlined_at);
  return parts;
}

PageJson limits_of(const arch::GpuSpec& gpu) {
  PageJson json = PageJson::object();
  const auto add = [&](const char* name, const arch::Sourced& number) {
    json[name] = number.known ? PageJson(number.as_int()) : PageJson(nullptr);
  };
  add("warp_size", gpu.warp_size);
  add("max_threads_per_block", gpu.max_threads_per_block);
  add("max_threads_per_sm", gpu.max_threads_per_sm);
  add("max_blocks_per_sm", gpu.max_blocks_per_sm);
  add("registers_per_sm", gpu.registers_per_sm);
  add("registers_per_block", gpu.registers_per_block);
  add("max_registers_per_thread", gpu.max_registers_per_thread);
  add("register_allocation_unit", gpu.register_allocation_unit);
  add("register_subpartitions", gpu.register_subpartitions);
  add("shared_per_sm", gpu.shared_per_sm);
  add("shared_per_block", gpu.shared_per_block);
  add("shared_per_block_optin", gpu.shared_per_block_optin);
  add("shared_reserved_per_block", gpu.shared_reserved_per_block);
  add("shared_allocation_unit", gpu.shared_allocation_unit);
  add("barriers_per_sm", gpu.barriers_per_sm);
  add("sm_count", gpu.sm_count);
  add("l1_bytes", gpu.l1_bytes);
  add("l2_bytes", gpu.l2_bytes);
  add("memory_bytes", gpu.memory_bytes);
  add("memory_bandwidth_gbs", gpu.memory_bandwidth_gbs);
  add("clock_mhz", gpu.clock_mhz);
  return json;
}

std::string script_text(const PageJson& json) {
  const std::string plain = json.dump(-1, ' ', false, PageJson::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char c : plain) {
    // It can stand in a string only, where JSON allows this spelling; so nothing in here ends the element or opens a
    // comment.
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace muscope::report
