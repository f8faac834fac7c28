// Texture objects.
#include "exec/texture.h"

#include <algorithm>
#include <cstring>

#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/mipmapped_array.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

constexpr std::uint64_t kTextureAlignment = 512;  // cudaDevAttrTextureAlignment
constexpr std::uint64_t kPitchAlignment = 32;     // cudaDevAttrTexturePitchAlignment

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

muscope::exec::TextureLevel level_of(Runtime& runtime, const Array& array) {
  muscope::exec::TextureLevel level;
  level.texels = texels_at(runtime, array.address);
  level.width = array.extent.width;
  level.height = array.rows();
  level.depth = array.slices();
  level.pitch = array.pitch;
  level.slice = array.slice_bytes();
  return level;
}

cudaError_t set_levels(Runtime& runtime, Texture& texture, const std::vector<std::shared_ptr<Array>>& levels) {
  const Array& array = *levels.front();
  if (!set_format(texture, array.format)) return cudaErrorInvalidChannelDescriptor;
  static_cast<muscope::exec::TextureLevel&>(texture) = level_of(runtime, array);
  for (std::size_t n = 1; n < levels.size(); ++n) texture.more_levels.push_back(level_of(runtime, *levels[n]));
  texture.cube = (array.flags & cudaArrayCubemap) != 0;
  texture.layered = (array.flags & cudaArrayLayered) != 0;
  const bool planes = texture.layered || texture.cube;
  texture.dimensions = array.extent.height == 0 ? 1 : array.extent.depth == 0 || planes ? 2 : 3;
  return cudaSuccess;
}

cudaError_t set_array(Runtime& runtime, Texture& texture, cudaArray_t handle) {
  const auto array = runtime.arrays().find(handle);
  return array ? set_levels(runtime, texture, {array}) : cudaErrorInvalidResourceHandle;
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
      texture.linear_array = true;
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
      if (const auto whole = mipmapped_arrays().find(resource.res.mipmap.mipmap))
        return set_levels(runtime, texture, whole->levels);
      return cudaErrorInvalidResourceHandle;
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
  // Directions have no unit: cubes are sampled as with normalised coordinates in any case (H200).
  if (texture.cube) texture.normalized_coordinates = true;
  texture.seamless = desc.seamlessCubemap != 0;
  texture.linear_levels = desc.mipmapFilterMode == cudaFilterModeLinear;
  texture.level_bias = desc.mipmapLevelBias;
  texture.level_min = desc.minMipmapLevelClamp;
  texture.level_max = desc.maxMipmapLevelClamp;
  texture.anisotropic = desc.maxAnisotropy > 1;
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
