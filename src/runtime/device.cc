#include "runtime/device.h"

#include <map>

namespace muscope::runtime {

Device::Device(int index, Scheduler& scheduler)
    : index_(index), default_stream_(scheduler.create(index, StreamType::kLegacy, 0, cudaStreamDefault)) {
  set_default_limits();
}

// cudaDeviceGetLimit of an H200 in a fresh process (tests/counters/runtime_api_h200.txt). Limit 3 is not settable
// there.
void Device::set_default_limits() { limits = {1024, 8650752, 8388608, 0, 2048, 64, 11796480, 232448, 0}; }

StreamRef Device::thread_stream(Scheduler& scheduler) {
  // Never destroyed: programs call from handlers that run after thread-local objects are gone.
  thread_local auto* const streams = new std::map<const Device*, StreamRef>;
  StreamRef& stream = (*streams)[this];
  if (!stream) stream = scheduler.create(index_, StreamType::kBlocking, 0, cudaStreamDefault);
  return stream;
}

void Device::fault(cudaError_t error) {
  int expected = cudaSuccess;
  fault_.compare_exchange_strong(expected, error);
}

std::uint64_t Device::reach() {
  const std::lock_guard lock(mutex);
  std::uint64_t mask = std::uint64_t{1} << index_;
  for (const int peer : peers) mask |= std::uint64_t{1} << peer;
  return mask;
}

void Device::reset() {
  const std::lock_guard lock(mutex);
  set_default_limits();
  cache = cudaFuncCachePreferNone;
  peers.clear();
  if (fault_.load() != cudaSuccess) fault_.store(cudaErrorDevicesUnavailable);
}

}  // namespace muscope::runtime
