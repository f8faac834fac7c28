// The start of a program: cuInit, versions, errors' names, and the table of functions.
#include <cstring>

#include "driver/entry.h"
#include "driver/proc_table.h"
#include "runtime/host_object.h"
#include "runtime/selection.h"
#include "runtime/thread_use.h"

using namespace muscope::driver;

namespace {

constexpr int kDriverVersion = 13000;

struct Row {
  int code;
  const char* name;
};

constexpr Row kResults[] = {
#define MUSCOPE_RESULT(name) {name, #name},
#include "driver/results.inc"
#undef MUSCOPE_RESULT
};

const Row* find(CUresult result) {
  for (const Row& row : kResults)
    if (row.code == static_cast<int>(result)) return &row;
  return nullptr;
}

CUresult get_function(const char* symbol, void** function, int version, cuuint64_t flags,
                      CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (function != nullptr) *function = nullptr;
  if (symbol == nullptr || function == nullptr || (flags & ~kFlags) != 0 || flags == kFlags)
    return CUDA_ERROR_INVALID_VALUE;
  bool newer = false;
  *function = function_of(symbol, version, newer);
  if (status != nullptr)
    *status = *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : newer              ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != nullptr || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuInit)(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return enter(Needs::kProcess, [](Runtime&) {
    set_initialised();
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuDriverGetVersion)(int* version) { return put(version, kDriverVersion); }

MUSCOPE_DRIVER_ENTRY(cuGetErrorName)(CUresult error, const char** name) {
  const Row* const row = find(error);
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = row ? row->name : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Texts are the same in both interfaces, code by code.
MUSCOPE_DRIVER_ENTRY(cuGetErrorString)(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = find(error) ? muscope::runtime::error_text(static_cast<int>(error)) : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MUSCOPE_DRIVER_ENTRY(cuGetProcAddress)(const char* symbol, void** function, int version, cuuint64_t flags) {
  return get_function(symbol, function, version, flags, nullptr);
}

MUSCOPE_DRIVER_ENTRY(cuGetProcAddress_v2)(const char* symbol, void** function, int version, cuuint64_t flags,
                                          CUdriverProcAddressQueryResult* status) {
  return get_function(symbol, function, version, flags, status);
}

// Tables of functions without names, by number: not documented, and none is here. libnvrtc and libnvJitLink ask and do
// without. Others that ask are CUDA runtimes: one that is not replaced by ours.
MUSCOPE_EXPORT CUresult muscope_cuGetExportTable(const void** table, const void*) {
  if (table == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  const std::string caller = muscope::runtime::object_of(__builtin_return_address(0));
  if (caller.find("libnvrtc") != caller.npos || caller.find("libnvJitLink") != caller.npos) return CUDA_ERROR_NOT_FOUND;
  const std::string name = caller.substr(caller.rfind('/') + 1);
  if (!name.starts_with("lib")) return not_supported("cuGetExportTable");
  try {
    const muscope::runtime::LibraryCall call = muscope::runtime::library_call();
    std::string text = name;
    if (!call.product.empty())
      text = call.product + " is missing from emulation: " +
             (call.function.empty() ? name : call.function + " was called, and " + name);
    muscope::runtime::tell(
        "D512", text + " holds a CUDA runtime of its own, which muscope cannot replace: what it asks of the GPU fails",
        "the rest of the program runs; see `muscope explain D512`");
  } catch (...) {
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

MUSCOPE_DRIVER_ENTRY(cuProfilerStart)() {
  return enter([](Runtime&) {
    muscope::runtime::profiler_start();
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuProfilerStop)() {
  return enter([](Runtime&) {
    muscope::runtime::profiler_stop();
    return CUDA_SUCCESS;
  });
}

// The runtime's way to the driver's functions: muscope_cudaGetDriverEntryPoint (runtime/driver_entry_api.cc).
MUSCOPE_EXPORT void* muscope_driver_function(const char* symbol, int version, int* status) {
  bool newer = false;
  void* const function = function_of(symbol, version, newer);
  *status = function ? 0 : newer ? 2 : 1;
  return function;
}
