// Contexts: making, destroying, choosing; what is asked and set for the current one.
#include "driver/context.h"
#include "driver/entry.h"
#include "driver/module.h"
#include "runtime/copy.h"
#include "runtime/memory_calls.h"
#include "runtime/thread_use.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaDeviceSynchronize);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetLimit);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceSetLimit);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetCacheConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceSetCacheConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetSharedMemConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceSetSharedMemConfig);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceGetStreamPriorityRange);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceEnablePeerAccess);
MUSCOPE_RUNTIME_FUNCTION(cudaDeviceDisablePeerAccess);

namespace {

constexpr unsigned kContextFlags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                   CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS;
constexpr unsigned kApiVersion = 3020;  // of contexts since CUDA 3.2, the last change of what a context means

bool valid_flags(unsigned flags) {
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~kContextFlags) == 0 && (schedule & (schedule - 1)) == 0;  // one of the ways to wait
}

ThreadContexts& thread(Runtime& runtime) { return ThreadContexts::of_thread(runtime); }

ContextRef current(Runtime& runtime) { return thread(runtime).current(); }

CUresult create(CUcontext* out, unsigned flags, CUdevice device, bool affinity) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (out == nullptr || !valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (affinity) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;  // as without MPS (CUDA Driver API, cuCtxCreate_v3)
    auto context = std::make_shared<Context>(device, flags | CU_CTX_MAP_HOST, false);
    context->holders = 1;
    *out = Contexts::of_process().add(context);
    thread(runtime).push(runtime, std::move(context));
    return CUDA_SUCCESS;
  });
}

bool any_block(const muscope::runtime::Block&) { return true; }

// Gives back what was made in the context.
void clear(Runtime& runtime, Context& context) {
  runtime.scheduler().wait_device(context.device());
  runtime.write_output();
  for (const std::uint64_t module : context.take(Context::Kind::kModule)) unload(runtime, module);
  for (const std::uint64_t address : context.take(Context::Kind::kMemory)) release(runtime, address, any_block);
  for (const std::uint64_t address : context.take(Context::Kind::kHostMemory)) {
    const auto block = runtime.blocks().find(address);
    if (block && block->source == muscope::runtime::Source::kHostRegister) {
      runtime.blocks().take(address, any_block);
      runtime.memory().remove_host(pointer_of(address));
    } else {
      release(runtime, address, any_block);
    }
  }
  for (const std::uint64_t array : context.take(Context::Kind::kArray))
    if (const auto dropped = runtime.arrays().drop(pointer_of(array))) runtime.memory().release(dropped->address);
  for (const std::uint64_t stream : context.take(Context::Kind::kStream)) runtime.streams().drop(pointer_of(stream));
  for (const std::uint64_t event : context.take(Context::Kind::kEvent)) runtime.events().drop(pointer_of(event));
}

CUresult destroy(Runtime& runtime, CUcontext handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Contexts& all = Contexts::of_process();
  const ContextRef context = all.find(handle);
  if (!context || context->primary()) return CUDA_ERROR_INVALID_CONTEXT;
  all.drop(handle);
  context->destroyed = true;
  if (current(runtime) == context) thread(runtime).pop(runtime);
  clear(runtime, *context);
  return CUDA_SUCCESS;
}

// Everything of the device goes, with the modules that the program loaded there.
void reset_primary(Runtime& runtime, int device) {
  runtime.scheduler().wait_device(device);
  runtime.write_output();
  unload_all(runtime, Contexts::of_process().primary(runtime, device));
  runtime.reset_device(*runtime.device(device));
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuDevicePrimaryCtxRetain)(CUcontext* out, CUdevice device) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextRef context = Contexts::of_process().primary(runtime, device);
    ++context->holders;
    return put(out, handle_of(context));
  });
}

MUSCOPE_DRIVER_ENTRY(cuDevicePrimaryCtxRelease_v2)(CUdevice device) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    const ContextRef context = Contexts::of_process().primary(runtime, device);
    int holders = context->holders.load();
    while (holders > 0 && !context->holders.compare_exchange_weak(holders, holders - 1)) {
    }
    if (holders == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (holders == 1 && !context->alive()) reset_primary(runtime, device);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDevicePrimaryCtxReset_v2)(CUdevice device) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    reset_primary(runtime, device);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDevicePrimaryCtxSetFlags_v2)(CUdevice device, unsigned flags) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    Contexts::of_process().primary(runtime, device)->flags = flags;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDevicePrimaryCtxGetState)(CUdevice device, unsigned* flags, int* active) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (runtime.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const ContextRef context = Contexts::of_process().primary(runtime, device);
    *flags = context->flags;
    *active = context->alive() ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxCreate_v2)(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device, false);
}

MUSCOPE_DRIVER_ENTRY(cuCtxCreate_v3)(CUcontext* context, void*, int affinities, unsigned flags, CUdevice device) {
  return create(context, flags, device, affinities > 0);
}

