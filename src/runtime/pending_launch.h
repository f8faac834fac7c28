// A launch from the call to the end of its kernel, and of the kernels that it launches itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "exec/launcher.h"
#include "runtime/modules.h"

namespace muscope::runtime {

class Device;
class Runtime;

/// What stays the same from the call to the end of the kernel.
struct PendingLaunch {
  Runtime& runtime;
  Device& device;
  KernelEntry& entry;
  exec::LaunchRequest request;
  std::uint32_t index = 0;
  std::uint64_t stream = 0;
  std::chrono::steady_clock::time_point begun;
  int carveout_preference = -1;
};

/// Starts it. Null when it has ended already (or never runs, behind a kernel that failed); else what is still running,
/// and finish() has to be called at its end.
std::shared_ptr<exec::LaunchHandle> begin(PendingLaunch& pending);

/// Records what came out, and runs what the kernel launched.
void finish(PendingLaunch& pending, exec::LaunchResult& result);

}  // namespace muscope::runtime
