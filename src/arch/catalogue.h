// The table of known GPUs. Each family adds its entries in a file of its own; a new GPU is one function and one line.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu_spec.h"

namespace muscope::arch {

struct CatalogueEntry {
  GpuSpec spec;
  std::vector<std::string> aliases;  ///< further names, lower case
  bool bare = false;                 ///< a compute capability rather than a board
};

using Catalogue = std::vector<CatalogueEntry>;

// One per family, in files of the same name.
void add_fermi(Catalogue& catalogue);
void add_kepler(Catalogue& catalogue);
void add_maxwell(Catalogue& catalogue);
void add_pascal(Catalogue& catalogue);
void add_volta_turing(Catalogue& catalogue);
void add_ampere_ada(Catalogue& catalogue);
void add_hopper(Catalogue& catalogue);
void add_blackwell(Catalogue& catalogue);
void add_moore_threads(Catalogue& catalogue);

/// Every entry, boards first in order of age, then bare compute capabilities.
const Catalogue& catalogue();

/// A spec that holds nothing but its compute capability, with the global and shared rules of that generation.
GpuSpec compute_capability(int major, int minor, std::string architecture);

/// Latencies and bandwidths by level; unknown ones stay so.
struct Timing {
  Sourced shared_cycles, l1_cycles, texture_cycles, constant_cycles, l2_cycles, dram_cycles;
  Sourced l1_gbs, shared_gbs, l2_gbs;
  Sourced cluster_cycles, cluster_gbs;  ///< shared memory of other blocks of a cluster
  Sourced host_cycles, host_gbs, peer_cycles, peer_gbs;
};

/// Fills `gpu.hierarchy` from the spec's sizes and `timing`.
void describe_hierarchy(GpuSpec& gpu, const Timing& timing);

/// A board of compute capability `base`: its names, and what differs from one board to another.
GpuSpec board(const GpuSpec& base, std::string name, std::string full_name);

/// L1 and shared bandwidth when each SM returns `bytes_per_cycle`.
Sourced per_sm_bandwidth(const GpuSpec& gpu, int bytes_per_cycle);

}  // namespace muscope::arch
