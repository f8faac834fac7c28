#include "model/generations.h"

#include <algorithm>

#include "model/distinct_table.h"

namespace muscope::model {
namespace {

constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kSegment = 32;

int lanes_per_request(const arch::GlobalRules& rules, std::uint32_t bytes) {
  const int lanes = bytes <= 4   ? rules.lanes_per_request_4
                    : bytes <= 8 ? rules.lanes_per_request_8
                                 : rules.lanes_per_request_16;
  return std::max(1, lanes);
}

/// The active lanes of `mask` among lanes first .. first + count - 1.
WarpMask slice(const WarpMask& mask, unsigned first, unsigned count) {
  WarpMask part;
  for (unsigned lane = first; lane < std::min(first + count, kMaxWarpLanes); ++lane)
    if (mask.test(lane)) part.set(lane);
  return part;
}

/// Adds one request's transactions of a fixed size.
void add_fixed(Transactions& sum, const LaneAddresses& access, std::uint64_t size) {
  DistinctTable<9> units;
  std::uint32_t count = 0;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / size;
    for (std::uint64_t unit = access.addresses[lane] / size; unit <= last; ++unit) {
      bool fresh = false;
      units.find(unit, fresh);
      count += fresh;
    }
  });
  (size == 32 ? sum.of_32 : size == 64 ? sum.of_64 : sum.of_128) += count;
}

/// Adds one request's transactions where neighbouring segments of a line join: a line's touched segments go out as the
/// smallest aligned region of 32, 64 or 128 bytes around them.
void add_joined(Transactions& sum, const LaneAddresses& access) {
  DistinctTable<9> lines;
  for_each_lane(access.mask, [&](unsigned lane) {
    const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / kSegment;
    for (std::uint64_t segment = access.addresses[lane] / kSegment; segment <= last; ++segment) {
      bool fresh = false;
      lines.value(lines.find(segment / (kLine / kSegment), fresh)) |= 1u << (segment % (kLine / kSegment));
    }
  });
  lines.for_each([&](std::uint64_t, std::uint32_t segments) {
    if (std::has_single_bit(segments)) {
      ++sum.of_32;
    } else if ((segments & 0b0011) == segments || (segments & 0b1100) == segments) {
      ++sum.of_64;
    } else {
      ++sum.of_128;
    }
  });
}

/// Distinct bytes over all lanes: the union of their intervals.
std::uint64_t distinct_bytes(const LaneAddresses& access) {
  std::array<std::uint64_t, kMaxWarpLanes> starts;
  std::size_t lanes = 0;
  for_each_lane(access.mask, [&](unsigned lane) { starts[lanes++] = access.addresses[lane]; });
  std::sort(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(lanes));
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < lanes; ++i)
    bytes += i + 1 < lanes ? std::min<std::uint64_t>(access.bytes, starts[i + 1] - starts[i]) : access.bytes;
  return bytes;
}

}  // namespace

Transactions count_transactions(const arch::GlobalRules& rules, const LaneAddresses& access, trace::Kind kind,
                                bool l1_on) {
  Transactions sum;
  const bool load = kind == trace::Kind::kLoad;
  const unsigned lanes = static_cast<unsigned>(lanes_per_request(rules, access.bytes));
  const int size = !load   ? rules.store_granularity
                   : l1_on ? rules.load_granularity_l1_on
                           : rules.load_granularity_l1_off;
  for (unsigned first = 0; first < kMaxWarpLanes; first += lanes) {
    const LaneAddresses request{access.addresses, slice(access.mask, first, lanes), access.bytes};
    if (request.mask.none()) continue;
    ++sum.requests;
    if (load && rules.loads_gather_warp) continue;
    if (!load && rules.stores_join_segments) {
      add_joined(sum, request);
    } else {
      add_fixed(sum, request, static_cast<std::uint64_t>(size));
    }
  }
  if (load && rules.loads_gather_warp) add_fixed(sum, access, static_cast<std::uint64_t>(size));
  sum.bytes_moved = std::uint64_t{32} * sum.of_32 + std::uint64_t{64} * sum.of_64 + std::uint64_t{128} * sum.of_128;
  sum.bytes_used = distinct_bytes(access);
  sum.bytes_asked = std::uint64_t{access.mask.count()} * access.bytes;
  return sum;
}

}  // namespace muscope::model
