// Placement: where in an address range the next allocation goes, as cudaMalloc decides it. Offsets only: no memory is
// touched here, so the rules can be tested by themselves.
//
// Measured on an H200 with CUDA 13.0 (tests/counters/placement.txt): blocks of up to 1 MiB start at the next 512-byte
// step inside slabs of 2 MiB; two blocks of 1 MiB share a slab; larger blocks take whole granules of 2 MiB; a freed
// block is given out again for the same size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace muscope::memory {

/// A part of the range, in bytes from its start.
struct Span {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class Placement {
 public:
  /// A range of `bytes`, a multiple of the granule.
  explicit Placement(std::uint64_t bytes);

  struct Placed {
    Span block;   ///< the bytes given out, rounded up to 512 bytes or to granules
    Span mapped;  ///< granules that this block is the first to use; may be empty
  };
  /// Places `bytes` (> 0); nothing when no free stretch is long enough.
  std::optional<Placed> place(std::uint64_t bytes);

  struct Removed {
    Span block;
    Span unmapped;  ///< granules that nothing uses any more; may be empty
  };
  /// Gives back the block that starts at `offset`; nothing when none does.
  std::optional<Removed> remove(std::uint64_t offset);

  /// Granules that place(bytes) would have to map, in bytes.
  std::uint64_t would_map(std::uint64_t bytes) const;

 private:
  /// Free stretches by offset; neighbours are always merged.
  using Holes = std::map<std::uint64_t, std::uint64_t>;
  struct Slab {
    Holes holes;
    std::uint64_t blocks = 0;
  };
  static std::optional<std::uint64_t> take(Holes& holes, std::uint64_t bytes);
  static void give(Holes& holes, std::uint64_t offset, std::uint64_t bytes);
  static bool fits(const Holes& holes, std::uint64_t bytes);

  Holes granules_;                                 ///< free granules of the range
  std::map<std::uint64_t, Slab> slabs_;            ///< by offset of their granule
  std::map<std::uint64_t, std::uint64_t> blocks_;  ///< live blocks: offset -> rounded size
};

}  // namespace muscope::memory
