// Graphs and stream capture: the runtime's, with the driver's parameter structures.
#include <cstring>

#include "driver/array_copy.h"
#include "driver/entry.h"
#include "driver/graph_kernel.h"
#include "driver/module.h"

using namespace muscope::driver;

MUSCOPE_RUNTIME_FUNCTION(cudaStreamBeginCapture);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamEndCapture);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamIsCapturing);
MUSCOPE_RUNTIME_FUNCTION(cudaThreadExchangeStreamCaptureMode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphCreate);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphDestroy);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphClone);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphDestroyNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddKernelNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddMemcpyNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddMemsetNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddHostNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddChildGraphNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddEmptyNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddEventRecordNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphAddEventWaitNode);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphGetNodes);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphGetRootNodes);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphNodeGetType);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphInstantiateWithFlags);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphExecDestroy);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphUpload);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphLaunch);

namespace {

// A copy between pitched memories, whose far corner the runtime's description can say; arrays keep their own.
CUresult describe(const CUDA_MEMCPY3D& asked, cudaMemcpy3DParms& out) {
  const bool arrays = asked.srcMemoryType == CU_MEMORYTYPE_ARRAY || asked.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (arrays) return not_supported("cuGraphAddMemcpyNode with an array");
  const auto side = [&](CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch,
                        std::size_t height) {
    void* const pointer = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer_of(device);
    const std::size_t row = pitch != 0 ? pitch : asked.WidthInBytes;
    return cudaPitchedPtr{pointer, row, row, height != 0 ? height : asked.Height};
  };
  out.srcPtr = side(asked.srcMemoryType, asked.srcHost, asked.srcDevice, asked.srcPitch, asked.srcHeight);
  out.dstPtr = side(asked.dstMemoryType, asked.dstHost, asked.dstDevice, asked.dstPitch, asked.dstHeight);
  out.srcPos = {asked.srcXInBytes, asked.srcY, asked.srcZ};
  out.dstPos = {asked.dstXInBytes, asked.dstY, asked.dstZ};
  out.extent = {asked.WidthInBytes, asked.Height, asked.Depth};
  out.kind = cudaMemcpyDefault;
  return CUDA_SUCCESS;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuStreamBeginCapture_v2)(CUstream stream, CUstreamCaptureMode mode) {
  return enter(
      [&](Runtime&) { return muscope_cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamBeginCapture)(CUstream stream) {
  return muscope_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

MUSCOPE_DRIVER_ENTRY(cuStreamEndCapture)(CUstream stream, CUgraph* graph) {
  return enter([&](Runtime&) { return muscope_cudaStreamEndCapture(stream, graph); });
}

MUSCOPE_DRIVER_ENTRY(cuStreamIsCapturing)(CUstream stream, CUstreamCaptureStatus* status) {
  return enter([&](Runtime&) {
    return muscope_cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}

MUSCOPE_DRIVER_ENTRY(cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode) {
  return enter([&](Runtime&) {
    return muscope_cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
  });
}

MUSCOPE_DRIVER_ENTRY(cuGraphCreate)(CUgraph* graph, unsigned flags) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphCreate(graph, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphDestroy)(CUgraph graph) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphDestroy(graph); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphClone)(CUgraph* clone, CUgraph original) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphClone(clone, original); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphDestroyNode)(CUgraphNode node) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphDestroyNode(node); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddKernelNode_v2)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* asked) {
  return with_kernel_params(asked, [&](const auto* params) {
    return muscope_cudaGraphAddKernelNode(node, graph, dependencies, count, params);
  });
}

// CUDA 10 to 11: the same without kernels of libraries.
MUSCOPE_EXPORT CUresult muscope_cuGraphAddKernelNode_v1(CUgraphNode* node, CUgraph graph,
                                                        const CUgraphNode* dependencies, std::size_t count,
                                                        const void* asked) {
  if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_KERNEL_NODE_PARAMS params{};
  std::memcpy(&params, asked, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
  return muscope_cuGraphAddKernelNode_v2(node, graph, dependencies, count, &params);
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddMemcpyNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                           std::size_t count, const CUDA_MEMCPY3D* asked, CUcontext) {
  return enter([&](Runtime&) -> CUresult {
    if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms params{};
    if (const CUresult result = describe(*asked, params)) return result;
    return result_of(muscope_cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params));
  });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddMemsetNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                           std::size_t count, const CUDA_MEMSET_NODE_PARAMS* asked, CUcontext) {
  return enter([&](Runtime&) -> CUresult {
    if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaMemsetParams params{pointer_of(asked->dst), asked->pitch, asked->value,
                                  asked->elementSize,     asked->width, asked->height};
    return result_of(muscope_cudaGraphAddMemsetNode(node, graph, dependencies, count, &params));
  });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddHostNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                         std::size_t count, const CUDA_HOST_NODE_PARAMS* asked) {
  return enter([&](Runtime&) -> CUresult {
    if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaHostNodeParams params{asked->fn, asked->userData};
    return result_of(muscope_cudaGraphAddHostNode(node, graph, dependencies, count, &params));
  });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddChildGraphNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                               std::size_t count, CUgraph child) {
  return enter([&](Runtime&) { return muscope_cudaGraphAddChildGraphNode(node, graph, dependencies, count, child); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddEmptyNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                          std::size_t count) {
  return enter([&](Runtime&) { return muscope_cudaGraphAddEmptyNode(node, graph, dependencies, count); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddEventRecordNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                std::size_t count, CUevent event) {
  return enter([&](Runtime&) { return muscope_cudaGraphAddEventRecordNode(node, graph, dependencies, count, event); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphAddEventWaitNode)(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                              std::size_t count, CUevent event) {
  return enter([&](Runtime&) { return muscope_cudaGraphAddEventWaitNode(node, graph, dependencies, count, event); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphGetNodes)(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphGetNodes(graph, nodes, count); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphGetRootNodes)(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphGetRootNodes(graph, nodes, count); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphNodeGetType)(CUgraphNode node, CUgraphNodeType* type) {
  return enter(Needs::kInit, [&](Runtime&) {
    return muscope_cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type));
  });
}

MUSCOPE_DRIVER_ENTRY(cuGraphInstantiateWithFlags)(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return enter([&](Runtime&) { return muscope_cudaGraphInstantiateWithFlags(exec, graph, flags); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphInstantiate_v2)(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log,
                                            std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return muscope_cuGraphInstantiateWithFlags(exec, graph, 0);
}

MUSCOPE_DRIVER_ENTRY(cuGraphExecDestroy)(CUgraphExec exec) {
  return enter(Needs::kInit, [&](Runtime&) { return muscope_cudaGraphExecDestroy(exec); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphUpload)(CUgraphExec exec, CUstream stream) {
  return enter([&](Runtime&) { return muscope_cudaGraphUpload(exec, stream); });
}

MUSCOPE_DRIVER_ENTRY(cuGraphLaunch)(CUgraphExec exec, CUstream stream) {
  return enter([&](Runtime&) { return muscope_cudaGraphLaunch(exec, stream); });
}
