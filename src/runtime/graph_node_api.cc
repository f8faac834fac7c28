// Nodes of task graphs: adding one of each kind, asking for and changing what it does, in a graph or an executable one.
#include <algorithm>

#include "runtime/graph_calls.h"
#include "runtime/memory_calls.h"

using namespace muscope::runtime;

namespace {

// Adds a node whose work `make` describes.
template <typename Make>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t handle, const cudaGraphNode_t* dependencies, std::size_t count,
                Make&& make) {
  return enter_graphs([&](Runtime& runtime, Graphs& all) -> cudaError_t {
    Graph* const graph = find_graph(all, handle);
    if (graph == nullptr || out == nullptr || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    std::vector<Node*> before;
    for (std::size_t n = 0; n < count; ++n) {
      Node* const node = find_node(dependencies[n]);
      if (node == nullptr || node->graph != graph || std::find(before.begin(), before.end(), node) != before.end())
        return cudaErrorInvalidValue;
      before.push_back(node);
    }
    Work work;
    if (const cudaError_t error = make(runtime, all, work)) return error;
    *out = handle_of(&graph->add(std::move(work), std::move(before)));
    return cudaSuccess;
  });
}

template <typename Make>
cudaError_t set(cudaGraphNode_t node, Make&& make) {
  return enter_graphs([&](Runtime& runtime, Graphs& all) -> cudaError_t {
    Work work;
    if (const cudaError_t error = make(runtime, all, work)) return error;
    return replace(find_node(node), std::move(work));
  });
}

// Calls `body` with the work of a node of that kind.
template <typename Kind, typename Body>
cudaError_t with(cudaGraphNode_t node, Body&& body) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    Kind* const work = work_of_kind<Kind>(node);
    return work ? body(*work) : cudaErrorInvalidValue;
  });
}

cudaPitchedPtr side(const Area& area, const Box& box) {
  const std::uint64_t pitch = area.pitch != 0 ? area.pitch : box.width;
  return {reinterpret_cast<void*>(area.address), pitch, box.width,
          area.slice != 0 ? area.slice / std::max<std::uint64_t>(pitch, 1) : box.rows};
}

// What cudaGraphKernelNodeGetParams gives out must live on: it points into the node, and the array of pointers is kept
// by handle.
cudaError_t kernel_parameters(cudaGraphNode_t node, KernelWork& work, cudaKernelNodeParams* out) {
  static auto* const arrays = new std::unordered_map<cudaGraphNode_t, std::vector<void*>>;
  std::vector<void*>& pointers = (*arrays)[node];
  pointers.clear();
  for (auto& argument : work.arguments) pointers.push_back(argument.data());
  *out = {work.kernel->host != nullptr ? const_cast<void*>(work.kernel->host) : work.kernel,
          work.grid,
          work.block,
          static_cast<unsigned>(work.dynamic_shared),
          pointers.data(),
          nullptr};
  return cudaSuccess;
}

}  // namespace

