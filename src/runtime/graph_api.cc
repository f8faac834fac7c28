// Task graphs: making, copying, looking at them; edges; instantiation and launch.
#include <algorithm>
#include <cstdio>

#include "runtime/capture.h"
#include "runtime/graph_calls.h"
#include "runtime/graph_run.h"

using namespace muscope::runtime;

namespace {

cudaGraph_t handle_of_graph(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }

// Answers "give me up to *count of these": with no array, how many there are (CUDA Runtime API, cudaGraphGetNodes).
template <typename Handle>
cudaError_t list(const std::vector<Handle>& all, Handle* out, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) {
    for (std::size_t n = 0; n < *count; ++n) out[n] = n < all.size() ? all[n] : nullptr;
    *count = std::min(*count, all.size());
  } else {
    *count = all.size();
  }
  return cudaSuccess;
}

std::vector<cudaGraphNode_t> handles(const std::vector<Node*>& nodes) {
  std::vector<cudaGraphNode_t> out;
  for (Node* const node : nodes) out.push_back(handle_of(node));
  return out;
}

cudaError_t edges_of(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                     std::size_t* count) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> starts, ends;
    for (const auto& node : graph->nodes()) {
      for (Node* const before : node->before) {
        starts.push_back(handle_of(before));
        ends.push_back(handle_of(node.get()));
      }
    }
    std::size_t same = *count;
    if (data != nullptr) std::fill_n(data, std::min(*count, starts.size()), cudaGraphEdgeData{});
    list(starts, from, &same);
    return list(ends, to, count);
  });
}

cudaError_t neighbours(cudaGraphNode_t handle, bool before, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                       std::size_t* count) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    const Node* const node = find_node(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    const auto found = handles(before ? node->before : node->graph->after(*node));
    if (data != nullptr) std::fill_n(data, std::min(*count, found.size()), cudaGraphEdgeData{});
    return list(found, out, count);
  });
}

cudaError_t change_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count,
                         bool (*change)(Node&, Node&)) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr))) return cudaErrorInvalidValue;
    for (std::size_t n = 0; n < count; ++n) {
      Node* const first = find_node(from[n]);
      Node* const second = find_node(to[n]);
      if (first == nullptr || second == nullptr || first == second || first->graph != graph || second->graph != graph)
        return cudaErrorInvalidValue;
      if (!change(*first, *second)) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long flags) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    if (graph == nullptr || out == nullptr || flags > 15) return cudaErrorInvalidValue;
    if (graph->order().size() != graph->nodes().size()) return cudaErrorInvalidValue;  // edges make a circle
    auto exec = std::make_shared<GraphExec>(GraphExec{graph->clone(), flags});
    *out = reinterpret_cast<cudaGraphExec_t>(all.execs.add(std::move(exec)));
    return cudaSuccess;
  });
}

}  // namespace

MUSCOPE_ENTRY(cudaGraphCreate)(cudaGraph_t* out, unsigned flags) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    if (out == nullptr || flags != 0) return cudaErrorInvalidValue;
    *out = handle_of_graph(all.graphs.add(std::make_shared<Graph>()));
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphDestroy)(cudaGraph_t graph) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const auto dropped = all.graphs.drop(graph);
    if (!dropped) return cudaErrorInvalidValue;
    for (const auto& [object, count] : dropped->kept) release_references(*object, count);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphClone)(cudaGraph_t* out, cudaGraph_t original) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, original);
    if (graph == nullptr || out == nullptr) return cudaErrorInvalidValue;
    *out = handle_of_graph(all.graphs.add(graph->clone()));
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphNodeFindInClone)(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, clone);
    Node* const found = graph ? graph->copy_of(reinterpret_cast<Node*>(original)) : nullptr;
    if (out == nullptr || found == nullptr) return cudaErrorInvalidValue;
    *out = handle_of(found);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphGetNodes)(cudaGraph_t handle, cudaGraphNode_t* out, std::size_t* count) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> nodes;
    for (const auto& node : graph->nodes()) nodes.push_back(handle_of(node.get()));
    return list(nodes, out, count);
  });
}

MUSCOPE_ENTRY(cudaGraphGetRootNodes)(cudaGraph_t handle, cudaGraphNode_t* out, std::size_t* count) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    return graph ? list(handles(graph->roots()), out, count) : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                 std::size_t* count) {
  return edges_of(graph, from, to, data, count);
}
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphGetEdges_12(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                                        std::size_t* count) {
  return edges_of(graph, from, to, nullptr, count);
}

MUSCOPE_ENTRY(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                            std::size_t* count) {
  return neighbours(node, true, out, data, count);
}
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphNodeGetDependencies_12(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                   std::size_t* count) {
  return neighbours(node, true, out, nullptr, count);
}
MUSCOPE_ENTRY(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                              std::size_t* count) {
  return neighbours(node, false, out, data, count);
}
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphNodeGetDependentNodes_12(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                     std::size_t* count) {
  return neighbours(node, false, out, nullptr, count);
}

