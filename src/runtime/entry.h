// How every function of the runtime's C interface begins and ends: fork check, sticky errors, no exception to the
// program, last error of the thread.
//
//   MUSCOPE_ENTRY(cudaMemGetInfo)(std::size_t* free, std::size_t* total) {
//     return enter([&](Runtime& runtime) { ...; return cudaSuccess; });
//   }
//
// The shims (shim.S) give these functions CUDA's names; here they are called muscope_<name>.
#pragma once

#include <string>
#include <utility>

#include "runtime/cuda_abi.h"

namespace muscope::runtime {

class Runtime;

/// What a call needs before it may go on.
enum class Needs {
  kDevice,   ///< a working device: fails with the device's sticky error after a fault (most calls)
  kRuntime,  ///< only the runtime: cudaSetDevice, cudaGetDeviceProperties, ... go on after a fault (H200)
};

namespace detail {
/// cudaSuccess when the call may go on; sets `runtime`.
cudaError_t begin_call(Needs needs, Runtime*& runtime) noexcept;
/// Remembers an error as the thread's last one and returns it.
cudaError_t end_call(cudaError_t error) noexcept;
/// In a catch block: tells the user and gives the code that the program gets.
cudaError_t translate_exception() noexcept;
}  // namespace detail

template <typename Body>
cudaError_t enter(Needs needs, Body&& body) noexcept {
  Runtime* runtime = nullptr;
  cudaError_t error = detail::begin_call(needs, runtime);
  if (error == cudaSuccess) {
    try {
      error = std::forward<Body>(body)(*runtime);
    } catch (...) {
      error = detail::translate_exception();
    }
  }
  return error == cudaSuccess ? error : detail::end_call(error);
}

template <typename Body>
cudaError_t enter(Body&& body) noexcept {
  return enter(Needs::kDevice, std::forward<Body>(body));
}

/// The thread's last error; `clear` resets it.
cudaError_t last_error(bool clear) noexcept;

/// "invalid argument" / "cudaErrorInvalidValue"; CUDA's own words for a code it does not know.
const char* error_text(int code) noexcept;
const char* error_name(int code) noexcept;

/// Says once that `function` is not there (D501). Returns cudaErrorNotSupported and makes it the last error.
cudaError_t not_supported(const char* function) noexcept;
/// Tells that a closed library asked for `function`, with the library's name and the program's call (D516). False, and
/// nothing told, where no such library called.
bool tell_library(const char* function);

/// A message about the program's use of the runtime: to the report of the run, or to stderr where there is none.
void tell(const char* code, const std::string& text, const std::string& hint);

}  // namespace muscope::runtime

#define MUSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

/// Defines the engine's function behind CUDA's function `name`; its type is held against the toolkit's declaration.
#define MUSCOPE_ENTRY(name)                       \
  MUSCOPE_EXPORT decltype(::name) muscope_##name; \
  extern "C" cudaError_t muscope_##name
