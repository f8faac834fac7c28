// Modules: loading, unloading, their functions and variables.
#include "driver/entry.h"
#include "driver/module.h"

using namespace muscope::driver;

namespace {

ContextRef current(Runtime& runtime) { return ThreadContexts::of_thread(runtime).current(); }

CUmodule add_module(Runtime& runtime, FatBinary& binary) {
  const ContextRef context = current(runtime);
  const CUmodule handle = Images::of_process().add(binary, context);
  context->add(Context::Kind::kModule, address_of(handle));
  return handle;
}

CUresult load_data(CUmodule* out, const void* image, unsigned count, CUjit_option* options, void** values,
                   const void* caller) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (out == nullptr || !readable_image(image)) return CUDA_ERROR_INVALID_VALUE;
    Jit jit;
    if (const CUresult result = jit.read(count, options, values)) return result;
    const FinishJit finish(jit);
    *out = add_module(runtime, load_image(runtime, image, caller, runtime.current_device().index(), jit));
    return CUDA_SUCCESS;
  });
}

template <typename Body>
CUresult with_module(CUmodule handle, Body&& body) {
  return enter([&](Runtime& runtime) -> CUresult {
    const auto module = Images::of_process().modules.find(handle);
    return module ? body(runtime, *module) : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuModuleLoad)(CUmodule* out, const char* path) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Jit jit;
    FatBinary* const binary = load_file(runtime, path, runtime.current_device().index(), jit);
    if (binary == nullptr) return CUDA_ERROR_FILE_NOT_FOUND;
    *out = add_module(runtime, *binary);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuModuleLoadData)(CUmodule* out, const void* image) {
  return load_data(out, image, 0, nullptr, nullptr, __builtin_return_address(0));
}

MUSCOPE_DRIVER_ENTRY(cuModuleLoadDataEx)(CUmodule* out, const void* image, unsigned count, CUjit_option* options,
                                         void** values) {
  return load_data(out, image, count, options, values, __builtin_return_address(0));
}

MUSCOPE_DRIVER_ENTRY(cuModuleLoadFatBinary)(CUmodule* out, const void* image) {
  return load_data(out, image, 0, nullptr, nullptr, __builtin_return_address(0));
}

MUSCOPE_DRIVER_ENTRY(cuModuleUnload)(CUmodule handle) {
  return with_module(handle, [&](Runtime& runtime, Module& module) -> CUresult {
    if (module.borrowed) return CUDA_ERROR_NOT_PERMITTED;
    module.context->remove(Context::Kind::kModule, address_of(handle));
    runtime.write_output();
    unload(runtime, address_of(handle));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuModuleGetLoadingMode)(CUmoduleLoadingMode* mode) {
  return enter(Needs::kInit, [&](Runtime&) { return put(mode, CU_MODULE_LAZY_LOADING); });
}

MUSCOPE_DRIVER_ENTRY(cuModuleGetFunction)(CUfunction* out, CUmodule handle, const char* name) {
  return with_module(handle, [&](Runtime& runtime, Module& module) -> CUresult {
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelEntry* const kernel = runtime.modules().kernel_named(runtime, *module.binary, name, module.context->device());
    if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
    *out = reinterpret_cast<CUfunction>(kernel);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuModuleGetFunctionCount)(unsigned* count, CUmodule handle) {
  return with_module(handle, [&](Runtime& runtime, Module& module) {
    const auto names = runtime.modules().load(runtime, *module.binary, module.context->device()).kernel_names();
    return put(count, static_cast<unsigned>(names.size()));
  });
}

MUSCOPE_DRIVER_ENTRY(cuModuleEnumerateFunctions)(CUfunction* functions, unsigned count, CUmodule handle) {
  return with_module(handle, [&](Runtime& runtime, Module& module) -> CUresult {
    if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const int device = module.context->device();
    for (const std::string& name : runtime.modules().load(runtime, *module.binary, device).kernel_names()) {
      if (count-- == 0) break;
      *functions++ =
          reinterpret_cast<CUfunction>(runtime.modules().kernel_named(runtime, *module.binary, name, device));
    }
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuModuleGetGlobal_v2)(CUdeviceptr* pointer, std::size_t* bytes, CUmodule handle,
                                           const char* name) {
  return with_module(handle, [&](Runtime& runtime, Module& module) {
    return find_variable(runtime, *module.binary, module.context->device(), name, pointer, bytes);
  });
}
