// CUDA arrays and mipmapped arrays; channel formats.
#include <algorithm>

#include "runtime/entry.h"
#include "runtime/mipmapped_array.h"
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

Handles<MipmappedArray>& mipmapped_arrays() {
  static Handles<MipmappedArray>& instance = *new Handles<MipmappedArray>;
  return instance;
}

}  // namespace muscope::runtime

using namespace muscope::runtime;

namespace {

constexpr unsigned kArrayFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
constexpr std::uint64_t kArrayPitch = 32;  // rows of arrays start at whole sectors
constexpr std::uint64_t kFaces = 6;

// Largest sizes of arrays: cudaDeviceProp's maxTexture1D, 2D, 3D, 1DLayered, 2DLayered, TextureCubemap,
// TextureCubemapLayered, Texture2DGather, maxSurface1D and 2D; what goes together as on an H200
// (tests/counters/surfaces_h200.txt).
bool size_allowed(const cudaExtent& e, unsigned flags) {
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  const bool gather = (flags & cudaArrayTextureGather) != 0, surface = (flags & cudaArraySurfaceLoadStore) != 0;
  if (e.width == 0 || (e.height == 0 && e.depth != 0 && !layered) || ((layered || cube) && e.depth == 0)) return false;
  if (gather && (layered || cube || e.depth != 0 || e.height == 0 || e.width > 32768 || e.height > 32768)) return false;
  if (cube) {
    const bool faces = layered ? e.depth % kFaces == 0 && e.depth <= 2046 : e.depth == kFaces;
    return e.width == e.height && faces && e.width <= 32768;
  }
  if (layered) return e.depth <= 2048 && e.width <= 32768 && e.height <= 32768;
  if (e.depth != 0) return e.width <= 16384 && e.height <= 16384 && e.depth <= 16384;
  if (surface && e.height == 0 && e.width > 32768) return false;
  return e.width <= 131072 && e.height <= 65536;
}

std::shared_ptr<Array> shape_of(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags) {
  auto array = std::make_shared<Array>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->texel_bytes = texel_bytes(format);
  array->pitch = (array->row_bytes() + kArrayPitch - 1) / kArrayPitch * kArrayPitch;
  return array;
}

cudaError_t check(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags) {
  if ((flags & ~kArrayFlags) != 0) return cudaErrorInvalidValue;
  if (texel_bytes(format) == 0) return cudaErrorInvalidChannelDescriptor;
  return size_allowed(extent, flags) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t make_array(cudaArray_t* handle, const cudaChannelFormatDesc* format, const cudaExtent& extent,
                       unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(*format, extent, flags)) return error;
    auto array = shape_of(*format, extent, flags);
    // The driver keeps arrays apart from cudaMalloc's memory.
    array->address = runtime.allocate(runtime.current_device(), array->bytes(), muscope::memory::Kind::kModule);
    if (array->address == 0) return cudaErrorMemoryAllocation;
    *handle = reinterpret_cast<cudaArray_t>(runtime.arrays().add(std::move(array)));
    return cudaSuccess;
  });
}

/// Half of it, rounded down, for each level; never less than one texel, and no dimension appears.
cudaExtent level_extent(const cudaExtent& e, unsigned flags, unsigned level) {
  const auto part = [&](std::size_t n) { return n == 0 ? n : std::max<std::size_t>(n >> level, 1); };
  const bool planes = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  return {part(e.width), part(e.height), planes ? e.depth : part(e.depth)};
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
    const auto array = runtime.arrays().find(handle);
    if (!array) return cudaErrorContextIsDestroyed;
    if (array->is_level) return cudaSuccess;  // goes with its mipmapped array
    runtime.arrays().drop(handle);
    runtime.scheduler().wait_device(runtime.current_device().index());
    runtime.memory().release(array->address);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaMallocMipmappedArray)(cudaMipmappedArray_t* handle, const cudaChannelFormatDesc* format,
                                        cudaExtent extent, unsigned levels, unsigned flags) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check(*format, extent, flags)) return error;
    const bool planes = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    unsigned most = 1;
    for (std::size_t n = std::max({extent.width, extent.height, planes ? 0 : extent.depth}); n > 1; n >>= 1) ++most;
    levels = std::clamp(levels, 1U, most);
    auto whole = std::make_shared<MipmappedArray>();
    std::uint64_t bytes = 0;
    for (unsigned level = 0; level < levels; ++level) {
      whole->levels.push_back(shape_of(*format, level_extent(extent, flags, level), flags));
      whole->levels.back()->is_level = true;
      bytes += whole->levels.back()->bytes();
    }
    whole->address = runtime.allocate(runtime.current_device(), bytes, muscope::memory::Kind::kModule);
    if (whole->address == 0) return cudaErrorMemoryAllocation;
    std::uint64_t at = whole->address;
    for (const auto& level : whole->levels) {
      level->address = at;
      at += level->bytes();
      runtime.arrays().add(level);
    }
    *handle = reinterpret_cast<cudaMipmappedArray_t>(mipmapped_arrays().add(std::move(whole)));
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetMipmappedArrayLevel)(cudaArray_t* array, cudaMipmappedArray_const_t handle, unsigned level) {
  return enter([&](Runtime&) -> cudaError_t {
    const auto whole = mipmapped_arrays().find(handle);
    if (!whole) return cudaErrorInvalidResourceHandle;
    if (array == nullptr || level >= whole->levels.size()) return cudaErrorInvalidValue;
    *array = reinterpret_cast<cudaArray_t>(whole->levels[level].get());
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaFreeMipmappedArray)(cudaMipmappedArray_t handle) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr) return cudaSuccess;
    const auto whole = mipmapped_arrays().drop(handle);
    if (!whole) return cudaErrorContextIsDestroyed;
    runtime.scheduler().wait_device(runtime.current_device().index());
    for (const auto& level : whole->levels) runtime.arrays().drop(level.get());
    runtime.memory().release(whole->address);
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
