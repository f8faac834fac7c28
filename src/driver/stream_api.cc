// Streams and events.
#include "driver/context.h"
#include "driver/entry.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaStreamCreateWithPriority);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamDestroy);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamSynchronize);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamQuery);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamWaitEvent);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamAddCallback);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamAttachMemAsync);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamGetPriority);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamGetFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamGetId);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamGetDevice);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamCopyAttributes);
MUSCOPE_RUNTIME_FUNCTION(cudaEventCreateWithFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaEventDestroy);
MUSCOPE_RUNTIME_FUNCTION(cudaEventRecordWithFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaEventQuery);
MUSCOPE_RUNTIME_FUNCTION(cudaEventSynchronize);
MUSCOPE_RUNTIME_FUNCTION(cudaEventElapsedTime);

namespace {

ContextRef current(Runtime& runtime) { return ThreadContexts::of_thread(runtime).current(); }

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuStreamCreateWithPriority)(CUstream* stream, unsigned flags, int priority) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = muscope_cudaStreamCreateWithPriority(stream, flags, priority))
      return result_of(error);
    current(runtime)->add(Context::Kind::kStream, address_of(*stream));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuStreamCreate)(CUstream* stream, unsigned flags) {
  return muscope_cuStreamCreateWithPriority(stream, flags, 0);
}

MUSCOPE_DRIVER_ENTRY(cuStreamDestroy_v2)(CUstream stream) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = muscope_cudaStreamDestroy(stream)) return result_of(error);
    current(runtime)->remove(Context::Kind::kStream, address_of(stream));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuStreamSynchronize)(CUstream stream) {
  return enter([&](Runtime&) { return muscope_cudaStreamSynchronize(stream); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamQuery)(CUstream stream) {
  return enter([&](Runtime&) { return muscope_cudaStreamQuery(stream); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned flags) {
  return enter([&](Runtime&) { return muscope_cudaStreamWaitEvent(stream, event, flags); });
}

// The runtime's codes of what a callback is told are those of the driver, but for what never reaches one.
MUSCOPE_DRIVER_ENTRY(cuStreamAddCallback)(CUstream stream, CUstreamCallback callback, void* user_data, unsigned flags) {
  return enter([&](Runtime&) {
    return muscope_cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), user_data, flags);
  });
}

MUSCOPE_DRIVER_ENTRY(cuStreamAttachMemAsync)(CUstream stream, CUdeviceptr pointer, std::size_t bytes, unsigned flags) {
  return enter([&](Runtime&) { return muscope_cudaStreamAttachMemAsync(stream, pointer_of(pointer), bytes, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamGetPriority)(CUstream stream, int* priority) {
  return enter([&](Runtime&) { return muscope_cudaStreamGetPriority(stream, priority); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamGetFlags)(CUstream stream, unsigned* flags) {
  return enter([&](Runtime&) { return muscope_cudaStreamGetFlags(stream, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamGetId)(CUstream stream, unsigned long long* id) {
  return enter([&](Runtime&) { return muscope_cudaStreamGetId(stream, id); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamGetDevice)(CUstream stream, CUdevice* device) {
  return enter([&](Runtime&) { return muscope_cudaStreamGetDevice(stream, device); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamGetCtx)(CUstream handle, CUcontext* context) {
  return enter([&](Runtime& runtime) -> CUresult {
    const auto stream = runtime.stream(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!runtime.streams().find(handle)) return put(context, handle_of(current(runtime)));  // a default stream
    return put(context, handle_of(Contexts::of_process().maker(runtime, Context::Kind::kStream, address_of(handle),
                                                               stream->device())));
  });
}

MUSCOPE_DRIVER_ENTRY(cuStreamCopyAttributes)(CUstream to, CUstream from) {
  return enter([&](Runtime&) { return muscope_cudaStreamCopyAttributes(to, from); });
}

MUSCOPE_DRIVER_ENTRY(cuEventCreate)(CUevent* event, unsigned flags) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = muscope_cudaEventCreateWithFlags(event, flags)) return result_of(error);
    current(runtime)->add(Context::Kind::kEvent, address_of(*event));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuEventDestroy_v2)(CUevent event) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (const cudaError_t error = muscope_cudaEventDestroy(event)) return result_of(error);
    current(runtime)->remove(Context::Kind::kEvent, address_of(event));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuEventRecordWithFlags)(CUevent event, CUstream stream, unsigned flags) {
  return enter([&](Runtime&) { return muscope_cudaEventRecordWithFlags(event, stream, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuEventRecord)(CUevent event, CUstream stream) {
  return muscope_cuEventRecordWithFlags(event, stream, 0);
}

MUSCOPE_DRIVER_ENTRY(cuEventQuery)(CUevent event) {
  return enter([&](Runtime&) { return muscope_cudaEventQuery(event); });
}

MUSCOPE_DRIVER_ENTRY(cuEventSynchronize)(CUevent event) {
  return enter([&](Runtime&) { return muscope_cudaEventSynchronize(event); });
}

MUSCOPE_DRIVER_ENTRY(cuEventElapsedTime)(float* milliseconds, CUevent start, CUevent end) {
  return enter([&](Runtime&) -> CUresult {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_HANDLE;  // H200, against the manual
    return result_of(muscope_cudaEventElapsedTime(milliseconds, start, end));
  });
}
