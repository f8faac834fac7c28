// One emulated device as the runtime sees it: sticky error, settings, default stream.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "runtime/cuda_abi.h"
#include "runtime/scheduler.h"

namespace muscope::runtime {

class Device {
 public:
  Device(int index, Scheduler& scheduler);

  int index() const { return index_; }
  /// Stream 0 of this device.
  const StreamRef& default_stream() const { return default_stream_; }
  /// The default stream of the calling thread (cudaStreamPerThread).
  StreamRef thread_stream(Scheduler& scheduler);

  /// A kernel ended with this error. The program learns of it at its next call that needs the device.
  void fault(cudaError_t error);
  bool faulted() const { return fault_.load() != cudaSuccess; }
  /// The error that every call gets after a fault; cudaSuccess while all is well.
  cudaError_t check_usable() const { return static_cast<cudaError_t>(fault_.load(std::memory_order_acquire)); }
  /// cudaDeviceReset after a fault: calls then fail with cudaErrorDevicesUnavailable (H200, driver 580).
  void reset();

  /// Devices whose memory kernels of this one may use, bit by bit: its own and its peers.
  std::uint64_t reach();

  std::mutex mutex;  ///< guards what follows
  std::array<std::size_t, 9> limits{};
  unsigned flags = cudaDeviceMapHost;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  std::set<int> peers;  ///< devices whose memory this one may use
  std::atomic<std::uint64_t> used_bytes{0};

 private:
  void set_default_limits();
  int index_;
  StreamRef default_stream_;
  std::atomic<int> fault_{cudaSuccess};
};

}  // namespace muscope::runtime
