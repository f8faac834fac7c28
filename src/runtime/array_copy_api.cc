// Copies to, from and between CUDA arrays, and three-dimensional copies.
#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

std::shared_ptr<Array> find(Runtime& runtime, cudaArray_const_t handle) { return runtime.arrays().find(handle); }

Area plane(const void* pointer, std::size_t pitch) { return {reinterpret_cast<std::uint64_t>(pointer), pitch, 0}; }

cudaError_t to_array(Runtime& runtime, cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                     std::size_t pitch, const Box& box, cudaMemcpyKind kind, const Caller& caller) {
  const auto array = find(runtime, dst);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (box.empty()) return cudaSuccess;
  if (box.width > pitch && box.rows > 1) return cudaErrorInvalidPitchValue;
  const auto area = area_of(*array, x, y, 0, box);
  return area ? copy(runtime, *area, plane(src, pitch), box, kind, caller) : cudaErrorInvalidValue;
}

cudaError_t from_array(Runtime& runtime, void* dst, std::size_t pitch, cudaArray_const_t src, std::size_t x,
                       std::size_t y, const Box& box, cudaMemcpyKind kind, const Caller& caller) {
  const auto array = find(runtime, src);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (box.empty()) return cudaSuccess;
  if (box.width > pitch && box.rows > 1) return cudaErrorInvalidPitchValue;
  const auto area = area_of(*array, x, y, 0, box);
  return area ? copy(runtime, plane(dst, pitch), *area, box, kind, caller) : cudaErrorInvalidValue;
}

// `count` bytes of consecutive texels, from (x, y) on: a first part of a row, whole rows, a last part of a row.
template <typename Part>
cudaError_t in_rows(const Array& array, std::size_t x, std::size_t y, std::size_t count, Part&& part) {
  const std::uint64_t row = array.row_bytes();
  if (x > row || y > array.rows() || count > row * (array.rows() - y) - x) return cudaErrorInvalidValue;
  std::uint64_t done = 0;
  while (done < count) {
    const std::uint64_t left = count - done;
    const bool whole = x == 0 && left >= row;
    const Box box = whole ? Box{row, left / row, 1} : Box{std::min(left, row - x), 1, 1};
    if (const cudaError_t error = part(x, y, box, done)) return error;
    done += box.bytes();
    y += box.rows;
    x = 0;
  }
  return cudaSuccess;
}

cudaError_t linear_to_array(Runtime& runtime, cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                            std::size_t count, cudaMemcpyKind kind, const Caller& caller) {
  const auto array = find(runtime, dst);
  if (!array) return cudaErrorInvalidResourceHandle;
  return in_rows(*array, x, y, count, [&](std::uint64_t px, std::uint64_t py, const Box& box, std::uint64_t done) {
    return to_array(runtime, dst, px, py, static_cast<const char*>(src) + done, box.width, box, kind, caller);
  });
}

cudaError_t linear_from_array(Runtime& runtime, void* dst, cudaArray_const_t src, std::size_t x, std::size_t y,
                              std::size_t count, cudaMemcpyKind kind, const Caller& caller) {
  const auto array = find(runtime, src);
  if (!array) return cudaErrorInvalidResourceHandle;
  return in_rows(*array, x, y, count, [&](std::uint64_t px, std::uint64_t py, const Box& box, std::uint64_t done) {
    return from_array(runtime, static_cast<char*>(dst) + done, box.width, src, px, py, box, kind, caller);
  });
}

cudaError_t between_arrays(Runtime& runtime, cudaArray_t dst, std::size_t to_x, std::size_t to_y, cudaArray_const_t src,
                           std::size_t from_x, std::size_t from_y, const Box& box, cudaMemcpyKind kind,
                           const Caller& caller) {
  const auto to = find(runtime, dst), from = find(runtime, src);
  if (!to || !from) return cudaErrorInvalidResourceHandle;
  if (box.empty()) return cudaSuccess;
  const auto to_area = area_of(*to, to_x, to_y, 0, box), from_area = area_of(*from, from_x, from_y, 0, box);
  return to_area && from_area ? copy(runtime, *to_area, *from_area, box, kind, caller) : cudaErrorInvalidValue;
}

