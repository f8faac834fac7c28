// cudaMemcpy and its relatives between pointers, and to and from symbols.
#include "runtime/copy.h"
#include "runtime/entry.h"
#include "runtime/runtime.h"

using namespace muscope::runtime;

namespace {

Box row(std::size_t bytes) { return {bytes, 1, 1}; }

// Checks as for cudaMemcpy2D; what is wrong with the pitches goes before what is wrong with the pointers.
cudaError_t copy_2d(Runtime& runtime, void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                    std::size_t width, std::size_t height, cudaMemcpyKind kind, const Caller& caller) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > dpitch || width > spitch) return cudaErrorInvalidPitchValue;
  return copy(runtime, {reinterpret_cast<std::uint64_t>(dst), dpitch, 0},
              {reinterpret_cast<std::uint64_t>(src), spitch, 0}, {width, height, 1}, kind, caller);
}

// A peer copy names both devices; here they share one address range.
cudaError_t copy_peer(Runtime& runtime, void* dst, int to, const void* src, int from, std::size_t bytes,
                      const Caller& caller) {
  if (runtime.device(to) == nullptr || runtime.device(from) == nullptr) return cudaErrorInvalidDevice;
  return copy(runtime, line(dst), line(src), row(bytes), cudaMemcpyDeviceToDevice, caller);
}

// Where `count` bytes from `offset` on of a device variable are.
cudaError_t symbol_address(Runtime& runtime, const void* symbol, std::size_t count, std::size_t offset,
                           std::uint64_t& address) {
  VariableEntry* const variable = symbol ? runtime.modules().find_variable(symbol) : nullptr;
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  const auto place = runtime.modules().load(runtime, *variable, runtime.current_device().index());
  if (place.address == 0) return cudaErrorInvalidSymbol;
  if (offset > place.size || count > place.size - offset) return cudaErrorInvalidValue;
  address = place.address + offset;
  return cudaSuccess;
}

cudaError_t to_symbol(Runtime& runtime, const void* symbol, const void* src, std::size_t count, std::size_t offset,
                      cudaMemcpyKind kind, const Caller& caller) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost || static_cast<unsigned>(kind) > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  std::uint64_t address = 0;
  const cudaError_t error = symbol_address(runtime, symbol, count, offset, address);
  return error ? error : copy(runtime, {address, 0, 0}, line(src), row(count), kind, caller);
}

cudaError_t from_symbol(Runtime& runtime, void* dst, const void* symbol, std::size_t count, std::size_t offset,
                        cudaMemcpyKind kind, const Caller& caller) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost || static_cast<unsigned>(kind) > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  std::uint64_t address = 0;
  const cudaError_t error = symbol_address(runtime, symbol, count, offset, address);
  return error ? error : copy(runtime, line(dst), {address, 0, 0}, row(count), kind, caller);
}

}  // namespace

