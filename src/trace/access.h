// WarpAccess: one executed memory instruction of one execution group, the record that everything downstream reads.
#pragma once

#include <cstdint>

#include "base/lane_mask.h"

namespace muscope::trace {

/// Where the access went. Generic accesses are resolved before they become records.
enum class Space : std::uint8_t { kGlobal, kShared, kLocal, kConst, kTexture, kSurface };

/// kLoadMatrix, kStoreMatrix: rows of 16 bytes of matrices (ldmatrix, LDSM; stmatrix, STSM).
/// The copies move data from global to shared memory: one access in each space (cp.async.ca and LDGSTS; past L1:
/// cp.async.cg and LDGSTS.BYPASS).
/// kSample: of textures, a fetch by coordinates that may be filtered (TEX, TXD); kLoad: by texels, and gathers (TLD,
/// TLD4), as ncu tells them apart.
enum class Kind : std::uint8_t { kLoad, kStore, kRed, kAtom, kLoadMatrix, kStoreMatrix, kCopy, kCopyAround, kSample };

/// Addresses of the active lanes, classified once where they were computed.
enum class Shape : std::uint8_t {
  kUniform,    ///< every active lane has address `base`
  kAffine,     ///< lane l has address base + stride * l
  kScattered,  ///< `addresses` holds them, one per lane (inactive lanes undefined)
};

/// What an asynchronous copy does, of all its active lanes: both of its accesses have it.
struct AsyncCopy {
  const std::uint64_t* from = nullptr;  ///< global memory: kGroupLanes addresses (inactive lanes undefined)
  const std::uint64_t* to = nullptr;    ///< shared memory, likewise
  GroupMask active = 0;
  GroupMask reads = 0;      ///< active lanes that read anything
  GroupMask filled = 0;     ///< active lanes that get zeros for what they do not read
  std::uint32_t bytes = 4;  ///< written per lane: 4, 8 or 16
};

struct WarpAccess {
  std::uint32_t site = 0;  ///< index into Kernel::sites: which instruction
  Space space = Space::kGlobal;
  Kind kind = Kind::kLoad;
  std::uint8_t bytes = 4;  ///< per lane, vectors counted whole: 1 to 32
  Shape shape = Shape::kScattered;
  bool host_memory = false;        ///< the bytes live in host memory (zero-copy)
  bool generic = false;            ///< the instruction named no state space
  bool increment = false;          ///< shared add of the constant 1 whose result is unused (ATOMS.POPC.INC)
  bool swap = false;               ///< compare-and-swap in a loop (ATOMS.CAST.SPIN)
  GroupMask mask = 0;              ///< active lanes; 0 when the guard was false everywhere
  std::uint32_t warp = 0;          ///< index of the execution group in its block
  std::uint8_t request_lanes = 4;  ///< textures and surfaces: lanes that one request takes, 4 or 8 (model/texture.h)
  std::uint64_t block = 0;         ///< linear block index
  std::uint64_t issue = 0;         ///< instructions this group had executed before
  std::uint64_t base = 0;   ///< global: device address; shared: byte offset in the block's window; local: offset in the
                            ///< thread's frame; const: byte offset in the bank; surface: model::surface_offset
  std::int64_t stride = 0;  ///< kAffine only
  const std::uint64_t* addresses = nullptr;  ///< kScattered only: kGroupLanes values, valid during the call
  const AsyncCopy* copy = nullptr;           ///< copies, valid during the call; nullptr when no lane is active

  std::uint64_t address(unsigned lane) const {
    return shape == Shape::kScattered
               ? addresses[lane]
               : base +
                     static_cast<std::uint64_t>(shape == Shape::kAffine ? stride * static_cast<std::int64_t>(lane) : 0);
  }
};

}  // namespace muscope::trace
