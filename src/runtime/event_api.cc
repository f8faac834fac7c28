// Events. Times are those of the host's monotonic clock: emulation time, which says nothing of a GPU's speed.
#include <ctime>

#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"
#include "runtime/stream_calls.h"

using namespace muscope::runtime;

namespace {

constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

cudaError_t create(cudaEvent_t* handle, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || (flags & ~kEventFlags) != 0) return cudaErrorInvalidValue;
    // An event for other processes cannot time (CUDA Runtime API, cudaEventCreateWithFlags).
    if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
    *handle = reinterpret_cast<cudaEvent_t>(
        runtime.events().add(std::make_shared<Event>(flags, runtime.current_device().index())));
    return cudaSuccess;
  });
}

}  // namespace

namespace muscope::runtime {

cudaError_t record_event(Runtime& runtime, cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
  const auto event = runtime.events().find(handle);
  const StreamRef stream = runtime.stream(stream_handle);
  if (!event || !stream || stream->device() != event->device()) return cudaErrorInvalidResourceHandle;
  const auto captured = flags == cudaEventRecordExternal ? capture(stream, true, [&] { return RecordWork{handle}; })
                                                         : capture_record(stream, *event);
  if (captured) return *captured;
  auto recording = std::make_shared<Recording>();
  Operation operation;
  operation.run = [recording]() -> std::shared_ptr<exec::LaunchHandle> {
    recording->nanoseconds = now();
    return nullptr;
  };
  recording->point = runtime.scheduler().enqueue(stream, std::move(operation));
  event->set(std::move(recording));
  return cudaSuccess;
}

}  // namespace muscope::runtime

namespace {

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return enter([&](Runtime& runtime) { return record_event(runtime, event, stream, flags); });
}

}  // namespace

MUSCOPE_ENTRY(cudaEventCreate)(cudaEvent_t* event) { return create(event, cudaEventDefault); }

MUSCOPE_ENTRY(cudaEventCreateWithFlags)(cudaEvent_t* event, unsigned flags) { return create(event, flags); }

MUSCOPE_ENTRY(cudaEventRecord)(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream, cudaEventRecordDefault);
}

MUSCOPE_ENTRY(cudaEventRecordWithFlags)(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return record(event, stream, flags);
}

MUSCOPE_ENTRY(cudaEventQuery)(cudaEvent_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto event = runtime.events().find(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (const auto refused = refuse_captured(*event)) return *refused;
    const auto recording = event->recording();
    if (recording && !runtime.scheduler().reached(recording->point)) return cudaErrorNotReady;
    return runtime.current_device().check_usable();
  });
}

MUSCOPE_ENTRY(cudaEventSynchronize)(cudaEvent_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto event = runtime.events().find(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (const auto refused = refuse_captured(*event)) return *refused;
    if (const auto recording = event->recording()) runtime.scheduler().wait(recording->point);
    runtime.write_output();
    return runtime.current_device().check_usable();
  });
}

MUSCOPE_ENTRY(cudaEventDestroy)(cudaEvent_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    return runtime.events().drop(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

MUSCOPE_ENTRY(cudaEventElapsedTime)(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t stop_handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const auto start = runtime.events().find(start_handle), stop = runtime.events().find(stop_handle);
    if (!start || !stop || start->device() != stop->device() ||
        ((start->flags() | stop->flags()) & cudaEventDisableTiming) != 0)
      return cudaErrorInvalidResourceHandle;
    const auto from = start->recording(), to = stop->recording();
    if (!from || !to) return cudaErrorInvalidResourceHandle;
    if (!runtime.scheduler().reached(from->point) || !runtime.scheduler().reached(to->point)) return cudaErrorNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(to->nanoseconds - from->nanoseconds) / 1e6);
    return cudaSuccess;
  });
}
