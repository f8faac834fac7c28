// cudaGetDriverEntryPoint: functions of the driver API through the runtime.
#include "runtime/entry.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

/// Of src/driver, which the engine has and tests of this folder do not. `status`: as cudaDriverEntryPointQueryResult.
extern "C" __attribute__((weak)) void* muscope_driver_function(const char* symbol, int version, int* status);

namespace {

constexpr int kVersion = 13000;
constexpr unsigned long long kFlags = 3;  // cudaEnableLegacyStream, cudaEnablePerThreadDefaultStream

cudaError_t find(const char* symbol, void** function, int version, unsigned long long flags, int* status) {
  return enter(Needs::kRuntime, [&](Runtime&) -> cudaError_t {
    if (symbol == nullptr || function == nullptr || flags >= kFlags) return cudaErrorInvalidValue;
    int found = 1;
    *function = muscope_driver_function == nullptr ? nullptr : muscope_driver_function(symbol, version, &found);
    if (status != nullptr) *status = found;
    return cudaSuccess;  // the status tells (CUDA Runtime API, "Driver Entry Point Access")
  });
}

}  // namespace

MUSCOPE_EXPORT cudaError_t muscope_cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                           unsigned long long flags, int* status) {
  return find(symbol, function, kVersion, flags, status);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                                    unsigned version, unsigned long long flags,
                                                                    int* status) {
  return find(symbol, function, static_cast<int>(version), flags, status);
}
