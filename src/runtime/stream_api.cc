// Streams: creation, properties, synchronisation, host functions.
#include <algorithm>

#include "runtime/capture.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"
#include "runtime/stream_calls.h"

using namespace muscope::runtime;

namespace {

constexpr int kGreatestPriority = -5;

cudaError_t create(cudaStream_t* handle, unsigned flags, int priority) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0) return cudaErrorInvalidValue;
    const auto type = flags == cudaStreamNonBlocking ? StreamType::kNonBlocking : StreamType::kBlocking;
    StreamRef stream = runtime.scheduler().create(runtime.current_device().index(), type,
                                                  std::clamp(priority, kGreatestPriority, 0), flags);
    *handle = reinterpret_cast<cudaStream_t>(runtime.streams().add(std::move(stream)));
    return cudaSuccess;
  });
}

// Calls `body` with the stream behind the handle.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const StreamRef stream = runtime.stream(handle);
    return stream ? body(runtime, stream) : cudaErrorInvalidResourceHandle;
  });
}

template <typename Value>
cudaError_t put(Value* out, Value value) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

// Runs a function of the program between the stream's other operations.
void run_on_host(Runtime& runtime, const StreamRef& stream, std::function<void()> function) {
  Operation operation;
  operation.run = [function = std::move(function)]() -> std::shared_ptr<muscope::exec::LaunchHandle> {
    function();
    return nullptr;
  };
  runtime.scheduler().enqueue(stream, std::move(operation));
}

}  // namespace

namespace muscope::runtime {

cudaError_t launch_host_function(Runtime& runtime, cudaStream_t handle, cudaHostFn_t function, void* data) {
  const StreamRef stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (function == nullptr) return cudaErrorInvalidValue;
  if (const auto captured = capture(stream, true, [&] { return HostWork{function, data}; })) return *captured;
  Device* const device = runtime.device(stream->device());
  run_on_host(runtime, stream, [=] {
    if (!device->faulted()) function(data);  // after an error it is not called (CUDA Runtime API, cudaLaunchHostFunc)
  });
  return cudaSuccess;
}

cudaError_t wait_event(Runtime& runtime, cudaStream_t stream_handle, cudaEvent_t event_handle, unsigned flags) {
  const StreamRef stream = runtime.stream(stream_handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
  const auto event = runtime.events().find(event_handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  const auto captured = flags == cudaEventWaitExternal ? capture(stream, true, [&] { return WaitWork{event_handle}; })
                                                       : capture_wait(stream, *event);
  if (captured) return *captured;
  const auto recording = event->recording();
  if (!recording) return cudaSuccess;  // never recorded: nothing to wait for
  Operation operation;
  operation.after.push_back(recording->point);
  runtime.scheduler().enqueue(stream, std::move(operation));
  return cudaSuccess;
}

}  // namespace muscope::runtime

MUSCOPE_ENTRY(cudaStreamCreate)(cudaStream_t* stream) { return create(stream, cudaStreamDefault, 0); }

MUSCOPE_ENTRY(cudaStreamCreateWithFlags)(cudaStream_t* stream, unsigned flags) { return create(stream, flags, 0); }

MUSCOPE_ENTRY(cudaStreamCreateWithPriority)(cudaStream_t* stream, unsigned flags, int priority) {
  return create(stream, flags, priority);
}

MUSCOPE_ENTRY(cudaStreamDestroy)(cudaStream_t stream) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    // What is still in its queue goes on: the scheduler keeps the stream until then.
    return runtime.streams().drop(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

MUSCOPE_ENTRY(cudaStreamGetPriority)(cudaStream_t handle, int* priority) {
  return with_stream(handle, [&](Runtime&, const StreamRef& stream) { return put(priority, stream->priority()); });
}

MUSCOPE_ENTRY(cudaStreamGetFlags)(cudaStream_t handle, unsigned* flags) {
  return with_stream(handle, [&](Runtime&, const StreamRef& stream) { return put(flags, stream->flags()); });
}

MUSCOPE_ENTRY(cudaStreamGetId)(cudaStream_t handle, unsigned long long* id) {
  return with_stream(handle, [&](Runtime&, const StreamRef& stream) {
    return put(id, static_cast<unsigned long long>(stream->id()));
  });
}

MUSCOPE_ENTRY(cudaStreamGetDevice)(cudaStream_t handle, int* device) {
  return with_stream(handle, [&](Runtime&, const StreamRef& stream) { return put(device, stream->device()); });
}

MUSCOPE_ENTRY(cudaStreamSynchronize)(cudaStream_t handle) {
  return with_stream(handle, [&](Runtime& runtime, const StreamRef& stream) -> cudaError_t {
    if (const auto refused = refuse_captured(stream)) return *refused;
    if (stream->type() == StreamType::kLegacy) {
      // The default stream is done when the blocking streams before its end are: an empty operation sees to that.
      runtime.scheduler().wait(runtime.scheduler().enqueue(stream, {}));
    } else {
      runtime.scheduler().wait(runtime.scheduler().now(stream));
    }
    runtime.write_output();
    return runtime.current_device().check_usable();
  });
}

MUSCOPE_ENTRY(cudaStreamQuery)(cudaStream_t handle) {
  return with_stream(handle, [&](Runtime& runtime, const StreamRef& stream) -> cudaError_t {
    if (const auto refused = refuse_captured(stream)) return *refused;
    if (!runtime.scheduler().reached(runtime.scheduler().now(stream))) return cudaErrorNotReady;
    return runtime.current_device().check_usable();
  });
}

MUSCOPE_ENTRY(cudaStreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return enter([&](Runtime& runtime) { return wait_event(runtime, stream, event, flags); });
}

MUSCOPE_ENTRY(cudaStreamAddCallback)(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags) {
  return with_stream(handle, [&](Runtime& runtime, const StreamRef& stream) -> cudaError_t {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    if (const auto refused = refuse_captured(stream)) return *refused;
    Device* const device = runtime.device(stream->device());
    run_on_host(runtime, stream, [=] { callback(handle, device->check_usable(), data); });
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaLaunchHostFunc)(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return enter([&](Runtime& runtime) { return launch_host_function(runtime, stream, function, data); });
}

// Hints that change speed only, on real hardware.
MUSCOPE_ENTRY(cudaStreamSetAttribute)(cudaStream_t handle, cudaLaunchAttributeID,
                                      const cudaLaunchAttributeValue* value) {
  return with_stream(
      handle, [&](Runtime&, const StreamRef&) -> cudaError_t { return value ? cudaSuccess : cudaErrorInvalidValue; });
}

MUSCOPE_ENTRY(cudaStreamGetAttribute)(cudaStream_t handle, cudaLaunchAttributeID, cudaLaunchAttributeValue* value) {
  return with_stream(handle, [&](Runtime&, const StreamRef& stream) -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = cudaLaunchAttributeValue{};
    value->priority = stream->priority();
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaStreamCopyAttributes)(cudaStream_t to, cudaStream_t from) {
  return with_stream(to, [&](Runtime& runtime, const StreamRef&) -> cudaError_t {
    return runtime.stream(from) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
