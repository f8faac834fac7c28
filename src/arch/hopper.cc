// Hopper: compute capability 9.0.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_9_0() {
  GpuSpec g = compute_capability(9, 0, "Hopper GH100");
  g.max_warps_per_sm = number(64, kGuide);
  g.max_threads_per_sm = number(2048, kGuide);
  g.max_threads_per_block = number(1024, kGuide);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kGuide);
  g.registers_per_block = number(65536, kGuide);
  g.max_registers_per_thread = number(255, kGuide);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(228 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kMt4g);
  g.shared_per_block_optin = number(227 * kKiB, kGuide);
  g.shared_reserved_per_block = number(1024, kGuide);
  g.shared_allocation_unit = number(128, kOccupancyHeader);
  g.l1_bytes = number(256 * kKiB, kGuide, "256 KB minus carve-out; mt4g 238848 B; 28 KB left at 228");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0,          8 * kKiB,   16 * kKiB,  32 * kKiB,  64 * kKiB,
                        100 * kKiB, 132 * kKiB, 164 * kKiB, 196 * kKiB, 228 * kKiB};
  g.barriers_per_sm = number(64, kOccupancyHeader);
  g.l1_note = "128 B per cycle and SM (gpu-benches)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec h100() {
  GpuSpec g = board(cc_9_0(), "h100", "NVIDIA H100 SXM5 80GB HBM3");
  g.sm_count = number(132, kMt4g);
  g.clock_mhz = number(1980, kMt4g);
  g.l2_bytes = number(52428800, kMt4g, "two halves of 25 MB");
  g.memory_clock_mhz = number(2619, kMt4g);
  g.memory_bus_bits = number(5120, kMt4g);
  g.memory_bandwidth_gbs = number(3352.3, kFromClocks);
  g.memory_bytes = number(85176483840, kMt4g);
  Timing t;
  t.l1_cycles = number(36, kMt4g, "H100: 34 to 38");
  t.shared_cycles = number(30, kMt4g, "H100");
  t.texture_cycles = number(40, kMt4g, "H100: 39 to 42");
  t.constant_cycles = number(19, kMt4g, "H100: 17 to 21; 105 in the second level");
  t.l2_cycles = number(240, kGpuBenches, "H100: 220 to 260 in the near half, about 275 at 24 MB");
  t.dram_cycles = number(834, kMt4g, "mean");
  t.l1_gbs = per_sm_bandwidth(g, 128);
  t.shared_gbs = per_sm_bandwidth(g, 128);
  describe_hierarchy(g, t);
  return g;
}