// One side of a 3D copy. Positions and widths count texels where an array takes part, bytes otherwise (CUDA Runtime
// API, cudaMemcpy3DParms).
struct Side {
  cudaArray_const_t array;
  cudaPos position;
  cudaPitchedPtr pointer;
};

cudaError_t area_of_side(Runtime& runtime, const Side& side, const Box& box, Area& area) {
  if (side.array != nullptr) {
    const auto array = find(runtime, side.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    const auto inside = area_of(*array, side.position.x * array->texel_bytes, side.position.y, side.position.z, box);
    if (!inside) return cudaErrorInvalidValue;
    area = *inside;
    return cudaSuccess;
  }
  const cudaPitchedPtr& p = side.pointer;
  if (box.rows > 1 && side.position.x + box.width > p.pitch) return cudaErrorInvalidPitchValue;
  if (box.slices > 1 && side.position.y + box.rows > p.ysize) return cudaErrorInvalidValue;
  area.pitch = p.pitch;
  area.slice = p.pitch * p.ysize;
  area.address = reinterpret_cast<std::uint64_t>(p.ptr);
  if (area.address != 0) area.address += side.position.x + side.position.y * area.pitch + side.position.z * area.slice;
  return cudaSuccess;
}

cudaError_t areas_of_sides(Runtime& runtime, const Side& to, const Side& from, const cudaExtent& extent, Area& to_area,
                           Area& from_area, Box& box) {
  // Exactly one of array and pointer says where each side is.
  if ((to.array != nullptr) == (to.pointer.ptr != nullptr) || (from.array != nullptr) == (from.pointer.ptr != nullptr))
    return cudaErrorInvalidValue;
  std::uint64_t width = extent.width;
  if (const cudaArray_const_t array = to.array ? to.array : from.array) {
    const auto found = find(runtime, array);
    if (!found) return cudaErrorInvalidResourceHandle;
    width *= found->texel_bytes;
  }
  box = {width, extent.height, extent.depth};
  if (box.empty()) return cudaSuccess;
  if (const cudaError_t error = area_of_side(runtime, to, box, to_area)) return error;
  return area_of_side(runtime, from, box, from_area);
}

cudaError_t copy_3d(Runtime& runtime, const Side& to, const Side& from, const cudaExtent& extent, cudaMemcpyKind kind,
                    const Caller& caller) {
  Area to_area, from_area;
  Box box;
  if (const cudaError_t error = areas_of_sides(runtime, to, from, extent, to_area, from_area, box)) return error;
  return copy(runtime, to_area, from_area, box, kind, caller);
}

cudaError_t copy_3d(Runtime& runtime, const cudaMemcpy3DParms* p, const Caller& caller) {
  if (p == nullptr) return cudaErrorInvalidValue;
  return copy_3d(runtime, {p->dstArray, p->dstPos, p->dstPtr}, {p->srcArray, p->srcPos, p->srcPtr}, p->extent, p->kind,
                 caller);
}

cudaError_t copy_3d_peer(Runtime& runtime, const cudaMemcpy3DPeerParms* p, const Caller& caller) {
  if (p == nullptr) return cudaErrorInvalidValue;
  if (runtime.device(p->srcDevice) == nullptr || runtime.device(p->dstDevice) == nullptr) return cudaErrorInvalidDevice;
  return copy_3d(runtime, {p->dstArray, p->dstPos, p->dstPtr}, {p->srcArray, p->srcPos, p->srcPtr}, p->extent,
                 cudaMemcpyDeviceToDevice, caller);
}

}  // namespace

namespace muscope::runtime {

cudaError_t areas_of(Runtime& runtime, const cudaMemcpy3DParms& asked, Area& to, Area& from, Box& box) {
  return areas_of_sides(runtime, {asked.dstArray, asked.dstPos, asked.dstPtr},
                        {asked.srcArray, asked.srcPos, asked.srcPtr}, asked.extent, to, from, box);
}

}  // namespace muscope::runtime

