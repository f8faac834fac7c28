// Libraries: device code that no context owns, loaded on each device when first used there. A CUkernel is what the
// runtime calls a kernel's handle.
#include "driver/entry.h"
#include "driver/function.h"
#include "driver/module.h"

using namespace muscope::driver;

namespace {

template <typename Body>
CUresult with_library(CUlibrary handle, Needs needs, Body&& body) {
  return enter(needs, [&](Runtime& runtime) -> CUresult {
    const auto library = Images::of_process().libraries.find(handle);
    return library ? body(runtime, *library->binary) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUlibrary add_library(FatBinary& binary) {
  return reinterpret_cast<CUlibrary>(Images::of_process().libraries.add(std::make_shared<Library>(Library{&binary})));
}

CUresult check_options(unsigned count, const CUlibraryOption* options, void* const* values) {
  if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i)
    if (static_cast<unsigned>(options[i]) >= CU_LIBRARY_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuLibraryLoadData)(CUlibrary* out, const void* code, CUjit_option* jit_options, void** jit_values,
                                        unsigned jit_count, CUlibraryOption* options, void** values, unsigned count) {
  const void* const caller = __builtin_return_address(0);
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (out == nullptr || !readable_image(code)) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_options(count, options, values)) return result;
    Jit jit;
    if (const CUresult result = jit.read(jit_count, jit_options, jit_values)) return result;
    const FinishJit finish(jit);
    *out = add_library(load_image(runtime, code, caller, runtime.current_device().index(), jit));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryLoadFromFile)(CUlibrary* out, const char* path, CUjit_option* jit_options,
                                            void** jit_values, unsigned jit_count, CUlibraryOption* options,
                                            void** values, unsigned count) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (out == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_options(count, options, values)) return result;
    Jit jit;
    if (const CUresult result = jit.read(jit_count, jit_options, jit_values)) return result;
    FatBinary* const binary = load_file(runtime, path, runtime.current_device().index(), jit);
    if (binary == nullptr) return CUDA_ERROR_FILE_NOT_FOUND;
    *out = add_library(*binary);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryUnload)(CUlibrary handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const auto library = Images::of_process().libraries.drop(handle);
    if (!library) return CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < runtime.device_count(); ++i) runtime.scheduler().wait_device(i);
    for (const auto& module : Images::of_process().modules.all())
      if (module->binary == library->binary) Images::of_process().drop(module.get());
    runtime.modules().discard(*library->binary);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryGetKernel)(CUkernel* out, CUlibrary handle, const char* name) {
  return with_library(handle, Needs::kInit, [&](Runtime& runtime, FatBinary& binary) -> CUresult {
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    KernelEntry* const kernel = runtime.modules().kernel_named(runtime, binary, name, runtime.current_device().index());
    if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
    *out = reinterpret_cast<CUkernel>(kernel);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryGetKernelCount)(unsigned* count, CUlibrary handle) {
  return with_library(handle, Needs::kInit, [&](Runtime& runtime, FatBinary& binary) {
    const auto names = runtime.modules().load(runtime, binary, runtime.current_device().index()).kernel_names();
    return put(count, static_cast<unsigned>(names.size()));
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryEnumerateKernels)(CUkernel* kernels, unsigned count, CUlibrary handle) {
  return with_library(handle, Needs::kInit, [&](Runtime& runtime, FatBinary& binary) -> CUresult {
    if (kernels == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const int device = runtime.current_device().index();
    for (const std::string& name : runtime.modules().load(runtime, binary, device).kernel_names()) {
      if (count-- == 0) break;
      *kernels++ = reinterpret_cast<CUkernel>(runtime.modules().kernel_named(runtime, binary, name, device));
    }
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryGetModule)(CUmodule* out, CUlibrary handle) {
  return with_library(handle, Needs::kContext, [&](Runtime& runtime, FatBinary& binary) {
    return put(out, Images::of_process().module_of(binary, ThreadContexts::of_thread(runtime).current()));
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryGetGlobal)(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary handle, const char* name) {
  return with_library(handle, Needs::kContext, [&](Runtime& runtime, FatBinary& binary) {
    return find_variable(runtime, binary, runtime.current_device().index(), name, pointer, bytes);
  });
}

MUSCOPE_DRIVER_ENTRY(cuLibraryGetManaged)(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary handle,
                                          const char* name) {
  return with_library(handle, Needs::kInit, [&](Runtime& runtime, FatBinary& binary) -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // One memory for all devices: that of the first.
    const auto* const symbol = runtime.modules().load(runtime, binary, 0).symbol(name);
    if (symbol == nullptr || !symbol->managed) return CUDA_ERROR_NOT_FOUND;
    return find_variable(runtime, binary, 0, name, pointer, bytes);
  });
}

MUSCOPE_DRIVER_ENTRY(cuKernelGetFunction)(CUfunction* out, CUkernel handle) {
  return enter([&](Runtime& runtime) -> CUresult {
    KernelEntry* kernel = nullptr;
    if (const CUresult result = find_function(runtime, handle, kernel)) return result;
    return put(out, reinterpret_cast<CUfunction>(kernel));
  });
}

MUSCOPE_DRIVER_ENTRY(cuKernelGetLibrary)(CUlibrary* out, CUkernel handle) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    const KernelEntry* const kernel = handle ? runtime.modules().find_kernel(handle) : nullptr;
    const CUlibrary library = kernel ? Images::of_process().library_of(*kernel->binary) : nullptr;
    return library ? put(out, library) : CUDA_ERROR_INVALID_HANDLE;
  });
}

MUSCOPE_DRIVER_ENTRY(cuKernelGetName)(const char** name, CUkernel kernel) {
  return function_name(name, kernel, Needs::kInit);
}

MUSCOPE_DRIVER_ENTRY(cuKernelGetParamInfo)(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  return parameter_info(kernel, index, offset, size, Needs::kInit);
}

MUSCOPE_DRIVER_ENTRY(cuKernelGetAttribute)(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                           CUdevice device) {
  return get_attribute(value, attribute, kernel, device);
}

MUSCOPE_DRIVER_ENTRY(cuKernelSetAttribute)(CUfunction_attribute attribute, int value, CUkernel kernel,
                                           CUdevice device) {
  return set_attribute(kernel, attribute, value, device);
}

MUSCOPE_DRIVER_ENTRY(cuKernelSetCacheConfig)(CUkernel kernel, CUfunc_cache config, CUdevice) {
  return set_cache_config(kernel, config);
}
