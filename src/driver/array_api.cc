// Arrays, and the copies that may have them as a side: cuMemcpy2D, cuMemcpy3D, cuMemcpyHtoA and its kin.
#include "driver/array_copy.h"
#include "driver/array_format.h"
#include "driver/context.h"
#include "driver/entry.h"

using namespace muscope::driver;
using muscope::runtime::Caller;

MUSCOPE_RUNTIME_FUNCTION(cudaMalloc3DArray);
MUSCOPE_RUNTIME_FUNCTION(cudaFreeArray);

namespace {

CUresult create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& asked) {
  return enter([&](Runtime& runtime) -> CUresult {
    cudaChannelFormatDesc format{};
    if (out == nullptr || asked.Width == 0 || !channels_of(asked.Format, asked.NumChannels, format))
      return CUDA_ERROR_INVALID_VALUE;
    cudaArray_t array = nullptr;
    const cudaError_t error =
        muscope_cudaMalloc3DArray(&array, &format, {asked.Width, asked.Height, asked.Depth}, asked.Flags);
    if (error != cudaSuccess) return result_of(error);
    *out = reinterpret_cast<CUarray>(array);
    ThreadContexts::of_thread(runtime).current()->add(Context::Kind::kArray, address_of(array));
    return CUDA_SUCCESS;
  });
}

CUresult describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR* out) {
  return enter([&](Runtime& runtime) -> CUresult {
    const auto array = runtime.arrays().find(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = {array->extent.width,      array->extent.height,       array->extent.depth,
            format_of(array->format), channels_in(array->format), array->flags};
    return CUDA_SUCCESS;
  });
}

CUresult copy_boxes(const CUDA_MEMCPY3D* asked, const Caller& caller) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
    ArrayCopy copy;
    if (const CUresult result = read_copy(runtime, *asked, copy)) return result;
    return result_of(muscope::runtime::copy(runtime, copy.to, copy.from, copy.box, copy.kind, caller));
  });
}

CUresult copy_rows(const CUDA_MEMCPY2D* asked, const Caller& caller) {
  if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_MEMCPY3D box = as_boxes(*asked);
  return copy_boxes(&box, caller);
}

// A run of bytes from byte `offset` of an array on, row after row.
CUresult array_row(CUDA_MEMCPY3D copy, std::size_t bytes, const Caller& caller) {
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy_boxes(&copy, caller);
}

void set_array(CUDA_MEMCPY3D& copy, bool to, CUarray array, std::size_t offset) {
  (to ? copy.dstMemoryType : copy.srcMemoryType) = CU_MEMORYTYPE_ARRAY;
  (to ? copy.dstArray : copy.srcArray) = array;
  (to ? copy.dstXInBytes : copy.srcXInBytes) = offset;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuArrayCreate_v2)(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* asked) {
  if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create(array, {asked->Width, asked->Height, 0, asked->Format, asked->NumChannels, 0});
}

MUSCOPE_DRIVER_ENTRY(cuArray3DCreate_v2)(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* asked) {
  return asked == nullptr ? CUDA_ERROR_INVALID_VALUE : create(array, *asked);
}

MUSCOPE_DRIVER_ENTRY(cuArrayGetDescriptor_v2)(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR all{};
  if (const CUresult result = describe(array, &all)) return result;
  return put(out, {all.Width, all.Height, all.Format, all.NumChannels});
}

MUSCOPE_DRIVER_ENTRY(cuArray3DGetDescriptor_v2)(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return describe(array, out);
}

MUSCOPE_DRIVER_ENTRY(cuArrayDestroy)(CUarray array) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (!runtime.arrays().find(array)) return CUDA_ERROR_INVALID_HANDLE;
    ThreadContexts::of_thread(runtime).current()->remove(Context::Kind::kArray, address_of(array));
    return result_of(muscope_cudaFreeArray(reinterpret_cast<cudaArray_t>(array)));
  });
}

MUSCOPE_DRIVER_ENTRY(cuMemcpy2D_v2)(const CUDA_MEMCPY2D* copy) {
  return copy_rows(copy, MUSCOPE_CALLER(cuMemcpy2D, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D* copy) {
  return copy_rows(copy, MUSCOPE_CALLER(cuMemcpy2DUnaligned, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_rows(copy, MUSCOPE_CALLER(cuMemcpy2DAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpy3D_v2)(const CUDA_MEMCPY3D* copy) {
  return copy_boxes(copy, MUSCOPE_CALLER(cuMemcpy3D, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_boxes(copy, MUSCOPE_CALLER(cuMemcpy3DAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyDtoA_v2)(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, true, to, offset);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyDtoA, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyAtoD_v2)(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, false, from, offset);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyAtoD, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyHtoA_v2)(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, true, to, offset);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyHtoA, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyHtoAAsync_v2)(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                                           CUstream stream) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, true, to, offset);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyHtoAAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyAtoH_v2)(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, false, from, offset);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyAtoH, false, nullptr));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyAtoHAsync_v2)(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                                           CUstream stream) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, false, from, offset);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyAtoHAsync, true, stream));
}

MUSCOPE_DRIVER_ENTRY(cuMemcpyAtoA_v2)(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                                      std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  set_array(copy, true, to, to_offset);
  set_array(copy, false, from, from_offset);
  return array_row(copy, bytes, MUSCOPE_CALLER(cuMemcpyAtoA, false, nullptr));
}