MUSCOPE_ENTRY(cudaMemcpy2DToArray)(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t pitch,
                                   std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DToArray, false, nullptr);
  return enter(
      [&](Runtime& runtime) { return to_array(runtime, dst, x, y, src, pitch, {width, height, 1}, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2DToArrayAsync)(cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                                        std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                        cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DToArrayAsync, true, stream);
  return enter(
      [&](Runtime& runtime) { return to_array(runtime, dst, x, y, src, pitch, {width, height, 1}, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2DFromArray)(void* dst, std::size_t pitch, cudaArray_const_t src, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DFromArray, false, nullptr);
  return enter(
      [&](Runtime& runtime) { return from_array(runtime, dst, pitch, src, x, y, {width, height, 1}, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2DFromArrayAsync)(void* dst, std::size_t pitch, cudaArray_const_t src, std::size_t x,
                                          std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DFromArrayAsync, true, stream);
  return enter(
      [&](Runtime& runtime) { return from_array(runtime, dst, pitch, src, x, y, {width, height, 1}, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2DArrayToArray)(cudaArray_t dst, std::size_t to_x, std::size_t to_y, cudaArray_const_t src,
                                        std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DArrayToArray, false, nullptr);
  return enter([&](Runtime& runtime) {
    return between_arrays(runtime, dst, to_x, to_y, src, from_x, from_y, {width, height, 1}, kind, caller);
  });
}

MUSCOPE_ENTRY(cudaMemcpyToArray)(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t count,
                                 cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyToArray, false, nullptr);
  return enter([&](Runtime& runtime) { return linear_to_array(runtime, dst, x, y, src, count, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyToArrayAsync)(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t count,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyToArrayAsync, true, stream);
  return enter([&](Runtime& runtime) { return linear_to_array(runtime, dst, x, y, src, count, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyFromArray)(void* dst, cudaArray_const_t src, std::size_t x, std::size_t y, std::size_t count,
                                   cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyFromArray, false, nullptr);
  return enter([&](Runtime& runtime) { return linear_from_array(runtime, dst, src, x, y, count, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyFromArrayAsync)(void* dst, cudaArray_const_t src, std::size_t x, std::size_t y,
                                        std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyFromArrayAsync, true, stream);
  return enter([&](Runtime& runtime) { return linear_from_array(runtime, dst, src, x, y, count, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyArrayToArray)(cudaArray_t dst, std::size_t to_x, std::size_t to_y, cudaArray_const_t src,
                                      std::size_t from_x, std::size_t from_y, std::size_t count, cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyArrayToArray, false, nullptr);
  return enter([&](Runtime& runtime) -> cudaError_t {
    const auto to = find(runtime, dst), from = find(runtime, src);
    if (!to || !from) return cudaErrorInvalidResourceHandle;
    const std::uint64_t length = to->row_bytes();
    return in_rows(*from, from_x, from_y, count,
                   [&](std::uint64_t x, std::uint64_t y, const Box& box, std::uint64_t done) {
                     const Area area = *area_of(*from, x, y, 0, box);
                     // The target's rows may be of another length.
                     for (std::uint64_t i = 0; i < box.rows; ++i) {
                       const auto* const row = reinterpret_cast<const void*>(area.address + i * area.pitch);
                       const std::uint64_t at = to_y * length + to_x + done + i * box.width;
                       if (const cudaError_t error =
                               linear_to_array(runtime, dst, at % length, at / length, row, box.width, kind, caller))
                         return error;
                     }
                     return cudaSuccess;
                   });
  });
}

MUSCOPE_ENTRY(cudaMemcpy3D)(const cudaMemcpy3DParms* p) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy3D, false, nullptr);
  return enter([&](Runtime& runtime) { return copy_3d(runtime, p, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy3DAsync)(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy3DAsync, true, stream);
  return enter([&](Runtime& runtime) { return copy_3d(runtime, p, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy3DPeer)(const cudaMemcpy3DPeerParms* p) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy3DPeer, false, nullptr);
  return enter([&](Runtime& runtime) { return copy_3d_peer(runtime, p, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy3DPeerAsync)(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy3DPeerAsync, true, stream);
  return enter([&](Runtime& runtime) { return copy_3d_peer(runtime, p, caller); });
}
