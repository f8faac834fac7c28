// How every function of the driver API begins and ends. The driver API is a second front of the runtime's engine
// (src/runtime): its functions call the same internals, or the runtime's own functions, and give CUresult codes.
//
//   MUSCOPE_DRIVER_ENTRY(cuMemGetInfo_v2)(std::size_t* free, std::size_t* total) {
//     return enter([&](Runtime&) { return muscope_cudaMemGetInfo(free, total); });
//   }
//
// The shim (shim.S) gives these functions their names; here they are called muscope_<name>.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "driver/driver_abi.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"

namespace muscope::driver {

using runtime::Runtime;

/// What a call needs before it may go on.
enum class Needs {
  kProcess,  ///< nothing but a process that did not fork after it used CUDA
  kInit,     ///< cuInit, or a call of the runtime, came before
  kContext,  ///< a context is current in the thread and not destroyed, its device has no sticky error
};

/// The code for what the runtime's functions give. Numbers are the same in both interfaces where both have the error.
CUresult result_of(cudaError_t error) noexcept;
inline CUresult result_of(CUresult result) noexcept { return result; }

/// cuInit was called.
void set_initialised() noexcept;

namespace detail {
/// Marks the thread as inside the driver API, and keeps the runtime's last error as it was.
class Inside {
 public:
  Inside() noexcept;
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  cudaError_t last_error_;
  bool outer_;
};
CUresult begin_call(Needs needs, Runtime*& runtime) noexcept;
CUresult translate_exception() noexcept;
}  // namespace detail

/// `body` takes a Runtime& and gives a cudaError_t or a CUresult.
template <typename Body>
CUresult enter(Needs needs, Body&& body) noexcept {
  const detail::Inside inside;
  Runtime* runtime = nullptr;
  if (const CUresult result = detail::begin_call(needs, runtime)) return result;
  try {
    return result_of(std::forward<Body>(body)(*runtime));
  } catch (...) {
    return detail::translate_exception();
  }
}

template <typename Body>
CUresult enter(Body&& body) noexcept {
  return enter(Needs::kContext, std::forward<Body>(body));
}

/// Says once that `function` is not there (D501). Returns CUDA_ERROR_NOT_SUPPORTED.
CUresult not_supported(const char* function) noexcept;

/// A pointer of the program where it may want a value: CUDA_ERROR_INVALID_VALUE for null.
template <typename Value>
CUresult put(Value* out, std::type_identity_t<Value> value) noexcept {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

inline void* pointer_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace muscope::driver

/// Defines the engine's function behind the driver API's function `name`; its type is held against our declaration.
#define MUSCOPE_DRIVER_ENTRY(name)                \
  MUSCOPE_EXPORT decltype(::name) muscope_##name; \
  extern "C" CUresult muscope_##name

/// A function of the runtime that another file defines.
#define MUSCOPE_RUNTIME_FUNCTION(name) extern "C" decltype(::name) muscope_##name
