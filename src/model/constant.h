// Constant memory: requests of one indexed load (LDC) and the lines it needs.
//
//   idc__requests = distinct 4-byte words among the active lanes; first-touch misses = distinct 64-byte lines.
//
// Source: 49 one-instruction probes of 4-byte loads on an H200, all exact (tests/counters/patterns.tsv). Loads of 8
// bytes are taken to be served one distinct address at a time as well (Nsight Compute Profiling Guide, imc_miss: cost
// is linear in the number of unique addresses); that was not measured.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/distinct_table.h"
#include "model/lane_addresses.h"

namespace muscope::model {

inline constexpr std::uint32_t kConstantLineBytes = 64;

struct ConstantCounts {
  std::uint32_t requests = 0;  ///< idc__requests: distinct addresses in units of max(4, bytes)
  std::uint32_t lines = 0;     ///< distinct 64-byte lines: idc__requests_lookup_miss when all are cold
  bool operator==(const ConstantCounts&) const = default;
};

inline ConstantCounts count_constant(const LaneAddresses& access) {
  DistinctTable<8> words, lines;
  ConstantCounts counts;
  const std::uint64_t unit = std::max<std::uint64_t>(4, std::bit_ceil(access.bytes));
  for_each_lane(access.mask, [&](unsigned lane) {
    bool fresh = false;
    words.find(access.addresses[lane] / unit, fresh);
    if (!fresh) return;
    ++counts.requests;
    lines.find(access.addresses[lane] / kConstantLineBytes, fresh);
    counts.lines += fresh;
  });
  return counts;
}

inline ConstantCounts count_constant(const trace::WarpAccess& access) {
  if (access.mask == 0) return {};
  if (access.shape == trace::Shape::kUniform) return {1, 1};
  std::array<std::uint64_t, kGroupLanes> storage;
  return count_constant(lanes_of(access, storage));
}

}  // namespace muscope::model
