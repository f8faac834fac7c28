// Surface objects.
#include <mutex>
#include <unordered_map>

#include "exec/texture.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;
using muscope::exec::ChannelKind;
using muscope::exec::Surface;

namespace {

/// What the program described, by handle.
struct Descriptions {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, cudaResourceDesc> by_handle;
};
Descriptions& descriptions() {
  static Descriptions& instance = *new Descriptions;
  return instance;
}

}  // namespace

// Answers as an H200's (tests/counters/surfaces_h200.txt): any array will do, and only an array.
MUSCOPE_ENTRY(cudaCreateSurfaceObject)(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (handle == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    const auto array = runtime.arrays().find(resource->res.array.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    auto surface = std::make_shared<Surface>();
    const cudaChannelFormatDesc& format = array->format;
    surface->bytes = static_cast<std::uint8_t*>(runtime.memory().host_pointer(array->address));
    surface->width = array->extent.width;
    surface->height = array->rows();
    surface->depth = array->slices();
    surface->pitch = array->pitch;
    surface->slice = array->slice_bytes();
    surface->layered = (array->flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    surface->dimensions = array->extent.height == 0 ? 1 : array->extent.depth == 0 || surface->layered ? 2 : 3;
    surface->channel_kind = format.f == cudaChannelFormatKindSigned     ? ChannelKind::kSigned
                            : format.f == cudaChannelFormatKindUnsigned ? ChannelKind::kUnsigned
                                                                        : ChannelKind::kFloat;
    surface->channel_bits = {static_cast<std::uint8_t>(format.x), static_cast<std::uint8_t>(format.y),
                             static_cast<std::uint8_t>(format.z), static_cast<std::uint8_t>(format.w)};
    *handle = muscope::exec::register_surface(std::move(surface));
    Descriptions& all = descriptions();
    const std::lock_guard lock(all.mutex);
    all.by_handle[*handle] = *resource;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDestroySurfaceObject)(cudaSurfaceObject_t handle) {
  return enter([&](Runtime&) -> cudaError_t {
    muscope::exec::drop_surface(handle);
    Descriptions& all = descriptions();
    const std::lock_guard lock(all.mutex);
    all.by_handle.erase(handle);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGetSurfaceObjectResourceDesc)(cudaResourceDesc* out, cudaSurfaceObject_t handle) {
  return enter([&](Runtime&) -> cudaError_t {
    if (out == nullptr) return cudaErrorInvalidDevice;  // as an H200 does
    Descriptions& all = descriptions();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_handle.find(handle);
    if (found == all.by_handle.end()) return cudaErrorInvalidValue;
    *out = found->second;
    return cudaSuccess;
  });
}
