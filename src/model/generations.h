// Global memory on every generation: how one warp access becomes requests and transactions under a GPU's GlobalRules.
//
//   cc 2.x/3.x, loads cached in L1: one 128-byte transaction per distinct line; words of 8 and 16 bytes are first split
//     into 2 half-warp and 4 quarter-warp requests.      Uncached: one 32-byte transaction per distinct segment.
//   cc 2.x/3.x, stores: per 128-byte line the smallest aligned region of 32, 64 or 128 bytes that holds what is
//   written. cc 5.x/6.x: 32-byte sectors. A warp instruction is cut into requests of 8, 4 or 2 lanes (4, 8, 16 bytes)
//   before the
//     tag stage; loads are gathered over the warp, stores are sent request by request.
//   cc 7.0 and later: one request, distinct 32-byte sectors (model/sectors.h).
//
// Sources: CUDA C Programming Guide, "Compute Capabilities" (releases 4 to 8, and 13); Maxwell Tuning Guide, 1.4.2 (the
// unified L1/texture cache gathers the data of a warp); an NVIDIA engineer's post on the request split; nvprof figures
// of a GeForce MX150 for stores. Only 7.0 and later was checked counter by counter.
#pragma once

#include <cstdint>

#include "arch/gpu_spec.h"
#include "model/lane_addresses.h"

namespace muscope::model {

struct Transactions {
  std::uint32_t requests = 0;  ///< after the split
  std::uint32_t of_32 = 0;     ///< transactions of 32 bytes
  std::uint32_t of_64 = 0;
  std::uint32_t of_128 = 0;
  std::uint64_t bytes_moved = 0;  ///< over the bus: sum of the above
  std::uint64_t bytes_used = 0;   ///< distinct bytes that some lane asked for
  std::uint64_t bytes_asked = 0;  ///< lanes times bytes

  std::uint32_t total() const { return of_32 + of_64 + of_128; }
  /// Distinct bytes used per byte moved, 0 to 1: the bus utilisation of the textbooks.
  double bus_utilisation() const {
    return bytes_moved == 0 ? 0 : static_cast<double>(bytes_used) / static_cast<double>(bytes_moved);
  }
  /// Bytes asked per byte moved: gld_efficiency / gst_efficiency; above 1 when lanes ask for the same bytes.
  double efficiency() const {
    return bytes_moved == 0 ? 0 : static_cast<double>(bytes_asked) / static_cast<double>(bytes_moved);
  }
};

/// `l1_on`: whether global loads are cached in L1; stores and atomics never are.
Transactions count_transactions(const arch::GlobalRules& rules, const LaneAddresses& access, trace::Kind kind,
                                bool l1_on);

}  // namespace muscope::model
