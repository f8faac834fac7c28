// The library API of the runtime (cudaLibraryLoadData and its kin): the driver's, with the runtime's codes. A
// cudaKernel_t is a kernel's handle, which cudaLaunchKernel takes as well.
#include "runtime/entry.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

/// Of src/driver, which the engine has and tests of this folder do not. They give CUresult codes.
#define MUSCOPE_WEAK extern "C" __attribute__((weak)) int
MUSCOPE_WEAK muscope_cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
MUSCOPE_WEAK muscope_cuLibraryLoadFromFile(void**, const char*, int*, void**, unsigned, int*, void**, unsigned);
MUSCOPE_WEAK muscope_cuLibraryUnload(void*);
MUSCOPE_WEAK muscope_cuLibraryGetKernel(void**, void*, const char*);
MUSCOPE_WEAK muscope_cuLibraryGetKernelCount(unsigned*, void*);
MUSCOPE_WEAK muscope_cuLibraryEnumerateKernels(void**, unsigned, void*);
MUSCOPE_WEAK muscope_cuLibraryGetGlobal(void**, std::size_t*, void*, const char*);
MUSCOPE_WEAK muscope_cuLibraryGetManaged(void**, std::size_t*, void*, const char*);

namespace {

// The driver's codes are the runtime's, but for what a function or a variable is not found by name.
template <typename Function, typename... Arguments>
cudaError_t call(Function* function, Arguments... arguments) {
  return enter([&](Runtime&) -> cudaError_t {
    return function == nullptr ? cudaErrorNotSupported : static_cast<cudaError_t>(function(arguments...));
  });
}

}  // namespace

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryLoadData(void** library, const void* code, int* jit_options,
                                                       void** jit_values, unsigned jit_count, int* options,
                                                       void** values, unsigned count) {
  return call(muscope_cuLibraryLoadData, library, code, jit_options, jit_values, jit_count, options, values, count);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryLoadFromFile(void** library, const char* path, int* jit_options,
                                                           void** jit_values, unsigned jit_count, int* options,
                                                           void** values, unsigned count) {
  return call(muscope_cuLibraryLoadFromFile, library, path, jit_options, jit_values, jit_count, options, values, count);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryUnload(void* library) { return call(muscope_cuLibraryUnload, library); }

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return call(muscope_cuLibraryGetKernel, kernel, library, name);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return call(muscope_cuLibraryGetKernelCount, count, library);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  return call(muscope_cuLibraryEnumerateKernels, kernels, count, library);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, void* library,
                                                        const char* name) {
  return call(muscope_cuLibraryGetGlobal, pointer, bytes, library, name);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaLibraryGetManaged(void** pointer, std::size_t* bytes, void* library,
                                                         const char* name) {
  return call(muscope_cuLibraryGetManaged, pointer, bytes, library, name);
}
