// Copies between pointers, and fills.
#include "driver/context.h"
#include "driver/entry.h"
#include "runtime/copy.h"

using namespace muscope::driver;
using muscope::runtime::Area;
using muscope::runtime::Box;
using muscope::runtime::Caller;

namespace {

CUresult copy_row(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, cudaMemcpyKind kind, const Caller& caller) {
  return enter([&](Runtime& runtime) {
    return copy(runtime, Area{to, 0, 0}, Area{from, 0, 0}, Box{bytes, 1, 1}, kind, caller);
  });
}

CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes,
                   const Caller& caller) {
  return enter([&](Runtime& runtime) -> CUresult {
    const Contexts& all = Contexts::of_process();
    // No context stands for the current one (H200).
    if ((to_context != nullptr && !all.find(to_context)) || (from_context != nullptr && !all.find(from_context)))
      return CUDA_ERROR_INVALID_CONTEXT;
    return result_of(
        copy(runtime, Area{to, 0, 0}, Area{from, 0, 0}, Box{bytes, 1, 1}, cudaMemcpyDeviceToDevice, caller));
  });
}

// `count` elements, each at a multiple of its size.
CUresult fill_row(CUdeviceptr to, unsigned value, std::size_t count, unsigned element, const Caller& caller) {
  return enter([&](Runtime& runtime) -> CUresult {
    std::size_t bytes = 0;
    if (to % element != 0 || __builtin_mul_overflow(count, std::size_t{element}, &bytes))
      return CUDA_ERROR_INVALID_VALUE;
    return result_of(fill(runtime, Area{to, 0, 0}, value, Box{bytes, 1, 1}, caller, element));
  });
}

CUresult fill_rows(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                   unsigned element, const Caller& caller) {
  return enter([&](Runtime& runtime) -> CUresult {
    std::size_t bytes = 0;
    if (to % element != 0 || __builtin_mul_overflow(width, std::size_t{element}, &bytes))
      return CUDA_ERROR_INVALID_VALUE;
    if (height > 1 && (pitch % element != 0 || bytes > pitch)) return CUDA_ERROR_INVALID_VALUE;
    return result_of(fill(runtime, Area{to, pitch, 0}, value, Box{bytes, height, 1}, caller, element));
  });
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuMemcpy)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_row(to, from, bytes, cudaMemcpyDefault, MUSCOPE_CALLER(cuMemcpy, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyAsync)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row(to, from, bytes, cudaMemcpyDefault, MUSCOPE_CALLER(cuMemcpyAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyPeer)(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                   std::size_t bytes) {
  return copy_peer(to, to_context, from, from_context, bytes, MUSCOPE_CALLER(cuMemcpyPeer, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyPeerAsync)(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                        std::size_t bytes, CUstream stream) {
  return copy_peer(to, to_context, from, from_context, bytes, MUSCOPE_CALLER(cuMemcpyPeerAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyHtoD_v2)(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_row(to, address_of(from), bytes, cudaMemcpyHostToDevice, MUSCOPE_CALLER(cuMemcpyHtoD, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyDtoH_v2)(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_row(address_of(to), from, bytes, cudaMemcpyDeviceToHost, MUSCOPE_CALLER(cuMemcpyDtoH, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_row(to, from, bytes, cudaMemcpyDeviceToDevice, MUSCOPE_CALLER(cuMemcpyDtoD, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_row(to, address_of(from), bytes, cudaMemcpyHostToDevice, MUSCOPE_CALLER(cuMemcpyHtoDAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row(address_of(to), from, bytes, cudaMemcpyDeviceToHost, MUSCOPE_CALLER(cuMemcpyDtoHAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row(to, from, bytes, cudaMemcpyDeviceToDevice, MUSCOPE_CALLER(cuMemcpyDtoDAsync, true, stream));
}

#define MUSCOPE_FILL(bits, type)                                                                                    \
  MUSCOPE_DRIVER_ENTRY(cuMemsetD##bits##_v2)(CUdeviceptr to, type value, std::size_t count) {                       \
    return fill_row(to, value, count, bits / 8, MUSCOPE_CALLER(cuMemsetD##bits, false, nullptr));                   \
  }                                                                                                                 \
  MUSCOPE_DRIVER_ENTRY(cuMemsetD##bits##Async)(CUdeviceptr to, type value, std::size_t count, CUstream stream) {    \
    return fill_row(to, value, count, bits / 8, MUSCOPE_CALLER(cuMemsetD##bits##Async, true, stream));              \
  }                                                                                                                 \
  MUSCOPE_DRIVER_ENTRY(cuMemsetD2D##bits##_v2)(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,    \
                                               std::size_t height) {                                                \
    return fill_rows(to, pitch, value, width, height, bits / 8, MUSCOPE_CALLER(cuMemsetD2D##bits, false, nullptr)); \
  }                                                                                                                 \
  MUSCOPE_DRIVER_ENTRY(cuMemsetD2D##bits##Async)(CUdeviceptr to, std::size_t pitch, type value, std::size_t width,  \
                                                 std::size_t height, CUstream stream) {                             \
    return fill_rows(to, pitch, value, width, height, bits / 8,                                                     \
                     MUSCOPE_CALLER(cuMemsetD2D##bits##Async, true, stream));                                       \
  }

MUSCOPE_FILL(8, unsigned char)
MUSCOPE_FILL(16, unsigned short)
MUSCOPE_FILL(32, unsigned)
