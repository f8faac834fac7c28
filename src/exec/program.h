// Program: a Kernel decoded for this machine. Made once per kernel and process.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "code/kernel.h"
#include "exec/warp.h"

namespace muscope::exec {

struct Program {
  std::shared_ptr<const code::Kernel> kernel;
  std::vector<XOp> ops;                            ///< as Kernel::ops
  std::vector<std::uint32_t> function_by_ptx;      ///< ptx function index -> Kernel::functions, for indirect calls
  std::vector<std::uint32_t> frame_base;           ///< by function: where its first activation's registers are
  std::uint32_t static_frames = 0;                 ///< end of those; further activations of recursive functions follow
  std::uint32_t register_bytes = 0;                ///< of one warp: the entry's frame and room for calls
  std::uint32_t local_bytes = 0;                   ///< per thread
  bool reads_clock = false;                        ///< some instruction reads a clock or a timer
  mutable std::atomic<std::uint32_t> observed{0};  ///< launches so far that were counted
};

/// Chooses a handler for every op; ops that have none get one that faults with "unsupported" when reached.
std::shared_ptr<const Program> decode(std::shared_ptr<const code::Kernel> kernel);

/// Whether there is a handler for a plain machine instruction (code::OpKind::kSass).
bool can_execute(const sass::Instruction& instruction);

}  // namespace muscope::exec
