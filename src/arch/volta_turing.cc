// Volta and Turing: compute capability 7.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_7_0() {
  GpuSpec g = compute_capability(7, 0, "Volta GV100");
  g.max_warps_per_sm = number(64, kMt4g);
  g.max_threads_per_sm = number(2048, kMt4g);
  g.max_threads_per_block = number(1024, kMt4g);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kMt4g);
  g.registers_per_block = number(65536, kMt4g);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(96 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kMt4g);
  g.shared_per_block_optin = number(96 * kKiB, kGuide);
  g.shared_reserved_per_block = number(0, kMt4g);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes =
      number(128 * kKiB, kGuide, "128 KB minus the shared carve-out; mt4g measures 117760 B, gpu-benches 128 KB knee");
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kMt4g);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 96 * kKiB};
  g.l1_note = "4 L1 banks/sets in Accel-Sim (S:4:128:64)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_7_5() {
  GpuSpec g = compute_capability(7, 5, "Turing TU10x");
  g.max_warps_per_sm = number(32, kGuide);
  g.max_threads_per_sm = number(1024, kGuide);
  g.max_threads_per_block = number(1024, kGuide);
  g.max_blocks_per_sm = number(16, kOccupancyHeader);
  g.registers_per_sm = number(65536, kGuide);
  g.registers_per_block = number(65536, kGuide);
  g.max_registers_per_thread = number(255, kGuide);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(64 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kMt4g);
  g.shared_per_block_optin = number(64 * kKiB, kGuide);
  g.shared_reserved_per_block = number(0, kMt4g);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes = number(64 * kKiB, kGuide, "96 KB minus 32/64");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {32 * kKiB, 64 * kKiB};
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_7_2() {
  GpuSpec g = cc_7_0();
  const GpuSpec own = compute_capability(7, 2, "Volta GV11B (Xavier)");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  describe_hierarchy(g, {});
  return g;
}

GpuSpec v100() {
  GpuSpec g = board(cc_7_0(), "v100", "NVIDIA Tesla V100-PCIE-16GB");
  g.sm_count = number(80, kMt4g);
  g.clock_mhz = number(1380, kMt4g);
  g.l2_bytes = number(6291456, kMt4g);
  g.memory_clock_mhz = number(877, kMt4g);
  g.memory_bus_bits = number(4096, kMt4g);
  g.memory_bandwidth_gbs = number(898.0, kFromClocks, "read stream measured at 866 GB/s (gpu-benches)");
  g.memory_bytes = number(16928342016, kMt4g);
  Timing t;
  t.l1_cycles = number(30, kGpuBenches);
  t.shared_cycles = number(23, kGpuBenches);
  t.texture_cycles = number(66, kMt4g, "65 to 68");
  t.constant_cycles = number(40, kMt4g, "113 in the second level");
  t.l2_cycles = number(215, kGpuBenches);
  t.dram_cycles = number(431, kGpuBenches, "425 to 437");
  t.l1_gbs = number(13900, kGpuBenches, "128 bytes per cycle and SM: 14.1 TB/s");
  t.shared_gbs = per_sm_bandwidth(g, 128);
  t.l2_gbs = number(2450, kGpuBenches);
  describe_hierarchy(g, t);
  return g;
}

GpuSpec t4() {
  GpuSpec g = board(cc_7_5(), "t4", "NVIDIA Tesla T4");
  g.sm_count = number(40, kDeviceQuery);
  g.clock_mhz = number(1590, kDeviceQuery);
  g.l2_bytes = number(4194304, kDeviceQuery);
  g.memory_clock_mhz = number(5001, kDeviceQuery);
  g.memory_bus_bits = number(256, kDeviceQuery);
  g.memory_bandwidth_gbs = number(320.1, kFromClocks, "some lists say 300 GB/s");
  g.memory_bytes = number(15843721216, kDeviceQuery);
  Timing t;
  describe_hierarchy(g, t);
  return g;
}

}  // namespace

void add_volta_turing(Catalogue& catalogue) {
  catalogue.push_back({v100(), {"v100-pcie", "tesla-v100", "teslav100"}, false});
  catalogue.push_back({t4(), {"tesla-t4", "teslat4"}, false});
  catalogue.push_back({cc_7_0(), {}, true});
  catalogue.push_back({cc_7_2(), {}, true});
  catalogue.push_back({cc_7_5(), {}, true});
}

}  // namespace muscope::arch
