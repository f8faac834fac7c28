// PatternTable: the distinct ways in which one site addresses memory, with counts; bounded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/access.h"
#include "views/samples.h"

namespace muscope::views {

/// Keeps the patterns with the lowest hashes. One that is among the lowest of all workers is among the lowest of each
/// worker at any time, so that it is never dropped and its count is exact: merging gives the same for any split.
class PatternTable {
 public:
  /// An access with at least one active lane. 2 ns when its pattern is that of the access before.
  void add(const trace::WarpAccess& access);
  void merge(const PatternTable& other);
  /// Fills patterns, complete, requests, low and high.
  void finish(SiteSamples& out) const;
  std::uint64_t requests() const { return requests_; }

 private:
  /// Scattered lanes relative to the first active one. Most requests of a site have the shape of the one before, which
  /// is quicker to see than to hash.
  struct Shape {
    GroupMask mask = 0;
    std::array<std::uint64_t, kGroupLanes> distances{};
    std::uint64_t hash = 0;
    std::int64_t low = 0, high = 0;  ///< least and greatest distance
  };
  void take_shape(const trace::WarpAccess& access);
  static constexpr std::size_t kNone = ~std::size_t{0};
  void extend(std::uint64_t low, std::uint64_t high, std::uint32_t bytes);
  void count(AccessPattern& pattern, const trace::WarpAccess& access, std::uint64_t base);
  bool is_beyond(std::uint64_t hash) const { return hashes_.size() == kMostPatterns && hash > hashes_[highest_]; }
  std::size_t find(std::uint64_t hash);  ///< index, or kNone
  std::size_t insert(std::uint64_t hash, AccessPattern pattern);

  Shape shape_;
  std::vector<std::uint64_t> hashes_;  ///< side by side, for the search
  std::vector<AccessPattern> patterns_;
  std::array<std::uint8_t, 256> slots_{};  ///< by low bits of the hash: index of a pattern, plus 1
  std::size_t last_ = 0;
  std::size_t highest_ = 0;  ///< pattern with the highest hash, once the table is full
  std::uint64_t requests_ = 0, low_ = ~std::uint64_t{0}, high_ = 0;
};

}  // namespace muscope::views
