// CUDA arrays, channel formats, texture objects.
#include "exec/texture.h"

#include <algorithm>
#include <cstring>

#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"

namespace muscope::runtime {

std::uint64_t texel_bytes(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  for (int i = 0; i < 4; ++i) {
    if (bits[i] != (i < channels ? bits[0] : 0)) return 0;
  }
  const bool width = bits[0] == 8 || bits[0] == 16 || bits[0] == 32;
  const bool count = channels == 1 || channels == 2 || channels == 4;
  const bool kind = format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned ||
                    format.f == cudaChannelFormatKindFloat;
  if (!width || !count || !kind || (format.f == cudaChannelFormatKindFloat && bits[0] == 8)) return 0;
  return static_cast<std::uint64_t>(bits[0] / 8 * channels);
}

}  // namespace muscope::runtime

using namespace muscope::runtime;

namespace {

constexpr unsigned kArrayFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
constexpr std::uint64_t kArrayPitch = 32;         // rows of arrays start at whole sectors
constexpr std::uint64_t kTextureAlignment = 512;  // cudaDevAttrTextureAlignment
constexpr std::uint64_t kPitchAlignment = 32;     // cudaDevAttrTexturePitchAlignment

// Largest sizes of arrays: cudaDeviceProp's maxTexture1D, 2D, 3D, 1DLayered, 2DLayered.
bool size_allowed(const cudaExtent& e, unsigned flags) {
  const bool layered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  if (e.width == 0 || (e.height == 0 && e.depth != 0 && !layered) || (layered && e.depth == 0)) return false;
  if (layered) return e.depth <= 2048 && e.width <= 32768 && e.height <= 32768;
  if (e.depth != 0) return e.width <= 16384 && e.height <= 16384 && e.depth <= 16384;
  return e.width <= 131072 && e.height <= 65536;
}

cudaError_t make_array(cudaArray_t* handle, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || format == nullptr || (flags & ~kArrayFlags) != 0) return cudaErrorInvalidValue;
    auto array = std::make_shared<Array>();
    array->format = *format;
    array->extent = extent;
    array->flags = flags;
    array->texel_bytes = texel_bytes(*format);
    if (array->texel_bytes == 0) return cudaErrorInvalidChannelDescriptor;
    if (!size_allowed(extent, flags)) return cudaErrorInvalidValue;
    array->pitch = (array->row_bytes() + kArrayPitch - 1) / kArrayPitch * kArrayPitch;
    // The driver keeps arrays apart from cudaMalloc's memory.
    array->address = runtime.allocate(runtime.current_device(), array->bytes(), muscope::memory::Kind::kModule);
    if (array->address == 0) return cudaErrorMemoryAllocation;
    *handle = reinterpret_cast<cudaArray_t>(runtime.arrays().add(std::move(array)));
    return cudaSuccess;
  });
}

using muscope::exec::AddressMode;
using muscope::exec::ChannelKind;
using muscope::exec::Texture;

bool set_format(Texture& texture, const cudaChannelFormatDesc& format) {
  if (texel_bytes(format) == 0) return false;
  texture.channel_kind = format.f == cudaChannelFormatKindSigned     ? ChannelKind::kSigned
                         : format.f == cudaChannelFormatKindUnsigned ? ChannelKind::kUnsigned
                                                                     : ChannelKind::kFloat;
  texture.channel_bits = {static_cast<std::uint8_t>(format.x), static_cast<std::uint8_t>(format.y),
                          static_cast<std::uint8_t>(format.z), static_cast<std::uint8_t>(format.w)};
  return true;
}

const std::uint8_t* texels_at(Runtime& runtime, std::uint64_t address) {
  return static_cast<const std::uint8_t*>(runtime.memory().host_pointer(address));
}

cudaError_t set_array(Runtime& runtime, Texture& texture, cudaArray_t handle) {
  const auto array = runtime.arrays().find(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (!set_format(texture, array->format)) return cudaErrorInvalidChannelDescriptor;
  texture.texels = texels_at(runtime, array->address);
  texture.width = array->extent.width;
  texture.height = array->rows();
  texture.depth = array->slices();
  texture.pitch = array->pitch;
  texture.slice = array->slice_bytes();
  texture.layered = (array->flags & cudaArrayLayered) != 0;
  const int layers = texture.layered ? 1 : 0;
  texture.dimensions = array->extent.height == 0 ? 1 : array->extent.depth == 0 || layers != 0 ? 2 : 3;
  return cudaSuccess;
}

// Linear memory and pitched memory: the pointer must be aligned, and the last byte reachable if CUDA knows the block.
cudaError_t set_memory(Runtime& runtime, Texture& texture, const void* pointer, const cudaChannelFormatDesc& format,
                       std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (address == 0 || address % kTextureAlignment != 0) return cudaErrorInvalidValue;
  if (!set_format(texture, format)) return cudaErrorInvalidChannelDescriptor;
  const muscope::memory::Allocation allocation = runtime.memory().find(address);
  if (allocation.id == 0 || bytes > allocation.end - address) return cudaErrorInvalidValue;
  texture.texels = texels_at(runtime, address);
  return cudaSuccess;
}

cudaError_t set_resource(Runtime& runtime, Texture& texture, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      return set_array(runtime, texture, resource.res.array.array);
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (const cudaError_t error = set_memory(runtime, texture, linear.devPtr, linear.desc, linear.sizeInBytes))
        return error;
      texture.dimensions = 1;
      texture.width = linear.sizeInBytes / texel_bytes(linear.desc);
      texture.pitch = texture.slice = linear.sizeInBytes;
      return cudaSuccess;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      if (pitched.pitchInBytes % kPitchAlignment != 0 || pitched.width == 0 || pitched.height == 0)
        return cudaErrorInvalidValue;
      const std::uint64_t row = pitched.width * texel_bytes(pitched.desc);
      if (row > pitched.pitchInBytes) return cudaErrorInvalidValue;
      const std::uint64_t bytes = pitched.pitchInBytes * (pitched.height - 1) + row;
      if (const cudaError_t error = set_memory(runtime, texture, pitched.devPtr, pitched.desc, bytes)) return error;
      texture.dimensions = 2;
      texture.width = pitched.width;
      texture.height = pitched.height;
      texture.pitch = pitched.pitchInBytes;
      texture.slice = pitched.pitchInBytes * pitched.height;
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray:
      not_supported("cudaCreateTextureObject with a mipmapped array");
      return cudaErrorNotSupported;
  }
  return cudaErrorInvalidValue;
}

