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
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> fault_block{~std::uint64_t{0}};  ///< lowest block that faulted
  std::atomic<std::uint64_t> managed_pages{0};
  std::uint64_t total_blocks = 0;
  /// Instructions a warp may execute before others get a turn, and between looks at the launch's limits.
  std::uint64_t slice() const {
    constexpr std::uint64_t kSlice = 1 << 18;
    return options.max_steps == 0 ? kSlice : std::clamp<std::uint64_t>(options.max_steps / 16, 1, kSlice);
  }
  bool stop_requested() const { return options.stop && *options.stop != 0; }
};

}  // namespace muscope::exec
