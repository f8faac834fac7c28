// Runs the warps of one block: turn by turn, through barriers, until all have exited or none can go on alone.
#pragma once

#include <memory>

#include "exec/launch_context.h"
#include "exec/warp.h"

namespace muscope::exec {

enum class BlockState : std::uint8_t {
  kDone,
  kStalled,  ///< others should run: Block::moved, or every warp that can run polls for what another block must change
  kFault,    ///< Worker::fault says what
};

/// A pool of blocks of one launch, so that register files and their constants are set up once.
class BlockPool {
 public:
  explicit BlockPool(LaunchContext& launch) : launch_(launch) {}
  /// The blocks of cluster number `unit`, by rank, ready to run.
  std::vector<std::unique_ptr<Block>> take(std::uint64_t unit, Worker& worker);
  void give(std::vector<std::unique_ptr<Block>> blocks) {
    for (auto& block : blocks) free_.push_back(std::move(block));
  }
  /// Linear index in the grid of the block of rank `rank` in cluster number `unit`.
  static std::uint64_t index_of(const LaunchContext& launch, std::uint64_t unit, std::uint32_t rank);

 private:
  std::unique_ptr<Block> take_block(std::uint64_t unit, std::uint32_t rank, Worker& worker);
  std::unique_ptr<Block> make(Worker& worker) const;
  LaunchContext& launch_;
  std::vector<std::unique_ptr<Block>> free_;
};

BlockState run_block(Block& block, Worker& worker);

/// `count` threads of w's block have exited: barriers that wait for all threads may be complete now.
void threads_exited(Warp& w, std::uint32_t count);

/// XOp::flags of barriers: 1 the whole warp must come (.aligned), and kPackedBarrier: number in bits 0 to 3, count in
/// 16 to 27 of one register.
inline constexpr std::uint8_t kPackedBarrier = 2;
/// bar.sync, bar.arrive, bar.red and their barrier.* spellings.
const XOp* run_barrier(Warp& w, const XOp* op);

}  // namespace muscope::exec
