// Blackwell: compute capability 10.x, 11.0 and 12.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_10_0() {
  GpuSpec g = compute_capability(10, 0, "Blackwell GB100");
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
  g.shared_per_block = number(48 * kKiB, kGuide);
  g.shared_per_block_optin = number(227 * kKiB, kGuide);
  g.shared_reserved_per_block = number(1024, kGuide);
  g.shared_allocation_unit = number(128, kOccupancyHeader);
  g.l1_bytes = number(256 * kKiB, kGuide);
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0,          8 * kKiB,   16 * kKiB,  32 * kKiB,  64 * kKiB,
                        100 * kKiB, 132 * kKiB, 164 * kKiB, 196 * kKiB, 228 * kKiB};
  g.barriers_per_sm = number(64, kOccupancyHeader);
  g.l1_note = "virtual resources 128/SM also limit blocks (cudaOccMaxVirtualResourceCountPerSM)";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_12_0() {
  GpuSpec g = compute_capability(12, 0, "Blackwell GB20x");
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
  g.l1_bytes = number(128 * kKiB, kOlderGuide,
                      "CONTESTED: the guide's text says the unified cache is '100 KB' for 12.0, its Table 27 gives a "
                      "texture working set up to 128 KB; markdewing measured 128 KiB on RTX 5090");
  g.constant_bytes = number(64 * kKiB, kGuide);
  g.constant_cache_bytes = number(8 * kKiB, kGuide);
  g.warp_size = number(32, kGuide);
  g.sector_bytes = number(32, kProfilingGuide);
  g.line_bytes = number(128, kProfilingGuide);
  g.shared_carveouts = {0, 8 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 100 * kKiB};
  g.barriers_per_sm = number(24, kOccupancyHeader);
  g.l1_note = "the guide gives 100 KB in its text and 128 KB in its table";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_10_3() {
  GpuSpec g = cc_10_0();
  const GpuSpec own = compute_capability(10, 3, "Blackwell GB300");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_11_0() {
  GpuSpec g = cc_10_0();
  const GpuSpec own = compute_capability(11, 0, "Blackwell (Thor)");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_major = own.cc_major;
  g.max_warps_per_sm = number(48, kGuide);
  g.max_threads_per_sm = number(1536, kGuide);
  g.max_blocks_per_sm = number(24, kOccupancyHeader);
  g.barriers_per_sm = number(24, kOccupancyHeader);
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_12_1() {
  GpuSpec g = cc_12_0();
  const GpuSpec own = compute_capability(12, 1, "Blackwell GB10");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  describe_hierarchy(g, {});
  return g;
}

GpuSpec b200() {
  GpuSpec g = board(cc_10_0(), "b200", "NVIDIA B200");
  g.sm_count = number(148, kB200Output);
  g.l2_bytes = number(132644864, kB200Output);
  g.memory_bandwidth_gbs = number(7700, kVerda);
  g.memory_bytes = number(191502483456.0, kB200Output);
  Timing t;
  t.l1_cycles = number(40, kMarkdewing);
  t.l2_cycles = number(295, kMarkdewing);
  t.dram_cycles = number(860, kMarkdewing);
  describe_hierarchy(g, t);
  return g;
}

}  // namespace

void add_blackwell(Catalogue& catalogue) {
  catalogue.push_back({b200(), {}, false});
  catalogue.push_back({cc_10_0(), {}, true});
  catalogue.push_back({cc_10_3(), {}, true});
  catalogue.push_back({cc_11_0(), {}, true});
  catalogue.push_back({cc_12_0(), {}, true});
  catalogue.push_back({cc_12_1(), {}, true});
}

}  // namespace muscope::arch
