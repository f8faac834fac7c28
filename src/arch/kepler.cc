// Kepler: compute capability 3.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_3_5() {
  GpuSpec g = compute_capability(3, 5, "Kepler GK110");
  g.max_warps_per_sm = number(64, kSimulator);
  g.max_threads_per_sm = number(2048, kSimulator);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(16, kOccupancyHeader);
  g.registers_per_sm = number(65536, kSimulator);
  g.registers_per_block = number(65536, kSimulator);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(48 * kKiB, kOccupancyHeader);
  g.shared_per_block = number(48 * kKiB, kOlderGuide);
  g.shared_per_block_optin = number(48 * kKiB, kOlderGuide);
  g.shared_reserved_per_block = number(0, kOccupancyHeader);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes = number(16 * kKiB, kSimulator,
                      "SM3_KEPLER_TITAN: 16/48 KB splits; 32/32 exists too (cuda_occupancy.h cudaOccSMemPreference)");
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kOlderGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {16 * kKiB, 32 * kKiB, 48 * kKiB};
  g.l1_note =
      "L1 serves local memory only by default; -dlcm=ca enables global on cc 3.5 boards that allow it "
      "(globalL1CacheSupported)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_3_7() {
  GpuSpec g = compute_capability(3, 7, "Kepler GK210");
  g.max_warps_per_sm = number(64, kOlderGuide);
  g.max_threads_per_sm = number(2048, kOlderGuide);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(16, kOccupancyHeader);
  g.registers_per_sm = number(131072, kOlderGuide);
  g.registers_per_block = number(65536, kOlderGuide);
  g.max_registers_per_thread = number(255, kOccupancyHeader);
  g.register_allocation_unit = number(256, kOccupancyHeader);
  g.register_subpartitions = number(4, kOccupancyHeader);
  g.shared_per_sm = number(112 * kKiB, kOlderGuide);
  g.shared_per_block = number(48 * kKiB, kOlderGuide);
  g.shared_per_block_optin = number(48 * kKiB, kOlderGuide);
  g.shared_reserved_per_block = number(0, kOccupancyHeader);
  g.shared_allocation_unit = number(256, kOccupancyHeader);
  g.l1_bytes = number(16 * kKiB, kOlderGuide);
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kOlderGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {80 * kKiB, 96 * kKiB, 112 * kKiB};
  g.l1_note = "as 3.5: L1 serves local memory only unless -dlcm=ca";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_3_0() {
  GpuSpec g = cc_3_5();
  const GpuSpec own = compute_capability(3, 0, "Kepler GK10x");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  g.max_registers_per_thread = number(63, kOlderGuide);
  g.l1_note = "L1 serves local memory only; global loads go to L2";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_3_2() {
  GpuSpec g = cc_3_5();
  const GpuSpec own = compute_capability(3, 2, "Kepler GK20A (Tegra K1)");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  g.registers_per_block = number(32768, kOlderGuide);
  g.l1_note = "L1 serves local memory only; global loads go to L2";
  describe_hierarchy(g, {});
  return g;
}

}  // namespace

void add_kepler(Catalogue& catalogue) {
  catalogue.push_back({cc_3_0(), {}, true});
  catalogue.push_back({cc_3_2(), {}, true});
  catalogue.push_back({cc_3_5(), {}, true});
  catalogue.push_back({cc_3_7(), {}, true});
}

}  // namespace muscope::arch
