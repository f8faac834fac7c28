// Executable task graphs: changing nodes after instantiation, updates, attributes; objects that graphs keep alive.
#include <algorithm>

#include "runtime/graph_calls.h"

using namespace muscope::runtime;

MUSCOPE_ENTRY(cudaGraphExecKernelNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const cudaKernelNodeParams* asked) {
  return set_in_exec(exec, node,
                     [&](Runtime& runtime, Graphs&, Work& work) { return kernel_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphExecMemcpyNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const cudaMemcpy3DParms* asked) {
  return set_in_exec(exec, node,
                     [&](Runtime& runtime, Graphs&, Work& work) { return copy_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphExecMemcpyNodeSetParams1D)(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                  const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return set_in_exec(exec, node, [&](Runtime& runtime, Graphs&, Work& work) {
    return linear_copy_work(runtime, to, from, bytes, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphExecMemcpyNodeSetParamsToSymbol)(cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol,
                                                        const void* from, std::size_t bytes, std::size_t offset,
                                                        cudaMemcpyKind kind) {
  return set_in_exec(exec, node, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, const_cast<void*>(symbol), from, true, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphExecMemcpyNodeSetParamsFromSymbol)(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                          const void* symbol, std::size_t bytes, std::size_t offset,
                                                          cudaMemcpyKind kind) {
  return set_in_exec(exec, node, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, to, symbol, false, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphExecMemsetNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const cudaMemsetParams* asked) {
  return set_in_exec(exec, node, [&](Runtime&, Graphs&, Work& work) { return fill_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphExecHostNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              const cudaHostNodeParams* asked) {
  return set_in_exec(exec, node, [&](Runtime&, Graphs&, Work& work) { return host_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphExecEventRecordNodeSetEvent)(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t asked) {
  return set_in_exec(exec, node,
                     [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, true, work); });
}

MUSCOPE_ENTRY(cudaGraphExecEventWaitNodeSetEvent)(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t asked) {
  return set_in_exec(exec, node,
                     [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, false, work); });
}

MUSCOPE_ENTRY(cudaGraphExecNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* asked) {
  return set_in_exec(exec, node,
                     [&](Runtime& runtime, Graphs& all, Work& work) { return any_work(runtime, all, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphExecChildGraphNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t asked) {
  return set_in_exec(exec, node, [&](Runtime&, Graphs& all, Work& work) { return child_work(all, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphNodeSetEnabled)(cudaGraphExec_t handle, cudaGraphNode_t original, unsigned enabled) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const auto exec = all.execs.find(handle);
    Node* const node = exec ? exec->graph->copy_of(reinterpret_cast<Node*>(original)) : nullptr;
    if (node == nullptr) return cudaErrorInvalidValue;
    // Only kernels, copies and fills can be switched off (CUDA Runtime API, cudaGraphNodeSetEnabled).
    const cudaGraphNodeType type = type_of(node->work);
    if (type != cudaGraphNodeTypeKernel && type != cudaGraphNodeTypeMemcpy && type != cudaGraphNodeTypeMemset)
      return cudaErrorInvalidValue;
    node->enabled = enabled != 0;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphNodeGetEnabled)(cudaGraphExec_t handle, cudaGraphNode_t original, unsigned* enabled) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const auto exec = all.execs.find(handle);
    const Node* const node = exec ? exec->graph->copy_of(reinterpret_cast<Node*>(original)) : nullptr;
    if (node == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    *enabled = node->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphExecUpdate)(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                   cudaGraphExecUpdateResultInfo* out) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const auto exec = all.execs.find(handle);
    const Graph* const graph = find_graph(all, graph_handle);
    if (!exec || graph == nullptr || out == nullptr) return cudaErrorInvalidValue;
    const Node* differs = nullptr;
    *out = {compare(*exec->graph, *graph, &differs), nullptr, nullptr};
    if (out->result != cudaGraphExecUpdateSuccess) {
      out->errorNode = handle_of(const_cast<Node*>(differs));
      return cudaErrorGraphExecUpdateFailure;
    }
    for (std::size_t n = 0; n < graph->nodes().size(); ++n) {
      Work work = graph->nodes()[n]->work;
      if (auto* const child = std::get_if<ChildWork>(&work)) child->graph = child->graph->clone();
      exec->graph->nodes()[n]->work = std::move(work);
    }
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphKernelNodeSetAttribute)(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                               const cudaLaunchAttributeValue* value) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    auto* const kernel = work_of_kind<KernelWork>(node);
    if (kernel == nullptr || value == nullptr) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeCooperative) kernel->cooperative = value->cooperative != 0;
    if (id == cudaLaunchAttributeClusterDimension)
      kernel->cluster = {value->clusterDim.x, std::max(value->clusterDim.y, 1u), std::max(value->clusterDim.z, 1u)};
    return cudaSuccess;  // the others change speed, not results
  });
}

MUSCOPE_ENTRY(cudaGraphKernelNodeGetAttribute)(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                               cudaLaunchAttributeValue* value) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    const auto* const kernel = work_of_kind<KernelWork>(node);
    if (kernel == nullptr || value == nullptr) return cudaErrorInvalidValue;
    *value = cudaLaunchAttributeValue{};
    if (id == cudaLaunchAttributeCooperative) value->cooperative = kernel->cooperative ? 1 : 0;
    if (id == cudaLaunchAttributeClusterDimension)
      value->clusterDim = {kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]};
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphKernelNodeCopyAttributes)(cudaGraphNode_t to, cudaGraphNode_t from) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    auto* const target = work_of_kind<KernelWork>(to);
    const auto* const source = work_of_kind<KernelWork>(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidValue;
    target->cooperative = source->cooperative;
    target->cluster = source->cluster;
    return cudaSuccess;
  });
}

// Memory of graphs is kept as long as their nodes are: there is nothing to trim.
MUSCOPE_ENTRY(cudaDeviceGraphMemTrim)(int device) {
  return enter(
      [&](Runtime& runtime) -> cudaError_t { return runtime.device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

MUSCOPE_ENTRY(cudaDeviceGetGraphMemAttribute)(int device, cudaGraphMemAttributeType attribute, void* value) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (runtime.device(device) == nullptr) return cudaErrorInvalidDevice;
    if (value == nullptr || static_cast<unsigned>(attribute) > cudaGraphMemAttrReservedMemHigh)
      return cudaErrorInvalidValue;
    *static_cast<std::uint64_t*>(value) = runtime.blocks().bytes(Source::kGraph, device);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaDeviceSetGraphMemAttribute)(int device, cudaGraphMemAttributeType attribute, void* value) {
  return enter([&](Runtime& runtime) -> cudaError_t {
    if (runtime.device(device) == nullptr) return cudaErrorInvalidDevice;
    const bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    return high && value != nullptr && *static_cast<std::uint64_t*>(value) == 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaUserObjectCreate)(cudaUserObject_t* out, void* data, cudaHostFn_t destroy, unsigned references,
                                    unsigned flags) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    if (out == nullptr || destroy == nullptr || references == 0 || flags != cudaUserObjectNoDestructorSync)
      return cudaErrorInvalidValue;
    *out = reinterpret_cast<cudaUserObject_t>(new UserObject{data, destroy, references});
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaUserObjectRetain)(cudaUserObject_t object, unsigned count) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    if (object == nullptr || count == 0) return cudaErrorInvalidValue;
    reinterpret_cast<UserObject*>(object)->references += count;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaUserObjectRelease)(cudaUserObject_t handle, unsigned count) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    auto* const object = reinterpret_cast<UserObject*>(handle);
    if (object == nullptr || count == 0 || count > object->references) return cudaErrorInvalidValue;
    release_references(*object, count);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphRetainUserObject)(cudaGraph_t handle, cudaUserObject_t object_handle, unsigned count,
                                         unsigned flags) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    Graph* const graph = find_graph(all, handle);
    auto* const object = reinterpret_cast<UserObject*>(object_handle);
    if (graph == nullptr || object == nullptr || count == 0) return cudaErrorInvalidValue;
    if ((flags & cudaGraphUserObjectMove) == 0) object->references += count;
    graph->kept[object] += count;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphReleaseUserObject)(cudaGraph_t handle, cudaUserObject_t object_handle, unsigned count) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    Graph* const graph = find_graph(all, handle);
    auto* const object = reinterpret_cast<UserObject*>(object_handle);
    const auto kept = graph ? graph->kept.find(object) : decltype(graph->kept.end()){};
    if (graph == nullptr || count == 0 || kept == graph->kept.end() || kept->second < count)
      return cudaErrorInvalidValue;
    kept->second -= count;
    if (kept->second == 0) graph->kept.erase(kept);
    release_references(*object, count);
    return cudaSuccess;
  });
}
