#include "model/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace muscope::model {
namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return unit <= 1 ? value : (value + unit - 1) / unit * unit;
}

int clamp_to_int(std::int64_t value) { return static_cast<int>(std::min<std::int64_t>(value, kNoLimit)); }

std::int64_t value_or(const arch::Sourced& number, std::int64_t otherwise) {
  return number.known ? number.as_int() : otherwise;
}

/// cudaOccMaxBlocksPerSMRegsLimit. Sub-partitions share the register file: a warp's registers come from one of them.
int register_limit(const arch::GpuSpec& gpu, int registers, int warps, std::int64_t subpartitions) {
  if (registers <= 0) return kNoLimit;
  const std::int64_t per_warp =
      round_up(std::int64_t{registers} * value_or(gpu.warp_size, 32), value_or(gpu.register_allocation_unit, 256));
  const std::int64_t per_block = value_or(gpu.registers_per_block, 65536);
  // The launch check assumes that a block takes registers in all sub-partitions alike.
  if (per_warp * round_up(warps, subpartitions) > per_block) return 0;
  if (registers > value_or(gpu.max_registers_per_thread, 255)) return 0;
  const std::int64_t per_subpartition = value_or(gpu.registers_per_sm, 65536) / subpartitions;
  return clamp_to_int(per_subpartition / per_warp * subpartitions / warps);
}

int register_limit(const arch::GpuSpec& gpu, int registers, int warps) {
  const std::int64_t subpartitions = std::max<std::int64_t>(1, value_or(gpu.register_subpartitions, 4));
  const int limit = register_limit(gpu, registers, warps, subpartitions);
  // What cannot run on 6.1 (four sub-partitions) is refused on 6.0 as well.
  if (gpu.cc_major == 6 && gpu.cc_minor == 0 && limit > 0 && register_limit(gpu, registers, warps, 4) == 0) return 0;
  return limit;
}

std::int64_t allocated_shared(const arch::GpuSpec& gpu, std::int64_t bytes) {
  return round_up(bytes + value_or(gpu.shared_reserved_per_block, 0), value_or(gpu.shared_allocation_unit, 256));
}

/// cudaOccMaxBlocksPerSMSmemLimit with the default (largest) carve-out.
int shared_limit(const arch::GpuSpec& gpu, std::int64_t bytes, std::int64_t capacity) {
  const std::int64_t allocated = allocated_shared(gpu, bytes);
  const std::int64_t most = value_or(gpu.shared_per_block_optin, value_or(gpu.shared_per_block, 49152)) +
                            value_or(gpu.shared_reserved_per_block, 0);
  if (allocated > most) return 0;
  return allocated == 0 ? kNoLimit : clamp_to_int(capacity / allocated);
}

/// The smallest carve-out of at least `bytes`; the largest where none is.
std::int64_t carveout_of(const arch::GpuSpec& gpu, std::int64_t bytes) {
  for (const int carveout : gpu.shared_carveouts)
    if (carveout >= bytes) return carveout;
  return value_or(gpu.shared_per_sm, 49152);
}

/// The rule in the header. Its 132 KiB are the carve-out next to half of the L1 array.
std::int64_t driver_carveout(const arch::GpuSpec& gpu, const Occupancy& o, bool uses_shared) {
  const std::int64_t largest = value_or(gpu.shared_per_sm, 49152);
  const std::int64_t blocks = std::min({o.limit_warps, o.limit_registers, o.limit_blocks});
  if (gpu.shared_carveouts.empty() || blocks <= 0) return largest;
  const std::int64_t a = o.shared_per_block;
  std::int64_t roomy = std::int64_t{o.limit_blocks} - o.warps_per_block;
  if (uses_shared) roomy = std::min(roomy, 2 * blocks);
  const std::int64_t wanted = blocks == 1 ? 1 : std::max(blocks, roomy);
  const std::int64_t half = carveout_of(gpu, value_or(gpu.l1_bytes, 2 * largest) / 2);
  const std::int64_t needed = a > 0 ? std::min(blocks, largest / a) : 0;
  return std::max(carveout_of(gpu, needed * a), std::min(carveout_of(gpu, wanted * a), half));
}

