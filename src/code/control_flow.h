// Basic blocks of a PTX function and the order in which a divergent warp should run them.
//
// Lanes that part at a branch meet again at its immediate post-dominator: that is where ptxas puts BSYNC. The engine
// gets the same from an order: it always runs the waiting path whose block comes first, and merges paths that meet at
// one block. So blocks are numbered topologically, loops contiguous, with code that leaves a loop but runs before the
// loop's common exit (the body of `if (found) { store; break; }`) numbered inside the loop, before its latch.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace muscope::code {

inline constexpr std::uint32_t kNone = 0xffffffffu;

enum class Terminator : std::uint8_t { kFall, kJump, kBranch, kSwitch, kExit };

/// Instructions [begin, end) of the body, then a terminator.
struct RawBlock {
  std::uint32_t begin = 0, end = 0;
  bool strip_guard = false;  ///< its only instruction's guard became the branch before it
  bool ends_thread = false;  ///< kExit: by exit, not by ret
  Terminator terminator = Terminator::kFall;
  std::uint32_t source = kNone;     ///< instruction of the terminator; none for synthetic ones
  std::uint32_t condition = kNone;  ///< predicate register of kBranch
  bool condition_negated = false;
  std::vector<std::uint32_t> successors;  ///< kBranch: taken, fall through; kSwitch: by index
};

struct FlowGraph {
  std::vector<RawBlock> blocks;      ///< in text order; [0] is the entry
  std::vector<std::uint32_t> order;  ///< reachable blocks as they should be numbered
  std::vector<bool> loop_header;     ///< by block: some block at or after it in `order` jumps back to it
};

/// Splits and orders `function` (which has a body). Guarded returns, barriers and calls become branches around them.
/// Never throws: any body gives a graph. Recursion is bounded; irreducible or absurdly nested flow falls back to text
/// order.
FlowGraph build_flow_graph(const ptx::Function& function);

}  // namespace muscope::code
