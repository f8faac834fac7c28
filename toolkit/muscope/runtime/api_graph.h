// Runtime API: Task graphs.
#ifndef MUSCOPE_RUNTIME_API_GRAPH_H
#define MUSCOPE_RUNTIME_API_GRAPH_H

#include "api_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

MUSCOPE_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependency_data, size_t num_dependencies, enum cudaStreamCaptureMode mode);
MUSCOPE_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags);
MUSCOPE_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, const struct cudaKernelNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src);
MUSCOPE_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr, cudaLaunchAttributeValue* value_out);
MUSCOPE_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr, const cudaLaunchAttributeValue* value);
MUSCOPE_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, const struct cudaMemcpy3DParms* copy_params);
MUSCOPE_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, const void* symbol, const void* src, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms* node_params);
MUSCOPE_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms* node_params);
MUSCOPE_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* src, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, const struct cudaMemsetParams* memset_params);
MUSCOPE_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams* node_params);
MUSCOPE_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams* node_params);
MUSCOPE_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, const struct cudaHostNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, cudaGraph_t child_graph);
MUSCOPE_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph);
MUSCOPE_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies);
MUSCOPE_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out);
MUSCOPE_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out);
MUSCOPE_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, struct cudaMemAllocNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* params_out);
MUSCOPE_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t num_dependencies, void* dptr);
MUSCOPE_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out);
MUSCOPE_API cudaError_t cudaDeviceGraphMemTrim(int device);
MUSCOPE_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value);
MUSCOPE_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value);
MUSCOPE_API cudaError_t cudaGraphClone(cudaGraph_t* graph_clone, cudaGraph_t original_graph);
MUSCOPE_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original_node, cudaGraph_t cloned_graph);
MUSCOPE_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type);
MUSCOPE_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* num_nodes);
MUSCOPE_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* root_nodes, size_t* num_root_nodes);
MUSCOPE_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edge_data, size_t* num_edges);
MUSCOPE_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, cudaGraphEdgeData* edge_data, size_t* num_dependencies);
MUSCOPE_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependent_nodes, cudaGraphEdgeData* edge_data, size_t* num_dependent_nodes);
MUSCOPE_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* edge_data, size_t num_dependencies);
MUSCOPE_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* edge_data, size_t num_dependencies);
MUSCOPE_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
MUSCOPE_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph_exec, cudaGraph_t graph, unsigned long long flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* graph_exec, cudaGraph_t graph, unsigned long long flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* graph_exec, cudaGraph_t graph, cudaGraphInstantiateParams* instantiate_params);
MUSCOPE_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graph_exec, unsigned long long* flags);
MUSCOPE_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, const struct cudaKernelNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms* node_params);
MUSCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t graph_exec, cudaGraphNode_t node, const void* symbol, const void* src, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t graph_exec, cudaGraphNode_t node, void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph_exec, cudaGraphNode_t node, void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
MUSCOPE_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, const struct cudaMemsetParams* node_params);
MUSCOPE_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, const struct cudaHostNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, cudaGraph_t child_graph);
MUSCOPE_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graph_exec, cudaGraphNode_t node, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graph_exec, cudaGraphNode_t node, cudaEvent_t event);
MUSCOPE_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t graph_exec, cudaGraphNode_t node, unsigned int is_enabled);
MUSCOPE_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t graph_exec, cudaGraphNode_t node, unsigned int* is_enabled);
MUSCOPE_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph_exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result_info);
MUSCOPE_API cudaError_t cudaGraphUpload(cudaGraphExec_t graph_exec, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graph_exec, cudaStream_t stream);
MUSCOPE_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph_exec);
MUSCOPE_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
MUSCOPE_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags);
MUSCOPE_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy, unsigned int initial_refcount, unsigned int flags);
MUSCOPE_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count MUSCOPE_DEFAULT(1));
MUSCOPE_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count MUSCOPE_DEFAULT(1));
MUSCOPE_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count MUSCOPE_DEFAULT(1), unsigned int flags MUSCOPE_DEFAULT(0));
MUSCOPE_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count MUSCOPE_DEFAULT(1));
MUSCOPE_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependency_data, size_t num_dependencies, struct cudaGraphNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node, struct cudaGraphNodeParams* node_params);
MUSCOPE_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle_out, cudaGraph_t graph, unsigned int default_launch_value MUSCOPE_DEFAULT(0), unsigned int flags MUSCOPE_DEFAULT(0));

#if defined(__cplusplus)
}
#endif

#endif
