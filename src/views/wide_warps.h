// Warps wider than an execution group: Moore Threads' mp_21 and mp_22 have 128 lanes, of which the engine runs 32 at a
// time. The k-th execution of an instruction by each group of a warp belongs together, as in a warp that runs in step:
// one instruction and one request, which touches a sector once however many groups ask for it. (Assumed: nothing is
// published about how these GPUs join accesses.)
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "trace/access.h"

namespace muscope::views {

class WideWarps {
 public:
  /// Warps of `lanes` lanes (a multiple of 32, up to 128) in blocks of `threads`.
  WideWarps(unsigned lanes, std::uint32_t threads);

  /// What one group's access adds to what the other groups of its warp had.
  struct Joined {
    bool instruction = true;  ///< the first group that executes it
    bool request = true;      ///< the first with an active lane
    std::uint32_t sectors = 0, lines = 0,
                  ideal = 0;      ///< new ones, of 32 and 128 bytes; ideal as in model::SectorCounts
    std::uint32_t addresses = 0;  ///< constants: new ones
  };
  Joined join(const trace::WarpAccess& access);

 private:
  struct Entry {
    unsigned groups = 0;  ///< that have come
    bool requested = false;
    std::uint32_t lanes = 0, lines = 0;
    std::vector<std::uint64_t> places;  ///< sectors; constants: addresses
  };
  /// One instruction in one warp: executions that not all groups have come to.
  struct Queue {
    std::array<std::uint64_t, 4> next{};  ///< by group
    std::uint64_t base = 0;               ///< of the first entry
    std::deque<Entry> entries;
  };
  struct BlockState {
    std::uint64_t used = 0;
    std::unordered_map<std::uint64_t, Queue> queues;  ///< by warp, site and space
  };

  BlockState& state_of(std::uint64_t block);
  static void add_places(const trace::WarpAccess& access, Entry& entry, Joined& joined);

  unsigned groups_;       ///< of a warp
  std::uint32_t blocks_;  ///< groups of a block
  std::uint64_t clock_ = 0;
  std::unordered_map<std::uint64_t, BlockState> states_;  ///< blocks that ran last
};

}  // namespace muscope::views
