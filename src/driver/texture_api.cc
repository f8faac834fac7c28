// Texture objects, from descriptions that say the same as the runtime's in other words.
#include "driver/array_format.h"
#include "driver/entry.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaCreateTextureObject);
MUSCOPE_RUNTIME_FUNCTION(cudaDestroyTextureObject);

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
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return not_supported("cuTexObjectCreate with a mipmapped array");
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