/// The rule in the header for a preference of the program.
std::int64_t preferred_carveout(const arch::GpuSpec& gpu, const Occupancy& o, int preference, bool uses_shared) {
  const std::int64_t by_driver = driver_carveout(gpu, o, uses_shared);
  if (gpu.shared_carveouts.empty() || preference == kDriverChooses) return by_driver;
  const std::int64_t a = o.shared_per_block;
  const std::int64_t own = a - value_or(gpu.shared_reserved_per_block, 0);
  const bool percent = preference >= 0;
  const std::int64_t asked = percent ? value_or(gpu.shared_per_sm, 49152) * std::min(preference, 100) / 100 : 0;
  if (!uses_shared || own <= 0) return std::max(percent ? carveout_of(gpu, asked) : 0, by_driver);
  const std::int64_t room = percent ? std::max(asked, a) : carveout_of(gpu, a);
  return std::max(carveout_of(gpu, std::max(asked, a)), carveout_of(gpu, room / own * a));
}

std::string why_impossible(const arch::GpuSpec& gpu, const LaunchShape& launch, const Occupancy& o) {
  if (launch.threads_per_block <= 0) return "a block needs at least one thread";
  if (o.limit_warps == 0)
    return fmt::format("{} threads exceed the {} that a block may have", launch.threads_per_block,
                       value_or(gpu.max_threads_per_block, 1024));
  if (o.limit_registers == 0) {
    if (launch.registers_per_thread > value_or(gpu.max_registers_per_thread, 255))
      return fmt::format("{} registers exceed the {} that a thread may have", launch.registers_per_thread,
                         value_or(gpu.max_registers_per_thread, 255));
    return fmt::format("{} registers for each of {} threads exceed the {} of a block", launch.registers_per_thread,
                       launch.threads_per_block, value_or(gpu.registers_per_block, 65536));
  }
  if (o.limit_shared == 0)
    return fmt::format("{} bytes of shared memory exceed the {} that a block may have",
                       launch.static_shared + launch.dynamic_shared,
                       value_or(gpu.shared_per_block_optin, value_or(gpu.shared_per_block, 49152)));
  if (o.limit_barriers == 0) return fmt::format("{} barriers exceed what an SM has", launch.barriers);
  return {};
}

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::kWarps:
      return "warps";
    case Limit::kRegisters:
      return "registers";
    case Limit::kShared:
      return "shared memory";
    case Limit::kBlocks:
      return "blocks";
    case Limit::kBarriers:
      break;
  }
  return "barriers";
}

Occupancy occupancy(const arch::GpuSpec& gpu, const LaunchShape& launch) {
  Occupancy o;
  const std::int64_t warp = std::max<std::int64_t>(1, value_or(gpu.warp_size, 32));
  o.max_warps = static_cast<int>(value_or(gpu.max_threads_per_sm, 2048) / warp);
  o.limit_blocks = static_cast<int>(value_or(gpu.max_blocks_per_sm, 32));
  if (launch.threads_per_block <= 0) {
    o.impossible = why_impossible(gpu, launch, o);
    return o;
  }
  o.warps_per_block = static_cast<int>(round_up(launch.threads_per_block, warp) / warp);
  const bool too_many = launch.threads_per_block > value_or(gpu.max_threads_per_block, 1024);
  o.limit_warps = too_many ? 0 : o.max_warps / o.warps_per_block;
  o.limit_registers = register_limit(gpu, launch.registers_per_thread, o.warps_per_block);
  o.registers_per_block = clamp_to_int(o.warps_per_block * round_up(std::int64_t{launch.registers_per_thread} * warp,
                                                                    value_or(gpu.register_allocation_unit, 256)));
  const std::int64_t shared = launch.static_shared + launch.dynamic_shared;
  o.shared_per_block = allocated_shared(gpu, shared);
  o.limit_shared = shared_limit(gpu, shared, value_or(gpu.shared_per_sm, 49152));
  o.needs_shared_optin = shared > value_or(gpu.shared_per_block, 49152);
  o.limit_barriers =
      gpu.barriers_per_sm.known && launch.barriers > 0
          ? static_cast<int>(std::min<std::int64_t>(gpu.barriers_per_sm.as_int() / launch.barriers, o.limit_blocks))
          : kNoLimit;
  for (const arch::Sourced* limit :
       {&gpu.max_threads_per_sm, &gpu.max_blocks_per_sm, &gpu.registers_per_sm, &gpu.shared_per_sm})
    o.rests_on_defaults = o.rests_on_defaults || !limit->known;
  o.carveout_driver = preferred_carveout(gpu, o, launch.carveout_preference, shared > 0);
  o.limit_shared_driver = shared_limit(gpu, shared, o.carveout_driver);

  o.blocks_per_sm = std::min({o.limit_warps, o.limit_registers, o.limit_shared, o.limit_blocks, o.limit_barriers});
  o.impossible = why_impossible(gpu, launch, o);
  o.active_warps = o.blocks_per_sm * o.warps_per_block;
  o.percent = o.max_warps > 0 ? 100.0 * o.active_warps / o.max_warps : 0;
  const std::array<std::pair<Limit, int>, 5> limits{{{Limit::kWarps, o.limit_warps},
                                                     {Limit::kRegisters, o.limit_registers},
                                                     {Limit::kShared, o.limit_shared},
                                                     {Limit::kBlocks, o.limit_blocks},
                                                     {Limit::kBarriers, o.limit_barriers}}};
  for (const auto& [limit, blocks] : limits)
    // Barriers are at most the block limit by definition: name them only when they bind by themselves.
    if (blocks == o.blocks_per_sm && !(limit == Limit::kBarriers && blocks == o.limit_blocks))
      o.limiters.push_back(limit);
  return o;
}

