// Ampere and Ada: compute capability 8.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_8_0() {
  GpuSpec g = compute_capability(8, 0, "Ampere GA100");
  g.max_warps_per_sm = number(64, kGuide);
  g.max_threads_per_sm = number(2048, kGuide);
  g.max_threads_per_block = number(1024, kGuide);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kGuide);
  g.registers_per_block = number(65536, kGuide);
  g.max_registers_per_thread = number(255, kGuide);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(164 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kMt4g);
  g.shared_per_block_optin = number(163 * kKiB, kGuide);
  g.shared_reserved_per_block = number(1024, kGuide);
  g.shared_allocation_unit = number(128, kOccupancyHeader);
  g.l1_bytes = number(192 * kKiB, kGuide, "192 KB minus carve-out; mt4g 176128 B");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB, 132 * kKiB, 164 * kKiB};
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_8_6() {
  GpuSpec g = compute_capability(8, 6, "Ampere GA10x");
  g.max_warps_per_sm = number(48, kGuide);
  g.max_threads_per_sm = number(1536, kGuide);
  g.max_threads_per_block = number(1024, kGuide);
  g.max_blocks_per_sm = number(16, kOccupancyHeader);
  g.registers_per_sm = number(65536, kGuide);
  g.registers_per_block = number(65536, kGuide);
  g.max_registers_per_thread = number(255, kGuide);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(100 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kGuide);
  g.shared_per_block_optin = number(99 * kKiB, kGuide);
  g.shared_reserved_per_block = number(1024, kGuide);
  g.shared_allocation_unit = number(128, kOccupancyHeader);
  g.l1_bytes = number(128 * kKiB, kGuide, "128 KB minus carve-out");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB};
  g.l1_note = "64 B per cycle and SM (gpu-benches A40 9.35 TB/s = 64 B x 84 x 1.74 GHz) (gpu-benches)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_8_9() {
  GpuSpec g = compute_capability(8, 9, "Ada AD10x");
  g.max_warps_per_sm = number(48, kGuide);
  g.max_threads_per_sm = number(1536, kGuide);
  g.max_threads_per_block = number(1024, kGuide);
  g.max_blocks_per_sm = number(24, kOccupancyHeader);
  g.registers_per_sm = number(65536, kGuide);
  g.registers_per_block = number(65536, kGuide);
  g.max_registers_per_thread = number(255, kGuide);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(100 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kGuide);
  g.shared_per_block_optin = number(99 * kKiB, kGuide);
  g.shared_reserved_per_block = number(1024, kGuide);
  g.shared_allocation_unit = number(128, kOccupancyHeader);
  g.l1_bytes = number(128 * kKiB, kGuide, "128 KB minus carve-out");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB};
  g.l1_note = "64 B per cycle and SM (gpu-benches L40 22.6 TB/s = 64 B x 142 x 2.49 GHz) (gpu-benches)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_8_7() {
  GpuSpec g = cc_8_0();
  const GpuSpec own = compute_capability(8, 7, "Ampere GA10B (Orin)");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  g.max_warps_per_sm = number(48, kGuide);
  g.max_threads_per_sm = number(1536, kGuide);
  g.max_blocks_per_sm = number(16, kOccupancyHeader);
  describe_hierarchy(g, {});
  return g;
}

