// Graphs, continued: what programs ask of nodes, edges and captures and how they change them. These functions take the
// same arguments as their namesakes in the runtime, so each only translates the result.
#include <cstring>

#include "driver/entry.h"
#include "driver/graph_kernel.h"
#include "driver/module.h"

using namespace muscope::driver;

#define FORWARD1(driver, runtime, A)                                            \
  MUSCOPE_RUNTIME_FUNCTION(runtime);                                            \
  MUSCOPE_EXPORT CUresult muscope_##driver(A a) {                               \
    return enter(Needs::kInit, [&](Runtime&) { return muscope_##runtime(a); }); \
  }
#define FORWARD2(driver, runtime, A, B)                                            \
  MUSCOPE_RUNTIME_FUNCTION(runtime);                                               \
  MUSCOPE_EXPORT CUresult muscope_##driver(A a, B b) {                             \
    return enter(Needs::kInit, [&](Runtime&) { return muscope_##runtime(a, b); }); \
  }
#define FORWARD3(driver, runtime, A, B, C)                                            \
  MUSCOPE_RUNTIME_FUNCTION(runtime);                                                  \
  MUSCOPE_EXPORT CUresult muscope_##driver(A a, B b, C c) {                           \
    return enter(Needs::kInit, [&](Runtime&) { return muscope_##runtime(a, b, c); }); \
  }
#define FORWARD4(driver, runtime, A, B, C, D)                                            \
  MUSCOPE_RUNTIME_FUNCTION(runtime);                                                     \
  MUSCOPE_EXPORT CUresult muscope_##driver(A a, B b, C c, D d) {                         \
    return enter(Needs::kInit, [&](Runtime&) { return muscope_##runtime(a, b, c, d); }); \
  }
#define FORWARD5(driver, runtime, A, B, C, D, E)                                            \
  MUSCOPE_RUNTIME_FUNCTION(runtime);                                                        \
  MUSCOPE_EXPORT CUresult muscope_##driver(A a, B b, C c, D d, E e) {                       \
    return enter(Needs::kInit, [&](Runtime&) { return muscope_##runtime(a, b, c, d, e); }); \
  }

using Edges = cudaGraphEdgeData*;
using ConstEdges = const cudaGraphEdgeData*;
using Nodes = const CUgraphNode*;

FORWARD2(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, CUgraphNode, CUgraph*)
FORWARD2(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, CUgraphNode, CUevent*)
FORWARD2(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, CUgraphNode, CUevent)
FORWARD2(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, CUgraphNode, CUevent*)
FORWARD2(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, CUgraphNode, CUevent)
FORWARD3(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, CUgraphExec, CUgraphNode, CUevent)
FORWARD3(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, CUgraphExec, CUgraphNode, CUevent)
FORWARD3(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, CUgraphExec, CUgraphNode, CUgraph)
FORWARD2(cuGraphExecGetFlags, cudaGraphExecGetFlags, CUgraphExec, unsigned long long*)
FORWARD2(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, CUgraphNode, cudaHostNodeParams*)
FORWARD2(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, CUgraphNode, const cudaHostNodeParams*)
FORWARD3(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, CUgraphExec, CUgraphNode,
         const cudaHostNodeParams*)
FORWARD2(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, CUgraphNode, cudaMemsetParams*)
FORWARD2(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, CUgraphNode, const cudaMemsetParams*)
FORWARD3(cuGraphExecUpdate_v2, cudaGraphExecUpdate, CUgraphExec, CUgraph, cudaGraphExecUpdateResultInfo*)
FORWARD3(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, CUgraphExec*, CUgraph,
         cudaGraphInstantiateParams*)
FORWARD5(cuGraphGetEdges_v2, cudaGraphGetEdges, CUgraph, CUgraphNode*, CUgraphNode*, Edges, std::size_t*)
FORWARD4(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies, CUgraphNode, CUgraphNode*, Edges, std::size_t*)
FORWARD4(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes, CUgraphNode, CUgraphNode*, Edges,
         std::size_t*)
FORWARD5(cuGraphAddDependencies_v2, cudaGraphAddDependencies, CUgraph, Nodes, Nodes, ConstEdges, std::size_t)
FORWARD5(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies, CUgraph, Nodes, Nodes, ConstEdges, std::size_t)
FORWARD3(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, CUgraphNode*, CUgraphNode, CUgraph)
FORWARD3(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, CUgraphExec, CUgraphNode, unsigned)
FORWARD3(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, CUgraphExec, CUgraphNode, unsigned*)
FORWARD3(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, CUgraph, const char*, unsigned)
FORWARD5(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, CUgraphNode*, CUgraph, Nodes, std::size_t,
         cudaMemAllocNodeParams*)
FORWARD2(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, CUgraphNode, cudaMemAllocNodeParams*)
FORWARD5(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, CUgraphNode*, CUgraph, Nodes, std::size_t, void*)
FORWARD2(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, CUgraphNode, void*)
FORWARD1(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, CUdevice)
FORWARD3(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, CUdevice, cudaGraphMemAttributeType, void*)
FORWARD3(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, CUdevice, cudaGraphMemAttributeType, void*)
FORWARD5(cuUserObjectCreate, cudaUserObjectCreate, cudaUserObject_t*, void*, cudaHostFn_t, unsigned, unsigned)
FORWARD2(cuUserObjectRetain, cudaUserObjectRetain, cudaUserObject_t, unsigned)
FORWARD2(cuUserObjectRelease, cudaUserObjectRelease, cudaUserObject_t, unsigned)
FORWARD4(cuGraphRetainUserObject, cudaGraphRetainUserObject, CUgraph, cudaUserObject_t, unsigned, unsigned)
FORWARD3(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, CUgraph, cudaUserObject_t, unsigned)
FORWARD2(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, CUgraphNode, CUgraphNode)
FORWARD5(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies, CUstream, CUgraphNode*, ConstEdges,
         std::size_t, unsigned)

MUSCOPE_RUNTIME_FUNCTION(cudaStreamGetCaptureInfo);
MUSCOPE_RUNTIME_FUNCTION(cudaStreamBeginCaptureToGraph);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphKernelNodeGetParams);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphKernelNodeSetParams);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphExecKernelNodeSetParams);
MUSCOPE_RUNTIME_FUNCTION(cudaGraphExecMemsetNodeSetParams);

namespace {

// CUDA 10 to 11 knew no kernels of libraries.
CUDA_KERNEL_NODE_PARAMS from_first(const void* asked) {
  CUDA_KERNEL_NODE_PARAMS params{};
  std::memcpy(&params, asked, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
  return params;
}

CUresult get_kernel(CUgraphNode node, void* out, bool first) {
  return enter(Needs::kInit, [&](Runtime& runtime) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaKernelNodeParams found{};
    if (const cudaError_t error = muscope_cudaGraphKernelNodeGetParams(node, &found)) return result_of(error);
    found.func = runtime.modules().find_kernel(found.func);  // the runtime speaks of host stubs
    CUDA_KERNEL_NODE_PARAMS params{};
    static_assert(sizeof found == offsetof(CUDA_KERNEL_NODE_PARAMS, kern));  // laid out alike
    std::memcpy(&params, &found, sizeof found);
    std::memcpy(out, &params, first ? sizeof found : sizeof params);
    return CUDA_SUCCESS;
  });
}

}  // namespace

MUSCOPE_EXPORT CUresult muscope_cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return get_kernel(node, params, false);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphKernelNodeGetParams_v1(CUgraphNode node, void* params) {
  return get_kernel(node, params, true);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* asked) {
  return with_kernel_params(asked,
                            [&](const auto* params) { return muscope_cudaGraphKernelNodeSetParams(node, params); });
}

MUSCOPE_EXPORT CUresult muscope_cuGraphKernelNodeSetParams_v1(CUgraphNode node, const void* asked) {
  if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS params = from_first(asked);
  return muscope_cuGraphKernelNodeSetParams_v2(node, &params);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                                  const CUDA_KERNEL_NODE_PARAMS* asked) {
  return with_kernel_params(
      asked, [&](const auto* params) { return muscope_cudaGraphExecKernelNodeSetParams(exec, node, params); });
}

MUSCOPE_EXPORT CUresult muscope_cuGraphExecKernelNodeSetParams_v1(CUgraphExec exec, CUgraphNode node,
                                                                  const void* asked) {
  if (asked == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_KERNEL_NODE_PARAMS params = from_first(asked);
  return muscope_cuGraphExecKernelNodeSetParams_v2(exec, node, &params);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                               const cudaMemsetParams* params, CUcontext) {
  return enter([&](Runtime&) { return muscope_cudaGraphExecMemsetNodeSetParams(exec, node, params); });
}

// ---- before CUDA 12.3 edges had no data ----

MUSCOPE_EXPORT CUresult muscope_cuGraphGetEdges_v1(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                                                   std::size_t* count) {
  return muscope_cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode* others,
                                                              std::size_t* count) {
  return muscope_cuGraphNodeGetDependencies_v2(node, others, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphNodeGetDependentNodes_v1(CUgraphNode node, CUgraphNode* others,
                                                                std::size_t* count) {
  return muscope_cuGraphNodeGetDependentNodes_v2(node, others, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphAddDependencies_v1(CUgraph graph, Nodes from, Nodes to, std::size_t count) {
  return muscope_cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuGraphRemoveDependencies_v1(CUgraph graph, Nodes from, Nodes to, std::size_t count) {
  return muscope_cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuStreamUpdateCaptureDependencies_v1(CUstream stream, CUgraphNode* nodes,
                                                                     std::size_t count, unsigned flags) {
  return muscope_cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

// ---- captures ----

MUSCOPE_EXPORT CUresult muscope_cuStreamGetCaptureInfo_v3(CUstream stream, cudaStreamCaptureStatus* status,
                                                          unsigned long long* id, CUgraph* graph, Nodes* nodes,
                                                          ConstEdges* edges, std::size_t* count) {
  return enter(
      [&](Runtime&) { return muscope_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count); });
}

MUSCOPE_EXPORT CUresult muscope_cuStreamGetCaptureInfo_v2(CUstream stream, cudaStreamCaptureStatus* status,
                                                          unsigned long long* id, CUgraph* graph, Nodes* nodes,
                                                          std::size_t* count) {
  return muscope_cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

MUSCOPE_EXPORT CUresult muscope_cuStreamGetCaptureInfo_v1(CUstream stream, cudaStreamCaptureStatus* status,
                                                          unsigned long long* id) {
  return muscope_cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

MUSCOPE_EXPORT CUresult muscope_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, Nodes nodes,
                                                            ConstEdges edges, std::size_t count,
                                                            cudaStreamCaptureMode mode) {
  return enter(
      [&](Runtime&) { return muscope_cudaStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode); });
}
