#include "driver/entry.h"

#include <atomic>
#include <new>

#include "base/diagnostic.h"
#include "driver/context.h"
#include "runtime/process.h"
#include "runtime/thread_use.h"

namespace muscope::driver {
namespace {

constinit std::atomic<bool> g_initialised{false};

CUresult code_of(const Error& error) {
  const std::string code = error.diagnostics().empty() ? std::string() : error.diagnostics().front().code;
  if (code == "D503" || code == "D509") return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (code == "D510") return CUDA_ERROR_INVALID_PTX;
  if (code.starts_with("D2")) return CUDA_ERROR_INVALID_IMAGE;
  if (code == "D314" || code == "D520") return CUDA_ERROR_OUT_OF_MEMORY;
  if (code.starts_with("D3")) return CUDA_ERROR_INVALID_PTX;
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUresult result_of(cudaError_t error) noexcept {
  switch (static_cast<int>(error)) {
    case 9:   // invalid configuration
    case 12:  // invalid pitch
    case 16:  // invalid host pointer
    case 17:  // invalid device pointer
    case 20:  // invalid channel descriptor
    case 21:  // invalid direction
    case 26:  // invalid filter setting
    case 27:  // invalid norm setting
      return CUDA_ERROR_INVALID_VALUE;
    case 13:  // invalid symbol
      return CUDA_ERROR_NOT_FOUND;
    case 98:  // invalid device function
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);
  }
}

void set_initialised() noexcept { g_initialised.store(true, std::memory_order_release); }

namespace detail {

Inside::Inside() noexcept : last_error_(runtime::last_error(false)), outer_(runtime::thread_use.in_driver) {
  runtime::thread_use.in_driver = true;
}

Inside::~Inside() {
  runtime::thread_use.in_driver = outer_;
  if (runtime::last_error(false) != last_error_) runtime::detail::end_call(last_error_);
}

CUresult translate_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    runtime::detail::translate_exception();  // tells the user
    return code_of(error);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return static_cast<CUresult>(runtime::detail::translate_exception());
  }
}

CUresult begin_call(Needs needs, Runtime*& runtime) noexcept {
  try {
    if (!runtime::enter_process()) return CUDA_ERROR_NOT_INITIALIZED;
    if (needs != Needs::kProcess && !g_initialised.load(std::memory_order_acquire) &&
        !runtime::runtime_in_use.load(std::memory_order_relaxed))
      return CUDA_ERROR_NOT_INITIALIZED;
    runtime = &Runtime::get();
    if (needs == Needs::kProcess) return CUDA_SUCCESS;
    ThreadContexts& thread = ThreadContexts::of_thread(*runtime);
    if (needs != Needs::kContext) return CUDA_SUCCESS;
    const ContextRef context = thread.current();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return result_of(runtime->current_device().check_usable());
  } catch (...) {
    const CUresult result = translate_exception();
    return result == CUDA_ERROR_OUT_OF_MEMORY ? result : CUDA_ERROR_NOT_INITIALIZED;
  }
}

}  // namespace detail

CUresult not_supported(const char* function) noexcept {
  try {
    if (!runtime::enter_process()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!runtime::tell_library(function))
      runtime::tell("D501",
                    std::string("the program called ") + function +
                        ", which muscope does not have: it got CUDA_ERROR_NOT_SUPPORTED",
                    "see `muscope explain D501`");
  } catch (...) {
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace muscope::driver