MUSCOPE_ENTRY(cudaMemcpy)(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy, false, nullptr);
  return enter([&](Runtime& runtime) { return copy(runtime, line(dst), line(src), row(count), kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyAsync)(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind,
                               cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyAsync, true, stream);
  return enter([&](Runtime& runtime) { return copy(runtime, line(dst), line(src), row(count), kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyPeer)(void* dst, int dst_device, const void* src, int src_device, std::size_t count) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyPeer, false, nullptr);
  return enter([&](Runtime& runtime) { return copy_peer(runtime, dst, dst_device, src, src_device, count, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyPeerAsync)(void* dst, int dst_device, const void* src, int src_device, std::size_t count,
                                   cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyPeerAsync, true, stream);
  return enter([&](Runtime& runtime) { return copy_peer(runtime, dst, dst_device, src, src_device, count, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2D)(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                            std::size_t height, cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2D, false, nullptr);
  return enter(
      [&](Runtime& runtime) { return copy_2d(runtime, dst, dpitch, src, spitch, width, height, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpy2DAsync)(void* dst, std::size_t dpitch, const void* src, std::size_t spitch, std::size_t width,
                                 std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpy2DAsync, true, stream);
  return enter(
      [&](Runtime& runtime) { return copy_2d(runtime, dst, dpitch, src, spitch, width, height, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyToSymbol)(const void* symbol, const void* src, std::size_t count, std::size_t offset,
                                  cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyToSymbol, false, nullptr);
  return enter([&](Runtime& runtime) { return to_symbol(runtime, symbol, src, count, offset, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyToSymbolAsync)(const void* symbol, const void* src, std::size_t count, std::size_t offset,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyToSymbolAsync, true, stream);
  return enter([&](Runtime& runtime) { return to_symbol(runtime, symbol, src, count, offset, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyFromSymbol)(void* dst, const void* symbol, std::size_t count, std::size_t offset,
                                    cudaMemcpyKind kind) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyFromSymbol, false, nullptr);
  return enter([&](Runtime& runtime) { return from_symbol(runtime, dst, symbol, count, offset, kind, caller); });
}

MUSCOPE_ENTRY(cudaMemcpyFromSymbolAsync)(void* dst, const void* symbol, std::size_t count, std::size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemcpyFromSymbolAsync, true, stream);
  return enter([&](Runtime& runtime) { return from_symbol(runtime, dst, symbol, count, offset, kind, caller); });
}

MUSCOPE_ENTRY(cudaGetSymbolAddress)(void** pointer, const void* symbol) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    std::uint64_t address = 0;
    const cudaError_t error = symbol_address(runtime, symbol, 0, 0, address);
    if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(address);
    return error;
  });
}

MUSCOPE_ENTRY(cudaGetSymbolSize)(std::size_t* size, const void* symbol) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    VariableEntry* const variable = symbol ? runtime.modules().find_variable(symbol) : nullptr;
    if (variable == nullptr) return cudaErrorInvalidSymbol;
    if (size == nullptr) return cudaErrorInvalidValue;
    const auto place = runtime.modules().load(runtime, *variable, runtime.current_device().index());
    if (place.address == 0) return cudaErrorInvalidSymbol;
    *size = place.size;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaMemset)(void* pointer, int value, std::size_t count) {
  const Caller caller = MUSCOPE_CALLER(cudaMemset, false, nullptr);
  return enter(
      [&](Runtime& runtime) { return fill(runtime, line(pointer), static_cast<unsigned>(value), row(count), caller); });
}

MUSCOPE_ENTRY(cudaMemsetAsync)(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemsetAsync, true, stream);
  return enter(
      [&](Runtime& runtime) { return fill(runtime, line(pointer), static_cast<unsigned>(value), row(count), caller); });
}

namespace {

cudaError_t fill_2d(Runtime& runtime, void* pointer, std::size_t pitch, int value, std::size_t width,
                    std::size_t height, const Caller& caller) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (width > pitch && height > 1) return cudaErrorInvalidValue;
  return fill(runtime, {reinterpret_cast<std::uint64_t>(pointer), pitch, 0}, static_cast<unsigned>(value),
              {width, height, 1}, caller);
}

cudaError_t fill_3d(Runtime& runtime, const cudaPitchedPtr& to, int value, const cudaExtent& extent,
                    const Caller& caller) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (extent.width > to.pitch || (extent.depth > 1 && extent.height > to.ysize)) return cudaErrorInvalidValue;
  return fill(runtime, {reinterpret_cast<std::uint64_t>(to.ptr), to.pitch, to.pitch * to.ysize},
              static_cast<unsigned>(value), {extent.width, extent.height, extent.depth}, caller);
}

}  // namespace

MUSCOPE_ENTRY(cudaMemset2D)(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  const Caller caller = MUSCOPE_CALLER(cudaMemset2D, false, nullptr);
  return enter([&](Runtime& runtime) { return fill_2d(runtime, pointer, pitch, value, width, height, caller); });
}

MUSCOPE_ENTRY(cudaMemset2DAsync)(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                 cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemset2DAsync, true, stream);
  return enter([&](Runtime& runtime) { return fill_2d(runtime, pointer, pitch, value, width, height, caller); });
}

MUSCOPE_ENTRY(cudaMemset3D)(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  const Caller caller = MUSCOPE_CALLER(cudaMemset3D, false, nullptr);
  return enter([&](Runtime& runtime) { return fill_3d(runtime, pointer, value, extent, caller); });
}

MUSCOPE_ENTRY(cudaMemset3DAsync)(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  const Caller caller = MUSCOPE_CALLER(cudaMemset3DAsync, true, stream);
  return enter([&](Runtime& runtime) { return fill_3d(runtime, pointer, value, extent, caller); });
}
