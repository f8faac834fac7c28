// What the files of the graph API share.
#pragma once

#include <mutex>
#include <utility>

#include "runtime/entry.h"
#include "runtime/graphs.h"
#include "runtime/runtime.h"

namespace muscope::runtime {

/// A function of the graph API: as enter(), with the lock of Graphs held.
template <typename Body>
cudaError_t enter_graphs(Body&& body) noexcept {
  return enter([&](Runtime& runtime) -> cudaError_t {
    const std::lock_guard lock(Graphs::of_process().mutex);
    return std::forward<Body>(body)(runtime, Graphs::of_process());
  });
}

/// The graph behind a handle: a graph of the program, or a child graph that a node owns; null when it is neither.
Graph* find_graph(Graphs& all, cudaGraph_t handle);

/// Work from what the program describes. Errors as an immediate call of that kind would give.
cudaError_t kernel_work(Runtime& runtime, const cudaKernelNodeParams* asked, Work& work);
cudaError_t copy_work(Runtime& runtime, const cudaMemcpy3DParms* asked, Work& work);
cudaError_t linear_copy_work(Runtime& runtime, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                             Work& work);
cudaError_t symbol_copy_work(Runtime& runtime, void* to, const void* from, bool to_symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind, Work& work);
cudaError_t fill_work(const cudaMemsetParams* asked, Work& work);
cudaError_t host_work(const cudaHostNodeParams* asked, Work& work);
cudaError_t child_work(Graphs& all, cudaGraph_t child, Work& work);
cudaError_t event_work(Runtime& runtime, cudaEvent_t event, bool record, Work& work);
/// Any kind (cudaGraphAddNode); writes back what a node gives out: allocated addresses, child graphs.
cudaError_t any_work(Runtime& runtime, Graphs& all, cudaGraphNodeParams* asked, Work& work);

/// The node's work, if it is of that kind; null otherwise.
template <typename Kind>
Kind* work_of_kind(cudaGraphNode_t handle) {
  Node* const node = find_node(handle);
  return node == nullptr ? nullptr : std::get_if<Kind>(&node->work);
}

/// Gives a node other work of the same kind; what the launch's attributes said of a kernel stays.
/// cudaErrorInvalidValue for no node, or work of another kind.
cudaError_t replace(Node* node, Work work);

/// Changes the node of the executable graph that was made from the program's node.
template <typename Make>
cudaError_t set_in_exec(cudaGraphExec_t handle, cudaGraphNode_t original, Make&& make) {
  return enter_graphs([&](Runtime& runtime, Graphs& all) -> cudaError_t {
    const auto exec = all.execs.find(handle);
    if (!exec) return cudaErrorInvalidValue;
    Work work;
    if (const cudaError_t error = make(runtime, all, work)) return error;
    return replace(exec->graph->copy_of(reinterpret_cast<Node*>(original)), std::move(work));
  });
}

/// Gives references back; the object's function is called with the last one.
void release_references(UserObject& object, std::uint64_t count);

}  // namespace muscope::runtime