GpuSpec h100_pcie() {
  GpuSpec g = board(cc_9_0(), "h100-pcie", "NVIDIA H100 PCIe 80GB");
  g.sm_count = number(114, kChipsAndCheese);
  g.clock_mhz = number(1755, kChipsAndCheese);
  g.l2_bytes = number(52428800, kChipsAndCheese);
  g.memory_clock_mhz = number(1593, kChipsAndCheese);
  g.memory_bus_bits = number(5120, kChipsAndCheese, "ten controllers of 512 bits");
  g.memory_bandwidth_gbs = number(2039.0, kFromClocks, "read stream measured at 1942 GB/s (gpu-benches)");
  g.memory_bytes = number(80000000000, kSpecsList, "nominal");
  Timing t;
  t.l1_cycles = number(36, kMt4g, "H100: 34 to 38");
  t.shared_cycles = number(30, kMt4g, "H100");
  t.texture_cycles = number(40, kMt4g, "H100: 39 to 42");
  t.constant_cycles = number(19, kMt4g, "H100: 17 to 21; 105 in the second level");
  t.l2_cycles = number(240, kGpuBenches, "H100: 220 to 260 in the near half, about 275 at 24 MB");
  t.dram_cycles = number(642, kGpuBenches, "626 to 658");
  t.l1_gbs = number(25200, kGpuBenches, "128 bytes per cycle and SM: 25.6 TB/s");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(7150, kGpuBenches, "6.9 to 7.4 TB/s");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec h200() {
  GpuSpec g = board(cc_9_0(), "h200", "NVIDIA H200");
  g.sm_count = number(132, kMeasuredH200);
  g.clock_mhz = number(1980, kMeasuredH200);
  g.l2_bytes = number(62914560, kCardH200);
  g.memory_clock_mhz = number(3201, kMeasuredH200);
  g.memory_bus_bits = number(6016, kCardH200, "3201 MHz x 2 x 6016 / 8 = 4814 GB/s");
  g.memory_bandwidth_gbs = number(4800.0, kH200Datasheet, "copy measured at 4300 GB/s, read and write together");
  g.memory_bytes = number(150109880320.0, kCardH200);
  Timing t;
  // By muscope lab: data/results/h200/lab.
  t.l1_cycles = number(32, kMeasuredH200, "dependent loads, up to 192 KiB (muscope lab)");
  t.shared_cycles = number(23, kMeasuredH200, "dependent loads (muscope lab)");
  t.texture_cycles = number(88, kMeasuredH200, "dependent texel fetches of linear memory (muscope lab)");
  t.cluster_cycles = number(200, kMeasuredH200, "clusters of 4 to 16: 190 to 211 (muscope lab)");
  t.cluster_gbs = number(3000, kMeasuredH200, "clusters of 4 to 16; 4,200 in pairs (muscope lab)");
  t.peer_cycles = number(1680, kMeasuredH200, "dependent loads of an H200's memory beside it (muscope lab)");
  t.peer_gbs = number(393, kMeasuredH200, "18 NVLinks, copy engine; 762 both ways at once (muscope lab)");
  t.host_cycles = number(2300, kMeasuredH200, "dependent loads of pinned memory (muscope lab)");
  t.host_gbs = number(55, kMeasuredH200, "copy engine, either way; 101 both ways at once (muscope lab)");
  t.constant_cycles = number(28, kMeasuredH200, "up to 2 KiB; 98 in the second level (muscope lab)");
  t.l2_cycles = number(281, kMeasuredH200, "up to 24 MiB; 266 near, 308 in the far half (muscope lab)");
  t.dram_cycles =
      number(655, kMeasuredH200, "dependent loads of 1 GiB, 681 on another card; 560 at 128 MiB (muscope lab)");
  t.l1_gbs = per_sm_bandwidth(g, 128);
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(9500, kMeasuredH200, "16 MiB read again and again; 8,700 at 48 MiB (muscope lab)");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec gh200() {
  GpuSpec g = board(cc_9_0(), "gh200", "NVIDIA GH200 96GB");
  g.sm_count = number(132, kGpuBenches);
  g.clock_mhz = number(1980, kGpuBenches);
  g.l2_bytes = number(62914560, kGpuBenches);
  g.memory_bandwidth_gbs =
      number(3888, kGpuBenches, "measured read plateau; the results file is named h200 but is a GH200");
  Timing t;
  t.l1_cycles = elsewhere(36, kMt4g, "H100: 34 to 38");
  t.shared_cycles = elsewhere(30, kMt4g, "H100");
  t.texture_cycles = elsewhere(40, kMt4g, "H100: 39 to 42");
  t.constant_cycles = elsewhere(19, kMt4g, "H100: 17 to 21; 105 in the second level");
  t.l2_cycles = elsewhere(240, kGpuBenches, "H100: 220 to 260 in the near half, about 275 at 24 MB");
  t.dram_cycles = number(690, kGpuBenches);
  t.l1_gbs = per_sm_bandwidth(g, 128);
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(10000, kGpuBenches, "9.7 to 10.3 TB/s");
  describe_hierarchy(g, t);
  return g;
}

}  // namespace

void add_hopper(Catalogue& catalogue) {
  catalogue.push_back({h100(), {"h100-sxm", "h100-sxm5"}, false});
  catalogue.push_back({h100_pcie(), {}, false});
  catalogue.push_back({gh200(), {"grace-hopper"}, false});
  catalogue.push_back({h200(), {"h200-sxm", "nvidia-h200"}, false});
  catalogue.push_back({cc_9_0(), {}, true});
}

}  // namespace muscope::arch
