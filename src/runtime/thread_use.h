// What a thread did with the two interfaces, runtime and driver API: they share its current device (driver/context.h).
#pragma once

#include <atomic>

namespace muscope::runtime {

struct ThreadUse {
  bool in_driver = false;       ///< inside a function of the driver API, which may call the runtime's
  bool runtime_called = false;  ///< called the runtime since the driver API looked last
  unsigned selections = 0;      ///< times that it chose a device with cudaSetDevice
};

inline thread_local constinit ThreadUse thread_use{};

/// Some thread called the runtime: it then holds every device's primary context.
inline constinit std::atomic<bool> runtime_in_use{false};

/// A call of the runtime that needs a device, or chooses one.
inline void note_runtime_call() {
  ThreadUse& use = thread_use;
  if (use.in_driver || use.runtime_called) return;
  use.runtime_called = true;
  runtime_in_use.store(true, std::memory_order_relaxed);
}

}  // namespace muscope::runtime
