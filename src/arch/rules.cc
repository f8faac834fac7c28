// What follows from a compute capability alone: the rules for global and shared memory, and the memory hierarchy's
// shape.
#include <string>
#include <utility>

#include "arch/catalogue.h"
#include "arch/sources.h"

namespace muscope::arch {
namespace {

GlobalRules global_rules(int major) {
  GlobalRules r;
  if (major <= 3) {
    r.load_granularity_l1_on = 128;
    r.load_granularity_l1_off = 32;
    r.l1_caches_global_by_default = major == 2;
    r.lanes_per_request_8 = 16;
    r.lanes_per_request_16 = 8;
    r.stores_join_segments = true;
    r.confidence = major == 2 ? Confidence::kDocumented : Confidence::kAssumed;
    r.source =
        major == 2
            ? "CUDA C Programming Guide 4 and 5, Compute Capability 2.x, Global Memory"
            : "as 2.x; L1 serves local memory only unless -dlcm=ca on 3.5 and 3.7 (Nsight Visual Studio Edition, "
              "memory statistics)";
  } else if (major <= 6) {
    r.l1_caches_global_by_default = false;
    r.lanes_per_request_4 = 8;
    r.lanes_per_request_8 = 4;
    r.lanes_per_request_16 = 2;
    r.loads_gather_warp = true;
    r.confidence = Confidence::kAssumed;
    r.source =
        "CUDA C++ Programming Guide 5.x, Global Memory; request split by an NVIDIA engineer's forum post; stores by "
        "nvprof "
        "figures of a GeForce MX150";
  } else {
    r.confidence = major == 9 ? Confidence::kMeasured : Confidence::kDocumented;
    r.source = major == 9 ? "one-instruction probes on an H200"
                          : "Nsight Compute Profiling Guide 2.3.7, 2.11.2; as measured on an H200";
  }
  return r;
}

SharedRules shared_rules(int major) {
  SharedRules r;
  r.wide_rules_measured = major == 9;
  if (major == 3) {
    r.bank_bytes = 8;
    r.source = "CUDA C Programming Guide 5 to 10, Compute Capability 3.x, Shared Memory (32-bit mode)";
  } else if (major == 9) {
    r.source = "one-instruction probes on an H200";
  } else if (major >= 7) {
    r.source =
        "CUDA C++ Programming Guide 5.x; 8 and 16 bytes as on an H200 (NVIDIA forum for 7.0 to 7.5, tests by others on "
        "an A100)";
  } else {
    r.source =
        major == 2
            ? "CUDA C Programming Guide 4 and 5, Compute Capability 2.x, Shared Memory"
            : "CUDA C++ Programming Guide 5.x, Shared Memory; 8 and 16 bytes taken as split in half- and quarter-warps";
  }
  return r;
}

Sourced unknown() { return {}; }

}  // namespace

GpuSpec compute_capability(int major, int minor, std::string architecture) {
  GpuSpec g;
  g.cc_major = major;
  g.cc_minor = minor;
  g.name = g.sm_text();
  g.full_name = "any GPU of compute capability " + g.cc_text();
  g.architecture = std::move(architecture);
  g.global = global_rules(major);
  g.shared = shared_rules(major);
  return g;
}

GpuSpec board(const GpuSpec& base, std::string name, std::string full_name) {
  GpuSpec g = base;
  g.name = std::move(name);
  g.full_name = std::move(full_name);
  return g;
}

Sourced per_sm_bandwidth(const GpuSpec& gpu, int bytes_per_cycle) {
  if (!gpu.sm_count.known || !gpu.clock_mhz.known) return {};
  return number(bytes_per_cycle * gpu.sm_count.value * gpu.clock_mhz.value / 1000.0, kFromWidth,
                std::to_string(bytes_per_cycle) + " bytes per cycle and SM");
}

void describe_hierarchy(GpuSpec& gpu, const Timing& timing) {
  gpu.hierarchy.clear();
  Sourced registers = gpu.registers_per_sm;
  registers.value *= 4;
  if (registers.known) registers.note = "4 bytes each";
  const bool unified = gpu.cc_major >= 7 || gpu.cc_major == 2 || gpu.cc_major == 3;
  const bool cached = gpu.cc_major >= 7 || gpu.cc_major == 2;
  gpu.hierarchy.push_back({"registers", "on each SM", "one thread", registers, unknown(), unknown()});
  gpu.hierarchy.push_back({"shared", unified ? "on each SM, carved out of the L1 array" : "on each SM",
                           "threads of one block", gpu.shared_per_sm, timing.shared_cycles, timing.shared_gbs});
  if (timing.cluster_cycles.known)
    gpu.hierarchy.push_back({"cluster", "shared memory of other SMs", "threads of one cluster", unknown(),
                             timing.cluster_cycles, timing.cluster_gbs});
  gpu.hierarchy.push_back({"L1", unified && gpu.cc_major < 7 ? "on each SM, what shared memory leaves" : "on each SM",
                           cached ? "one SM, not coherent" : "one SM, global loads opt-in", gpu.l1_bytes,
                           timing.l1_cycles, timing.l1_gbs});
  gpu.hierarchy.push_back({"texture", gpu.cc_major >= 5 ? "on each SM, the L1 array" : "on each SM, a cache of its own",
                           "read only, one SM", unknown(), timing.texture_cycles, unknown()});
  gpu.hierarchy.push_back({"constant", "on each SM, cached", "read only, whole grid", gpu.constant_cache_bytes,
                           timing.constant_cycles, unknown()});
  gpu.hierarchy.push_back(
      {"L2", "on the die, shared by all SMs", "whole GPU", gpu.l2_bytes, timing.l2_cycles, timing.l2_gbs});
  gpu.hierarchy.push_back({"DRAM", "beside the die: global, local, constant and texture data",
                           "whole GPU, host by copies", gpu.memory_bytes, timing.dram_cycles,
                           gpu.memory_bandwidth_gbs});
  if (timing.peer_cycles.known)
    gpu.hierarchy.push_back(
        {"peer", "another GPU's memory", "both GPUs", unknown(), timing.peer_cycles, timing.peer_gbs});
  if (timing.host_cycles.known)
    gpu.hierarchy.push_back(
        {"host", "the host's memory, mapped", "host and GPU", unknown(), timing.host_cycles, timing.host_gbs});
}

std::string GpuSpec::cc_text() const {
  // Moore Threads GPUs hold their generation, say 21, in cc_minor.
  if (cc_major == 0) return std::to_string(cc_minor / 10) + "." + std::to_string(cc_minor % 10);
  return std::to_string(cc_major) + "." + std::to_string(cc_minor);
}

std::string GpuSpec::sm_text() const {
  if (cc_major == 0) return "mp_" + std::to_string(cc_minor);
  return "sm_" + std::to_string(cc_major) + std::to_string(cc_minor);
}

}  // namespace muscope::arch