GpuSpec a100_40() {
  GpuSpec g = board(cc_8_0(), "a100-40", "NVIDIA A100-PCIE-40GB");
  g.sm_count = number(108, kDeviceQuery);
  g.clock_mhz = number(1410, kDeviceQuery);
  g.l2_bytes = number(41943040, kDeviceQuery);
  g.memory_clock_mhz = number(1215, kDeviceQuery);
  g.memory_bus_bits = number(5120, kDeviceQuery);
  g.memory_bandwidth_gbs = number(1555.2, kFromClocks, "read stream measured at 1490 GB/s (gpu-benches, SXM4)");
  g.memory_bytes = number(42331013120, kDeviceQuery);
  Timing t;
  t.l1_cycles = number(36, kGpuBenches, "68 in another build (mt4g)");
  t.shared_cycles = number(23, kMarkdewing, "19 for stores; 60 by mt4g");
  t.texture_cycles = number(39, kMt4g);
  t.constant_cycles = number(75, kMt4g, "121 in the second level");
  t.l2_cycles = number(207, kGpuBenches, "near half; 283 and more beyond 20 MB");
  t.dram_cycles = number(570, kGpuBenches);
  t.l1_gbs = number(19200, kGpuBenches, "128 bytes per cycle and SM: 19.5 TB/s");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(5400, kGpuBenches, "up to 28 MB");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec a100_80() {
  GpuSpec g = board(cc_8_0(), "a100-80", "NVIDIA A100-SXM4-80GB");
  g.sm_count = number(108, kDeviceQuery);
  g.clock_mhz = number(1410, kDeviceQuery);
  g.l2_bytes = number(41943040, kDeviceQuery);
  g.memory_clock_mhz = number(1593, kDeviceQuery);
  g.memory_bus_bits = number(5120, kDeviceQuery);
  g.memory_bandwidth_gbs = number(2039.0, kFromClocks, "read stream measured at 1769 GB/s (gpu-benches)");
  g.memory_bytes = number(85100068864, kDeviceQuery);
  Timing t;
  t.l1_cycles = number(36, kGpuBenches, "68 in another build (mt4g)");
  t.shared_cycles = number(23, kMarkdewing, "19 for stores; 60 by mt4g");
  t.texture_cycles = number(39, kMt4g);
  t.constant_cycles = number(75, kMt4g, "121 in the second level");
  t.l2_cycles = number(207, kGpuBenches, "near half; 283 and more beyond 20 MB");
  t.dram_cycles = number(570, kGpuBenches);
  t.l1_gbs = number(19200, kGpuBenches, "128 bytes per cycle and SM: 19.5 TB/s");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(5400, kGpuBenches, "up to 28 MB");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec a100_80_pcie() {
  GpuSpec g = board(cc_8_0(), "a100-80-pcie", "NVIDIA A100 80GB PCIe");
  g.sm_count = number(108, kDeviceQuery);
  g.clock_mhz = number(1410, kDeviceQuery);
  g.l2_bytes = number(41943040, kDeviceQuery);
  g.memory_clock_mhz = number(1512, kDeviceQuery);
  g.memory_bus_bits = number(5120, kDeviceQuery);
  g.memory_bandwidth_gbs = number(1935.4, kFromClocks);
  g.memory_bytes = number(84974239744, kDeviceQuery);
  Timing t;
  t.l1_cycles = number(36, kGpuBenches, "68 in another build (mt4g)");
  t.shared_cycles = number(23, kMarkdewing, "19 for stores; 60 by mt4g");
  t.texture_cycles = number(39, kMt4g);
  t.constant_cycles = number(75, kMt4g, "121 in the second level");
  t.l2_cycles = number(207, kGpuBenches, "near half; 283 and more beyond 20 MB");
  t.dram_cycles = number(570, kGpuBenches);
  t.l1_gbs = number(19200, kGpuBenches, "128 bytes per cycle and SM: 19.5 TB/s");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(5400, kGpuBenches, "up to 28 MB");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec rtx3090() {
  GpuSpec g = board(cc_8_6(), "rtx3090", "NVIDIA GeForce RTX 3090");
  g.sm_count = number(82, kDeviceQuery);
  g.clock_mhz = number(1695, kDeviceQuery, "Founders Edition; another board: 1725");
  g.l2_bytes = number(6291456, kDeviceQuery);
  g.memory_clock_mhz = number(9751, kDeviceQuery);
  g.memory_bus_bits = number(384, kDeviceQuery);
  g.memory_bandwidth_gbs = number(936.1, kFromClocks);
  g.memory_bytes = number(25443893248, kDeviceQuery);
  Timing t;
  t.l1_cycles = elsewhere(33, kMarkdewing, "on an RTX 3060");
  t.shared_cycles = elsewhere(23, kMarkdewing, "on an RTX 3060");
  t.constant_cycles = elsewhere(14, kMarkdewing, "on an RTX 3070; miss 78");
  t.l2_cycles = elsewhere(219, kMarkdewing, "on an RTX 3060");
  t.dram_cycles = elsewhere(500, kMarkdewing, "475 to 530 on an RTX 3060");
  t.l1_gbs = per_sm_bandwidth(g, 64);
  t.shared_gbs = per_sm_bandwidth(g, 128);
  describe_hierarchy(g, t);
  return g;
}

GpuSpec rtx4090() {
  GpuSpec g = board(cc_8_9(), "rtx4090", "NVIDIA GeForce RTX 4090");
  g.sm_count = number(128, kDeviceQuery);
  g.clock_mhz = number(2520, kDeviceQuery);
  g.l2_bytes = number(75497472, kDeviceQuery);
  g.memory_clock_mhz = number(10501, kDeviceQuery);
  g.memory_bus_bits = number(384, kDeviceQuery);
  g.memory_bandwidth_gbs = number(1008.1, kFromClocks);
  g.memory_bytes = number(25250627584, kDeviceQuery);
  Timing t;
  t.l1_cycles = number(40, kMarkdewing);
  t.l2_cycles = number(296, kMarkdewing);
  t.dram_cycles = number(636, kMarkdewing);
  t.l1_gbs = per_sm_bandwidth(g, 64);
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(2580, kGpuBenches, "1024 bytes per cycle seen in practice");
  describe_hierarchy(g, t);
  return g;
}

GpuSpec l40s() {
  GpuSpec g = board(cc_8_9(), "l40s", "NVIDIA L40S");
  g.sm_count = number(142, kDeviceQuery);
  g.clock_mhz = number(2520, kDeviceQuery);
  g.l2_bytes = number(100663296, kDeviceQuery);
  g.memory_clock_mhz = number(9001, kDeviceQuery);
  g.memory_bus_bits = number(384, kDeviceQuery);
  g.memory_bandwidth_gbs = number(864.1, kFromClocks, "read stream measured at 844 GB/s on an L40 (gpu-benches)");
  g.memory_bytes = number(47576711168, kDeviceQuery);
  Timing t;
  t.l1_cycles = elsewhere(36, kGpuBenches, "on an L40");
  t.l2_cycles = elsewhere(277, kGpuBenches, "on an L40; 222 to 339 by SM");
  t.dram_cycles = elsewhere(631, kGpuBenches, "on an L40");
  t.l1_gbs = elsewhere(22600, kGpuBenches, "on an L40: 64 bytes per cycle and SM");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = elsewhere(5200, kGpuBenches, "on an L40, to 92 MB");
  describe_hierarchy(g, t);
  return g;
}

}  // namespace

void add_ampere_ada(Catalogue& catalogue) {
  catalogue.push_back({a100_40(), {"a100-40gb", "a100-pcie-40gb"}, false});
  catalogue.push_back({a100_80(), {"a100", "a100-80gb", "a100-sxm", "a100-sxm4-80gb"}, false});
  catalogue.push_back({a100_80_pcie(), {"a100-pcie", "a100-pcie-80gb"}, false});
  catalogue.push_back({rtx3090(), {"3090", "geforcertx3090"}, false});
  catalogue.push_back({rtx4090(), {"4090", "geforcertx4090"}, false});
  catalogue.push_back({l40s(), {"l40"}, false});
  catalogue.push_back({cc_8_0(), {}, true});
  catalogue.push_back({cc_8_6(), {}, true});
  catalogue.push_back({cc_8_7(), {}, true});
  catalogue.push_back({cc_8_9(), {}, true});
}

}  // namespace muscope::arch
