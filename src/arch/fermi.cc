// Fermi: compute capability 2.x.
#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec cc_2_0() {
  GpuSpec g = compute_capability(2, 0, "Fermi GF100");
  g.max_warps_per_sm = number(48, kOlderGuide);
  g.max_threads_per_sm = number(1536, kOlderGuide);
  g.max_threads_per_block = number(1024, kOlderGuide);
  g.max_blocks_per_sm = number(8, kOlderGuide);
  g.registers_per_sm = number(32768, kOlderGuide);
  g.registers_per_block = number(32768, kOlderGuide);
  g.max_registers_per_thread = number(63, kOlderGuide);
  g.register_allocation_unit = number(64, kOlderGuide);
  g.register_subpartitions = number(2, kOlderGuide);
  g.shared_per_sm = number(48 * kKiB, kOlderGuide);
  g.shared_per_block = number(48 * kKiB, kOlderGuide);
  g.shared_per_block_optin = number(48 * kKiB, kOlderGuide);
  g.shared_reserved_per_block = number(0, kOlderGuide);
  g.shared_allocation_unit = number(128, kOlderGuide);
  g.constant_bytes = number(64 * kKiB, kOlderGuide);
  g.constant_cache_bytes = number(8 * kKiB, kOlderGuide);
  g.warp_size = number(32, kOlderGuide);
  g.l1_bytes = number(16 * kKiB, kOlderGuide, "48 KB with 16 KB of shared memory (cudaFuncSetCacheConfig)");
  g.sector_bytes = number(32, kOlderGuide, "L2 segment");
  g.line_bytes = number(128, kOlderGuide);
  g.shared_carveouts = {16 * kKiB, 48 * kKiB};
  g.l1_note = "L1 caches global and local memory in 128-byte lines; -dlcm=cg turns it off for global loads";
  describe_hierarchy(g, {});
  return g;
}

GpuSpec cc_2_1() {
  GpuSpec g = cc_2_0();
  const GpuSpec own = compute_capability(2, 1, "Fermi GF10x");
  g.name = own.name;
  g.full_name = own.full_name;
  g.architecture = own.architecture;
  g.cc_minor = own.cc_minor;
  describe_hierarchy(g, {});
  return g;
}

}  // namespace

void add_fermi(Catalogue& catalogue) {
  catalogue.push_back({cc_2_0(), {}, true});
  catalogue.push_back({cc_2_1(), {}, true});
}

}  // namespace muscope::arch
