// A401: what keeps occupancy low, and what would lift it. A402: grids and blocks that leave the GPU idle.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "model/occupancy.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr double kLowOccupancy = 50;  ///< percent; above it more warps seldom help
constexpr std::uint64_t kManyRegisters = 128;
constexpr std::uint64_t kFewSms = 4;  ///< where no more than one SM in so many works, nothing else matters as much

model::LaunchShape shape_of(const Context& context) {
  model::LaunchShape shape;
  shape.threads_per_block = static_cast<int>(context.threads_per_block());
  shape.registers_per_thread = static_cast<int>(context.count("launch__registers_per_thread"));
  shape.static_shared = context.launch().static_shared;
  shape.dynamic_shared = context.launch().dynamic_shared;
  return shape;
}

std::string lift_text(const model::LaunchShape& now, const model::Lift& lift) {
  std::string text;
  if (lift.registers_at_most < now.registers_per_thread)
    text = fmt::format("at most {} registers per thread (now {})", lift.registers_at_most, now.registers_per_thread);
  if (lift.shared_at_most < now.static_shared + now.dynamic_shared)
    text += fmt::format("{}at most {} shared memory per block (now {})", text.empty() ? "" : " and ",
                        report::format_bytes(static_cast<std::uint64_t>(lift.shared_at_most)),
                        report::format_bytes(static_cast<std::uint64_t>(now.static_shared + now.dynamic_shared)));
  return text;
}

/// The sizes next to the present one, largest first.
std::string sizes_text(std::vector<int> sizes, int now) {
  const auto apart = [now](int size) { return size > now ? size - now : now - size; };
  std::stable_sort(sizes.begin(), sizes.end(), [&](int a, int b) { return apart(a) < apart(b); });
  if (sizes.size() > 4) sizes.resize(4);
  std::sort(sizes.rbegin(), sizes.rend());
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == sizes.size() ? " or " : ", ", sizes[i]);
  return text;
}

}  // namespace

void find_low_occupancy(const Context& context, Advices& out) {
  const model::LaunchShape shape = shape_of(context);
  if (shape.threads_per_block <= 0) return;
  const model::Occupancy now = model::occupancy(context.gpu(), shape);
  if (!now.impossible.empty() || now.rests_on_defaults || now.full() || now.max_warps == 0) return;
  // A grid that does not fill the GPU once leaves no block to wait for room.
  if (context.gpu().sm_count.known && context.blocks() <= static_cast<std::uint64_t>(context.gpu().sm_count.as_int()) *
                                                              static_cast<unsigned>(now.blocks_per_sm))
    return;
  const std::vector<model::Lift> lifts = model::lifts(context.gpu(), shape);
  std::vector<int> sizes = model::best_block_sizes(context.gpu(), shape);
  int best_blocks = 0;
  if (!sizes.empty()) {
    model::LaunchShape other = shape;
    other.threads_per_block = sizes.front();
    best_blocks = model::occupancy(context.gpu(), other).active_warps;
  }
  const bool size_matters = best_blocks > now.active_warps;
  const bool many_registers = static_cast<std::uint64_t>(shape.registers_per_thread) > kManyRegisters;
  if (now.percent > kLowOccupancy && !size_matters) return;
  report::AdviceReport advice = advice_at(context, {});
  const std::string limiter = now.limiters.empty() ? "blocks" : std::string(model::name_of(now.limiters.front()));
  advice.text = fmt::format("{} of {} warps per SM ({:.1f} %): {} let no more than {} on an SM", now.active_warps,
                            now.max_warps, now.percent, limiter,
                            report::counted_noun(static_cast<std::uint64_t>(now.blocks_per_sm), "block", "blocks"));
  double after = now.percent;
  if (size_matters) {
    after = 100.0 * best_blocks / now.max_warps;
    advice.change =
        fmt::format("blocks of {} threads reach {:.1f} % with the same registers and shared memory per block",
                    sizes_text(sizes, shape.threads_per_block), after);
  }
  if (!lifts.empty()) {
    const std::string what = lift_text(shape, lifts.front());
    if (!what.empty()) {
      if (!size_matters) after = lifts.front().percent;
      advice.change += fmt::format("{}{} blocks per SM ({:.1f} %) need {}", advice.change.empty() ? "" : "; ",
                                   lifts.front().blocks, lifts.front().percent, what);
    }
  }
  if (advice.change.empty()) return;
  if (many_registers)
    advice.change +=
        "; more than 128 registers per thread: smaller tiles per thread or a launch bound lower them, at the price "
        "of spills once they do not fit";
  advice.unit = "% occupancy";
  advice.before = now.percent;
  advice.after = after;
  const report::Metric& registers = context.launch().registers;
  advice.grade = registers.grade;
  advice.reason = "the occupancy rules of the CUDA toolkit";
  advice.bound =
      "more warps hide latency only where too few loads are in flight; a kernel that is bound by bytes or that spills "
      "for it gains nothing";
  out.push_back(std::move(advice));
}

