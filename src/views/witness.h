// Witness: everything that one block touches, exactly: which sectors of global memory by which site, which words of
// shared memory by which thread. Kept for a few blocks of a launch, whatever the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/access.h"
#include "views/barrier_needs.h"
#include "views/samples.h"

namespace muscope::views {

/// Values by a key, in one open-addressed table that grows up to a limit.
template <typename Value>
class FlatTable {
 public:
  explicit FlatTable(std::size_t most) : most_(most) { resize(64); }
  /// Null when the table is full and has no such key.
  Value* find_or_add(std::uint64_t key, bool& fresh) {
    std::size_t at = place(key);
    for (; used_[at]; at = (at + 1) & (used_.size() - 1))
      if (keys_[at] == key) {
        fresh = false;
        return &values_[at];
      }
    fresh = true;
    if (size_ == most_) return nullptr;
    if (2 * (size_ + 1) > used_.size()) {
      FlatTable bigger(most_);
      bigger.resize(4 * used_.size());
      for (std::size_t i = 0; i < used_.size(); ++i) {
        bool ignored = false;
        if (used_[i]) *bigger.find_or_add(keys_[i], ignored) = values_[i];
      }
      *this = std::move(bigger);
      return find_or_add(key, fresh);
    }
    used_[at] = true;
    keys_[at] = key;
    values_[at] = Value{};
    ++size_;
    return &values_[at];
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t place(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15u >> 20) & (used_.size() - 1); }
  void resize(std::size_t slots) {
    used_.assign(slots, false);
    keys_.assign(slots, 0);
    values_.assign(slots, Value{});
  }
  std::size_t most_, size_ = 0;
  std::vector<bool> used_;
  std::vector<std::uint64_t> keys_;
  std::vector<Value> values_;
};

class Witness {
 public:
  explicit Witness(std::uint64_t block) : block_(block) {}
  /// An access of this block with at least one active lane.
  void add(const trace::WarpAccess& access);
  /// trace::AccessSink::barrier() of this block.
  void barrier(std::uint32_t op, bool plain) {
    if (!full_) watch_.pass(op, plain);
  }
  WitnessBlock finish() const;
  std::uint64_t block() const { return block_; }

 private:
  struct Sector {
    std::uint32_t loaded = 0, stored = 0;         ///< bytes of the sector
    std::uint16_t load_warp = 0, store_warp = 0;  ///< the last ones, plus 1
    LastTouches last;
  };
  struct Word {
    std::uint16_t writer = 0;  ///< thread plus 1
    LastTouches last;
  };
  void remember(const trace::WarpAccess& access);
  void global(const trace::WarpAccess& access);
  void touch(Sector& sector, std::uint32_t bytes, bool store, bool atomic, std::uint16_t warp, SiteFootprint& site);
  void shared(const trace::WarpAccess& access);
  void word(Word& word, bool write, bool read, bool atomic, std::uint32_t thread);

  std::uint64_t block_;
  bool full_ = false;
  std::uint64_t steps_ = 0;
  BarrierWatch watch_;
  SharedUse use_;
  std::vector<WitnessRequest> requests_;
  FlatTable<char> seen_{kMostRequests};    ///< site and warp of the requests
  std::vector<SiteFootprint> footprints_;  ///< by site
  FlatTable<Sector> sectors_{kMostSectors};
  FlatTable<Word> words_{kMostWords};

  static constexpr std::size_t kMostSectors = 1 << 16;  ///< 2 MiB
  static constexpr std::size_t kMostWords = 1 << 16;    ///< 256 KiB: more than a block can have
  static constexpr std::uint64_t kMostSteps = 1 << 19;  ///< sectors and words touched
  static constexpr std::size_t kMostRequests = 4096;    ///< sites times warps
};

}  // namespace muscope::views
