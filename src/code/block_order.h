// The order of basic blocks that makes "lowest block first" reconverge where ptxas does. See control_flow.h.
#pragma once

#include <cstdint>
#include <vector>

namespace muscope::code {

struct RawBlock;

/// Reachable blocks, entry first. Linear in the size of the graph times its loop depth.
std::vector<std::uint32_t> order_blocks(const std::vector<RawBlock>& blocks);

/// Immediate post-dominators, taking the last returning block in text order as the exit; blocks that cannot reach it
/// (early returns, endless loops) are ignored and have none (0xffffffff).
std::vector<std::uint32_t> immediate_post_dominators(const std::vector<RawBlock>& blocks);

}  // namespace muscope::code