namespace {

/// What the launch asks of its SMs: a change that spreads it gains a multiple of this, and ranks by it.
double asked_of_sms(const Context& context) {
  std::uint64_t memory = 0;
  for (const Site& site : context.sites()) memory += std::max(site.counts->sectors, site.counts->wavefronts);
  return static_cast<double>(std::max(memory, context.warp_instructions()));
}

void say_idle_lanes(const Context& context, Advices& out) {
  const std::uint64_t threads = context.threads_per_block(), blocks = context.blocks();
  // A single thread has nobody to share a warp with.
  if (threads == 0 || threads % kGroupLanes == 0 || threads * blocks == 1) return;
  report::AdviceReport advice = advice_at(context, {});
  const std::uint64_t lanes = (threads + kGroupLanes - 1) / kGroupLanes * kGroupLanes;
  advice.unit = "% lanes in use";
  advice.before = 100.0 * static_cast<double>(threads) / static_cast<double>(lanes);
  advice.after = 100;
  advice.reason = "arithmetic";
  if (threads < kGroupLanes) {
    advice.text = fmt::format("blocks of {} are smaller than a warp: {} of the 32 lanes of every warp {}",
                              report::counted_noun(threads, "thread", "threads"), lanes - threads,
                              lanes - threads == 1 ? "idles" : "idle");
    advice.change = "take a multiple of 32 threads per block";
    if (blocks > 1) {
      // As large as leaves a block for each SM.
      const std::uint64_t all = threads * blocks,
                          sms = context.gpu().sm_count.known
                                    ? static_cast<std::uint64_t>(context.gpu().sm_count.as_int())
                                    : 1;
      std::uint64_t size = 256;
      while (size > kGroupLanes && all / size < sms) size /= 2;
      advice.change += fmt::format(" and fewer blocks: the same {} threads are <<<{}, {}>>>", report::grouped(all),
                                   (all + size - 1) / size, size);
    }
    advice.saves = asked_of_sms(context) * (100 / advice.before - 1);
  } else {
    advice.text = fmt::format("blocks of {} threads fill {} of {} lanes of their warps", threads, threads, lanes);
    advice.change = fmt::format("take a multiple of 32 threads: {} or {}", threads / kGroupLanes * kGroupLanes, lanes);
  }
  out.push_back(std::move(advice));
}

/// What smaller blocks cost where a block works on a tile.
std::string tile_text(const Context& context) {
  const std::uint64_t shared = std::uint64_t{context.launch().static_shared} + context.launch().dynamic_shared;
  if (context.launch().block[1] < 2 || shared == 0) return {};
  return fmt::format(
      "; the block is two-dimensional and has {} of shared memory: if that is a tile, smaller blocks mean smaller "
      "tiles, "
      "and each element is loaded by more blocks",
      report::format_bytes(shared));
}

}  // namespace

void find_idle_sms(const Context& context, Advices& out) {
  say_idle_lanes(context, out);
  const auto& sms = context.gpu().sm_count;
  if (!sms.known || sms.as_int() < 2) return;
  const auto all = static_cast<std::uint64_t>(sms.as_int());
  const std::uint64_t threads = context.threads_per_block(), blocks = context.blocks();
  if (blocks >= all || blocks == 0) return;
  report::AdviceReport advice = advice_at(context, {});
  advice.text = fmt::format("{} for {} SMs: {}", report::counted_noun(blocks, "block", "blocks"), all,
                            report::counted_noun(all - blocks, "stays idle", "stay idle"));
  const std::uint64_t warps = blocks * ((threads + 31) / 32);
  if (warps >= all)
    advice.change =
        fmt::format("use smaller blocks ({} threads would give each SM one) or give each thread less work{}",
                    std::max<std::uint64_t>(32, blocks * threads / all / 32 * 32), tile_text(context));
  else
    advice.change = fmt::format(
        "{} cannot reach all SMs whatever the block size: give each thread less work, do more in one launch, or let "
        "other launches run beside it (streams); for a small last step there is nothing to do",
        report::counted_noun(warps, "warp", "warps"));
  advice.unit = "% SMs in use";
  advice.before = 100.0 * static_cast<double>(blocks) / static_cast<double>(all);
  advice.after = std::min(100.0, 100.0 * static_cast<double>(warps) / static_cast<double>(all));
  advice.reason = "arithmetic; SMs of other launches at the same time are not considered";
  advice.grade = report::Grade::kEstimated;
  if (kFewSms * blocks <= all) advice.saves = asked_of_sms(context) * (100 / advice.before - 1);
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