MUSCOPE_DRIVER_ENTRY(cuCtxCreate_v4)(CUcontext* context, CUctxCreateParams* params, unsigned flags, CUdevice device) {
  if (params != nullptr && params->cigParams != nullptr) return not_supported("cuCtxCreate with graphics parameters");
  return create(context, flags, device, params != nullptr && params->numExecAffinityParams > 0);
}

MUSCOPE_DRIVER_ENTRY(cuCtxDestroy_v2)(CUcontext context) {
  return enter(Needs::kInit, [&](Runtime& runtime) { return destroy(runtime, context); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxAttach)(CUcontext* out, unsigned flags) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const ContextRef context = current(runtime);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    ++context->holders;
    return put(out, handle_of(context));
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxDetach)(CUcontext handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = Contexts::of_process().find(handle);
    if (!context || current(runtime) != context) return CUDA_ERROR_INVALID_CONTEXT;
    return --context->holders > 0 ? CUDA_SUCCESS : destroy(runtime, handle);
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxPushCurrent_v2)(CUcontext handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ContextRef context = Contexts::of_process().find(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    thread(runtime).push(runtime, std::move(context));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxPopCurrent_v2)(CUcontext* out) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = thread(runtime).pop(runtime);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (out != nullptr) *out = handle_of(context);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSetCurrent)(CUcontext handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    ContextRef context = Contexts::of_process().find(handle);
    if (handle != nullptr && !context) return CUDA_ERROR_INVALID_CONTEXT;
    thread(runtime).pop(runtime);
    if (context) thread(runtime).push(runtime, std::move(context));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetCurrent)(CUcontext* out) {
  return enter(Needs::kInit, [&](Runtime& runtime) { return put(out, handle_of(current(runtime))); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetDevice)(CUdevice* out) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = current(runtime);
    return context ? put(out, context->device()) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetDevice_v2)(CUdevice* out, CUcontext handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = handle == nullptr ? current(runtime) : Contexts::of_process().find(handle);
    return context ? put(out, context->device()) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetFlags)(unsigned* flags) {
  return enter([&](Runtime& runtime) { return put(flags, current(runtime)->flags.load()); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSetFlags)(unsigned flags) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    current(runtime)->flags = flags | CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetId)(CUcontext handle, unsigned long long* id) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = handle == nullptr ? current(runtime) : Contexts::of_process().find(handle);
    return context ? put(id, context->id()) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetApiVersion)(CUcontext handle, unsigned* version) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = handle == nullptr ? current(runtime) : Contexts::of_process().find(handle);
    return context ? put(version, kApiVersion) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSynchronize)() {
  return enter([](Runtime&) { return muscope_cudaDeviceSynchronize(); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSynchronize_v2)(CUcontext handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const ContextRef context = handle == nullptr ? current(runtime) : Contexts::of_process().find(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    runtime.scheduler().wait_device(context->device());
    runtime.write_output();
    return result_of(runtime.device(context->device())->check_usable());
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetLimit)(std::size_t* value, CUlimit limit) {
  return enter([&](Runtime&) { return muscope_cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSetLimit)(CUlimit limit, std::size_t value) {
  return enter([&](Runtime&) { return muscope_cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetCacheConfig)(CUfunc_cache* config) {
  return enter([&](Runtime&) { return muscope_cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSetCacheConfig)(CUfunc_cache config) {
  return enter([&](Runtime&) { return muscope_cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetSharedMemConfig)(CUsharedconfig* config) {
  return enter(
      [&](Runtime&) { return muscope_cudaDeviceGetSharedMemConfig(reinterpret_cast<cudaSharedMemConfig*>(config)); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxSetSharedMemConfig)(CUsharedconfig config) {
  return enter(
      [&](Runtime&) { return muscope_cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(config)); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxGetStreamPriorityRange)(int* least, int* greatest) {
  return enter([&](Runtime&) { return muscope_cudaDeviceGetStreamPriorityRange(least, greatest); });
}

MUSCOPE_DRIVER_ENTRY(cuCtxResetPersistingL2Cache)() {
  return enter([](Runtime&) { return CUDA_SUCCESS; });
}

MUSCOPE_DRIVER_ENTRY(cuCtxEnablePeerAccess)(CUcontext peer, unsigned flags) {
  return enter([&](Runtime&) -> CUresult {
    const ContextRef context = Contexts::of_process().find(peer);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return result_of(muscope_cudaDeviceEnablePeerAccess(context->device(), flags));
  });
}

MUSCOPE_DRIVER_ENTRY(cuCtxDisablePeerAccess)(CUcontext peer) {
  return enter([&](Runtime&) -> CUresult {
    const ContextRef context = Contexts::of_process().find(peer);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return result_of(muscope_cudaDeviceDisablePeerAccess(context->device()));
  });
}
