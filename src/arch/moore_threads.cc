// Moore Threads GPUs. Little is published: a warp has 128 lanes before mp_31; how accesses coalesce, how many warps an
// MP holds and the caches' sizes are not known. Banks are taken as 32 of 4 bytes, sectors as on NVIDIA GPUs: every
// count that rests on them is an estimate.
#include <utility>

#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMiB = 1024.0 * 1024;

constexpr Citation kPrintedS70{Confidence::kMeasured, "device properties printed on an MTT S70 (musa_practice)"};
constexpr Citation kSharedS70{Confidence::kMeasured, "MTT S70 (musa_practice; llama.cpp issue 26141)"};
constexpr Citation kLogS80{Confidence::kMeasured, "ggml's list of devices on an MTT S80"};
constexpr Citation kTakenByCode{Confidence::kAssumed, "taken for granted by public MUSA code (torch_musa)"};
constexpr Citation kFromCores{Confidence::kAssumed, "computed: 4096 cores of press pages / 128 lanes"};

/// What every card of a generation has.
GpuSpec generation(int number_of_arch, std::string architecture, int warp) {
  GpuSpec g;
  g.cc_major = 0;  // not an NVIDIA compute capability
  g.cc_minor = number_of_arch;
  g.architecture = std::move(architecture);
  g.warp_size = number(warp, kMusaCode);
  g.max_threads_per_block = number(1024, kTakenByCode);
  g.global.confidence = Confidence::kAssumed;
  g.global.source = "not published; counted as 32-byte sectors";
  g.shared.source = "not published; taken as 32 banks of 4 bytes";
  g.l1_note = "caches and coalescing are not published";
  return g;
}

GpuSpec mp_21() {
  GpuSpec g = generation(21, "MUSA mp_21 (QY1)", 128);
  g.shared_per_block = elsewhere(28 * kKiB, kSharedS70, "measured on an S70, which has this architecture");
  g.registers_per_block = elsewhere(262144, kPrintedS70, "printed on an S70, which has this architecture");
  return g;
}

GpuSpec finished(GpuSpec g, std::string name, std::string full_name) {
  g.name = std::move(name);
  g.full_name = "Moore Threads MTT " + std::move(full_name);
  describe_hierarchy(g, {});
  return g;
}

GpuSpec s80() {
  GpuSpec g = mp_21();
  g.sm_count = number(32, kFromCores);
  g.clock_mhz = number(1800, kMoorePress);
  g.memory_bytes = number(16297 * kMiB, kLogS80, "of 16 GiB, what programs see");
  g.memory_bandwidth_gbs = number(448, kMoorePress);
  g.memory_bus_bits = number(256, kMoorePress);
  g.memory_clock_mhz = number(7000, kMoorePress, "GDDR6, 14 GT/s");
  return finished(std::move(g), "s80", "S80");
}

GpuSpec s70() {
  GpuSpec g = mp_21();
  g.shared_per_block = number(28 * kKiB, kSharedS70);
  g.registers_per_block = number(262144, kPrintedS70);
  g.memory_bytes = number(7083 * kMiB, kPrintedS70, "what programs see");
  return finished(std::move(g), "s70", "S70");
}

GpuSpec s3000() {
  GpuSpec g = mp_21();
  g.sm_count = number(32, kFromCores);
  g.clock_mhz = number(1900, kMoorePress);
  g.memory_bytes = number(32 * kGiB, kMoorePress, "nominal");
  g.memory_bandwidth_gbs = number(448, kMoorePress);
  return finished(std::move(g), "s3000", "S3000");
}

GpuSpec s4000() {
  GpuSpec g = generation(22, "MUSA mp_22 (QY2)", 128);
  g.shared_per_block = number(28 * kKiB, kMusaCode);
  g.shared_per_block_optin = number(72 * kKiB, kMusaCode);
  g.memory_bandwidth_gbs = number(768, kMoorePress);
  g.memory_bytes = number(48 * kGiB, kMoorePress, "nominal");
  g.memory_bus_bits = number(384, kMoorePress);
  return finished(std::move(g), "s4000", "S4000");
}

GpuSpec s5000() {
  GpuSpec g = generation(31, "MUSA mp_31 (PH1)", 32);
  g.sm_count = number(56, kMusaCode);
  g.shared_per_block = number(192 * kKiB, kMusaCode);
  g.l2_bytes = number(60 * kMiB, kMoorePress, "last-level cache");
  g.memory_bandwidth_gbs = number(1600, kMoorePress);
  g.memory_bytes = number(80 * kGiB, kMoorePress, "nominal");
  return finished(std::move(g), "s5000", "S5000");
}

}  // namespace

void add_moore_threads(Catalogue& catalogue) {
  // The name of a generation means its first card.
  catalogue.push_back({s80(), {"mtt-s80", "mp_21", "mp21", "musa-mp21"}, false});
  catalogue.push_back({s70(), {"mtt-s70"}, false});
  catalogue.push_back({s3000(), {"mtt-s3000"}, false});
  catalogue.push_back({s4000(), {"mtt-s4000", "mp_22", "mp22", "musa-mp22"}, false});
  catalogue.push_back({s5000(), {"mtt-s5000", "mp_31", "mp31", "musa-mp31"}, false});
}

}  // namespace muscope::arch
