// DistinctTable: a small hash table on the stack that the rules use to find equal sectors, words or addresses. It needs
// no clearing: a bit mask in registers says which slots are in use.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace muscope::model {

/// Up to 2^kLogSlots - 1 keys with a value each; users size it so that more cannot come (an access has 128 lanes of 32
/// bytes at most).
template <unsigned kLogSlots>
class DistinctTable {
 public:
  static constexpr unsigned kSlots = 1u << kLogSlots;
  static_assert(kLogSlots >= 6);

  /// Slot of `key`; `fresh` says whether it was entered now (its value is then zero).
  unsigned find(std::uint64_t key, bool& fresh) {
    unsigned slot = static_cast<unsigned>((key * 0x9e3779b97f4a7c15ull) >> (64 - kLogSlots));
    for (;;) {
      std::uint64_t& used = used_[slot >> 6];
      const std::uint64_t bit = std::uint64_t{1} << (slot & 63);
      if ((used & bit) == 0) {
        used |= bit;
        keys_[slot] = key;
        values_[slot] = 0;
        fresh = true;
        return slot;
      }
      if (keys_[slot] == key) {
        fresh = false;
        return slot;
      }
      slot = (slot + 1) & (kSlots - 1);
    }
  }

  std::uint32_t& value(unsigned slot) { return values_[slot]; }

  unsigned size() const {
    unsigned n = 0;
    for (const std::uint64_t used : used_) n += static_cast<unsigned>(std::popcount(used));
    return n;
  }

  /// Calls `f(key, value)` for every key, in no useful order.
  template <typename F>
  void for_each(F&& f) const {
    for (unsigned word = 0; word < used_.size(); ++word)
      for (std::uint64_t left = used_[word]; left != 0; left &= left - 1) {
        const unsigned slot = word * 64 + static_cast<unsigned>(std::countr_zero(left));
        f(keys_[slot], values_[slot]);
      }
  }

 private:
  std::array<std::uint64_t, kSlots / 64> used_{};
  std::array<std::uint64_t, kSlots> keys_;
  std::array<std::uint32_t, kSlots> values_;
};

}  // namespace muscope::model
