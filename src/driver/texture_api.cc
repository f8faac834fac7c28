// Texture and surface objects, mipmapped arrays, from descriptions that say the same as the runtime's in other words.
#include "driver/array_format.h"
#include "driver/entry.h"
#include "runtime/mipmapped_array.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaCreateTextureObject);
MUSCOPE_RUNTIME_FUNCTION(cudaDestroyTextureObject);
MUSCOPE_RUNTIME_FUNCTION(cudaCreateSurfaceObject);
MUSCOPE_RUNTIME_FUNCTION(cudaDestroySurfaceObject);
MUSCOPE_RUNTIME_FUNCTION(cudaGetSurfaceObjectResourceDesc);
MUSCOPE_RUNTIME_FUNCTION(cudaMallocMipmappedArray);
MUSCOPE_RUNTIME_FUNCTION(cudaGetMipmappedArrayLevel);
MUSCOPE_RUNTIME_FUNCTION(cudaFreeMipmappedArray);

namespace {

CUresult read_resource(Runtime& runtime, const CUDA_RESOURCE_DESC& asked, cudaResourceDesc& out,
                       cudaChannelFormatDesc& format) {
  switch (static_cast<int>(asked.resType)) {
    case CU_RESOURCE_TYPE_ARRAY: {
      const auto array = runtime.arrays().find(asked.res.array.hArray);
      if (!array) return CUDA_ERROR_INVALID_HANDLE;
      out.resType = cudaResourceTypeArray;
      out.res.array.array = reinterpret_cast<cudaArray_t>(asked.res.array.hArray);
      format = array->format;
      return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_LINEAR:
      if (!channels_of(asked.res.linear.format, asked.res.linear.numChannels, format)) return CUDA_ERROR_INVALID_VALUE;
      out.resType = cudaResourceTypeLinear;
      out.res.linear = {pointer_of(asked.res.linear.devPtr), format, asked.res.linear.sizeInBytes};
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& plane = asked.res.pitch2D;
      if (!channels_of(plane.format, plane.numChannels, format)) return CUDA_ERROR_INVALID_VALUE;
      out.resType = cudaResourceTypePitch2D;
      out.res.pitch2D = {pointer_of(plane.devPtr), format, plane.width, plane.height, plane.pitchInBytes};
      return CUDA_SUCCESS;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const auto whole = muscope::runtime::mipmapped_arrays().find(asked.res.mipmap.hMipmappedArray);
      if (!whole) return CUDA_ERROR_INVALID_HANDLE;
      out.resType = cudaResourceTypeMipmappedArray;
      out.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(asked.res.mipmap.hMipmappedArray);
      format = whole->levels.front()->format;
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

cudaTextureDesc read_sampling(const CUDA_TEXTURE_DESC& asked, const cudaChannelFormatDesc& format) {
  cudaTextureDesc out{};
  for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<cudaTextureAddressMode>(asked.addressMode[i]);
  out.filterMode = static_cast<cudaTextureFilterMode>(asked.filterMode);
  // Integers of 8 and 16 bits are read as fractions unless the program wants them as they are; others always are as
  // they are (CUDA Driver API, cuTexObjectCreate).
  const bool fractions =
      (asked.flags & CU_TRSF_READ_AS_INTEGER) == 0 && format.x < 32 && format.f != cudaChannelFormatKindFloat;
  out.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  out.normalizedCoords = (asked.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  out.sRGB = (asked.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  out.seamlessCubemap = (asked.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
  out.maxAnisotropy = asked.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(asked.mipmapFilterMode);
  out.mipmapLevelBias = asked.mipmapLevelBias;
  out.minMipmapLevelClamp = asked.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = asked.maxMipmapLevelClamp;
  for (int i = 0; i < 4; ++i) out.borderColor[i] = asked.borderColor[i];
  return out;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuTexObjectCreate)(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                                        const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return enter([&](Runtime& runtime) -> CUresult {
    if (object == nullptr || resource == nullptr || texture == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (view != nullptr) return not_supported("cuTexObjectCreate with a resource view");
    cudaResourceDesc where{};
    cudaChannelFormatDesc format{};
    if (const CUresult result = read_resource(runtime, *resource, where, format)) return result;
    const cudaTextureDesc how = read_sampling(*texture, format);
    return result_of(muscope_cudaCreateTextureObject(object, &where, &how, nullptr));
  });
}

MUSCOPE_DRIVER_ENTRY(cuTexObjectDestroy)(CUtexObject object) {
  return enter([&](Runtime&) { return muscope_cudaDestroyTextureObject(object); });
}

MUSCOPE_DRIVER_ENTRY(cuSurfObjectCreate)(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return enter([&](Runtime&) -> CUresult {
    if (object == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (resource->resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc where{};
    where.resType = cudaResourceTypeArray;
    where.res.array.array = reinterpret_cast<cudaArray_t>(resource->res.array.hArray);
    return result_of(muscope_cudaCreateSurfaceObject(object, &where));
  });
}

MUSCOPE_DRIVER_ENTRY(cuSurfObjectDestroy)(CUsurfObject object) {
  return enter([&](Runtime&) { return muscope_cudaDestroySurfaceObject(object); });
}

MUSCOPE_DRIVER_ENTRY(cuSurfObjectGetResourceDesc)(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return enter([&](Runtime&) -> CUresult {
    if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc where{};
    if (const cudaError_t error = muscope_cudaGetSurfaceObjectResourceDesc(&where, object)) return result_of(error);
    *resource = {};
    resource->resType = CU_RESOURCE_TYPE_ARRAY;
    resource->res.array.hArray = reinterpret_cast<CUarray>(where.res.array.array);
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuMipmappedArrayCreate)(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* asked,
                                             unsigned levels) {
  return enter([&](Runtime&) -> CUresult {
    cudaChannelFormatDesc format{};
    if (handle == nullptr || asked == nullptr || !channels_of(asked->Format, asked->NumChannels, format))
      return CUDA_ERROR_INVALID_VALUE;
    cudaMipmappedArray_t made = nullptr;
    const cudaError_t error = muscope_cudaMallocMipmappedArray(
        &made, &format, {asked->Width, asked->Height, asked->Depth}, levels, asked->Flags);
    if (error == cudaSuccess) *handle = reinterpret_cast<CUmipmappedArray>(made);
    return result_of(error);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMipmappedArrayGetLevel)(CUarray* level, CUmipmappedArray handle, unsigned index) {
  return enter([&](Runtime&) -> CUresult {
    if (level == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaArray_t array = nullptr;
    const cudaError_t error =
        muscope_cudaGetMipmappedArrayLevel(&array, reinterpret_cast<cudaMipmappedArray_t>(handle), index);
    if (error == cudaSuccess) *level = reinterpret_cast<CUarray>(array);
    return result_of(error);
  });
}

MUSCOPE_DRIVER_ENTRY(cuMipmappedArrayDestroy)(CUmipmappedArray handle) {
  return enter([&](Runtime&) -> CUresult {
    if (!muscope::runtime::mipmapped_arrays().find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    return result_of(muscope_cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(handle)));
  });
}