std::vector<Lift> lifts(const arch::GpuSpec& gpu, const LaunchShape& launch) {
  std::vector<Lift> steps;
  const Occupancy now = occupancy(gpu, launch);
  if (launch.threads_per_block <= 0 || now.limit_warps == 0) return steps;
  const int ceiling = std::min({now.limit_warps, now.limit_blocks, now.limit_barriers});
  const std::int64_t shared = launch.static_shared + launch.dynamic_shared;
  for (int blocks = now.blocks_per_sm + 1; blocks <= ceiling; ++blocks) {
    Lift step;
    step.blocks = blocks;
    step.percent = now.max_warps > 0 ? 100.0 * blocks * now.warps_per_block / now.max_warps : 0;
    step.registers_at_most = launch.registers_per_thread;
    while (step.registers_at_most > 0 && register_limit(gpu, step.registers_at_most, now.warps_per_block) < blocks)
      --step.registers_at_most;
    step.shared_at_most = shared;
    const std::int64_t capacity = value_or(gpu.shared_per_sm, 49152);
    if (shared_limit(gpu, shared, capacity) < blocks) {
      const std::int64_t unit = std::max<std::int64_t>(1, value_or(gpu.shared_allocation_unit, 256));
      const std::int64_t most = value_or(gpu.shared_per_block_optin, value_or(gpu.shared_per_block, 49152));
      step.shared_at_most =
          std::min(capacity / blocks / unit * unit - value_or(gpu.shared_reserved_per_block, 0), most);
    }
    if (step.shared_at_most < 0 || (step.registers_at_most == 0 && launch.registers_per_thread > 0)) break;
    // A bound that brings more blocks than this step asks for is shown once, with all that it brings.
    if (!steps.empty() && steps.back().registers_at_most == step.registers_at_most &&
        steps.back().shared_at_most == step.shared_at_most)
      steps.pop_back();
    steps.push_back(step);
  }
  return steps;
}

std::vector<int> best_block_sizes(const arch::GpuSpec& gpu, const LaunchShape& launch) {
  std::vector<int> sizes;
  const int warp = static_cast<int>(std::max<std::int64_t>(1, value_or(gpu.warp_size, 32)));
  const int most = static_cast<int>(value_or(gpu.max_threads_per_block, 1024));
  int best = 1;
  for (int threads = warp; threads <= most; threads += warp) {
    LaunchShape other = launch;
    other.threads_per_block = threads;
    const int warps = occupancy(gpu, other).active_warps;
    if (warps > best) {
      best = warps;
      sizes.clear();
    }
    if (warps == best) sizes.push_back(threads);
  }
  return sizes;
}

Waves waves(const arch::GpuSpec& gpu, const Occupancy& occupancy, std::int64_t blocks) {
  Waves w;
  if (!gpu.sm_count.known || occupancy.blocks_per_sm <= 0 || blocks <= 0) return w;
  w.blocks_per_wave = gpu.sm_count.as_int() * occupancy.blocks_per_sm;
  if (w.blocks_per_wave <= 0) return w;
  w.waves = static_cast<double>(blocks) / static_cast<double>(w.blocks_per_wave);
  const std::int64_t last = (blocks - 1) % w.blocks_per_wave + 1;
  w.last_wave_fill = static_cast<double>(last) / static_cast<double>(w.blocks_per_wave);
  return w;
}

}  // namespace muscope::model
