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
  struct Entry {
    std::uint64_t hash = 0;
    AccessPattern pattern;
  };
  struct Key;
  void extend(const trace::WarpAccess& access);
  void count(Entry& entry, const trace::WarpAccess& access, std::uint64_t base);
  Entry* find(std::uint64_t hash);
  Entry* insert(std::uint64_t hash, AccessPattern pattern);

  std::vector<Entry> entries_;
  std::array<std::uint8_t, 64> slots_{};  ///< by low bits of the hash: index of an entry, plus 1
  std::size_t last_ = 0;
  std::size_t highest_ = 0;  ///< entry with the highest hash, once the table is full
  std::uint64_t requests_ = 0, low_ = ~std::uint64_t{0}, high_ = 0;
};

}  // namespace muscope::views
