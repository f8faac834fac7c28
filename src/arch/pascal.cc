// Pascal: compute capability 6.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_6_0() {
  GpuSpec g = compute_capability(6, 0, "Pascal GP100");
  g.max_warps_per_sm = number(64, kSimulator);
  g.max_threads_per_sm = number(2048, kSimulator);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kSimulator);
  g.registers_per_block = number(65536, kSimulator);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(2, kOccupancyHeader);
  g.shared_per_sm = number(64 * kKiB, kGuide5x);
  g.shared_per_block = number(48 * kKiB, kOlderGuide);
  g.shared_per_block_optin = number(48 * kKiB, kOlderGuide);
  g.shared_reserved_per_block = number(0, kOccupancyHeader);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes = number(24 * kKiB, kGuide5x);
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kOlderGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {64 * kKiB};
  g.l1_note = "2 sub-partitions; a kernel that cannot run on GP10x is refused (cuda_occupancy.h)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_6_1() {
  GpuSpec g = compute_capability(6, 1, "Pascal GP10x");
  g.max_warps_per_sm = number(64, kMt4g);
  g.max_threads_per_sm = number(2048, kMt4g);
  g.max_threads_per_block = number(1024, kMt4g);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kMt4g);
  g.registers_per_block = number(65536, kMt4g);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(96 * kKiB, kGuide5x);
  g.shared_per_block = number(48 * kKiB, kMt4g);
  g.shared_per_block_optin = number(48 * kKiB, kMt4g);
  g.shared_reserved_per_block = number(0, kMt4g);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes = number(48 * kKiB, kGuide5x, "mt4g measures 24 KB per half (2 per SM) on Quadro P6000");
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kMt4g);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {96 * kKiB};
  g.l1_note = "two 24 KB L1/tex halves per SM (mt4g)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_6_2() {
  GpuSpec g = cc_6_1();
  const GpuSpec own = compute_capability(6, 2, "Pascal GP10B (Tegra X2)");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  g.registers_per_block = number(32768, kOlderGuide);
  g.shared_per_sm = number(64 * kKiB, kOlderGuide);
  g.shared_carveouts = {64 * kKiB};
  describe_hierarchy(g, {});
  return g;
}

GpuSpec mx150() {
  GpuSpec g = board(cc_6_1(), "mx150", "NVIDIA GeForce MX150");
  g.sm_count = number(3, kDeviceQuery);
  g.clock_mhz = number(1532, kDeviceQuery);
  g.l2_bytes = number(524288, kDeviceQuery);
  g.memory_clock_mhz = number(3004, kDeviceQuery);
  g.memory_bus_bits = number(64, kDeviceQuery);
  g.memory_bandwidth_gbs = number(48.1, kFromClocks);
  g.memory_bytes = number(2099904512, kDeviceQuery);
  Timing t;
  describe_hierarchy(g, t);
  return g;
}

GpuSpec gtx1080ti() {
  GpuSpec g = board(cc_6_1(), "gtx1080ti", "NVIDIA GeForce GTX 1080 Ti");
  g.sm_count = number(28, kDeviceQuery);
  g.clock_mhz = number(1582, kDeviceQuery, "boards differ: 1582, 1607, 1671");
  g.l2_bytes = number(2883584, kDeviceQuery);
  g.memory_clock_mhz = number(5505, kDeviceQuery);
  g.memory_bus_bits = number(352, kDeviceQuery);
  g.memory_bandwidth_gbs = number(484.4, kFromClocks);
  g.memory_bytes = number(11706630144, kDeviceQuery);
  Timing t;
  describe_hierarchy(g, t);
  return g;
}

}  // namespace

void add_pascal(Catalogue& catalogue) {
  catalogue.push_back({mx150(), {"geforcemx150"}, false});
  catalogue.push_back({gtx1080ti(), {"1080ti", "geforcegtx1080ti"}, false});
  catalogue.push_back({cc_6_0(), {}, true});
  catalogue.push_back({cc_6_1(), {}, true});
  catalogue.push_back({cc_6_2(), {}, true});
}

}  // namespace muscope::arch
