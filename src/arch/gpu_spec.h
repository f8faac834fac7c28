// GpuSpec: what is known of one GPU, each number with its source. Data stand in one .cc file per compute
// capability or GPU; find_gpu() looks them up by name ("h200"), compute capability ("sm_90", "9.0") or JSON file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::arch {

/// How far a number can be trusted.
enum class Confidence { kMeasured, kDocumented, kAssumed };

/// One number with where it comes from. `known` is false where no source gives a value.
struct Sourced {
  double value = 0;
  bool known = false;
  Confidence confidence = Confidence::kAssumed;
  std::string source;  ///< short citation: document and section, or measurement
  std::string note;

  std::int64_t as_int() const { return static_cast<std::int64_t>(value); }
};

/// How warp accesses to global memory become transactions on this generation
/// (CUDA C Programming Guide, appendix "Compute Capabilities" of the release that introduced it).
struct GlobalRules {
  int load_granularity_l1_on = 32;   ///< bytes fetched per miss when global loads are cached in L1 (128 on cc 2.x/3.x)
  int load_granularity_l1_off = 32;  ///< bytes per transaction when they are not
  int store_granularity = 32;
  bool l1_caches_global_by_default = true;
  /// Lanes that form one request before the tag stage, by access size of 4 or less, 8 and 16 bytes.
  int lanes_per_request_4 = 32;
  int lanes_per_request_8 = 32;
  int lanes_per_request_16 = 32;
  bool stores_join_segments =
      false;  ///< stores of one line go out as one transaction of 32, 64 or 128 bytes (cc 2.x/3.x)
  bool loads_gather_warp =
      false;  ///< sectors of a load are distinct over the warp although requests are split (cc 5.x/6.x)
  Confidence confidence = Confidence::kAssumed;
  std::string source;
};

struct SharedRules {
  int banks = 32;
  int bank_bytes = 4;
  /// True where the 8- and 16-byte rules of the H200 measurements apply (half- and quarter-warps, xor merging of
  /// loads).
  bool wide_rules_measured = false;
  std::string source;
};

/// One level of the memory hierarchy, for `muscope gpu`.
struct MemoryLevel {
  std::string name;        ///< "registers", "L1 / shared", "L2", "DRAM", "constant", "texture"
  std::string location;    ///< "per thread, on SM", "whole GPU, on die", ...
  std::string visibility;  ///< who sees a write
  Sourced bytes;
  Sourced latency_cycles;
  Sourced bandwidth_gbs;
};

struct GpuSpec {
  std::string name;          ///< "h200"
  std::string full_name;     ///< "NVIDIA H200"
  std::string architecture;  ///< "Hopper GH100"
  int cc_major = 9;
  int cc_minor = 0;

  // Limits of one block and one SM. cuda_occupancy.h names the rules that use them.
  Sourced warp_size;
  Sourced sm_count;
  Sourced max_threads_per_block;
  Sourced max_threads_per_sm;
  Sourced max_warps_per_sm;
  Sourced max_blocks_per_sm;
  Sourced registers_per_sm;
  Sourced registers_per_block;
  Sourced max_registers_per_thread;
  Sourced register_allocation_unit;  ///< registers per warp are rounded up to a multiple of this
  Sourced register_subpartitions;
  Sourced shared_per_sm;     ///< largest carve-out, bytes
  Sourced shared_per_block;  ///< without opt-in
  Sourced shared_per_block_optin;
  Sourced shared_reserved_per_block;
  Sourced shared_allocation_unit;
  std::vector<int> shared_carveouts;  ///< bytes, ascending
  Sourced barriers_per_sm;            ///< named barriers; unknown where they do not limit

  // Caches and memory.
  Sourced l1_bytes;
  Sourced line_bytes;
  Sourced sector_bytes;
  Sourced constant_bytes;
  Sourced constant_cache_bytes;
  Sourced l2_bytes;
  Sourced memory_bytes;
  Sourced memory_bandwidth_gbs;
  Sourced memory_clock_mhz;
  Sourced memory_bus_bits;
  Sourced clock_mhz;
  std::string l1_note;

  GlobalRules global;
  SharedRules shared;
  std::vector<MemoryLevel> hierarchy;

  std::string cc_text() const;  ///< "9.0"
  std::string sm_text() const;  ///< "sm_90"
};

/// The GPU of that name, compute capability or JSON file. Throws Error D110 naming the nearest known names.
GpuSpec find_gpu(std::string_view name);

/// Names of the GPUs that find_gpu knows, then those of bare compute capabilities ("sm_20" ...).
std::vector<std::string> gpu_names();

}  // namespace muscope::arch
