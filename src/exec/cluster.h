// Clusters of thread blocks: whose shared memory an address means, the barrier of all their threads, and how the blocks
// of one cluster take turns.
#pragma once

#include <memory>
#include <vector>

#include "exec/block_run.h"
#include "exec/warp.h"

namespace muscope::exec {

/// Number of the cluster's barrier where paths wait (Path::barrier); those of the block are below.
inline constexpr std::uint32_t kClusterBarrier = 16;

/// Runs the blocks of a cluster turn by turn, in the order of their ranks. kStalled: others should run, and `moved`
/// says whether something has changed. Blocks that have ended stay, since their shared memory may still be looked at.
BlockState run_cluster(std::vector<std::unique_ptr<Block>>& blocks, Worker& worker, bool& moved);

/// barrier.cluster.arrive and .wait, UCGABAR_ARV and UCGABAR_WAIT.
const XOp* run_cluster_arrive(Warp& w, const XOp* op);
const XOp* run_cluster_wait(Warp& w, const XOp* op);
/// `gone` have exited: threads that wait for all others may go on.
void leave_cluster(Warp& w, GroupMask gone);
/// Whether a thread of the block waits for other blocks of its cluster, which are not at their end.
bool waits_for_cluster(const Block& block);

/// mapa and getctarank. Null for other ops.
Handler find_cluster_address(const code::Op& op);

/// Threads used the shared memory of `other`. Notes when that block has ended: on a GPU it may be gone.
void touch_other_block(Warp& w, const XOp* op, const Block& other);
/// Fault: no block of the cluster has the rank that stands in `address` (`any`), or the instruction reaches the own
/// block only.
void fault_no_block(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, bool any = true);

}  // namespace muscope::exec
