// What programs of CUDA 11 and 12 pass and expect otherwise than those of CUDA 13. Structures have grown at their ends:
// a program must get no byte more than it has room for. Sizes and prototypes: the headers of CUDA 11.8 and 13.0,
// compared mechanically; 12 has 13's prototypes but for the functions that api_older.inc names, and 11's sizes of what
// is here with `_12`.
#include <cstring>

#include "runtime/cuda_abi.h"
#include "runtime/entry.h"

using namespace muscope::runtime;

extern "C" {
decltype(cudaPointerGetAttributes) muscope_cudaPointerGetAttributes;
decltype(cudaFuncGetAttributes) muscope_cudaFuncGetAttributes;
decltype(cudaCreateTextureObject) muscope_cudaCreateTextureObject;
decltype(cudaGetTextureObjectResourceDesc) muscope_cudaGetTextureObjectResourceDesc;
decltype(cudaGetTextureObjectTextureDesc) muscope_cudaGetTextureObjectTextureDesc;
decltype(cudaGetTextureObjectResourceViewDesc) muscope_cudaGetTextureObjectResourceViewDesc;
decltype(cudaCreateSurfaceObject) muscope_cudaCreateSurfaceObject;
decltype(cudaGetSurfaceObjectResourceDesc) muscope_cudaGetSurfaceObjectResourceDesc;
decltype(cudaGraphInstantiate) muscope_cudaGraphInstantiate;
decltype(cudaGraphExecUpdate) muscope_cudaGraphExecUpdate;
cudaError_t muscope_cudaGetDeviceProperties_12(DeviceProp12* properties, int index);
cudaError_t muscope_cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, int* status);
}

namespace {

// Bytes of the structures in CUDA 11.8.
constexpr std::size_t kDeviceProp11 = 728, kFuncAttributes11 = 56, kTextureDesc11 = 68;
// And, in 12 too, of those that grew in 13.
constexpr std::size_t kPointerAttributes12 = 24, kResourceDesc12 = 64, kResourceViewDesc12 = 48;

/// Calls `get` for a structure of today and gives the program the first `bytes` of it.
template <typename Structure, typename Get>
cudaError_t first_bytes(void* out, std::size_t bytes, Get&& get) {
  Structure whole{};
  const cudaError_t error = get(out == nullptr ? nullptr : &whole);
  if (error == cudaSuccess && out != nullptr) std::memcpy(out, &whole, bytes);
  return error;
}

/// A structure of today that begins with the `bytes` that the program gave; null where it gave none.
template <typename Structure>
class Grown {
 public:
  Grown(const void* given, std::size_t bytes) : given_(given != nullptr) {
    if (given_) std::memcpy(&whole_, given, bytes);
  }
  const Structure* get() const { return given_ ? &whole_ : nullptr; }

 private:
  Structure whole_{};
  bool given_;
};

cudaError_t create_texture(cudaTextureObject_t* handle, const void* resource, const void* desc, std::size_t desc_bytes,
                           const void* view) {
  return muscope_cudaCreateTextureObject(handle, Grown<cudaResourceDesc>(resource, kResourceDesc12).get(),
                                         Grown<cudaTextureDesc>(desc, desc_bytes).get(),
                                         Grown<cudaResourceViewDesc>(view, kResourceViewDesc12).get());
}

}  // namespace

MUSCOPE_EXPORT cudaError_t muscope_cudaGetDeviceProperties_11(void* out, int index) {
  return first_bytes<DeviceProp12>(out, kDeviceProp11,
                                   [&](auto* to) { return muscope_cudaGetDeviceProperties_12(to, index); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaFuncGetAttributes_11(void* out, const void* function) {
  return first_bytes<cudaFuncAttributes>(out, kFuncAttributes11,
                                         [&](auto* to) { return muscope_cudaFuncGetAttributes(to, function); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaPointerGetAttributes_12(void* out, const void* pointer) {
  return first_bytes<cudaPointerAttributes>(out, kPointerAttributes12,
                                            [&](auto* to) { return muscope_cudaPointerGetAttributes(to, pointer); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaCreateTextureObject_12(cudaTextureObject_t* handle, const void* resource,
                                                              const void* desc, const void* view) {
  return create_texture(handle, resource, desc, sizeof(cudaTextureDesc), view);
}

// Cube maps without seams came with cudaCreateTextureObject_v2 (11.8): here the flag's bytes are not the program's.
MUSCOPE_EXPORT cudaError_t muscope_cudaCreateTextureObject_11(cudaTextureObject_t* handle, const void* resource,
                                                              const void* desc, const void* view) {
  return create_texture(handle, resource, desc, kTextureDesc11, view);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaCreateSurfaceObject_12(cudaSurfaceObject_t* handle, const void* resource) {
  return muscope_cudaCreateSurfaceObject(handle, Grown<cudaResourceDesc>(resource, kResourceDesc12).get());
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetTextureObjectTextureDesc_11(void* out, cudaTextureObject_t handle) {
  return first_bytes<cudaTextureDesc>(out, kTextureDesc11,
                                      [&](auto* to) { return muscope_cudaGetTextureObjectTextureDesc(to, handle); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetTextureObjectResourceDesc_12(void* out, cudaTextureObject_t handle) {
  return first_bytes<cudaResourceDesc>(out, kResourceDesc12,
                                       [&](auto* to) { return muscope_cudaGetTextureObjectResourceDesc(to, handle); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetTextureObjectResourceViewDesc_12(void* out, cudaTextureObject_t handle) {
  return first_bytes<cudaResourceViewDesc>(
      out, kResourceViewDesc12, [&](auto* to) { return muscope_cudaGetTextureObjectResourceViewDesc(to, handle); });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetSurfaceObjectResourceDesc_12(void* out, cudaSurfaceObject_t handle) {
  return first_bytes<cudaResourceDesc>(out, kResourceDesc12,
                                       [&](auto* to) { return muscope_cudaGetSurfaceObjectResourceDesc(to, handle); });
}

// 11 gives a node and a text of errors in place of flags.
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphInstantiate_11(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                           cudaGraphNode_t* error_node, char* text, std::size_t bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (text != nullptr && bytes > 0) *text = '\0';
  return muscope_cudaGraphInstantiate(exec, graph, 0);
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGraphExecUpdate_11(cudaGraphExec_t exec, cudaGraph_t graph,
                                                          cudaGraphNode_t* error_node,
                                                          cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = muscope_cudaGraphExecUpdate(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGetDriverEntryPoint_11(const char* symbol, void** function,
                                                              unsigned long long flags) {
  int status = 0;
  const cudaError_t error = muscope_cudaGetDriverEntryPoint(symbol, function, flags, &status);
  return error == cudaSuccess && status != 0 ? cudaErrorSymbolNotFound : error;
}