MUSCOPE_ENTRY(cudaGraphAddKernelNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      std::size_t count, const cudaKernelNodeParams* asked) {
  return add(out, graph, dependencies, count,
             [&](Runtime& runtime, Graphs&, Work& work) { return kernel_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphAddMemcpyNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      std::size_t count, const cudaMemcpy3DParms* asked) {
  return add(out, graph, dependencies, count,
             [&](Runtime& runtime, Graphs&, Work& work) { return copy_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphAddMemcpyNode1D)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        std::size_t count, void* to, const void* from, std::size_t bytes,
                                        cudaMemcpyKind kind) {
  return add(out, graph, dependencies, count, [&](Runtime& runtime, Graphs&, Work& work) {
    return linear_copy_work(runtime, to, from, bytes, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphAddMemcpyNodeToSymbol)(cudaGraphNode_t* out, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies, std::size_t count,
                                              const void* symbol, const void* from, std::size_t bytes,
                                              std::size_t offset, cudaMemcpyKind kind) {
  return add(out, graph, dependencies, count, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, const_cast<void*>(symbol), from, true, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphAddMemcpyNodeFromSymbol)(cudaGraphNode_t* out, cudaGraph_t graph,
                                                const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                                                const void* symbol, std::size_t bytes, std::size_t offset,
                                                cudaMemcpyKind kind) {
  return add(out, graph, dependencies, count, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, to, symbol, false, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphAddMemsetNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      std::size_t count, const cudaMemsetParams* asked) {
  return add(out, graph, dependencies, count, [&](Runtime&, Graphs&, Work& work) { return fill_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphAddHostNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    std::size_t count, const cudaHostNodeParams* asked) {
  return add(out, graph, dependencies, count, [&](Runtime&, Graphs&, Work& work) { return host_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphAddChildGraphNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          std::size_t count, cudaGraph_t asked) {
  return add(out, graph, dependencies, count,
             [&](Runtime&, Graphs& all, Work& work) { return child_work(all, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphAddEventRecordNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                           std::size_t count, cudaEvent_t asked) {
  return add(out, graph, dependencies, count,
             [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, true, work); });
}

MUSCOPE_ENTRY(cudaGraphAddEventWaitNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                         std::size_t count, cudaEvent_t asked) {
  return add(out, graph, dependencies, count,
             [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, false, work); });
}

MUSCOPE_ENTRY(cudaGraphAddEmptyNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     std::size_t count) {
  return add(out, graph, dependencies, count, [](Runtime&, Graphs&, Work& work) {
    work = EmptyWork{};
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphAddMemAllocNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        std::size_t count, cudaMemAllocNodeParams* asked) {
  return add(out, graph, dependencies, count, [&](Runtime& runtime, Graphs&, Work& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    AllocateWork allocate;
    const cudaError_t error = allocate_for_graph(runtime, *asked, allocate);
    work = std::move(allocate);
    return error;
  });
}

MUSCOPE_ENTRY(cudaGraphAddMemFreeNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       std::size_t count, void* pointer) {
  return add(out, graph, dependencies, count, [&](Runtime&, Graphs&, Work& work) -> cudaError_t {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    work = FreeWork{reinterpret_cast<std::uint64_t>(pointer)};
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphAddNode)(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* asked) {
  return add(out, graph, dependencies, count, [&](Runtime& runtime, Graphs& all, Work& work) {
    const cudaError_t error = any_work(runtime, all, asked, work);
    if (auto* const child = std::get_if<ChildWork>(&work); child != nullptr && error == cudaSuccess)
      asked->graph.graph = reinterpret_cast<cudaGraph_t>(child->graph.get());
    return error;
  });
}

MUSCOPE_EXPORT cudaError_t muscope_cudaGraphAddNode_12(cudaGraphNode_t* out, cudaGraph_t graph,
                                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                                       cudaGraphNodeParams* asked) {
  return muscope_cudaGraphAddNode(out, graph, dependencies, nullptr, count, asked);
}

MUSCOPE_ENTRY(cudaGraphKernelNodeSetParams)(cudaGraphNode_t node, const cudaKernelNodeParams* asked) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) { return kernel_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphMemcpyNodeSetParams)(cudaGraphNode_t node, const cudaMemcpy3DParms* asked) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) { return copy_work(runtime, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphMemcpyNodeSetParams1D)(cudaGraphNode_t node, void* to, const void* from, std::size_t bytes,
                                              cudaMemcpyKind kind) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) {
    return linear_copy_work(runtime, to, from, bytes, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphMemcpyNodeSetParamsToSymbol)(cudaGraphNode_t node, const void* symbol, const void* from,
                                                    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, const_cast<void*>(symbol), from, true, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphMemcpyNodeSetParamsFromSymbol)(cudaGraphNode_t node, void* to, const void* symbol,
                                                      std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) {
    return symbol_copy_work(runtime, to, symbol, false, bytes, offset, kind, work);
  });
}

MUSCOPE_ENTRY(cudaGraphMemsetNodeSetParams)(cudaGraphNode_t node, const cudaMemsetParams* asked) {
  return set(node, [&](Runtime&, Graphs&, Work& work) { return fill_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphHostNodeSetParams)(cudaGraphNode_t node, const cudaHostNodeParams* asked) {
  return set(node, [&](Runtime&, Graphs&, Work& work) { return host_work(asked, work); });
}

MUSCOPE_ENTRY(cudaGraphEventRecordNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t asked) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, true, work); });
}

MUSCOPE_ENTRY(cudaGraphEventWaitNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t asked) {
  return set(node, [&](Runtime& runtime, Graphs&, Work& work) { return event_work(runtime, asked, false, work); });
}

MUSCOPE_ENTRY(cudaGraphNodeSetParams)(cudaGraphNode_t node, cudaGraphNodeParams* asked) {
  return set(node, [&](Runtime& runtime, Graphs& all, Work& work) { return any_work(runtime, all, asked, work); });
}

MUSCOPE_ENTRY(cudaGraphKernelNodeGetParams)(cudaGraphNode_t node, cudaKernelNodeParams* asked) {
  return with<KernelWork>(node, [&](KernelWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    return kernel_parameters(node, work, asked);
  });
}

MUSCOPE_ENTRY(cudaGraphMemcpyNodeGetParams)(cudaGraphNode_t node, cudaMemcpy3DParms* asked) {
  return with<CopyWork>(node, [&](CopyWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = {};
    asked->dstPtr = side(work.to, work.box);
    asked->srcPtr = side(work.from, work.box);
    asked->extent = {work.box.width, work.box.rows, work.box.slices};
    asked->kind = work.kind;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphMemsetNodeGetParams)(cudaGraphNode_t node, cudaMemsetParams* asked) {
  return with<FillWork>(node, [&](FillWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = {reinterpret_cast<void*>(work.to.address), work.to.pitch, work.value, work.element_bytes,
              work.box.width / work.element_bytes,      work.box.rows};
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphHostNodeGetParams)(cudaGraphNode_t node, cudaHostNodeParams* asked) {
  return with<HostWork>(node, [&](HostWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = {work.function, work.data};
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphChildGraphNodeGetGraph)(cudaGraphNode_t node, cudaGraph_t* asked) {
  return with<ChildWork>(node, [&](ChildWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = reinterpret_cast<cudaGraph_t>(work.graph.get());
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphEventRecordNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t* asked) {
  return with<RecordWork>(node, [&](RecordWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = work.event;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphEventWaitNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t* asked) {
  return with<WaitWork>(node, [&](WaitWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = work.event;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphMemAllocNodeGetParams)(cudaGraphNode_t node, cudaMemAllocNodeParams* asked) {
  return with<AllocateWork>(node, [&](AllocateWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *asked = work.asked;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphMemFreeNodeGetParams)(cudaGraphNode_t node, void* asked) {
  return with<FreeWork>(node, [&](FreeWork& work) -> cudaError_t {
    if (asked == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(asked) = reinterpret_cast<void*>(work.address);
    return cudaSuccess;
  });
}