cudaError_t set_sampling(Texture& texture, const cudaTextureDesc& desc) {
  for (std::size_t i = 0; i < 3; ++i) {
    switch (desc.addressMode[i]) {
      case cudaAddressModeWrap:
        texture.address[i] = AddressMode::kWrap;
        break;
      case cudaAddressModeClamp:
        texture.address[i] = AddressMode::kClamp;
        break;
      case cudaAddressModeMirror:
        texture.address[i] = AddressMode::kMirror;
        break;
      case cudaAddressModeBorder:
        texture.address[i] = AddressMode::kBorder;
        break;
      default:
        return cudaErrorInvalidValue;
    }
  }
  const bool floats = texture.channel_kind == ChannelKind::kFloat;
  texture.linear_filter = desc.filterMode == cudaFilterModeLinear;
  texture.normalized_float = !floats && desc.readMode == cudaReadModeNormalizedFloat;
  texture.normalized_coordinates = desc.normalizedCoords != 0;
  std::copy(std::begin(desc.borderColor), std::end(desc.borderColor), texture.border.begin());
  // Integers cannot be interpolated (H200).
  if (texture.linear_filter && !floats && !texture.normalized_float) return cudaErrorInvalidFilterSetting;
  if (texture.normalized_float && texture.channel_bits[0] == 32) return cudaErrorInvalidNormSetting;
  return cudaSuccess;
}

template <typename Description, typename Get>
cudaError_t get_description(Description* out, cudaTextureObject_t handle, Get&& get) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto object = runtime.textures().find(handle);
    if (out == nullptr || !object) return cudaErrorInvalidValue;
    return get(*object, *out);
  });
}

}  // namespace

MUSCOPE_ENTRY(cudaMallocArray)(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                               std::size_t height, unsigned flags) {
  return make_array(array, format, {width, height, 0}, flags);
}

MUSCOPE_ENTRY(cudaMalloc3DArray)(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                                 unsigned flags) {
  return make_array(array, format, extent, flags);
}

MUSCOPE_ENTRY(cudaFreeArray)(cudaArray_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr) return cudaSuccess;
    const auto array = runtime.arrays().drop(handle);
    if (!array) return cudaErrorContextIsDestroyed;
    runtime.scheduler().wait_device(runtime.current_device().index());
    runtime.memory().release(array->address);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaArrayGetInfo)(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                                cudaArray_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto array = runtime.arrays().find(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetChannelDesc)(cudaChannelFormatDesc* format, cudaArray_const_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto array = runtime.arrays().find(handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (format == nullptr) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

MUSCOPE_EXPORT cudaChannelFormatDesc muscope_cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

MUSCOPE_ENTRY(cudaCreateTextureObject)(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                       const cudaTextureDesc* desc, const cudaResourceViewDesc* view) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || resource == nullptr || desc == nullptr) return cudaErrorInvalidValue;
    auto texture = std::make_shared<Texture>();
    if (const cudaError_t error = set_resource(runtime, *texture, *resource)) return error;
    if (const cudaError_t error = set_sampling(*texture, *desc)) return error;
    TextureObject object{*resource, *desc, view ? std::optional(*view) : std::nullopt};
    *handle = muscope::exec::register_texture(std::move(texture));
    runtime.textures().add(*handle, object);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDestroyTextureObject)(cudaTextureObject_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == 0) return cudaSuccess;
    if (!runtime.textures().drop(handle)) return cudaErrorInvalidValue;
    muscope::exec::drop_texture(handle);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetTextureObjectResourceDesc)(cudaResourceDesc* out, cudaTextureObject_t handle) {
  return get_description(out, handle, [](const TextureObject& object, cudaResourceDesc& to) {
    to = object.resource;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetTextureObjectTextureDesc)(cudaTextureDesc* out, cudaTextureObject_t handle) {
  return get_description(out, handle, [](const TextureObject& object, cudaTextureDesc& to) {
    to = object.texture;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetTextureObjectResourceViewDesc)(cudaResourceViewDesc* out, cudaTextureObject_t handle) {
  return get_description(out, handle, [](const TextureObject& object, cudaResourceViewDesc& to) -> cudaError_t {
    if (!object.view) return cudaErrorInvalidValue;
    to = *object.view;
    return cudaSuccess;
  });
}
