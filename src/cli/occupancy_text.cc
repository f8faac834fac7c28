#include "cli/occupancy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/number_format.h"
#include "report/report.h"
#include "report/text_page.h"

namespace muscope::cli {
namespace {

using model::kNoLimit;
using model::LaunchShape;
using model::Limit;
using model::Occupancy;

std::string percent(double value) { return report::grouped(value, 1) + " %"; }
std::string blocks_text(int blocks) { return blocks == kNoLimit ? "-" : std::to_string(blocks); }

std::string limiter_text(const Occupancy& o) {
  if (!o.impossible.empty()) return "cannot run";
  if (o.full()) return "none";
  std::string text;
  for (const Limit limit : o.limiters) (text += text.empty() ? "" : ", ") += model::name_of(limit);
  return text;
}

std::string grade_text(const Occupancy& o) {
  return o.rests_on_defaults ? "[estimated] limits of this GPU that are not known were taken as those of common ones"
                             : "[counted] the rules are those of cuda_occupancy.h, CUDA 13.0";
}

/// "1 block", "1,024 blocks"
std::string noun(std::int64_t count, const std::string& one) {
  return report::counted_noun(static_cast<std::uint64_t>(std::max<std::int64_t>(0, count)), one, one + "s");
}

std::string resources(const LaunchShape& launch) {
  std::string text = launch.registers_per_thread > 0 ? noun(launch.registers_per_thread, "register") + " per thread"
                                                     : "registers not given";
  text += fmt::format(", {} shared per block",
                      report::format_bytes(static_cast<std::uint64_t>(launch.static_shared + launch.dynamic_shared)));
  return text;
}

/// Block sizes of the table: multiples of a warp that people use, the asked one among them.
std::vector<int> table_sizes(const OccupancyQuestion& q) {
  const auto warp = static_cast<int>(q.gpu.warp_size.known ? q.gpu.warp_size.as_int() : 32);
  const auto most = static_cast<int>(q.gpu.max_threads_per_block.known ? q.gpu.max_threads_per_block.as_int() : 1024);
  std::set<int> sizes;
  for (const int size : {32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024})
    if (size <= most && size % warp == 0) sizes.insert(size);
  if (q.launch.threads_per_block > 0 && q.launch.threads_per_block <= most) sizes.insert(q.launch.threads_per_block);
  return {sizes.begin(), sizes.end()};
}

void limits_table(const OccupancyQuestion& q, const Occupancy& o, report::Page& page) {
  const auto row = [&](Limit limit, int blocks, const std::string& why) {
    const bool binds = !o.full() && std::find(o.limiters.begin(), o.limiters.end(), limit) != o.limiters.end();
    page.line(fmt::format("  {:<15}{:>8}   {}{}", model::name_of(limit), blocks_text(blocks), why,
                          binds ? "   <- limits" : ""));
  };
  page.line(fmt::format("  {:<15}{:>8}", "limit", "blocks"));
  row(Limit::kWarps, o.limit_warps,
      fmt::format("{} per block of {} per SM", noun(o.warps_per_block, "warp"), o.max_warps));
  if (q.launch.registers_per_thread > 0)
    row(Limit::kRegisters, o.limit_registers,
        fmt::format("{} registers per block of {} per SM", report::grouped(std::uint64_t(o.registers_per_block)),
                    report::grouped(q.gpu.registers_per_sm.value, 0)));
  row(Limit::kShared, o.limit_shared,
      fmt::format(
          "{} per block of {} per SM{}", report::format_bytes(static_cast<std::uint64_t>(o.shared_per_block)),
          report::format_bytes(static_cast<std::uint64_t>(q.gpu.shared_per_sm.value)),
          q.gpu.shared_reserved_per_block.known && q.gpu.shared_reserved_per_block.value > 0
              ? fmt::format(", {} of them reserved by the system",
                            report::format_bytes(static_cast<std::uint64_t>(q.gpu.shared_reserved_per_block.value)))
              : ""));
  row(Limit::kBlocks, o.limit_blocks, "");
  if (o.limit_barriers != kNoLimit) row(Limit::kBarriers, o.limit_barriers, "");
}

void lift_lines(const OccupancyQuestion& q, const Occupancy& o, report::Page& page) {
  if (o.full() || o.max_warps == 0) return;
  const std::vector<model::Lift> steps = model::lifts(q.gpu, q.launch);
  const std::int64_t shared = q.launch.static_shared + q.launch.dynamic_shared;
  page.line();
  page.line("  what would lift it");
  for (const model::Lift& step : steps) {
    std::string need;
    if (step.registers_at_most < q.launch.registers_per_thread)
      need = fmt::format("at most {} registers per thread", step.registers_at_most);
    if (step.shared_at_most < shared)
      need += fmt::format("{}at most {} B shared per block", need.empty() ? "" : " and ",
                          report::grouped(std::uint64_t(step.shared_at_most)));
    page.line(fmt::format("    {:>2} {:<7} {:>8}   {}", step.blocks, step.blocks == 1 ? "block," : "blocks,",
                          percent(step.percent), need));
  }
  const std::vector<int> sizes = model::best_block_sizes(q.gpu, q.launch);
  if (!sizes.empty() && o.impossible.empty()) {
    LaunchShape other = q.launch;
    other.threads_per_block = sizes.front();
    const Occupancy best = model::occupancy(q.gpu, other);
    if (best.active_warps > o.active_warps) {
      std::string list;
      for (std::size_t i = 0; i < sizes.size() && i < 10; ++i)
        list += fmt::format("{}{}", i == 0 ? "" : ", ", sizes[i]);
      page.paragraph(
          "    ",
          fmt::format("another block size with the same resources: {} threads{} reach{} {}", list,
                      sizes.size() > 10 ? " and more" : "", sizes.size() == 1 ? "es" : "", percent(best.percent)),
          6);
    }
  }
  if (steps.empty() && !o.impossible.empty()) page.line("    nothing short of a smaller block");
}

void sizes_table(const OccupancyQuestion& q, report::Page& page) {
  page.line(
      fmt::format("  {:>7}  {:>6}  {:>5}  {:>9}  {:<22}{}", "threads", "blocks", "warps", "occupancy", "", "limit"));
  for (const int threads : table_sizes(q)) {
    LaunchShape launch = q.launch;
    launch.threads_per_block = threads;
    const Occupancy o = model::occupancy(q.gpu, launch);
    const auto filled = static_cast<std::size_t>(std::min(20.0, o.percent / 5 + 0.5));
    page.line(fmt::format("{} {:>7}  {:>6}  {:>5}  {:>9}  {}{}  {}", threads == q.launch.threads_per_block ? ">" : " ",
                          threads, o.blocks_per_sm, o.active_warps, percent(o.percent), std::string(filled, '#'),
                          std::string(20 - filled, '.'), limiter_text(o)));
  }
}

}  // namespace

std::string occupancy_text(const OccupancyQuestion& q) {
  report::Page page(110, false);
  const std::string what =
      q.launch.threads_per_block > 0 ? noun(q.launch.threads_per_block, "thread") + " per block, " : "";
  page.spread(what + resources(q.launch), report::Style::kPlain,
              fmt::format("{} ({})", q.gpu.full_name, q.gpu.sm_text()), report::Style::kPlain);
  const Occupancy o = model::occupancy(q.gpu, q.launch);
  if (q.launch.threads_per_block > 0) {
    if (!o.impossible.empty()) {
      page.paragraph("  ", "such a block cannot run: " + o.impossible, 4);
    } else {
      page.line(fmt::format("  occupancy {}: {} block{}, {} of {} warps per SM   limit: {}", percent(o.percent),
                            o.blocks_per_sm, o.blocks_per_sm == 1 ? "" : "s", o.active_warps, o.max_warps,
                            limiter_text(o)));
      if (q.launch.threads_per_block % (q.gpu.warp_size.known ? q.gpu.warp_size.as_int() : 32) != 0)
        page.paragraph("  ", "the block is no multiple of a warp: its last warp has idle lanes", 4);
      if (o.needs_shared_optin)
        page.paragraph("  ", "needs cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)", 4);
      const model::Waves w = model::waves(q.gpu, o, q.grid_blocks);
      if (w.blocks_per_wave > 0)
        page.line(fmt::format("  {} {} {:.2f} waves of {}; the last wave fills {}", noun(q.grid_blocks, "block"),
                              q.grid_blocks == 1 ? "makes" : "make", w.waves, noun(w.blocks_per_wave, "block"),
                              percent(100 * w.last_wave_fill)));
      else if (q.grid_blocks > 0)
        page.line("  waves: the SM count of this GPU is not known");
    }
    page.line();
    limits_table(q, o, page);
    lift_lines(q, o, page);
  }
  page.line();
  sizes_table(q, page);
  page.line();
  page.paragraph("  ", grade_text(o), 2);
  return page.text();
}

std::string occupancy_json(const OccupancyQuestion& q) {
  using Json = nlohmann::ordered_json;
  const auto limit = [](int blocks) { return blocks == kNoLimit ? Json(nullptr) : Json(blocks); };
  const auto summary = [&](const LaunchShape& launch) {
    const Occupancy o = model::occupancy(q.gpu, launch);
    Json j;
    j["threads_per_block"] = launch.threads_per_block;
    j["blocks_per_sm"] = o.blocks_per_sm;
    j["active_warps"] = o.active_warps;
    j["max_warps"] = o.max_warps;
    j["occupancy"] = {{"value", o.percent}, {"unit", "%"}, {"grade", o.rests_on_defaults ? "estimated" : "counted"}};
    Json& limiters = j["limiters"] = Json::array();
    for (const Limit each : o.limiters) limiters.push_back(model::name_of(each));
    j["limits"] = {{"launch__occupancy_limit_warps", limit(o.limit_warps)},
                   {"launch__occupancy_limit_registers", limit(o.limit_registers)},
                   {"launch__occupancy_limit_blocks", limit(o.limit_blocks)},
                   {"launch__occupancy_limit_barriers", limit(o.limit_barriers)},
                   {"muscope__occupancy_limit_shared_mem_largest_carveout", limit(o.limit_shared)}};
    if (!o.impossible.empty()) j["impossible"] = o.impossible;
    return j;
  };
  Json j;
  j["schema"] = "muscope.occupancy/1";
  j["gpu"] = {{"name", q.gpu.name}, {"cc", q.gpu.cc_text()}};
  j["registers_per_thread"] = q.launch.registers_per_thread > 0 ? Json(q.launch.registers_per_thread) : Json(nullptr);
  j["static_shared"] = q.launch.static_shared;
  j["dynamic_shared"] = q.launch.dynamic_shared;
  if (q.launch.threads_per_block > 0) {
    j["launch"] = summary(q.launch);
    Json& steps = j["lifts"] = Json::array();
    for (const model::Lift& step : model::lifts(q.gpu, q.launch))
      steps.push_back({{"blocks_per_sm", step.blocks},
                       {"occupancy", step.percent},
                       {"registers_at_most", step.registers_at_most},
                       {"shared_at_most", step.shared_at_most}});
    j["best_block_sizes"] = model::best_block_sizes(q.gpu, q.launch);
    const model::Waves w = model::waves(q.gpu, model::occupancy(q.gpu, q.launch), q.grid_blocks);
    if (w.blocks_per_wave > 0)
      j["waves"] = {{"launch__waves_per_multiprocessor", w.waves},
                    {"blocks_per_wave", w.blocks_per_wave},
                    {"last_wave_fill", w.last_wave_fill}};
  }
  Json& table = j["block_sizes"] = Json::array();
  for (const int threads : table_sizes(q)) {
    LaunchShape launch = q.launch;
    launch.threads_per_block = threads;
    table.push_back(summary(launch));
  }
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muscope::cli
