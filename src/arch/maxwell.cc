// Maxwell: compute capability 5.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_5_0() {
  GpuSpec g = compute_capability(5, 0, "Maxwell GM10x");
  g.max_warps_per_sm = number(64, kSimulator);
  g.max_threads_per_sm = number(2048, kSimulator);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kSimulator);
  g.registers_per_block = number(65536, kSimulator);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
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
  g.l1_note = "24 KB unified L1/texture; global cached only via __ldg/nc";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_5_2() {
  GpuSpec g = compute_capability(5, 2, "Maxwell GM20x");
  g.max_warps_per_sm = number(64, kOlderGuide);
  g.max_threads_per_sm = number(2048, kOlderGuide);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(32, kOccupancyHeader);
  g.registers_per_sm = number(65536, kOlderGuide);
  g.registers_per_block = number(65536, kOlderGuide);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(96 * kKiB, kGuide5x);
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
  g.shared_carveouts = {96 * kKiB};
  g.l1_note =
      "global L1 caching opt-in (-dlcm=ca / PTX modifier); partitioned global caching affects occupancy "
      "(cudaOccPartitionedGC*)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_5_3() {
  GpuSpec g = cc_5_2();
  const GpuSpec own = compute_capability(5, 3, "Maxwell GM20B (Tegra X1)");
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

}  // namespace

void add_maxwell(Catalogue& catalogue) {
  catalogue.push_back({cc_5_0(), {}, true});
  catalogue.push_back({cc_5_2(), {}, true});
  catalogue.push_back({cc_5_3(), {}, true});
}

}  // namespace muscope::arch
