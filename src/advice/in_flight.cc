// A111: too few bytes under way at a time to fill the memory's latency: Little's law with what a warp loads in a row.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr std::uint64_t kInARow = 8;           ///< instructions between loads of which the first need not have come
constexpr std::uint64_t kStreaming = 1 << 20;  ///< bytes from which a launch is about moving data
constexpr double kFromEach = 0.1;              ///< global requests per warp instruction, likewise

/// Bytes that an SM must have under way to use its share of DRAM's bandwidth; 0 where the GPU is not known well enough.
double needed_bytes(const arch::GpuSpec& gpu) {
  if (!gpu.memory_bandwidth_gbs.known || !gpu.sm_count.known || !gpu.clock_mhz.known) return 0;
  for (const arch::MemoryLevel& level : gpu.hierarchy)
    if (level.name == "DRAM" && level.latency_cycles.known)
      return gpu.memory_bandwidth_gbs.value / gpu.sm_count.value * level.latency_cycles.value * 1000 /
             gpu.clock_mhz.value;
  return 0;
}

/// The most bytes that a warp of a witness block loads in a row.
std::uint64_t bytes_in_a_row(const Context& context, std::uint64_t& loads) {
  std::uint64_t most = 0;
  for (const views::WitnessBlock& block : context.samples().witnesses) {
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> by_warp;
    for (const views::WitnessRequest& request : block.requests) {
      const Site* site = context.find(request.site, trace::Space::kGlobal);
      if (site == nullptr || !site->is_load()) continue;
      by_warp[request.warp].push_back(
          {request.access.issue,
           std::uint64_t{site->bytes()} * static_cast<unsigned>(std::popcount(request.access.mask))});
    }
    for (auto& [warp, issued] : by_warp) {
      std::sort(issued.begin(), issued.end());
      std::uint64_t sum = 0, run = 0;
      for (std::size_t i = 0; i < issued.size(); ++i) {
        if (i > 0 && issued[i].first - issued[i - 1].first > kInARow) sum = run = 0;
        sum += issued[i].second;
        ++run;
        if (sum > most) most = sum, loads = run;
      }
    }
  }
  return most;
}

}  // namespace

void find_few_bytes_in_flight(const Context& context, Advices& out) {
  const double needed = needed_bytes(context.gpu());
  const std::uint64_t warps = context.count("sm__maximum_warps_avg_per_active_cycle");
  const std::uint64_t instructions = context.warp_instructions();
  if (needed == 0 || warps == 0 || instructions == 0) return;
  std::uint64_t sectors = 0, requests = 0;
  for (const Site* site : context.sites_in(trace::Space::kGlobal))
    if (site->is_load()) sectors += site->counts->sectors, requests += site->counts->requests;
  if (32 * sectors < kStreaming || static_cast<double>(requests) < kFromEach * static_cast<double>(instructions))
    return;
  std::uint64_t loads = 0;
  const std::uint64_t row = bytes_in_a_row(context, loads);
  if (row == 0) return;
  const double have = static_cast<double>(row * warps);
  if (have >= needed / 2) return;
  report::AdviceReport advice = advice_at(context, {});
  advice.text = fmt::format(
      "{} per SM with {} each under way make {}; to fill the latency of DRAM an SM needs about {}",
      report::counted_noun(warps, "warp", "warps"), report::format_bytes(row),
      report::format_bytes(static_cast<std::uint64_t>(have)), report::format_bytes(static_cast<std::uint64_t>(needed)));
  advice.change = fmt::format(
      "let each thread start more loads before it uses the first: unroll by {} with the loads first, take 16 B per "
      "lane, or copy ahead asynchronously (cp.async); more warps per SM do the same",
      static_cast<int>(std::min(8.0, needed / have) + 0.999));
  advice.unit = "bytes in flight per SM";
  advice.before = have;
  advice.after = needed;
  advice.grade = report::Grade::kEstimated;
  advice.reason = fmt::format("{} in a row by a warp, without waiting", report::counted_noun(loads, "load", "loads"));
  advice.bound = "the compiler may start loads earlier than they stand, and repetitions of a loop overlap: measure";
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
