// What the workers of one launch share.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>

#include "exec/launcher.h"
#include "exec/program.h"
#include "exec/warp.h"

namespace muscope::exec {

struct LaunchContext {
  const Program* program = nullptr;
  const LaunchRequest* request = nullptr;
  memory::AddressSpace* memory = nullptr;
  const arch::GpuSpec* gpu = nullptr;
  EngineOptions options;
  std::vector<std::uint8_t> const_bank;  ///< filled slots, aligned start in const_base
  std::uint8_t* const_base = nullptr;
  std::atomic<std::uint64_t> steps{0};  ///< PTX warp instructions so far, updated now and then
  std::atomic<std::uint64_t> next_unit{0};
  std::atomic<std::uint64_t> fault_order{~std::uint64_t{0}};  ///< lowest Block::order that faulted
  std::atomic<std::uint64_t> managed_pages{0};
  std::atomic<std::uint64_t> driver_calls{0};
  std::uint64_t total_blocks = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t unit_blocks = 1;  ///< blocks that start together: those of a cluster
  std::uint64_t total_units() const { return total_blocks / unit_blocks; }
  /// Instructions a warp may execute before others get a turn, and between looks at the launch's limits.
  std::uint64_t slice() const {
    constexpr std::uint64_t kSlice = 1 << 18;
    return options.max_steps == 0 ? kSlice : std::clamp<std::uint64_t>(options.max_steps / 16, 1, kSlice);
  }
  bool stop_requested() const { return options.stop && *options.stop != 0; }
};

/// Local memory of a thread of a kernel made from machine code: what the cubin states, and where it cannot know the
/// depth, room of cudaLimitStackSize (1,024 bytes as a GPU begins with).
inline std::uint32_t machine_stack_bytes(const code::Kernel& kernel, std::uint32_t limit) {
  constexpr std::uint32_t kBegin = 1024, kMost = 512 << 10;
  return kernel.deep_stack ? kernel.stack_bytes + std::min(std::max(limit, kBegin), kMost) / 16 * 16
                           : kernel.stack_bytes;
}

}  // namespace muscope::exec