MUSCOPE_ENTRY(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, std::size_t count) {
  return change_edges(graph, from, to, count, Graph::connect);
}
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphAddDependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                               const cudaGraphNode_t* to, std::size_t count) {
  return change_edges(graph, from, to, count, Graph::connect);
}
MUSCOPE_ENTRY(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                           const cudaGraphEdgeData*, std::size_t count) {
  return change_edges(graph, from, to, count, Graph::disconnect);
}
MUSCOPE_EXPORT cudaError_t muscope_cudaGraphRemoveDependencies_12(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                                  const cudaGraphNode_t* to, std::size_t count) {
  return change_edges(graph, from, to, count, Graph::disconnect);
}

MUSCOPE_ENTRY(cudaGraphDestroyNode)(cudaGraphNode_t handle) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    Node* const node = find_node(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    node->graph->remove(*node);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphNodeGetType)(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return enter_graphs([&](Runtime&, Graphs&) -> cudaError_t {
    const Node* const node = find_node(handle);
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(node->work);
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphInstantiate)(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
MUSCOPE_ENTRY(cudaGraphInstantiateWithFlags)(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
MUSCOPE_ENTRY(cudaGraphInstantiateWithParams)(cudaGraphExec_t* exec, cudaGraph_t graph,
                                              cudaGraphInstantiateParams* asked) {
  if (asked == nullptr) return muscope::runtime::detail::end_call(cudaErrorInvalidValue);
  const cudaError_t error = instantiate(exec, graph, asked->flags);
  asked->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  asked->errNode_out = nullptr;
  return error;
}

MUSCOPE_ENTRY(cudaGraphExecGetFlags)(cudaGraphExec_t handle, unsigned long long* flags) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const auto exec = all.execs.find(handle);
    if (!exec || flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
  });
}

MUSCOPE_ENTRY(cudaGraphExecDestroy)(cudaGraphExec_t exec) {
  return enter_graphs(
      [&](Runtime&, Graphs& all) -> cudaError_t { return all.execs.drop(exec) ? cudaSuccess : cudaErrorInvalidValue; });
}

MUSCOPE_ENTRY(cudaGraphUpload)(cudaGraphExec_t exec, cudaStream_t stream) {
  return enter_graphs([&](Runtime& runtime, Graphs& all) -> cudaError_t {
    return all.execs.find(exec) && runtime.stream(stream) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

MUSCOPE_ENTRY(cudaGraphLaunch)(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<Graph> graph;
  const cudaError_t found = enter_graphs([&](Runtime& runtime, Graphs& all) -> cudaError_t {
    exec = all.execs.find(handle);
    if (!exec || !runtime.stream(stream_handle)) return cudaErrorInvalidValue;
    graph = exec->graph;
    return cudaSuccess;
  });
  if (found != cudaSuccess) return found;
  return enter([&](Runtime& runtime) -> cudaError_t {
    const StreamRef stream = runtime.stream(stream_handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (const auto captured = capture(stream, true, [&] { return ChildWork{graph->clone()}; })) return *captured;
    return run_graph(runtime, *graph, stream_handle);
  });
}

MUSCOPE_ENTRY(cudaGraphDebugDotPrint)(cudaGraph_t handle, const char* path, unsigned) {
  return enter_graphs([&](Runtime&, Graphs& all) -> cudaError_t {
    const Graph* const graph = find_graph(all, handle);
    FILE* const file = graph != nullptr && path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return graph == nullptr || path == nullptr ? cudaErrorInvalidValue : cudaErrorOperatingSystem;
    static constexpr const char* kNames[] = {"KERNEL", "MEMCPY",       "MEMSET",     "HOST",      "GRAPH",
                                             "EMPTY",  "EVENT_RECORD", "EVENT_WAIT", "MEM_ALLOC", "MEM_FREE"};
    std::unordered_map<const Node*, std::size_t> number;
    std::fputs("digraph graph_0 {\n", file);
    for (std::size_t n = 0; n < graph->nodes().size(); ++n) {
      const Node& node = *graph->nodes()[n];
      number[&node] = n;
      const auto* const kernel = std::get_if<KernelWork>(&node.work);
      std::fprintf(file, "  node_%zu [label=\"%s%s%s\"];\n", n, kNames[node.work.index()], kernel ? " " : "",
                   kernel ? kernel->kernel->mangled.c_str() : "");
    }
    for (const auto& node : graph->nodes()) {
      for (const Node* before : node->before)
        std::fprintf(file, "  node_%zu -> node_%zu;\n", number.at(before), number.at(node.get()));
    }
    std::fputs("}\n", file);
    return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
  });
}
