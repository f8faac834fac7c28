// BankLayout: other layouts of an array in shared memory - rows with padding, or columns swizzled by XOR - and the
// search for the one with the fewest wavefronts over all recorded accesses of the array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advice/context.h"
#include "advice/replay.h"

namespace muscope::advice {

/// Where a byte of the array goes. Units of `unit` bytes stay whole, so that vector accesses stay aligned.
struct BankLayout {
  std::uint64_t unit = 4;
  std::uint64_t pitch = 0;  ///< bytes of a row as it is
  std::uint64_t pad = 0;    ///< bytes added to each row
  unsigned xor_bits = 0;    ///< swizzle: unit of column c goes to c xor (row >> xor_shift) mod 2^xor_bits
  unsigned xor_shift = 0;
  bool seen = true;  ///< the program has rows of this pitch; else it is a way to count elements

  std::uint64_t place(std::uint64_t offset) const;
  /// Bytes that an array of `bytes` takes more.
  std::uint64_t extra(std::uint64_t bytes) const { return pad * ((bytes + pitch - 1) / pitch); }
  bool tile = true;           ///< of `seen` ones: the array has rows of this length only, and may be declared by them
  std::uint64_t element = 0;  ///< bytes that text() counts in; 0: units

  /// "a pitch of 33 instead of 32 elements of 4 B", "column ^ (row % 8) ..."
  std::string text() const;
};

struct LayoutCost {
  BankLayout layout;
  std::uint64_t wavefronts = 0;  ///< of all sites of the array
  bool exact = true;
};

/// Replays the array's accesses. Sites that the bank rules do not reproduce as they are (loops of compare-and-swap,
/// asynchronous copies) keep their wavefronts and make the result inexact. Nothing where nothing was recorded.
class BankReplay {
 public:
  explicit BankReplay(const Array& array);
  std::optional<LayoutCost> cost(const BankLayout& layout) const;
  /// Moves the addresses of one of the array's sites as the layout says; false where that would tear an access.
  Change moved(const BankLayout& layout, const Site& site) const;
  std::uint64_t wavefronts() const { return wavefronts_; }  ///< as counted
  std::uint64_t ideal() const { return ideal_; }
  /// Conflicts of accesses that follow the data (scattered, of too many kinds to be recorded): no layout is found for
  /// them.
  std::uint64_t data_conflicts() const { return data_wavefronts_; }
  std::uint64_t unit() const { return unit_; }
  /// The narrowest access: an element of the source, where wider ones are several that the compiler merged.
  std::uint64_t element() const { return element_; }
  std::uint64_t bytes() const { return bytes_; }
  /// A row length that the accesses suggest. `seen`: a distance between lanes or between accesses of a thread; others
  /// are halves of those, and a row of all banks.
  struct Pitch {
    std::uint64_t bytes = 0;
    bool seen = false;
  };
  std::vector<Pitch> pitches() const;  ///< ascending

 private:
  struct Replayable {
    const Site* site;
    bool fixed;
  };
  std::uint64_t origin_ = 0, bytes_ = 0, unit_ = 4, element_ = 16, wavefronts_ = 0, ideal_ = 0, data_wavefronts_ = 0;
  std::vector<Replayable> sites_;
};

struct LayoutSearch {
  std::optional<LayoutCost> pad;       ///< best padding, the smallest of equals
  std::optional<LayoutCost> swizzle;   ///< best swizzle
  std::optional<LayoutCost> by_habit;  ///< one unit more in each row of the pitch of `pad`
};
/// Paddings of up to `most_extra` bytes for the whole array.
LayoutSearch search_layouts(const BankReplay& replay, std::uint64_t most_extra);

}  // namespace muscope::advice
