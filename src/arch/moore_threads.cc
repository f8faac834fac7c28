// Moore Threads GPUs. Little is published: a warp has 128 lanes before mp_31; how accesses coalesce, how many warps an
// MP holds and the caches' sizes are not known. Banks are taken as 32 of 4 bytes, sectors as on NVIDIA GPUs: every
// count that rests on them is an estimate.
#include <utility>

#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GpuSpec profile(int generation, std::string name, std::string full_name, std::string architecture, int warp) {
  GpuSpec g;
  g.cc_major = 0;  // not an NVIDIA compute capability
  g.cc_minor = generation;
  g.name = std::move(name);
  g.full_name = std::move(full_name);
  g.architecture = std::move(architecture);
  g.warp_size = number(warp, kMusaCode);
  g.max_threads_per_block = number(1024, kMusaCode);
  g.global.confidence = Confidence::kAssumed;
  g.global.source = "not published; counted as 32-byte sectors";
  g.shared.source = "not published; taken as 32 banks of 4 bytes";
  g.l1_note = "caches and coalescing are not published";
  return g;
}

GpuSpec mp_21() {
  GpuSpec g = profile(21, "musa-mp21", "Moore Threads MTT S80, S70, S3000", "MUSA mp_21 (QY1)", 128);
  g.shared_per_block = number(28 * kKiB, kMusaCode);
  g.registers_per_block = number(262144, kMusaCode, "device properties of an MTT S70");
  g.memory_bandwidth_gbs = number(448, kMoorePress, "S80 and S3000");
  describe_hierarchy(g, {});
  return g;
}

GpuSpec mp_22() {
  GpuSpec g = profile(22, "musa-mp22", "Moore Threads MTT S4000", "MUSA mp_22 (QY2)", 128);
  g.shared_per_block = number(28 * kKiB, kMusaCode);
  g.shared_per_block_optin = number(72 * kKiB, kMusaCode);
  g.memory_bandwidth_gbs = number(768, kMoorePress);
  g.memory_bytes = number(48.0 * 1024 * 1024 * 1024, kMoorePress, "nominal");
  g.memory_bus_bits = number(384, kMoorePress);
  describe_hierarchy(g, {});
  return g;
}

GpuSpec mp_31() {
  GpuSpec g = profile(31, "musa-mp31", "Moore Threads MTT S5000", "MUSA mp_31 (PH1)", 32);
  g.sm_count = number(56, kMusaCode);
  g.shared_per_block = number(192 * kKiB, kMusaCode);
  g.l2_bytes = number(60.0 * 1024 * 1024, kMoorePress, "last-level cache");
  g.memory_bandwidth_gbs = number(1600, kMoorePress);
  g.memory_bytes = number(80.0 * 1024 * 1024 * 1024, kMoorePress, "nominal");
  describe_hierarchy(g, {});
  return g;
}

}  // namespace

void add_moore_threads(Catalogue& catalogue) {
  catalogue.push_back({mp_21(), {"mp_21", "mp21", "s80", "mtt-s80"}, false});
  catalogue.push_back({mp_22(), {"mp_22", "mp22", "s4000", "mtt-s4000"}, false});
  catalogue.push_back({mp_31(), {"mp_31", "mp31", "s5000", "mtt-s5000"}, false});
}

}  // namespace muscope::arch
